/* engine/graph/query/read.c - one node by its id. */
#include "engine/graph/graph.h"
#include "engine/graph/buffer/metadata.h"
#include "engine/graph/disk/want.h"
#include "format/rfdb/id.h"

sherd_graph_id sherd_graph_id_of(const char *text, size_t len)
{
	return graph_id_out(shd_rfdb_id_of((shd_str){text, len}));
}

void sherd_graph_id_format(char out[SHERD_GRAPH_ID_TEXT], sherd_graph_id id)
{
	shd_rfdb_id_format(graph_id_in(id), out);
}

void shd_graph_node_out(const shd_rfdb_node *from, sherd_graph_node *to)
{
	*to = (sherd_graph_node){.id = graph_id_out(from->id),
	                         .semantic_id = graph_text_out(from->semantic_id),
	                         .type = graph_text_out(from->type),
	                         .name = graph_text_out(from->name),
	                         .file = graph_text_out(from->file),
	                         .metadata = graph_text_out(from->metadata),
	                         .content_hash = from->content_hash,
	                         .exported = shd_graph_is_exported(from->metadata)};
}

void shd_graph_edge_out(const shd_rfdb_edge *from, sherd_graph_edge *to)
{
	*to = (sherd_graph_edge){.src = graph_id_out(from->src),
	                         .dst = graph_id_out(from->dst),
	                         .type = graph_text_out(from->type),
	                         .metadata = graph_text_out(from->metadata)};
}

static int read_row(const graph_row *at, sherd_graph_node *out, sherd_error *err)
{
	shd_rfdb_node node;
	shd_graph_segment_want_texts(at->segment, at->row);
	TRY(shd_graph_segment_read_node(at->segment, at->row, &node, err));
	shd_graph_node_out(&node, out);
	return 1;
}

int sherd_graph_get(sherd_graph_node *out, const sherd_graph *g, sherd_graph_id id, sherd_error *err)
{
	graph_row found;
	const graph_new_node *fresh = shd_graph_buffer_node(&g->buffer, graph_id_in(id));
	if (fresh) {
		if (!fresh->dead)
			shd_graph_node_out(&fresh->node, out);
		return !fresh->dead;
	}
	int rc = shd_graph_view_node(&g->view, graph_id_in(id), &found, err);
	if (rc > 0)
		rc = read_row(&found, out, err);
	return shd_graph_view_settle(&g->view, rc, err);
}

int sherd_graph_exists(const sherd_graph *g, sherd_graph_id id, sherd_error *err)
{
	graph_row found;
	const graph_new_node *fresh = shd_graph_buffer_node(&g->buffer, graph_id_in(id));
	if (fresh)
		return !fresh->dead;
	return shd_graph_view_settle(&g->view, shd_graph_view_node(&g->view, graph_id_in(id), &found, err), err);
}

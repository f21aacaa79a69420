/* engine/graph/buffer/write.c - changing the buffer, record by record. */
#include "engine/graph/buffer/write.h"

#include "base/pool.h"
#include "codec/json.h"
#include "engine/graph/query/edges.h"
#include "engine/graph/buffer/metadata.h"
#include "format/rfdb/id.h"

#include <stdlib.h>

int shd_graph_check_writable(const sherd_graph *g, sherd_error *err)
{
	if (g->mode == GRAPH_READER)
		return shd_fail(err, SHERD_EINVAL, "read-only", "the graph is open for reading only");
	if (g->mode == GRAPH_BROKEN)
		return shd_fail(err, SHERD_ENOMEM, "no-memory", "memory ran out before: what was added is not whole");
	return SHERD_OK;
}

int shd_graph_break(sherd_graph *g, sherd_error *err)
{
	g->mode = GRAPH_BROKEN;
	return shd_fail_nomem(err);
}

static int buffer_write_check_text(sherd_graph_text text, const char *what, sherd_error *err)
{
	size_t bad;
	if (text.len > UINT32_MAX)
		return shd_fail(err, SHERD_ELIMIT, "too-large", "the %s is too long", what);
	if (text.len && !shd_utf8_valid(text.ptr, text.len, &bad))
		return shd_fail(err, SHERD_EINVAL, "bad-utf8", "the %s is not UTF-8 at byte %zu", what, bad);
	return SHERD_OK;
}

/* Of JSON that is right. */
static bool is_object(sherd_graph_text json)
{
	size_t i = 0;
	while (i < json.len && strchr(" \t\r\n", json.ptr[i]))
		i++;
	return i < json.len && json.ptr[i] == '{';
}

/* What is marked must be an object. */
static int check_marked(sherd_graph_text json, sherd_error *err)
{
	if (!json.len)
		return SHERD_OK;
	TRY(shd_json_check(json.ptr, json.len, NULL, err));
	return is_object(json) ? SHERD_OK : shd_fail_at(err, SHERD_EINVAL, "bad-type", 0, "metadata is a JSON object");
}

static int check_node(const sherd_graph_node *n, sherd_error *err)
{
	TRY(buffer_write_check_text(n->semantic_id, "semantic id", err));
	TRY(buffer_write_check_text(n->type, "type", err));
	TRY(buffer_write_check_text(n->name, "name", err));
	TRY(buffer_write_check_text(n->file, "file", err));
	TRY(buffer_write_check_text(n->metadata, "metadata", err));
	return n->exported ? check_marked(n->metadata, err) : SHERD_OK;
}

static int check_edge(const sherd_graph_edge *e, sherd_error *err)
{
	TRY(buffer_write_check_text(e->type, "type", err));
	return buffer_write_check_text(e->metadata, "metadata", err);
}

/* Records of one call, which all workers look at, a part each. */
typedef struct batch {
	const sherd_graph *graph;
	const sherd_graph_node *nodes;
	const sherd_graph_edge *edges;
	size_t count;
} batch;

enum { PART = 1000 };

static size_t part_end(const batch *b, size_t index)
{
	return b->count - index * PART < PART ? b->count : (index + 1) * PART;
}

static int check_batch(const batch *b, shd_task_fn *check_part, sherd_error *err)
{
	return shd_pool_run(b->graph->pool, (b->count + PART - 1) / PART, check_part, (void *)(uintptr_t)b, err);
}

static int check_some_nodes(void *arg, size_t index, sherd_error *err)
{
	const batch *b = arg;
	for (size_t i = index * PART; i < part_end(b, index); i++) {
		int rc = check_node(&b->nodes[i], err);
		if (rc < 0)
			return shd_at_index(err, rc, i);
	}
	return SHERD_OK;
}

static int check_some_edges(void *arg, size_t index, sherd_error *err)
{
	const batch *b = arg;
	for (size_t i = index * PART; i < part_end(b, index); i++) {
		int rc = check_edge(&b->edges[i], err);
		if (rc < 0)
			return shd_at_index(err, rc, i);
	}
	return SHERD_OK;
}

int shd_graph_check_nodes(const sherd_graph *g, const sherd_graph_node *nodes, size_t count, sherd_error *err)
{
	return check_batch(&(batch){.graph = g, .nodes = nodes, .count = count}, check_some_nodes, err);
}

int shd_graph_check_edges(const sherd_graph *g, const sherd_graph_edge *edges, size_t count, sherd_error *err)
{
	return check_batch(&(batch){.graph = g, .edges = edges, .count = count}, check_some_edges, err);
}

int shd_graph_stored_metadata(const sherd_graph_node *n, char **owned, shd_str *out, sherd_error *err)
{
	*owned = NULL;
	*out = graph_text_in(n->metadata);
	if (!n->exported || shd_graph_is_exported(*out))
		return SHERD_OK;
	TRY(sherd_graph_metadata(owned, &out->len, n->metadata, true, err));
	out->ptr = *owned;
	return SHERD_OK;
}

/* With copies of the texts that are its own. */
static int prepare_node(sherd_graph *g, const sherd_graph_node *n, shd_rfdb_node *out, sherd_error *err)
{
	char *owned;
	*out = (shd_rfdb_node){.id = graph_id_in(n->id),
	                       .content_hash = n->content_hash,
	                       .semantic_id = graph_text_in(n->semantic_id),
	                       .type = graph_text_in(n->type),
	                       .name = graph_text_in(n->name),
	                       .file = graph_text_in(n->file)};
	TRY(shd_graph_stored_metadata(n, &owned, &out->metadata, err));
	bool ok = shd_graph_buffer_copy_node(&g->buffer, out);
	free(owned);
	return ok ? SHERD_OK : shd_fail_nomem(err);
}

/* So many records before they are needed, the memory of the tables that they stand in is asked for. */
enum { AHEAD = 12, TOGETHER = 256 };

/* At most TOGETHER of them, first all texts, then all tables: each has the caches for itself. */
static int put_some_nodes(sherd_graph *g, const sherd_graph_node *nodes, size_t count, sherd_error *err)
{
	shd_rfdb_node list[TOGETHER];
	for (size_t i = 0; i < count; i++) {
		shd_graph_ids_fetch(&g->buffer.by_id, graph_id_in(nodes[i].id));
		TRY(prepare_node(g, &nodes[i], &list[i], err));
	}
	for (size_t i = 0; i < count; i++)
		if (!shd_graph_buffer_take_node(&g->buffer, &list[i]))
			return shd_graph_break(g, err);
	return SHERD_OK;
}

int shd_graph_put_nodes(sherd_graph *g, const sherd_graph_node *nodes, size_t count, sherd_error *err)
{
	if (!shd_graph_buffer_reserve(&g->buffer, count, 0))
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i += TOGETHER) {
		int rc = put_some_nodes(g, nodes + i, count - i < TOGETHER ? count - i : TOGETHER, err);
		if (rc < 0) {
			g->mode = i > 0 ? GRAPH_BROKEN : g->mode;
			return rc;
		}
	}
	return SHERD_OK;
}

int shd_graph_put_edges(sherd_graph *g, const sherd_graph_edge *edges, size_t count, sherd_error *err)
{
	if (!shd_graph_buffer_reserve(&g->buffer, 0, count))
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++) {
		const shd_rfdb_edge edge = {.src = graph_id_in(edges[i].src),
		                            .dst = graph_id_in(edges[i].dst),
		                            .type = graph_text_in(edges[i].type),
		                            .metadata = graph_text_in(edges[i].metadata)};
		if (!shd_graph_buffer_put_edge(&g->buffer, &edge))
			return shd_graph_break(g, err);
	}
	return SHERD_OK;
}

int sherd_graph_add_nodes(sherd_graph *g, const sherd_graph_node *nodes, size_t count, sherd_error *err)
{
	TRY(shd_graph_check_writable(g, err));
	TRY(shd_graph_check_nodes(g, nodes, count, err));
	if (count)
		g->buffer.only_updates = false;
	return shd_graph_put_nodes(g, nodes, count, err);
}

int shd_graph_fail_source(shd_u128 src, sherd_error *err)
{
	char text[SHD_RFDB_ID_TEXT];
	shd_rfdb_id_format(src, text);
	return shd_fail(err, SHERD_EINVAL, "unknown-source", "no node %s, which an edge begins at", text);
}

/* Edges of one source mostly stand together. */
static int check_some_new_edges(void *arg, size_t index, sherd_error *err)
{
	const batch *b = arg;
	const sherd_graph_edge *edges = b->edges;
	const size_t from = index * PART, to = part_end(b, index);
	for (size_t i = from; i < to; i++) {
		int rc = check_edge(&edges[i], err);
		if (rc < 0)
			return shd_at_index(err, rc, i);
		if (to - i > AHEAD)
			shd_graph_ids_fetch(&b->graph->buffer.by_id, graph_id_in(edges[i + AHEAD].src));
		if (i > from && edges[i].src.lo == edges[i - 1].src.lo && edges[i].src.hi == edges[i - 1].src.hi)
			continue;
		rc = sherd_graph_exists(b->graph, edges[i].src, err);
		TRY(rc);
		if (!rc)
			return shd_at_index(err, shd_graph_fail_source(graph_id_in(edges[i].src), err), i);
	}
	return SHERD_OK;
}

int sherd_graph_add_edges(sherd_graph *g, const sherd_graph_edge *edges, size_t count, sherd_error *err)
{
	TRY(shd_graph_check_writable(g, err));
	TRY(check_batch(&(batch){.graph = g, .edges = edges, .count = count}, check_some_new_edges, err));
	if (count)
		g->buffer.only_updates = false;
	return shd_graph_put_edges(g, edges, count, err);
}

static bool buffer_write_collect(void *arg, const shd_rfdb_edge *edge)
{
	shd_rfdb_edge_key_vec *keys = arg;
	shd_vec_push(keys, (shd_rfdb_edge_key){.src = edge->src, .dst = edge->dst, .type = edge->type});
	return true;
}

int shd_graph_collect_edges(const sherd_graph *g, shd_u128 id, bool incoming, shd_rfdb_edge_key_vec *keys,
                            sherd_error *err)
{
	TRY(shd_graph_each_edge(g, id, incoming, NULL, buffer_write_collect, keys, err));
	return shd_vec_check(keys, err);
}

int sherd_graph_delete_nodes(sherd_graph *g, const sherd_graph_id *ids, size_t count, uint64_t *deleted,
                             sherd_error *err)
{
	SHD_AUTO_VEC shd_rfdb_edge_key_vec keys = {0};
	uint64_t live = 0;
	TRY(shd_graph_check_writable(g, err));
	/* All that can fail but for memory goes first: edges of all, then the deeds. */
	for (size_t i = 0; i < count; i++) {
		int rc = sherd_graph_exists(g, ids[i], err);
		TRY(rc);
		for (int incoming = 0; rc && incoming < 2; incoming++)
			TRY(shd_graph_collect_edges(g, graph_id_in(ids[i]), incoming, &keys, err));
	}
	for (size_t i = 0; i < keys.count; i++)
		if (!shd_graph_buffer_kill_edge(&g->buffer, &keys.items[i]))
			return shd_graph_break(g, err);
	for (size_t i = 0; i < count; i++) {
		if (sherd_graph_exists(g, ids[i], NULL) <= 0)
			continue;
		if (!shd_graph_buffer_kill_node(&g->buffer, graph_id_in(ids[i])))
			return shd_graph_break(g, err);
		live++;
	}
	if (live)
		g->buffer.only_updates = false;
	if (deleted)
		*deleted = live;
	return SHERD_OK;
}

int shd_graph_settle(const sherd_graph *g, sherd_error *err)
{
	/* A writer belongs to one thread: nobody sees it. */
	return shd_graph_buffer_settle((graph_buffer *)(uintptr_t)&g->buffer) ? SHERD_OK : shd_fail_nomem(err);
}

int shd_graph_edge_lives(const sherd_graph *g, const shd_rfdb_edge_key *key, sherd_error *err)
{
	graph_row row;
	TRY(shd_graph_settle(g, err));
	const graph_new_edge *fresh = shd_graph_buffer_edge(&g->buffer, key);
	return fresh ? !graph_edge_is_dead(fresh) : shd_graph_view_edge(&g->view, key, &row, err);
}

int sherd_graph_delete_edges(sherd_graph *g, const sherd_graph_edge *edges, size_t count, uint64_t *deleted,
                             sherd_error *err)
{
	uint64_t live = 0;
	TRY(shd_graph_check_writable(g, err));
	TRY(shd_graph_check_edges(g, edges, count, err));
	for (size_t i = 0; i < count; i++) {
		const shd_rfdb_edge_key key = {.src = graph_id_in(edges[i].src),
		                               .dst = graph_id_in(edges[i].dst),
		                               .type = graph_text_in(edges[i].type)};
		int rc = shd_graph_edge_lives(g, &key, err);
		if (rc < 0) {
			g->mode = live ? GRAPH_BROKEN : g->mode;
			return rc;
		}
		if (rc && !shd_graph_buffer_kill_edge(&g->buffer, &key))
			return shd_graph_break(g, err);
		live += (uint64_t)rc;
	}
	if (live)
		g->buffer.only_updates = false;
	if (deleted)
		*deleted = live;
	return SHERD_OK;
}

uint64_t sherd_graph_pending(const sherd_graph *g)
{
	return (uint64_t)g->buffer.node_count + g->buffer.edge_count;
}

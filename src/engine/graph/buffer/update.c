/* engine/graph/buffer/update.c - replacing what belongs to one file.
 *
 * First everything that may fail is looked up, then the buffer is changed. */
#include "engine/graph/buffer/metadata.h"
#include "engine/graph/buffer/write.h"

#include <stdlib.h>

typedef struct update {
	sherd_graph *graph;
	shd_str file;
	graph_ids fresh;            /* ids of the new nodes */
	SHD_VEC(shd_u128) old;      /* live nodes of the file */
	graph_ids old_set;          /* the same */
	shd_rfdb_edge_key_vec gone; /* live edges that belong to the file; some twice */
	graph_keys gone_set;        /* the same */
	sherd_graph_update_result change;
} update;

static void update_done(update *u)
{
	shd_graph_ids_done(&u->fresh);
	shd_graph_ids_done(&u->old_set);
	shd_graph_keys_done(&u->gone_set);
	shd_vec_done(&u->old);
	shd_vec_done(&u->gone);
}

static int note_fresh(update *u, const sherd_graph_node *nodes, size_t count, sherd_error *err)
{
	for (size_t i = 0; i < count; i++) {
		shd_str file = graph_text_in(nodes[i].file);
		if (file.len != u->file.len || memcmp(file.ptr, u->file.ptr, file.len) != 0)
			return shd_fail_of(err, SHERD_EINVAL, "other-file", i, "the node is not of the file");
	}
	/* From the end, since the first one noted stays and the last one counts. */
	for (size_t i = count; i-- > 0;) {
		bool ok;
		(void)shd_graph_ids_add(&u->fresh, graph_id_in(nodes[i].id), (uint32_t)i, &ok);
		if (!ok)
			return shd_fail_nomem(err);
	}
	return SHERD_OK;
}

static bool note_old(void *arg, const sherd_graph_node *node)
{
	update *u = arg;
	bool ok;
	shd_u128 id = graph_id_in(node->id);
	shd_vec_push(&u->old, id);
	(void)shd_graph_ids_add(&u->old_set, id, 0, &ok);
	u->old.failed = u->old.failed || !ok;
	return !u->old.failed;
}

static bool survives(const update *u, shd_u128 id)
{
	return shd_graph_ids_find(&u->fresh, id) != GRAPH_IDS_NONE;
}

/* Rows of a segment whose metadata may speak of a file; looked for once. */
static int contexts_of(graph_segment *s, sherd_error *err)
{
	if (s->contexts_known)
		return SHERD_OK;
	shd_str all = {s->rows.strings.text, s->rows.strings.text_len};
	for (uint64_t row = 0; shd_graph_may_name_file(all) && row < s->rows.rows; row++) {
		shd_str text;
		if (shd_rfdb_segment_text(&s->rows, SHD_RFDB_EDGE_METADATA, row, &text) &&
		    shd_graph_may_name_file(text))
			shd_vec_push(&s->contexts, row);
	}
	s->contexts_known = !s->contexts.failed;
	if (!s->contexts_known) {
		shd_vec_done(&s->contexts);
		return shd_fail_nomem(err);
	}
	return SHERD_OK;
}

static int gather_contexts(update *u, size_t i, sherd_error *err)
{
	const graph_view *v = &u->graph->view;
	graph_segment *s = v->lists[SHD_RFDB_EDGES].items[i];
	TRY(contexts_of(s, err));
	for (size_t k = 0; k < s->contexts.count; k++) {
		shd_rfdb_edge edge;
		TRY(shd_graph_segment_read_edge(s, s->contexts.items[k], &edge, err));
		if (!shd_graph_names_file(edge.metadata, u->file))
			continue;
		const shd_rfdb_edge_key key = {.src = edge.src, .dst = edge.dst, .type = edge.type};
		int rc = 0;
		if (!shd_graph_buffer_edge(&u->graph->buffer, &key))
			rc = shd_graph_view_edge_lives(v, i, s->contexts.items[k], &key, err);
		TRY(rc);
		if (rc)
			shd_vec_push(&u->gone, key);
	}
	return shd_vec_check(&u->gone, err);
}

static int gather_fresh_contexts(update *u, sherd_error *err)
{
	const graph_buffer *b = &u->graph->buffer;
	for (size_t i = 0; i < b->contexts.count; i++) {
		const graph_new_edge *e = &b->edges[b->contexts.items[i]];
		if (!graph_edge_is_dead(e) && shd_graph_names_file(e->metadata, u->file))
			shd_vec_push(&u->gone, e->key);
	}
	return shd_vec_check(&u->gone, err);
}

/* What the file has now: nodes, edges from them, edges to those that vanish, edges in its context. */
static int update_gather(update *u, sherd_error *err)
{
	const sherd_graph_query query = {.file = graph_text_out(u->file)};
	TRY(shd_graph_settle(u->graph, err));
	TRY(sherd_graph_find(u->graph, &query, note_old, u, err));
	TRY(shd_vec_check(&u->old, err));
	const shd_u128 *old = u->old.items;
	for (size_t i = 0; i < u->old.count; i++) {
		TRY(shd_graph_collect_edges(u->graph, old[i], false, &u->gone, err));
		if (!survives(u, old[i]))
			TRY(shd_graph_collect_edges(u->graph, old[i], true, &u->gone, err));
	}
	for (size_t i = 0; i < u->graph->view.lists[SHD_RFDB_EDGES].count; i++)
		TRY(gather_contexts(u, i, err));
	return gather_fresh_contexts(u, err);
}

static int check_sources(const update *u, const sherd_graph_edge *edges, size_t count, sherd_error *err)
{
	for (size_t i = 0; i < count; i++) {
		shd_u128 src = graph_id_in(edges[i].src);
		if (survives(u, src))
			continue;
		int rc = sherd_graph_exists(u->graph, edges[i].src, err);
		TRY(rc);
		if (!rc || shd_graph_ids_find(&u->old_set, src) != GRAPH_IDS_NONE)
			return shd_at_index(err, shd_graph_fail_source(src, err), i);
	}
	return SHERD_OK;
}

static bool same_text(sherd_graph_text a, sherd_graph_text b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Do they say the same? Other programs write keys in another order, and append the mark of exported nodes. */
static int is_same_metadata(sherd_graph_text a, sherd_graph_text b, sherd_error *err)
{
	char *texts[2] = {NULL, NULL};
	size_t lens[2] = {0, 0};
	if (same_text(a, b))
		return 1;
	if (shd_graph_is_exported(graph_text_in(a)) != shd_graph_is_exported(graph_text_in(b)))
		return 0;
	int rc = sherd_graph_metadata(&texts[0], &lens[0], a, false, NULL);
	if (rc == SHERD_OK)
		rc = sherd_graph_metadata(&texts[1], &lens[1], b, false, NULL);
	bool same = rc == SHERD_OK && lens[0] == lens[1] && memcmp(texts[0], texts[1], lens[0]) == 0;
	free(texts[0]);
	free(texts[1]);
	return rc == SHERD_ENOMEM ? shd_fail_nomem(err) : same;
}

/* Is the node that is there already as the new one will be stored? 1, or 0. */
static int is_same_node(const sherd_graph_node *before, const sherd_graph_node *n, sherd_error *err)
{
	SHD_AUTO_FREE char *owned = NULL;
	shd_str metadata;
	TRY(shd_graph_stored_metadata(n, &owned, &metadata, err));
	bool same = before->content_hash == n->content_hash && same_text(before->semantic_id, n->semantic_id) &&
	            same_text(before->type, n->type) && same_text(before->name, n->name) &&
	            same_text(before->file, n->file);
	return same ? is_same_metadata(before->metadata, graph_text_out(metadata), err) : 0;
}

static int count_nodes(update *u, const sherd_graph_node *nodes, size_t count, sherd_error *err)
{
	for (size_t i = 0; i < u->old.count; i++)
		u->change.nodes_removed += !survives(u, u->old.items[i]);
	for (size_t i = 0; i < count; i++) {
		sherd_graph_node before;
		if (shd_graph_ids_find(&u->fresh, graph_id_in(nodes[i].id)) != i)
			continue; /* the same id again */
		int rc = sherd_graph_get(&before, u->graph, nodes[i].id, err);
		TRY(rc);
		u->change.nodes_added += !rc;
		if (!rc)
			continue;
		rc = is_same_node(&before, &nodes[i], err);
		TRY(rc);
		u->change.nodes_changed += !rc;
	}
	return SHERD_OK;
}

/* Each edge that goes, once. */
static int update_sift(update *u, sherd_error *err)
{
	shd_rfdb_edge_key *list = u->gone.items;
	size_t kept = 0;
	u->gone_set.stride = sizeof(*list);
	for (size_t i = 0; i < u->gone.count; i++) {
		bool ok;
		if (shd_graph_keys_add(&u->gone_set, list, &list[i], (uint32_t)kept, &ok) == GRAPH_KEYS_NONE)
			list[kept++] = list[i];
		if (!ok)
			return shd_fail_nomem(err);
	}
	u->gone.count = kept;
	return SHERD_OK;
}

static int count_edges(update *u, const sherd_graph_edge *edges, size_t count, sherd_error *err)
{
	graph_keys seen = {.stride = sizeof(shd_rfdb_edge_key)};
	shd_rfdb_edge_key *list = malloc((count + 1) * sizeof(*list));
	int rc = list && u->gone.count < UINT32_MAX ? SHERD_OK : shd_fail_nomem(err);
	u->change.edges_removed = u->gone.count;
	for (size_t i = 0, kept = 0; rc >= 0 && i < count; i++) {
		list[kept] = (shd_rfdb_edge_key){.src = graph_id_in(edges[i].src),
		                                 .dst = graph_id_in(edges[i].dst),
		                                 .type = graph_text_in(edges[i].type)};
		bool ok;
		if (shd_graph_keys_add(&seen, list, &list[kept], (uint32_t)kept, &ok) != GRAPH_KEYS_NONE)
			continue;
		if (!ok) {
			rc = shd_fail_nomem(err);
			break;
		}
		if (shd_graph_keys_find(&u->gone_set, u->gone.items, &list[kept]) != GRAPH_KEYS_NONE)
			u->change.edges_removed--;
		else if ((rc = shd_graph_edge_lives(u->graph, &list[kept], err)) == 0)
			u->change.edges_added++;
		kept++;
	}
	shd_graph_keys_done(&seen);
	free(list);
	return rc < 0 ? rc : SHERD_OK;
}

static int apply(update *u, const sherd_graph_node *nodes, size_t node_count, const sherd_graph_edge *edges,
                 size_t edge_count, sherd_error *err)
{
	sherd_graph *g = u->graph;
	if (!graph_is_dirty(g))
		g->buffer.only_updates = true;
	for (size_t i = 0; i < u->gone.count; i++)
		if (!shd_graph_buffer_kill_edge(&g->buffer, &u->gone.items[i]))
			return shd_graph_break(g, err);
	for (size_t i = 0; i < u->old.count; i++)
		if (!survives(u, u->old.items[i]) && !shd_graph_buffer_kill_node(&g->buffer, u->old.items[i]))
			return shd_graph_break(g, err);
	int rc = shd_graph_put_nodes(g, nodes, node_count, err);
	if (rc == SHERD_OK)
		rc = shd_graph_put_edges(g, edges, edge_count, err);
	if (rc < 0)
		g->mode = GRAPH_BROKEN;
	return rc;
}

/* Edges are counted on from the nodes. */
static int after_nodes(sherd_error *err, int rc, size_t node_count)
{
	return rc < 0 && err && err->index != SHERD_NO_INDEX ? shd_at_index(err, rc, err->index + node_count) : rc;
}

int sherd_graph_update_file(sherd_graph *g, sherd_graph_text file, const sherd_graph_node *nodes, size_t node_count,
                            const sherd_graph_edge *edges, size_t edge_count, sherd_graph_update_result *change,
                            sherd_error *err)
{
	SHD_DONE(update_done) update u = {.graph = g, .file = graph_text_in(file)};
	TRY(shd_graph_check_writable(g, err));
	TRY(shd_graph_check_nodes(g, nodes, node_count, err));
	TRY(after_nodes(err, shd_graph_check_edges(g, edges, edge_count, err), node_count));
	TRY(note_fresh(&u, nodes, node_count, err));
	TRY(update_gather(&u, err));
	TRY(after_nodes(err, check_sources(&u, edges, edge_count, err), node_count));
	TRY(count_nodes(&u, nodes, node_count, err));
	TRY(update_sift(&u, err));
	TRY(count_edges(&u, edges, edge_count, err));
	TRY(apply(&u, nodes, node_count, edges, edge_count, err));
	if (change)
		*change = u.change;
	return SHERD_OK;
}

int sherd_graph_delete_file(sherd_graph *g, sherd_graph_text file, sherd_graph_update_result *change, sherd_error *err)
{
	return sherd_graph_update_file(g, file, NULL, 0, NULL, 0, change, err);
}

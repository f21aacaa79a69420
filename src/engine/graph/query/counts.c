#include "engine/graph/query/counts.h"

#include "engine/graph/flush/flush.h"
#include "engine/graph/buffer/write.h"

#include <stdlib.h>

void shd_graph_tally_add(graph_tally *t, shd_str type, uint64_t by)
{
	size_t slot = (uintptr_t)type.ptr / 16 % GRAPH_TALLY_RECENT;
	const shd_str *known = &t->recent[slot].type;
	bool again = known->ptr == type.ptr && known->len == type.len && type.len;
	size_t at = again ? t->recent[slot].place : shd_map_find(&t->map, type);
	if (at == SHD_MAP_NONE) {
		bool ok;
		shd_rfdb_count c = {.type = {shd_arena_str(&t->arena, type), type.len}};
		at = t->list.count;
		if (c.type.ptr)
			shd_vec_push(&t->list, c);
		if (!c.type.ptr || t->list.failed) {
			t->failed = true;
			return;
		}
		(void)shd_map_add(&t->map, c.type, at, &ok);
		t->failed = t->failed || !ok;
	}
	if (t->list.items)
		t->list.items[at].count += by;
	t->recent[slot].type = type;
	t->recent[slot].place = at;
}

static int query_counts_compare(const void *left, const void *right)
{
	const shd_rfdb_count *a = left, *b = right;
	size_t n = a->type.len < b->type.len ? a->type.len : b->type.len;
	int c = memcmp(a->type.ptr, b->type.ptr, n);
	return c ? c : (a->type.len > b->type.len) - (a->type.len < b->type.len);
}

void shd_graph_tally_done(graph_tally *t)
{
	shd_map_done(&t->map);
	shd_vec_done(&t->list);
	shd_arena_done(&t->arena);
}

/* Into the counts of a kind: ascending, without types that have none. */
static int query_counts_finish(graph_tally *t, graph_counts *out, shd_rfdb_kind kind, sherd_error *err)
{
	shd_rfdb_count *list = t->list.items;
	size_t count = t->list.count, kept = 0;
	if (t->failed)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		if (list[i].count)
			list[kept++] = list[i];
	if (kept)
		qsort(list, kept, sizeof(*list), query_counts_compare);
	for (size_t i = 0; i < kept; i++) {
		list[i].type.ptr = shd_arena_str(&out->arena, list[i].type);
		if (!list[i].type.ptr)
			return shd_fail_nomem(err);
	}
	t->list.count = kept;
	return shd_vec_keep(&t->list, &out->arena, &out->of[kind], err);
}

int shd_graph_tally_segment(graph_tally *t, const graph_segment *s, sherd_error *err)
{
	const shd_rfdb_sidecar *x;
	TRY(shd_graph_segment_index(s, GRAPH_BY_TYPE, &x, err));
	for (uint32_t i = 0; i < x->by_type.count; i++) {
		shd_str type;
		shd_rfdb_rows rows;
		if (shd_rfdb_groups_at(&x->by_type, &s->rows, i, &type, &rows))
			shd_graph_tally_add(t, type, rows.count);
	}
	return SHERD_OK;
}

static int row_lives(const graph_view *v, shd_rfdb_kind kind, size_t i, uint64_t row, sherd_error *err)
{
	const graph_segment *s = v->lists[kind].items[i];
	shd_rfdb_edge edge;
	if (kind == SHD_RFDB_NODES)
		return shd_graph_view_node_lives(v, i, row, err);
	TRY(shd_graph_segment_read_edge(s, row, &edge, err));
	const shd_rfdb_edge_key key = {.src = edge.src, .dst = edge.dst, .type = edge.type};
	return shd_graph_view_edge_lives(v, i, row, &key, err);
}

static int count_view(graph_tally *t, const graph_view *v, shd_rfdb_kind kind, sherd_error *err)
{
	shd_rfdb_column column = kind == SHD_RFDB_NODES ? SHD_RFDB_NODE_TYPE : SHD_RFDB_EDGE_TYPE;
	for (size_t i = 0; i < v->lists[kind].count; i++) {
		const graph_segment *s = v->lists[kind].items[i];
		if (shd_graph_view_is_plain(v, kind, i)) {
			TRY(shd_graph_tally_segment(t, s, err));
			continue;
		}
		for (uint64_t row = 0; row < s->rows.rows; row++) {
			shd_str type = {"", 0};
			int rc = row_lives(v, kind, i, row, err);
			TRY(rc);
			if (rc && shd_rfdb_segment_text(&s->rows, column, row, &type))
				shd_graph_tally_add(t, type, 1);
		}
	}
	return SHERD_OK;
}

static int count_all(const graph_view *v, graph_counts *out, sherd_error *err)
{
	graph_counts c = {.known = true};
	int rc = SHERD_OK;
	for (unsigned kind = 0; rc == SHERD_OK && kind < 2; kind++) {
		SHD_DONE(shd_graph_tally_done) graph_tally t = {0};
		rc = count_view(&t, v, kind, err);
		if (rc == SHERD_OK)
			rc = query_counts_finish(&t, &c, kind, err);
	}
	if (rc < 0)
		shd_graph_counts_done(&c);
	else
		*out = c;
	return rc;
}

int shd_graph_counts_know(const sherd_graph *graph, const graph_counts **out, sherd_error *err)
{
	/* Counting once changes nothing that a caller can see. */
	sherd_graph *g = (sherd_graph *)(uintptr_t)graph;
	pthread_mutex_lock(&g->counting);
	int rc = g->counts.known ? SHERD_OK : count_all(&g->view, &g->counts, err);
	pthread_mutex_unlock(&g->counting);
	if (rc == SHERD_OK)
		*out = &g->counts;
	return rc;
}

static int type_below(const graph_row *r, shd_rfdb_column column, shd_str *type)
{
	*type = (shd_str){"", 0};
	return shd_rfdb_segment_text(&r->segment->rows, column, r->row, type);
}

/* What the version has under the id lives no more. */
static int take_node(graph_tally *t, const sherd_graph *g, shd_u128 id, sherd_error *err)
{
	graph_row below;
	shd_str type;
	int rc = shd_graph_view_node(&g->view, id, &below, err);
	TRY(rc);
	if (rc && type_below(&below, SHD_RFDB_NODE_TYPE, &type))
		shd_graph_tally_add(t, type, (uint64_t)-1);
	return SHERD_OK;
}

static int add_nodes(graph_tally *t, const sherd_graph *g, sherd_error *err)
{
	for (size_t i = 0; i < g->buffer.node_count; i++) {
		const graph_new_node *n = &g->buffer.nodes[i];
		TRY(take_node(t, g, n->node.id, err));
		if (!n->dead)
			shd_graph_tally_add(t, n->node.type, 1);
	}
	return SHERD_OK;
}

static int add_edges(graph_tally *t, const sherd_graph *g, sherd_error *err)
{
	for (size_t i = 0; i < g->buffer.edge_count; i++) {
		const graph_new_edge *e = &g->buffer.edges[i];
		graph_row below;
		int rc = shd_graph_view_edge(&g->view, &e->key, &below, err);
		TRY(rc);
		if (rc)
			shd_graph_tally_add(t, e->key.type, (uint64_t)-1);
		if (!graph_edge_is_dead(e))
			shd_graph_tally_add(t, e->key.type, 1);
	}
	return SHERD_OK;
}

static void add_counts(graph_tally *t, const shd_rfdb_types *types)
{
	for (size_t i = 0; i < types->count; i++)
		shd_graph_tally_add(t, types->items[i].type, types->items[i].count);
}

void shd_graph_tally_merge(graph_tally *t, const graph_tally *more)
{
	add_counts(t, &(shd_rfdb_types){more->list.items, more->list.count});
	t->failed = t->failed || more->failed;
}

/* What the buffer does to the counts of a kind. */
static int add_buffer(graph_tally *t, const sherd_graph *g, shd_rfdb_kind kind, sherd_error *err)
{
	return kind == SHD_RFDB_NODES ? add_nodes(t, g, err) : add_edges(t, g, err);
}

/* The same, as those have found who wrote the targets. */
static int add_targets(graph_tally *t, const graph_flush *f, shd_rfdb_kind kind, sherd_error *err)
{
	const graph_buffer *b = &f->graph->buffer;
	for (size_t i = 0; i < f->targets.count; i++)
		if (f->targets.items[i].kind == kind)
			shd_graph_tally_merge(t, &f->targets.items[i].counts);
	for (size_t i = 0; kind == SHD_RFDB_NODES && i < b->node_count; i++)
		if (b->nodes[i].dead)
			TRY(take_node(t, f->graph, b->nodes[i].node.id, err));
	return SHERD_OK;
}

/* Those of the open version and more. f NULL: what the buffer says is counted here. */
static int count_ahead(const sherd_graph *g, const graph_flush *f, graph_counts *out, sherd_error *err)
{
	const graph_counts *now;
	graph_counts c = {.known = true};
	int rc = shd_graph_counts_know(g, &now, err);
	for (unsigned kind = 0; rc == SHERD_OK && kind < 2; kind++) {
		SHD_DONE(shd_graph_tally_done) graph_tally t = {0};
		add_counts(&t, &now->of[kind]);
		rc = f ? add_targets(&t, f, kind, err) : add_buffer(&t, g, kind, err);
		if (rc == SHERD_OK)
			rc = query_counts_finish(&t, &c, kind, err);
	}
	if (rc < 0)
		shd_graph_counts_done(&c);
	else
		*out = c;
	return rc;
}

int shd_graph_counts_ahead(const sherd_graph *g, graph_counts *out, sherd_error *err)
{
	TRY(shd_graph_settle(g, err));
	return count_ahead(g, NULL, out, err);
}

int shd_graph_flush_count(graph_flush *f, sherd_error *err)
{
	return count_ahead(f->graph, f, &f->counts, err);
}

int shd_graph_counts_take(graph_counts *c, const shd_rfdb_counts *from, sherd_error *err)
{
	graph_counts mine = {.known = from->known};
	int rc = SHERD_OK;
	for (unsigned kind = 0; rc == SHERD_OK && mine.known && kind < 2; kind++) {
		SHD_DONE(shd_graph_tally_done) graph_tally t = {0};
		add_counts(&t, &from->of[kind]);
		rc = query_counts_finish(&t, &mine, kind, err);
	}
	if (rc < 0)
		shd_graph_counts_done(&mine);
	else
		*c = mine;
	return rc;
}

uint64_t shd_graph_counts_sum(const shd_rfdb_types *types)
{
	uint64_t total = 0;
	for (size_t i = 0; i < types->count; i++)
		total += types->items[i].count;
	return total;
}

void shd_graph_counts_done(graph_counts *c)
{
	shd_arena_done(&c->arena);
	*c = (graph_counts){0};
}

/* engine/graph/emit_nodes.c - the rows of a segment of nodes. */
#include "engine/graph/emit.h"

#include "base/large.h"

#include <stdlib.h>

typedef struct emission {
	graph_flush *flush;
	graph_target *target;
	sherd_rfdb_keyed *rows;
	size_t count;
} emission;

/* Is the row to be kept, as far as this can be told without its neighbours? 1, or 0. */
static int keeps(const emission *e, size_t place, uint64_t row, sherd_u128 id, bool asks, sherd_error *err)
{
	const sherd_graph *g = e->flush->graph;
	bool buried = g->view.dead_node_count && sherd_graph_ids_find(&g->view.dead_node_set, id) != GRAPH_IDS_NONE;
	if (buried)
		sherd_buf_append(&e->target->unburied_nodes, &id, sizeof(id));
	if (buried || sherd_graph_buffer_node(&g->buffer, id))
		return 0;
	return asks ? sherd_graph_view_node_lives(&g->view, place, row, err) : 1;
}

static int gather_segment(emission *e, uint64_t number, sherd_error *err)
{
	size_t place;
	const graph_segment *s = sherd_graph_emit_merged(e->flush, e->target, number, &place);
	int asks = sherd_graph_emit_asks(e->flush, e->target, number, err);
	TRY(asks);
	for (uint64_t row = 0; row < s->rows.rows; row++) {
		sherd_u128 id = sherd_rfdb_segment_id(&s->rows, row);
		int rc = keeps(e, place, row, id, asks, err);
		TRY(rc);
		if (rc)
			e->rows[e->count++] = sherd_rfdb_keyed_of(id, number << GRAPH_ROW_BITS | row);
	}
	TRY(sherd_buf_check(&e->target->unburied_nodes, err));
	return sherd_meter_add(&e->flush->meter, s->rows.rows, err);
}

static int gather(emission *e, sherd_error *err)
{
	const graph_buffer *b = &e->flush->graph->buffer;
	const uint32_t *fresh = (const uint32_t *)(const void *)e->target->fresh.data;
	for (size_t i = 0; i < e->target->fresh.len / sizeof(*fresh); i++)
		e->rows[e->count++] = sherd_rfdb_keyed_of(b->nodes[fresh[i]].node.id, fresh[i]);
	for (uint64_t n = 1; n <= e->target->merged.len / sizeof(size_t); n++)
		TRY(gather_segment(e, n, err));
	return SHERD_OK;
}

static int read_node(const emission *e, uint64_t code, sherd_rfdb_node *out, sherd_error *err)
{
	size_t place;
	if (code >> GRAPH_ROW_BITS == 0) {
		*out = e->flush->graph->buffer.nodes[code].node;
		return SHERD_OK;
	}
	const graph_segment *s = sherd_graph_emit_merged(e->flush, e->target, code >> GRAPH_ROW_BITS, &place);
	return sherd_graph_segment_read_node(s, code & GRAPH_ROW_MASK, out, err);
}

/* Rows are asked for in another order than they lie in: waiting for each would cost more than the rest. */
enum { ROWS_AHEAD = 16, TEXTS_AHEAD = 8 };

static void fetch_ahead(const emission *e, size_t i)
{
	const graph_buffer *b = &e->flush->graph->buffer;
	if (e->count - i <= ROWS_AHEAD || e->rows[i + ROWS_AHEAD].row >> GRAPH_ROW_BITS ||
	    e->rows[i + TEXTS_AHEAD].row >> GRAPH_ROW_BITS)
		return;
	const char *node = (const char *)&b->nodes[e->rows[i + ROWS_AHEAD].row];
	__builtin_prefetch(node);
	__builtin_prefetch(node + 64);
	const sherd_rfdb_node *nearer = &b->nodes[e->rows[i + TEXTS_AHEAD].row].node;
	__builtin_prefetch(nearer->semantic_id.ptr);
	__builtin_prefetch(nearer->name.ptr);
	__builtin_prefetch(nearer->metadata.ptr);
}

/* Of rows with one id, which stand together, the first counts. */
static int write_rows(const emission *e, sherd_rfdb_writer *w, sherd_error *err)
{
	for (size_t i = 0; i < e->count; i++) {
		sherd_rfdb_node node;
		fetch_ahead(e, i);
		if (i && e->rows[i].low == e->rows[i - 1].low && e->rows[i].high == e->rows[i - 1].high)
			continue;
		TRY(read_node(e, e->rows[i].row, &node, err));
		TRY(sherd_rfdb_writer_node(w, &node, err));
	}
	return SHERD_OK;
}

int sherd_graph_emit_nodes(graph_flush *f, graph_target *t, sherd_rfdb_writer *w, sherd_error *err)
{
	emission e = {.flush = f, .target = t};
	e.rows = sherd_large_alloc((size_t)(t->rows + 1) * sizeof(*e.rows));
	if (!e.rows)
		return sherd_fail_nomem(err);
	int rc = gather(&e, err);
	if (rc == SHERD_OK)
		rc = sherd_rfdb_sort(e.rows, e.count, err);
	if (rc == SHERD_OK)
		rc = sherd_rfdb_writer_reserve(w, e.count, err);
	if (rc == SHERD_OK)
		rc = write_rows(&e, w, err);
	free(e.rows);
	return rc == SHERD_OK ? sherd_meter_add(&f->meter, t->fresh_rows, err) : rc;
}

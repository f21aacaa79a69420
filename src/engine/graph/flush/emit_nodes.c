/* engine/graph/flush/emit_nodes.c - the rows of a segment of nodes. */
#include "engine/graph/flush/emit.h"

#include "base/large.h"

#include <stdlib.h>

typedef struct emission {
	graph_flush *flush;
	graph_target *target;
	shd_rfdb_keyed *rows;
	size_t count;
} emission;

/* Is the row to be looked at? What the buffer has for its id stands beside it after sorting, unless it is in another
 * shard or dead. 1, or 0. */
static int competes(const emission *e, size_t place, uint64_t row, shd_u128 id, bool asks, sherd_error *err)
{
	const sherd_graph *g = e->flush->graph;
	bool buried = g->view.dead_node_count && shd_graph_ids_find(&g->view.dead_node_set, id) != GRAPH_IDS_NONE;
	if (buried) {
		shd_vec_push(&e->target->unburied_nodes, id);
		return 0;
	}
	const graph_new_node *fresh = shd_graph_buffer_node(&g->buffer, id);
	if (fresh && (fresh->dead || e->flush->scattered))
		return 0;
	return asks ? shd_graph_view_node_lives(&g->view, place, row, err) : 1;
}

static int gather_segment(emission *e, uint64_t number, sherd_error *err)
{
	size_t place;
	const graph_segment *s = shd_graph_emit_merged(e->flush, e->target, number, &place);
	int asks = shd_graph_emit_asks(e->flush, e->target, number, err);
	uint64_t taken = 0;
	TRY(asks);
	for (uint64_t row = 0; row < s->rows.rows; row++) {
		shd_u128 id = shd_rfdb_segment_id(&s->rows, row);
		if (shd_graph_flush_shard(e->flush, s, id) != e->target->shard)
			continue;
		taken++;
		int rc = competes(e, place, row, id, asks, err);
		TRY(rc);
		if (rc)
			e->rows[e->count++] = shd_rfdb_keyed_of(id, number << GRAPH_ROW_BITS | row);
	}
	TRY(shd_vec_check(&e->target->unburied_nodes, err));
	return shd_meter_add(&e->flush->meter, taken, err);
}

static int emit_nodes_gather(emission *e, sherd_error *err)
{
	const graph_buffer *b = &e->flush->graph->buffer;
	for (size_t i = 0; i < e->target->fresh.count; i++) {
		uint32_t at = e->target->fresh.items[i];
		e->rows[e->count++] = shd_rfdb_keyed_of(b->nodes[at].node.id, at);
	}
	for (uint64_t n = 1; n <= e->target->merged.count; n++)
		TRY(gather_segment(e, n, err));
	return SHERD_OK;
}

static int read_node(const emission *e, uint64_t code, shd_rfdb_node *out, sherd_error *err)
{
	size_t place;
	if (code >> GRAPH_ROW_BITS == 0) {
		*out = e->flush->graph->buffer.nodes[code].node;
		return SHERD_OK;
	}
	const graph_segment *s = shd_graph_emit_merged(e->flush, e->target, code >> GRAPH_ROW_BITS, &place);
	return shd_graph_segment_read_node(s, code & GRAPH_ROW_MASK, out, err);
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
	const shd_rfdb_node *nearer = &b->nodes[e->rows[i + TEXTS_AHEAD].row].node;
	__builtin_prefetch(nearer->semantic_id.ptr);
	__builtin_prefetch(nearer->name.ptr);
	__builtin_prefetch(nearer->metadata.ptr);
}

static bool same_id(const shd_rfdb_keyed *a, const shd_rfdb_keyed *b)
{
	return a->low == b->low && a->high == b->high;
}

/* The type of the live row that a node of the buffer takes the place of: 1, or 0. next: what stands beside it. */
static int type_before(const emission *e, const shd_rfdb_keyed *at, const shd_rfdb_keyed *next, shd_str *type,
                       sherd_error *err)
{
	graph_row row = {0};
	size_t place;
	int rc = 1;
	if (next) {
		row.segment = shd_graph_emit_merged(e->flush, e->target, next->row >> GRAPH_ROW_BITS, &place);
		row.row = next->row & GRAPH_ROW_MASK;
	} else {
		const graph_flush *f = e->flush;
		const graph_new_node *node = &f->graph->buffer.nodes[at->row];
		rc = f->known[at->row] ? shd_graph_view_node(&f->graph->view, node->node.id, &row, err) : 0;
	}
	return rc > 0 ? shd_rfdb_segment_text(&row.segment->rows, SHD_RFDB_NODE_TYPE, row.row, type) : rc;
}

/* The rows [i, to) have one id; the first counts. */
static int write_row(const emission *e, shd_rfdb_writer *w, size_t i, size_t to, sherd_error *err)
{
	shd_rfdb_node node;
	shd_str type;
	TRY(read_node(e, e->rows[i].row, &node, err));
	if (e->rows[i].row >> GRAPH_ROW_BITS == 0) {
		int rc = type_before(e, &e->rows[i], to - i > 1 ? &e->rows[i + 1] : NULL, &type, err);
		TRY(rc);
		if (rc)
			shd_graph_tally_add(&e->target->counts, type, (uint64_t)-1);
		shd_graph_tally_add(&e->target->counts, node.type, 1);
	}
	return shd_rfdb_writer_node(w, &node, err);
}

static int write_rows(const emission *e, shd_rfdb_writer *w, sherd_error *err)
{
	for (size_t i = 0, next; i < e->count; i = next) {
		fetch_ahead(e, i);
		for (next = i + 1; next < e->count && same_id(&e->rows[i], &e->rows[next]); next++)
			;
		TRY(write_row(e, w, i, next, err));
	}
	return SHERD_OK;
}

int shd_graph_emit_nodes(graph_flush *f, graph_target *t, shd_rfdb_writer *w, sherd_error *err)
{
	emission e = {.flush = f, .target = t};
	e.rows = shd_large_alloc((size_t)(t->rows + 1) * sizeof(*e.rows));
	int rc = e.rows ? emit_nodes_gather(&e, err) : shd_fail_nomem(err);
	if (rc == SHERD_OK)
		rc = shd_rfdb_sort(e.rows, e.count, err);
	if (rc == SHERD_OK)
		rc = shd_rfdb_writer_reserve(w, e.count, err);
	if (rc == SHERD_OK)
		rc = write_rows(&e, w, err);
	free(e.rows);
	return rc == SHERD_OK ? shd_meter_add(&f->meter, t->fresh_rows, err) : rc;
}

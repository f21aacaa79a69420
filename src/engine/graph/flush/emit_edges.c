/* engine/graph/flush/emit_edges.c - the rows of a segment of edges.
 *
 * Edges come in runs of one source, as they were added and as they lie in segments: runs are sorted by source, then the
 * edges of each source by destination, type and age. The newest of a key counts; a dead one leaves nothing. */
#include "engine/graph/flush/emit.h"

#include "base/large.h"

#include <stdlib.h>

/* An edge of the source at hand. */
typedef struct candidate {
	shd_rfdb_edge edge; /* of a dead entry of the buffer: metadata NULL */
	uint64_t age;       /* the lower the newer; above GRAPH_ROW_BITS 0 for those of the buffer */
	bool buried;        /* a row under a tombstone */
} candidate;

typedef struct emission {
	graph_flush *flush;
	graph_target *target;
	shd_rfdb_writer *writer;
	shd_rfdb_keyed *runs; /* the code of the first row of each */
	size_t count;
	bool *asks;          /* for each merged segment */
	graph_spot_vec near; /* where segments of the shard that stay have edges of the source at hand */
	SHD_VEC(candidate) candidates;
	uint64_t unmetered; /* rows since progress was told */
} emission;

static bool is_fresh(const candidate *c)
{
	return c->age >> GRAPH_ROW_BITS == 0;
}

static shd_rfdb_edge_key key_of(const shd_rfdb_edge *edge)
{
	return (shd_rfdb_edge_key){.src = edge->src, .dst = edge->dst, .type = edge->type};
}

/* ---- gathering */

static void gather_segment(emission *e, uint64_t number)
{
	size_t place;
	const graph_segment *s = shd_graph_emit_merged(e->flush, e->target, number, &place);
	shd_u128 last = 0;
	for (uint64_t row = 0; row < s->rows.rows; row++) {
		shd_u128 src = shd_rfdb_segment_id(&s->rows, row);
		if ((row == 0 || src != last) && shd_graph_flush_shard(e->flush, s, src) == e->target->shard)
			e->runs[e->count++] = shd_rfdb_keyed_of(src, number << GRAPH_ROW_BITS | row);
		last = src;
	}
}

static int emit_edges_gather(emission *e, sherd_error *err)
{
	const graph_buffer *b = &e->flush->graph->buffer;
	for (size_t i = 0; i < e->target->fresh.count; i++) {
		uint32_t at = e->target->fresh.items[i];
		e->runs[e->count++] = shd_rfdb_keyed_of(b->edges[at].key.src, at);
	}
	for (uint64_t n = 1; n <= e->target->merged.count; n++) {
		int asks = shd_graph_emit_asks(e->flush, e->target, n, err);
		TRY(asks);
		e->asks[n - 1] = asks;
		gather_segment(e, n);
	}
	return SHERD_OK;
}

/* ---- the edges of one source */

static void take_fresh(emission *e, uint64_t at, shd_u128 src)
{
	const graph_buffer *b = &e->flush->graph->buffer;
	for (; at < b->edge_count && b->edges[at].key.src == src; at++) {
		const graph_new_edge *n = &b->edges[at];
		const candidate c = {
			.edge = {.src = src, .dst = n->key.dst, .type = n->key.type, .metadata = n->metadata},
			.age = UINT32_MAX - at};
		shd_vec_push(&e->candidates, c);
		e->unmetered++;
	}
}

/* Is the row to be looked at? The buffer's entry for its key may be in the target of another shard. 1, or 0. */
static int competes(const emission *e, const candidate *c, size_t place, uint64_t row, bool asks, sherd_error *err)
{
	const sherd_graph *g = e->flush->graph;
	const shd_rfdb_edge_key key = key_of(&c->edge);
	if (c->buried)
		return 1;
	if (e->flush->scattered && shd_graph_buffer_edge(&g->buffer, &key))
		return 0;
	return asks ? shd_graph_view_edge_lives(&g->view, place, row, &key, err) : 1;
}

static bool is_buried(const graph_view *v, const shd_rfdb_edge *edge)
{
	const shd_rfdb_edge_key key = key_of(edge);
	return v->dead_edge_count && shd_graph_keys_find(&v->dead_edge_set, v->dead_edges, &key) != GRAPH_KEYS_NONE;
}

static int take_merged(emission *e, uint64_t code, shd_u128 src, sherd_error *err)
{
	size_t place;
	uint64_t number = code >> GRAPH_ROW_BITS;
	const graph_segment *s = shd_graph_emit_merged(e->flush, e->target, number, &place);
	uint64_t row = code & GRAPH_ROW_MASK;
	for (; row < s->rows.rows && shd_rfdb_segment_id(&s->rows, row) == src; row++) {
		candidate c = {.age = number << GRAPH_ROW_BITS | row};
		TRY(shd_graph_segment_read_edge(s, row, &c.edge, err));
		c.buried = is_buried(&e->flush->graph->view, &c.edge);
		int rc = competes(e, &c, place, row, e->asks[number - 1], err);
		TRY(rc);
		if (rc)
			shd_vec_push(&e->candidates, c);
		e->unmetered++;
	}
	return SHERD_OK;
}

static int emit_edges_compare(const void *left, const void *right)
{
	const candidate *a = left, *b = right;
	if (a->edge.dst != b->edge.dst)
		return a->edge.dst < b->edge.dst ? -1 : 1;
	if (a->edge.type.ptr != b->edge.type.ptr || a->edge.type.len != b->edge.type.len) {
		int order = shd_str_compare(a->edge.type, b->edge.type);
		if (order)
			return order;
	}
	return a->age < b->age ? -1 : a->age > b->age;
}

static bool same_key(const candidate *a, const candidate *b)
{
	return a->edge.dst == b->edge.dst && a->edge.type.len == b->edge.type.len &&
	       (a->edge.type.ptr == b->edge.type.ptr ||
	        memcmp(a->edge.type.ptr, b->edge.type.ptr, a->edge.type.len) == 0);
}

/* Most sources have few edges. */
static void sort(candidate *list, size_t count)
{
	enum { FEW = 16 };
	if (count > FEW) {
		qsort(list, count, sizeof(*list), emit_edges_compare);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		if (emit_edges_compare(&list[i - 1], &list[i]) < 0)
			continue;
		candidate c = list[i];
		size_t at = i;
		for (; at > 0 && emit_edges_compare(&list[at - 1], &c) > 0; at--)
			list[at] = list[at - 1];
		list[at] = c;
	}
}

/* ---- one key */

/* Does a segment that stays have a row under the key? 1, or 0. */
static int stands_elsewhere(const emission *e, const shd_rfdb_edge_key *key, sherd_error *err)
{
	const graph_list *list = &e->flush->graph->view.lists[SHD_RFDB_EDGES];
	int rc = 0;
	if (e->flush->scattered)
		return shd_graph_flush_has_edge(e->flush, key, err);
	for (size_t i = 0; i < e->near.count && !rc; i++) {
		uint64_t row = e->near.items[i].row;
		rc = shd_graph_segment_edge_from(list->items[e->near.items[i].place], key, &row, err);
	}
	return rc;
}

/* The row under a tombstone goes; if it was the last one, so does the tombstone. */
static int exhume(emission *e, const shd_rfdb_edge_key *key, sherd_error *err)
{
	const graph_flush *f = e->flush;
	if (f->scattered) {
		const graph_new_edge *fresh = shd_graph_buffer_edge(&f->graph->buffer, key);
		if (fresh && !graph_edge_is_dead(fresh))
			return SHERD_OK; /* its own target takes the tombstone away */
	}
	int rc = stands_elsewhere(e, key, err);
	TRY(rc);
	if (!rc)
		shd_vec_push(&e->target->undead_edges, *key);
	return SHERD_OK;
}

/* Was there a live edge before? merged: among the candidates stands a row. 1, or 0. */
static int lived(const emission *e, const shd_rfdb_edge_key *key, bool merged, bool elsewhere, sherd_error *err)
{
	graph_row row;
	return e->flush->scattered ? shd_graph_view_edge(&e->flush->graph->view, key, &row, err) : merged || elsewhere;
}

/* The newest is an entry of the buffer. */
static int settle_fresh(emission *e, const candidate *list, size_t count, sherd_error *err)
{
	graph_target *t = e->target;
	const shd_rfdb_edge_key key = key_of(&list->edge);
	bool dead = !list->edge.metadata.ptr, buried = is_buried(&e->flush->graph->view, &list->edge);
	int elsewhere = stands_elsewhere(e, &key, err);
	TRY(elsewhere);
	int before = buried ? 0 : lived(e, &key, !is_fresh(&list[count - 1]), elsewhere, err);
	TRY(before);
	if (before)
		shd_graph_tally_add(&t->counts, key.type, (uint64_t)-1);
	if (!dead)
		shd_graph_tally_add(&t->counts, key.type, 1);
	if (dead && !buried && elsewhere)
		shd_vec_push(&t->dead_edges, key);
	if (!dead && buried)
		shd_vec_push(&t->undead_edges, key);
	return dead && buried ? exhume(e, &key, err) : SHERD_OK;
}

/* The candidates of one key, the newest first. */
static int write_key(emission *e, const candidate *list, size_t count, sherd_error *err)
{
	if (!is_fresh(list)) {
		const shd_rfdb_edge_key key = key_of(&list->edge);
		return list->buried ? exhume(e, &key, err) : shd_rfdb_writer_edge(e->writer, &list->edge, err);
	}
	TRY(settle_fresh(e, list, count, err));
	return list->edge.metadata.ptr ? shd_rfdb_writer_edge(e->writer, &list->edge, err) : SHERD_OK;
}

/* ---- all of it */

/* A source that the buffer adds has no edges yet, where every live edge has its source, and none is buried. */
static bool is_new_source(const emission *e, shd_u128 src)
{
	const graph_flush *f = e->flush;
	if (!f->graph->view.placed || f->graph->view.dead_edge_count)
		return false;
	uint32_t at = shd_graph_ids_find(&f->graph->buffer.by_id, src);
	return at != GRAPH_IDS_NONE && !f->graph->buffer.nodes[at].dead && !f->known[at];
}

/* Segments of the shard that stay and have edges of the source. */
static int find_near(emission *e, shd_u128 src, sherd_error *err)
{
	const graph_flush *f = e->flush;
	const graph_list *list = &f->graph->view.lists[SHD_RFDB_EDGES];
	e->near.count = 0;
	if (!list->count || is_new_source(e, src))
		return SHERD_OK;
	SHD_DONE(shd_graph_spots_done) graph_spots spots;
	TRY(shd_graph_view_spots(&f->graph->view, SHD_RFDB_EDGES, src, &spots, err));
	for (size_t i = 0; i < spots.count; i++)
		if (list->items[spots.items[i].place]->shard == e->target->shard &&
		    !f->merge[SHD_RFDB_EDGES][spots.items[i].place])
			shd_vec_push(&e->near, spots.items[i]);
	return shd_vec_check(&e->near, err);
}

/* Runs are asked for in another order than they lie in. */
enum { RUNS_AHEAD = 6 };

static void fetch_ahead(const emission *e, size_t i)
{
	if (e->count - i <= RUNS_AHEAD || e->runs[i + RUNS_AHEAD].row >> GRAPH_ROW_BITS)
		return;
	const char *run = (const char *)&e->flush->graph->buffer.edges[e->runs[i + RUNS_AHEAD].row];
	for (int k = 0; k < 4; k++)
		__builtin_prefetch(run + (ptrdiff_t)(64 * k));
}

/* The runs [from, to) are of one source. */
static int write_source(emission *e, size_t from, size_t to, sherd_error *err)
{
	shd_u128 src = (shd_u128)e->runs[from].high << 64 | e->runs[from].low;
	e->candidates.count = 0;
	for (size_t i = from; i < to; i++) {
		fetch_ahead(e, i);
		if (e->runs[i].row >> GRAPH_ROW_BITS)
			TRY(take_merged(e, e->runs[i].row, src, err));
		else
			take_fresh(e, e->runs[i].row, src);
	}
	TRY(shd_vec_check(&e->candidates, err));
	candidate *list = e->candidates.items;
	size_t count = e->candidates.count;
	if (count > 1)
		sort(list, count);
	TRY(find_near(e, src, err));
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i + 1; next < count && same_key(&list[i], &list[next]); next++)
			;
		TRY(write_key(e, &list[i], next - i, err));
	}
	return SHERD_OK;
}

static int emit_edges_tell(emission *e, sherd_error *err)
{
	uint64_t rows = e->unmetered;
	e->unmetered = 0;
	return shd_meter_add(&e->flush->meter, rows, err);
}

static int write_sources(emission *e, sherd_error *err)
{
	enum { OFTEN = 1 << 16 };
	for (size_t i = 0, next; i < e->count; i = next) {
		for (next = i + 1;
		     next < e->count && e->runs[next].high == e->runs[i].high && e->runs[next].low == e->runs[i].low;
		     next++)
			;
		TRY(write_source(e, i, next, err));
		if (e->unmetered >= OFTEN)
			TRY(emit_edges_tell(e, err));
	}
	TRY(shd_vec_check(&e->target->dead_edges, err));
	TRY(shd_vec_check(&e->target->undead_edges, err));
	return emit_edges_tell(e, err);
}

static int emit_edges_emit(emission *e, sherd_error *err)
{
	TRY(emit_edges_gather(e, err));
	TRY(shd_rfdb_sort(e->runs, e->count, err));
	TRY(shd_rfdb_writer_reserve(e->writer, e->target->rows, err));
	return write_sources(e, err);
}

int shd_graph_emit_edges(graph_flush *f, graph_target *t, shd_rfdb_writer *w, sherd_error *err)
{
	emission e = {.flush = f, .target = t, .writer = w};
	e.runs = shd_large_alloc((size_t)(t->rows + 1) * sizeof(*e.runs));
	e.asks = calloc(t->merged.count + 1, sizeof(*e.asks));
	int rc = e.runs && e.asks ? emit_edges_emit(&e, err) : shd_fail_nomem(err);
	free(e.runs);
	free(e.asks);
	shd_vec_done(&e.near);
	shd_vec_done(&e.candidates);
	return rc;
}

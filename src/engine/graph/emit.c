/* engine/graph/emit.c - the segment of one shard and kind: gather, sort, write, index.
 *
 * Targets are written at the same time by different threads; they share nothing that changes. */
#include "engine/graph/flush.h"
#include "format/rfdb_sort.h"
#include "format/rfdb_writer.h"

#include <stdlib.h>

SHERD_AUTO_DEFINE(sherd_writer, sherd_writer_abort)
SHERD_AUTO_DEFINE(void, free)

/* A row of the target before it is written: from == 0: an entry of the buffer, else a row of the merged segment with
 * number from-1. */
#define ROW_BITS 44
static uint64_t row_code(uint64_t from, uint64_t row)
{
	return from << ROW_BITS | row;
}

typedef struct emission {
	graph_flush *flush;
	graph_target *target;
	sherd_rfdb_keyed *rows;
	size_t count;
} emission;

static const graph_segment *merged_segment(const emission *e, uint64_t number, size_t *place)
{
	*place = ((const size_t *)(const void *)e->target->merged.data)[number];
	return e->flush->graph->view.lists[e->target->kind].items[*place];
}

static sherd_rfdb_edge_key key_of(const sherd_rfdb_edge *edge)
{
	return (sherd_rfdb_edge_key){.src = edge->src, .dst = edge->dst, .type = edge->type};
}

/* Nodes: is the row to be kept? */
static int keeps_node(const emission *e, size_t place, uint64_t row, sherd_u128 id, sherd_error *err)
{
	const sherd_graph *g = e->flush->graph;
	bool buried = g->view.dead_node_count && sherd_graph_ids_find(&g->view.dead_node_set, id) != GRAPH_IDS_NONE;
	if (buried)
		sherd_buf_append(&e->target->unburied_nodes, &id, sizeof(id));
	if (buried || sherd_graph_buffer_node(&g->buffer, id))
		return 0;
	return sherd_graph_view_node_lives(&g->view, place, row, err);
}

static int keeps_edge(const emission *e, size_t place, uint64_t row, sherd_error *err)
{
	const sherd_graph *g = e->flush->graph;
	const graph_segment *s = g->view.lists[SHERD_RFDB_EDGES].items[place];
	sherd_rfdb_edge edge;
	TRY(sherd_graph_segment_read_edge(s, row, &edge, err));
	const sherd_rfdb_edge_key key = key_of(&edge);
	bool buried = g->view.dead_edge_count &&
	              sherd_graph_keys_find(&g->view.dead_edge_set, g->view.dead_edges, &key) != GRAPH_KEYS_NONE;
	if (buried)
		sherd_buf_append(&e->target->unburied_edges, &key, sizeof(key));
	if (buried || sherd_graph_buffer_edge(&g->buffer, &key))
		return 0;
	return sherd_graph_view_edge_lives(&g->view, place, row, &key, err);
}

static int gather_segment(emission *e, uint64_t number, sherd_error *err)
{
	size_t place;
	const graph_segment *s = merged_segment(e, number, &place);
	for (uint64_t row = 0; row < s->rows.rows; row++) {
		sherd_u128 id = sherd_rfdb_segment_id(&s->rows, row);
		int rc = s->rows.kind == SHERD_RFDB_NODES ? keeps_node(e, place, row, id, err)
		                                          : keeps_edge(e, place, row, err);
		TRY(rc);
		if (rc)
			e->rows[e->count++] = sherd_rfdb_keyed_of(id, row_code(number + 1, row));
	}
	TRY(sherd_buf_check(&e->target->unburied_nodes, err));
	TRY(sherd_buf_check(&e->target->unburied_edges, err));
	return sherd_meter_add(&e->flush->meter, s->rows.rows, err);
}

static int gather(emission *e, sherd_error *err)
{
	const graph_buffer *b = &e->flush->graph->buffer;
	const uint32_t *fresh = (const uint32_t *)(const void *)e->target->fresh.data;
	if (e->target->rows >= (uint64_t)1 << ROW_BITS)
		return sherd_fail(err, SHERD_ELIMIT, "too-many-rows", "too many rows for one segment");
	for (size_t i = 0; i < e->target->fresh.len / sizeof(*fresh); i++) {
		sherd_u128 id =
			e->target->kind == SHERD_RFDB_NODES ? b->nodes[fresh[i]].node.id : b->edges[fresh[i]].key.src;
		e->rows[e->count++] = sherd_rfdb_keyed_of(id, row_code(0, fresh[i]));
	}
	for (uint64_t n = 0; n < e->target->merged.len / sizeof(size_t); n++)
		TRY(gather_segment(e, n, err));
	return SHERD_OK;
}

static int node_at(const emission *e, uint64_t code, sherd_rfdb_node *out, sherd_error *err)
{
	uint64_t row = code & (((uint64_t)1 << ROW_BITS) - 1), from = code >> ROW_BITS;
	size_t place;
	if (!from) {
		*out = e->flush->graph->buffer.nodes[row].node;
		return SHERD_OK;
	}
	const graph_segment *s = merged_segment(e, from - 1, &place);
	return sherd_graph_segment_read_node(s, row, out, err);
}

static int edge_at(const emission *e, uint64_t code, sherd_rfdb_edge *out, sherd_error *err)
{
	uint64_t row = code & (((uint64_t)1 << ROW_BITS) - 1), from = code >> ROW_BITS;
	size_t place;
	if (!from) {
		const graph_new_edge *n = &e->flush->graph->buffer.edges[row];
		*out = (sherd_rfdb_edge){
			.src = n->key.src, .dst = n->key.dst, .type = n->key.type, .metadata = n->metadata};
		return SHERD_OK;
	}
	const graph_segment *s = merged_segment(e, from - 1, &place);
	return sherd_graph_segment_read_edge(s, row, out, err);
}

static int compare_edges(const void *left, const void *right)
{
	const sherd_rfdb_edge *a = left, *b = right;
	const sherd_rfdb_edge_key x = key_of(a), y = key_of(b);
	return sherd_rfdb_edge_key_compare(&x, &y);
}

/* Most sources have few edges. */
static void sort_edges(sherd_rfdb_edge *list, size_t count)
{
	enum { FEW = 16 };
	if (count > FEW) {
		qsort(list, count, sizeof(*list), compare_edges);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		sherd_rfdb_edge edge = list[i];
		size_t at = i;
		for (; at > 0 && compare_edges(&list[at - 1], &edge) > 0; at--)
			list[at] = list[at - 1];
		list[at] = edge;
	}
}

/* Rows are asked for in another order than they lie in: waiting for each would cost more than the rest. */
enum { ROWS_AHEAD = 16, TEXTS_AHEAD = 8 };

static void fetch_ahead(const emission *e, size_t i)
{
	const graph_buffer *b = &e->flush->graph->buffer;
	if (e->count - i <= ROWS_AHEAD || e->rows[i + ROWS_AHEAD].row >> ROW_BITS ||
	    e->rows[i + TEXTS_AHEAD].row >> ROW_BITS)
		return;
	if (e->target->kind == SHERD_RFDB_EDGES) {
		__builtin_prefetch(&b->edges[e->rows[i + ROWS_AHEAD].row]);
		return;
	}
	const char *node = (const char *)&b->nodes[e->rows[i + ROWS_AHEAD].row];
	__builtin_prefetch(node);
	__builtin_prefetch(node + 64);
	const sherd_rfdb_node *nearer = &b->nodes[e->rows[i + TEXTS_AHEAD].row].node;
	__builtin_prefetch(nearer->semantic_id.ptr);
	__builtin_prefetch(nearer->name.ptr);
	__builtin_prefetch(nearer->metadata.ptr);
}

/* The edges of one source, which stand together after sorting by source: by destination and type. */
static int write_run(const emission *e, sherd_rfdb_writer *w, size_t from, size_t to, sherd_buf *run, sherd_error *err)
{
	run->len = 0;
	for (size_t i = from; i < to; i++) {
		sherd_rfdb_edge edge;
		fetch_ahead(e, i);
		TRY(edge_at(e, e->rows[i].row, &edge, err));
		sherd_buf_append(run, &edge, sizeof(edge));
	}
	TRY(sherd_buf_check(run, err));
	sherd_rfdb_edge *list = (sherd_rfdb_edge *)(void *)run->data;
	sort_edges(list, to - from);
	for (size_t i = 0; i < to - from; i++)
		TRY(sherd_rfdb_writer_edge(w, &list[i], err));
	return SHERD_OK;
}

static int write_edges(const emission *e, sherd_rfdb_writer *w, sherd_error *err)
{
	SHERD_AUTO_BUF run = {0};
	for (size_t i = 0, next; i < e->count; i = next) {
		for (next = i + 1;
		     next < e->count && e->rows[next].high == e->rows[i].high && e->rows[next].low == e->rows[i].low;
		     next++)
			;
		TRY(write_run(e, w, i, next, &run, err));
	}
	return SHERD_OK;
}

static int write_nodes(const emission *e, sherd_rfdb_writer *w, sherd_error *err)
{
	for (size_t i = 0; i < e->count; i++) {
		sherd_rfdb_node node;
		fetch_ahead(e, i);
		TRY(node_at(e, e->rows[i].row, &node, err));
		TRY(sherd_rfdb_writer_node(w, &node, err));
	}
	return SHERD_OK;
}

typedef struct output {
	sherd_writer *writer;
	sherd_sha256 sha256;
} output;

static int put(void *arg, const void *data, size_t len, sherd_error *err)
{
	output *o = arg;
	sherd_sha256_add(&o->sha256, data, len);
	return sherd_writer_append(o->writer, data, len, err);
}

static int copy_texts(sherd_arena *arena, const sherd_rfdb_writer *w, int field, sherd_rfdb_texts *out,
                      sherd_error *err)
{
	sherd_str *made;
	size_t count;
	TRY(sherd_rfdb_writer_values(w, field, &made, &count, err));
	SHERD_AUTO(void, free) owned = made;
	const sherd_str *values = owned;
	sherd_str *copies = sherd_arena_alloc(arena, count + 1, sizeof(*copies));
	if (!copies)
		return sherd_fail_nomem(err);
	for (size_t i = 0; i < count; i++) {
		copies[i] = (sherd_str){sherd_arena_str(arena, values[i]), values[i].len};
		if (!copies[i].ptr)
			return sherd_fail_nomem(err);
	}
	*out = (sherd_rfdb_texts){copies, count};
	return SHERD_OK;
}

/* The segment as an object; about describes it, its texts in the arena. */
static int store_segment(const emission *e, sherd_rfdb_writer *w, sherd_arena *arena, sherd_rfdb_descriptor *about,
                         sherd_error *err)
{
	const graph_place *p = &e->flush->graph->place;
	char name[SHERD_RFDB_NAME_MAX];
	graph_key key;
	output o = {0};
	SHERD_AUTO(sherd_writer, sherd_writer_abort) writer = NULL;
	const sherd_write_options options = {.size_hint = sherd_rfdb_writer_size(w)};
	*about = (sherd_rfdb_descriptor){.id = e->target->id,
	                                 .kind = e->target->kind,
	                                 .shard = e->target->shard,
	                                 .rows = w->rows,
	                                 .has_sha256 = true};
	TRY(copy_texts(arena, w, SHERD_RFDB_ZONE_TYPES, &about->types, err));
	if (about->kind == SHERD_RFDB_NODES)
		TRY(copy_texts(arena, w, SHERD_RFDB_ZONE_FILES, &about->files, err));
	sherd_rfdb_segment_name(about->shard, about->id, about->kind, name);
	TRY(sherd_graph_place_key(p, name, &key, err));
	sherd_sha256_init(&o.sha256);
	TRY(sherd_in_object(err, sherd_store_write(p->store, key.text, &options, &writer, err), key.text));
	o.writer = writer;
	TRY(sherd_in_object(err, sherd_rfdb_writer_finish(w, put, &o, &about->bytes, err), key.text));
	sherd_sha256_finish(&o.sha256, about->sha256);
	return sherd_in_object(err, sherd_writer_commit(TAKE(writer), err), key.text);
}

static int store_sidecar(const emission *e, const graph_segment *s, sherd_error *err)
{
	SHERD_AUTO_BUF text = {0};
	char name[SHERD_RFDB_NAME_MAX];
	TRY(sherd_rfdb_sidecar_build(&s->rows, s->about.sha256, &text, err));
	sherd_rfdb_sidecar_name(s->about.shard, s->about.id, s->about.kind, name);
	return sherd_graph_place_put(&e->flush->graph->place, name, SHERD_WRITE_REPLACE, &text, err);
}

static int write_target(emission *e, sherd_rfdb_writer *w, sherd_error *err)
{
	sherd_rfdb_descriptor about;
	sherd_arena arena = {0};
	graph_segment *made = NULL;
	const graph_place *p = &e->flush->graph->place;
	TRY(sherd_rfdb_writer_reserve(w, e->count, err));
	TRY(w->kind == SHERD_RFDB_NODES ? write_nodes(e, w, err) : write_edges(e, w, err));
	int rc = store_segment(e, w, &arena, &about, err);
	/* Once without a sidecar, to build one from what was stored; then with it. */
	if (rc == SHERD_OK)
		rc = sherd_graph_segment_open(&made, p, &about, e->flush->compact, err);
	if (rc == SHERD_OK)
		rc = store_sidecar(e, made, err);
	sherd_graph_segment_close(TAKE(made));
	if (rc == SHERD_OK)
		rc = sherd_graph_segment_open(&made, p, &about, e->flush->compact, err);
	if (rc < 0 || !made) {
		sherd_arena_done(&arena);
		return rc;
	}
	made->arena = arena;
	e->target->made = made;
	return sherd_meter_add(&e->flush->meter, e->target->fresh.len / sizeof(uint32_t), err);
}

int sherd_graph_flush_emit(graph_flush *f, graph_target *t, sherd_error *err)
{
	emission e = {.flush = f, .target = t};
	sherd_rfdb_writer w;
	e.rows = malloc((size_t)(t->rows + 1) * sizeof(*e.rows));
	if (!e.rows)
		return sherd_fail_nomem(err);
	sherd_rfdb_writer_init(&w, t->kind);
	int rc = gather(&e, err);
	if (rc == SHERD_OK)
		rc = sherd_rfdb_sort(e.rows, e.count, err);
	if (rc == SHERD_OK && e.count)
		rc = write_target(&e, &w, err);
	sherd_rfdb_writer_done(&w);
	free(e.rows);
	return rc;
}

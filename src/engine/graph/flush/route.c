/* engine/graph/flush/route.c - which shard each record of the buffer goes to. */
#include "base/pool.h"
#include "engine/graph/query/edges.h"
#include "engine/graph/flush/flush.h"
#include "engine/graph/buffer/write.h"

#include <stdlib.h>

uint32_t sherd_graph_shard_of(const sherd_graph *g, sherd_graph_text file)
{
	uint16_t shard = 0;
	shd_str name = graph_text_in(file);
	if (g->config.planner == SHD_RFDB_HASH)
		return shd_rfdb_hash_shard(name, g->config.shards);
	return shd_rfdb_plan_find(&g->plan, name, &shard) ? shard : g->plan.shard_count;
}

typedef SHD_VEC(shd_str) file_vec;

/* The distinct files of the buffer, each with its number among them; numbers[i] is that of node i. */
static int distinct_files(const graph_buffer *b, file_vec *files, uint32_t *numbers, sherd_error *err)
{
	shd_map map = {0};
	bool ok = true;
	for (size_t i = 0; ok && i < b->node_count; i++) {
		shd_str file = b->nodes[i].node.file;
		if (b->nodes[i].dead)
			continue;
		/* Files are shared in the buffer: the same address is the same file. */
		if (i && !b->nodes[i - 1].dead && b->nodes[i - 1].node.file.ptr == file.ptr) {
			numbers[i] = numbers[i - 1];
			continue;
		}
		size_t count = files->count;
		size_t found = shd_map_add(&map, file, count, &ok);
		numbers[i] = (uint32_t)(found == SHD_MAP_NONE ? count : found);
		if (found == SHD_MAP_NONE)
			shd_vec_push(files, file);
	}
	shd_map_done(&map);
	return ok ? shd_vec_check(files, err) : shd_fail_nomem(err);
}

static int shards_of_files(sherd_graph *g, const shd_str *files, size_t count, uint16_t *shards, sherd_error *err)
{
	if (g->config.planner == SHD_RFDB_HASH) {
		for (size_t i = 0; i < count; i++)
			shards[i] = shd_rfdb_hash_shard(files[i], g->config.shards);
		return SHERD_OK;
	}
	int rc = shd_rfdb_plan_extend(&g->plan, files, count, shards, err);
	if (rc < 0)
		g->mode = GRAPH_BROKEN;
	return rc;
}

static int place_nodes(graph_flush *f, sherd_error *err)
{
	SHD_AUTO_VEC file_vec files = {0};
	const graph_buffer *b = &f->graph->buffer;
	SHD_AUTO_FREE uint32_t *numbers = calloc(b->node_count + 1, sizeof(*numbers));
	f->node_shards = calloc(b->node_count + 1, sizeof(*f->node_shards));
	if (!numbers || !f->node_shards)
		return shd_fail_nomem(err);
	TRY(distinct_files(b, &files, numbers, err));
	SHD_AUTO_FREE uint16_t *shards = calloc(files.count + 1, sizeof(*shards));
	if (!shards)
		return shd_fail_nomem(err);
	TRY(shards_of_files(f->graph, files.items, files.count, shards, err));
	for (size_t i = 0; i < b->node_count; i++)
		f->node_shards[i] = b->nodes[i].dead ? 0 : shards[numbers[i]];
	return SHERD_OK;
}

/* Which nodes of the buffer have rows in segments, and in another shard than theirs. Mostly there are none, but all of
 * them are asked for: all workers do that, a part each. */
typedef struct asking {
	graph_flush *flush;
	bool *moved; /* for each node */
} asking;

enum { PART = 2048 };

static int ask_for_node(const asking *a, size_t n, sherd_error *err)
{
	const sherd_graph *g = a->flush->graph;
	const graph_new_node *node = &g->buffer.nodes[n];
	SHD_DONE(shd_graph_spots_done) graph_spots spots = {.items = spots.few};
	if (node->dead) {
		a->flush->known[n] = true;
		return SHERD_OK;
	}
	/* What was spilled since the version is asked for only where it may have the node. */
	TRY(g->fresh.blocks && shd_graph_fresh_is_new(&g->fresh, node->node.id)
	            ? shd_graph_view_old_spots(&g->view, node->node.id, &spots, err)
	            : shd_graph_view_spots(&g->view, SHD_RFDB_NODES, node->node.id, &spots, err));
	a->flush->known[n] = spots.count > 0;
	for (size_t i = 0; i < spots.count; i++) {
		uint32_t shard = g->view.lists[SHD_RFDB_NODES].items[spots.items[i].place]->shard;
		a->moved[n] = a->moved[n] || shard != a->flush->node_shards[n];
	}
	return SHERD_OK;
}

static int ask_for_some(void *arg, size_t index, sherd_error *err)
{
	const asking *a = arg;
	const graph_buffer *b = &a->flush->graph->buffer;
	size_t to = b->node_count - index * PART < PART ? b->node_count : (index + 1) * PART;
	for (size_t n = index * PART; n < to; n++)
		TRY(ask_for_node(a, n, err));
	return SHERD_OK;
}

/* Segments of other shards that hold the key must be merged, so that it stays in one. */
static int evict_node(graph_flush *f, shd_u128 id, uint32_t shard, sherd_error *err)
{
	const graph_list *list = &f->graph->view.lists[SHD_RFDB_NODES];
	SHD_DONE(shd_graph_spots_done) graph_spots spots;
	TRY(shd_graph_view_spots(&f->graph->view, SHD_RFDB_NODES, id, &spots, err));
	for (size_t i = 0; i < spots.count; i++)
		if (list->items[spots.items[i].place]->shard != shard)
			f->merge[SHD_RFDB_NODES][spots.items[i].place] = true;
	return SHERD_OK;
}

static int evict_edge(graph_flush *f, const shd_rfdb_edge_key *key, uint32_t shard, sherd_error *err)
{
	const graph_list *list = &f->graph->view.lists[SHD_RFDB_EDGES];
	SHD_DONE(shd_graph_spots_done) graph_spots spots;
	TRY(shd_graph_view_spots(&f->graph->view, SHD_RFDB_EDGES, key->src, &spots, err));
	for (size_t i = 0; i < spots.count; i++) {
		graph_spot *spot = &spots.items[i];
		if (list->items[spot->place]->shard == shard || f->merge[SHD_RFDB_EDGES][spot->place])
			continue;
		int rc = shd_graph_segment_edge_from(list->items[spot->place], key, &spot->row, err);
		TRY(rc);
		f->merge[SHD_RFDB_EDGES][spot->place] = rc > 0;
	}
	return SHERD_OK;
}

typedef struct carrying {
	const graph_buffer *buffer;
	SHD_VEC(shd_rfdb_edge) edges;
} carrying;

static bool note_edge(void *arg, const shd_rfdb_edge *edge)
{
	carrying *c = arg;
	const shd_rfdb_edge_key key = {.src = edge->src, .dst = edge->dst, .type = edge->type};
	if (!shd_graph_buffer_edge(c->buffer, &key))
		shd_vec_push(&c->edges, *edge);
	return !c->edges.failed;
}

/* The edges from a node that goes to another shard go with it. */
static int carry_edges(sherd_graph *g, shd_u128 id, sherd_error *err)
{
	carrying c = {.buffer = &g->buffer};
	int rc = shd_graph_each_edge(g, id, false, NULL, note_edge, &c, err);
	if (rc == SHERD_OK)
		rc = shd_vec_check(&c.edges, err);
	for (size_t i = 0; rc == SHERD_OK && i < c.edges.count; i++)
		if (!shd_graph_buffer_put_edge(&g->buffer, &c.edges.items[i]))
			rc = shd_graph_break(g, err);
	shd_vec_done(&c.edges);
	return rc;
}

static int route_node(graph_flush *f, size_t i, bool moved, sherd_error *err)
{
	sherd_graph *g = f->graph;
	uint32_t at = (uint32_t)i;
	shd_u128 id = g->buffer.nodes[i].node.id;
	graph_target *t = shd_graph_flush_target(f, f->node_shards[i], SHD_RFDB_NODES);
	if (!t)
		return shd_fail_nomem(err);
	shd_vec_push(&t->fresh, at);
	t->fresh_rows++;
	if (!moved)
		return SHERD_OK;
	f->scattered = true;
	TRY(evict_node(f, id, f->node_shards[i], err));
	return carry_edges(g, id, err);
}

static int route_nodes(graph_flush *f, sherd_error *err)
{
	const graph_buffer *b = &f->graph->buffer;
	SHD_AUTO_FREE bool *moved = calloc(b->node_count + 1, sizeof(*moved));
	asking a = {.flush = f, .moved = moved};
	f->known = calloc(b->node_count + 1, sizeof(*f->known));
	if (!moved || !f->known)
		return shd_fail_nomem(err);
	TRY(shd_pool_run(f->graph->pool, (b->node_count + PART - 1) / PART, ask_for_some, &a, err));
	for (size_t i = 0; i < b->node_count; i++)
		if (!b->nodes[i].dead)
			TRY(route_node(f, i, moved[i], err));
	return SHERD_OK;
}

/* An edge lies where its source lies: 1. The source of an edge that was added is known, unless it was deleted since by
 * a program that does not delete its edges: then the first shard has it, 0. */
static int shard_of_source(const graph_flush *f, shd_u128 src, uint32_t *shard, sherd_error *err)
{
	graph_row row;
	uint32_t at = shd_graph_ids_find(&f->graph->buffer.by_id, src);
	*shard = 0;
	if (at != GRAPH_IDS_NONE && !f->graph->buffer.nodes[at].dead) {
		*shard = f->node_shards[at];
		return 1;
	}
	int rc = shd_graph_view_node(&f->graph->view, src, &row, err);
	if (rc > 0)
		*shard = shd_graph_flush_shard(f, row.segment, src);
	return rc;
}

/* Has one of the edges [from, to) of the buffer a tombstone? */
static bool is_any_buried(const graph_flush *f, size_t from, size_t to)
{
	const graph_view *v = &f->graph->view;
	const graph_new_edge *edges = f->graph->buffer.edges;
	for (size_t i = from; v->dead_edge_count && i < to; i++)
		if (shd_graph_keys_find(&v->dead_edge_set, v->dead_edges, &edges[i].key) != GRAPH_KEYS_NONE)
			return true;
	return false;
}

/* May a shard but this one have rows of the edges [from, to), which are of one source? 1, or 0. Where every live edge
 * is in its place, only rows under tombstones may be left from when the source lay elsewhere; sources that move now
 * were seen before. */
static int has_stray_edges(const graph_flush *f, size_t from, size_t to, uint32_t shard, sherd_error *err)
{
	const graph_list *list = &f->graph->view.lists[SHD_RFDB_EDGES];
	SHD_DONE(shd_graph_spots_done) graph_spots spots = {.items = spots.few};
	if (f->graph->view.placed && !is_any_buried(f, from, to))
		return 0;
	TRY(shd_graph_view_spots(&f->graph->view, SHD_RFDB_EDGES, f->graph->buffer.edges[from].key.src, &spots, err));
	for (size_t i = 0; i < spots.count; i++)
		if (list->items[spots.items[i].place]->shard != shard)
			return 1;
	return 0;
}

enum { AHEAD = 48 }; /* edges: about ten sources */

/* Does one of the edges [from, to) of the buffer live, as far as the log says? */
static bool is_any_alive(const graph_buffer *b, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (!graph_edge_is_dead(&b->edges[i]))
			return true;
	return false;
}

/* Edges of one source that stand together go together. 1 when the buffer must be settled and routed again: another
 * shard turns out to have some of the source; or there is no source, and a later entry may say that the edge went with
 * it. */
static int route_run(graph_flush *f, size_t from, size_t to, sherd_error *err)
{
	const graph_buffer *b = &f->graph->buffer;
	uint32_t shard, at = (uint32_t)from;
	int known = shard_of_source(f, b->edges[from].key.src, &shard, err);
	TRY(known);
	if (!known && f->placed && is_any_alive(b, from, to)) {
		if (b->settled < b->edge_count)
			return 1;
		f->placed = false;
	}
	graph_target *t = shd_graph_flush_target(f, shard, SHD_RFDB_EDGES);
	if (!t)
		return shd_fail_nomem(err);
	shd_vec_push(&t->fresh, at);
	t->fresh_rows += to - from;
	if (!f->scattered) {
		int strays = has_stray_edges(f, from, to, shard, err);
		f->scattered = strays > 0;
		return strays;
	}
	for (size_t i = from; i < to; i++)
		TRY(evict_edge(f, &b->edges[i].key, shard, err));
	return 0;
}

/* What was routed before is routed again, since settling moves edges. */
static int begin_settled(graph_flush *f, sherd_error *err)
{
	for (size_t i = 0; i < f->targets.count; i++) {
		if (f->targets.items[i].kind != SHD_RFDB_EDGES)
			continue;
		f->targets.items[i].fresh.count = 0;
		f->targets.items[i].fresh_rows = 0;
	}
	return shd_graph_settle(f->graph, err);
}

/* 1 as soon as one of them says so. */
static int route_runs(graph_flush *f, sherd_error *err)
{
	const graph_buffer *b = &f->graph->buffer;
	for (size_t i = 0, next; i < b->edge_count; i = next) {
		for (next = i + 1; next < b->edge_count && b->edges[next].key.src == b->edges[i].key.src; next++)
			;
		if (b->edge_count - next > AHEAD)
			shd_graph_ids_fetch(&b->by_id, b->edges[next + AHEAD].key.src);
		int unsettled = route_run(f, i, next, err);
		if (unsettled)
			return unsettled;
	}
	return 0;
}

/* As the log stands where it can be, since settling costs. Each reason to settle comes once. */
static int route_edges(graph_flush *f, sherd_error *err)
{
	int settle = f->scattered;
	do {
		if (settle)
			TRY(begin_settled(f, err));
		settle = route_runs(f, err);
	} while (settle > 0);
	return settle;
}

/* What another program left in two shards: the segments with the older row are merged, which leaves it out. */
static int route_settle(graph_flush *f, shd_rfdb_kind kind, sherd_error *err)
{
	const graph_view *v = &f->graph->view;
	for (size_t i = 0; i < v->lists[kind].count; i++) {
		for (uint64_t row = 0; row < v->lists[kind].items[i]->rows.rows && !f->merge[kind][i]; row++) {
			int rc = shd_graph_view_is_stray(v, kind, i, row, err);
			TRY(rc);
			f->merge[kind][i] = rc > 0;
		}
	}
	return SHERD_OK;
}

int shd_graph_flush_route(graph_flush *f, sherd_error *err)
{
	TRY(place_nodes(f, err));
	f->scattered = !f->graph->view.one_shard || f->moves;
	f->placed = f->graph->view.placed;
	f->shards = f->graph->config.shards;
	if (f->graph->plan.shard_count > f->shards)
		f->shards = f->graph->plan.shard_count;
	f->slots = calloc((size_t)f->shards * 2, sizeof(*f->slots));
	for (unsigned kind = 0; kind < 2; kind++)
		f->merge[kind] = calloc(f->graph->view.lists[kind].count + 1, sizeof(bool));
	if (!f->slots || !f->merge[0] || !f->merge[1])
		return shd_fail_nomem(err);
	TRY(route_nodes(f, err));
	TRY(route_edges(f, err));
	if (f->graph->view.one_shard)
		return SHERD_OK;
	TRY(route_settle(f, SHD_RFDB_NODES, err));
	return route_settle(f, SHD_RFDB_EDGES, err);
}

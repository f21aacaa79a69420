/* engine/graph/query/walk.c - breadth first over edges. */
#include "engine/graph/query/edges.h"

enum { MOST_IDS = 1000000 };

typedef struct walk {
	const sherd_graph *graph;
	const sherd_graph_walk_options *how;
	size_t most;
	graph_ids seen;
	SHD_VEC(shd_u128) queue; /* in the order of visits */
	shd_u128 at;             /* the node whose edges are walked */
	bool full, failed;
} walk;

static void meet(walk *w, shd_u128 id)
{
	bool ok;
	if (w->seen.count >= w->most) {
		w->full = shd_graph_ids_find(&w->seen, id) == GRAPH_IDS_NONE;
		return;
	}
	if (shd_graph_ids_add(&w->seen, id, 0, &ok) == GRAPH_IDS_NONE && ok)
		shd_vec_push(&w->queue, id);
	w->failed = !ok || w->queue.failed;
}

static bool query_walk_step(void *arg, const shd_rfdb_edge *edge)
{
	walk *w = arg;
	meet(w, edge->src == w->at ? edge->dst : edge->src);
	return !w->full && !w->failed;
}

static int query_walk_check(const walk *w, sherd_error *err)
{
	if (w->failed)
		return shd_fail_nomem(err);
	if (w->full)
		return shd_fail(err, SHERD_ELIMIT, "too-many-nodes", "more than %zu ids are in reach", w->most);
	return SHERD_OK;
}

/* The queue gets the other ends of the edges of a node. */
static int expand(walk *w, shd_u128 id, sherd_error *err)
{
	w->at = id;
	for (int incoming = 0; incoming < 2; incoming++) {
		bool wanted =
			w->how->direction == SHERD_GRAPH_BOTH || w->how->direction == (sherd_graph_direction)incoming;
		if (wanted)
			TRY(shd_graph_each_edge(w->graph, id, incoming, w->how->types, query_walk_step, w, err));
	}
	return query_walk_check(w, err);
}

static int breadth_first(walk *w, sherd_graph_visit_fn *each, void *arg, sherd_error *err)
{
	size_t level_end = w->queue.count;
	uint32_t depth = 0;
	for (size_t i = 0; i < w->queue.count; i++) {
		if (i == level_end) {
			depth++;
			level_end = w->queue.count;
		}
		if (!each(arg, graph_id_out(w->queue.items[i]), depth))
			return SHERD_OK;
		if (depth < w->how->depth)
			TRY(expand(w, w->queue.items[i], err));
	}
	return SHERD_OK;
}

static void query_walk_done(walk *w)
{
	shd_graph_ids_done(&w->seen);
	shd_vec_done(&w->queue);
}

int sherd_graph_bfs(const sherd_graph *g, const sherd_graph_id *starts, size_t count,
                    const sherd_graph_walk_options *how, sherd_graph_visit_fn *each, void *arg, sherd_error *err)
{
	SHD_DONE(query_walk_done) walk w = {.graph = g, .how = how, .most = how->most ? how->most : MOST_IDS};
	for (size_t i = 0; i < count && !w.full && !w.failed; i++)
		meet(&w, graph_id_in(starts[i]));
	TRY(query_walk_check(&w, err));
	return breadth_first(&w, each, arg, err);
}

int sherd_graph_neighbours(const sherd_graph *g, sherd_graph_id id, const sherd_graph_walk_options *how,
                           sherd_graph_visit_fn *each, void *arg, sherd_error *err)
{
	static const sherd_graph_walk_options all = {.direction = SHERD_GRAPH_BOTH};
	SHD_DONE(query_walk_done) walk w = {.graph = g, .how = how ? how : &all, .most = SIZE_MAX};
	TRY(expand(&w, graph_id_in(id), err));
	for (size_t i = 0; i < w.queue.count; i++)
		if (!each(arg, graph_id_out(w.queue.items[i]), 1))
			break;
	return SHERD_OK;
}

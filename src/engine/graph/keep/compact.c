/* engine/graph/keep/compact.c - one segment for each shard and kind, every node in the shard that the planner says. */
#include "engine/graph/flush/flush.h"
#include "engine/graph/shards/held.h"

/* Is there anything to merge, to drop, or to move into L1? */
static bool has_gain(const sherd_graph *g)
{
	const graph_view *v = &g->view;
	if (graph_is_dirty(g) || g->mode == GRAPH_AHEAD || v->dead_node_count || v->dead_edge_count || !v->one_shard)
		return true;
	for (unsigned kind = 0; kind < 2; kind++)
		for (size_t i = 0; i < v->lists[kind].count; i++)
			if (v->lists[kind].items[i]->first != i || !v->lists[kind].items[i]->level1)
				return true;
	return false;
}

int sherd_graph_compact(sherd_graph *g, const sherd_graph_commit_options *commit, sherd_error *err)
{
	graph_ids moves = {0};
	TRY(shd_graph_check_writable(g, err));
	int rc = shd_graph_view_settle(&g->view, shd_graph_held_moves(g, &moves, err), err);
	if (rc == SHERD_OK && (moves.count || has_gain(g)))
		rc = shd_graph_flush_run(g, GRAPH_COMPACT, &moves, commit, err);
	shd_graph_ids_done(&moves);
	return rc;
}

/* engine/graph/keep/diff_near.c - what leads from one version to another that shares segments with it: it costs what is
 * in the segments that only one of them has, and tombstones, not what is there.
 *
 * A key without a row in such a segment, and with a tombstone in both or in neither, says the same in both. */
#include "engine/graph/keep/diff.h"

#include <stdlib.h>

/* Of one of the two versions: which segments it shares, by place. */
typedef struct near_side {
	const sherd_graph *graph;
	bool *shared[2];
} near_side;

static bool is_shared(const graph_segment *a, const graph_segment *b, bool one_store)
{
	const shd_rfdb_descriptor *x = &a->about, *y = &b->about;
	if (x->id != y->id || a->shard != b->shard || a->level1 != b->level1 || x->rows != y->rows ||
	    x->bytes != y->bytes)
		return false;
	if (x->has_sha256 != y->has_sha256)
		return false;
	return x->has_sha256 ? memcmp(x->sha256, y->sha256, sizeof(x->sha256)) == 0 : one_store;
}

/* Both lists are in order of shard and age: what both have stands in the same order, else it does not count. */
static void mark_shared(near_side *a, near_side *b, unsigned kind, bool one_store)
{
	const graph_list *x = &a->graph->view.lists[kind], *y = &b->graph->view.lists[kind];
	size_t next = 0;
	for (size_t i = 0; i < x->count; i++) {
		size_t k = next;
		while (k < y->count && !is_shared(x->items[i], y->items[k], one_store))
			k++;
		if (k == y->count)
			continue;
		a->shared[kind][i] = b->shared[kind][k] = true;
		next = k + 1;
	}
}

static size_t place_of(const graph_list *list, const graph_segment *s)
{
	size_t low = s->first;
	while (low < list->count && list->items[low] != s)
		low++;
	return low;
}

static bool row_is_shared(const near_side *side, unsigned kind, const graph_row *row)
{
	return side->shared[kind][place_of(&side->graph->view.lists[kind], row->segment)];
}

/* ---- nodes */

static int node_at(const near_side *side, shd_u128 id, graph_row *row, sherd_graph_node *out, sherd_error *err)
{
	shd_rfdb_node node;
	int rc = shd_graph_view_node(&side->graph->view, id, row, err);
	if (rc <= 0)
		return rc;
	TRY(shd_graph_segment_read_node(row->segment, row->row, &node, err));
	shd_graph_node_out(&node, out);
	return 1;
}

typedef struct near_diff {
	near_side from, to;
	const sherd_graph_diff_fns *fns;
	bool stopped;
} near_diff;

static void tell_node(near_diff *d, sherd_graph_difference what, const sherd_graph_node *node)
{
	d->stopped = !d->fns->node(d->fns->arg, what, node);
}

/* An id that may differ. forward: a row of the newer version led here; else one of the older, or a tombstone: then what
 * the newer one has in segments of its own was told before. */
static int judge_node(near_diff *d, shd_u128 id, bool forward, bool shared_only, sherd_error *err)
{
	sherd_graph_node before, now;
	graph_row old_row, new_row;
	int had = node_at(&d->from, id, &old_row, &before, err);
	TRY(had);
	int has = node_at(&d->to, id, &new_row, &now, err);
	TRY(has);
	if (has && !forward && !row_is_shared(&d->to, SHD_RFDB_NODES, &new_row))
		return SHERD_OK;
	if (shared_only && had && !row_is_shared(&d->from, SHD_RFDB_NODES, &old_row))
		return SHERD_OK; /* its own row tells */
	if (has && !had)
		tell_node(d, SHERD_GRAPH_ADDED, &now);
	else if (had && !has && !forward)
		tell_node(d, SHERD_GRAPH_REMOVED, &before);
	else if (had && has && !shd_graph_same_node(&now, &before))
		tell_node(d, SHERD_GRAPH_CHANGED, &now);
	return SHERD_OK;
}

static int near_nodes(near_diff *d, bool forward, sherd_error *err)
{
	const near_side *side = forward ? &d->to : &d->from;
	const graph_view *v = &side->graph->view;
	const graph_list *list = &v->lists[SHD_RFDB_NODES];
	for (size_t i = 0; i < list->count; i++)
		for (uint64_t row = 0; !side->shared[SHD_RFDB_NODES][i] && row < list->items[i]->rows.rows; row++) {
			int rc = shd_graph_view_node_lives(v, i, row, err);
			if (rc > 0)
				rc = judge_node(d, shd_rfdb_segment_id(&list->items[i]->rows, row), forward, false,
				                err);
			TRY(rc);
			if (d->stopped)
				return SHERD_OK;
		}
	return SHERD_OK;
}

/* Tombstones that only one of them has, of rows that both have. */
static int near_dead_nodes(near_diff *d, sherd_error *err)
{
	const graph_view *views[2] = {&d->from.graph->view, &d->to.graph->view};
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < views[side]->dead_node_count && !d->stopped; i++) {
			shd_u128 id = views[side]->dead_nodes[i];
			if (shd_graph_ids_find(&views[!side]->dead_node_set, id) == GRAPH_IDS_NONE)
				TRY(judge_node(d, id, false, true, err));
		}
	return SHERD_OK;
}

/* ---- edges */

static int edge_at(const near_side *side, const shd_rfdb_edge_key *key, graph_row *row, sherd_graph_edge *out,
                   sherd_error *err)
{
	shd_rfdb_edge edge;
	int rc = shd_graph_view_edge(&side->graph->view, key, row, err);
	if (rc <= 0)
		return rc;
	TRY(shd_graph_segment_read_edge(row->segment, row->row, &edge, err));
	shd_graph_edge_out(&edge, out);
	return 1;
}

static void tell_edge(near_diff *d, sherd_graph_difference what, const sherd_graph_edge *edge)
{
	d->stopped = !d->fns->edge(d->fns->arg, what, edge);
}

static int judge_edge(near_diff *d, const shd_rfdb_edge_key *key, bool forward, bool shared_only, sherd_error *err)
{
	sherd_graph_edge before, now;
	graph_row old_row, new_row;
	int had = edge_at(&d->from, key, &old_row, &before, err);
	TRY(had);
	int has = edge_at(&d->to, key, &new_row, &now, err);
	TRY(has);
	if (has && !forward && !row_is_shared(&d->to, SHD_RFDB_EDGES, &new_row))
		return SHERD_OK;
	if (shared_only && had && !row_is_shared(&d->from, SHD_RFDB_EDGES, &old_row))
		return SHERD_OK;
	if (has && !had)
		tell_edge(d, SHERD_GRAPH_ADDED, &now);
	else if (had && !has && !forward)
		tell_edge(d, SHERD_GRAPH_REMOVED, &before);
	else if (had && has && !shd_graph_same_text(now.metadata, before.metadata))
		tell_edge(d, SHERD_GRAPH_CHANGED, &now);
	return SHERD_OK;
}

static int near_edges(near_diff *d, bool forward, sherd_error *err)
{
	const near_side *side = forward ? &d->to : &d->from;
	const graph_view *v = &side->graph->view;
	const graph_list *list = &v->lists[SHD_RFDB_EDGES];
	for (size_t i = 0; i < list->count; i++)
		for (uint64_t row = 0; !side->shared[SHD_RFDB_EDGES][i] && row < list->items[i]->rows.rows; row++) {
			shd_rfdb_edge edge;
			TRY(shd_graph_segment_read_edge(list->items[i], row, &edge, err));
			const shd_rfdb_edge_key key = {.src = edge.src, .dst = edge.dst, .type = edge.type};
			int rc = shd_graph_view_edge_lives(v, i, row, &key, err);
			if (rc > 0)
				rc = judge_edge(d, &key, forward, false, err);
			TRY(rc);
			if (d->stopped)
				return SHERD_OK;
		}
	return SHERD_OK;
}

static int near_dead_edges(near_diff *d, sherd_error *err)
{
	const graph_view *views[2] = {&d->from.graph->view, &d->to.graph->view};
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < views[side]->dead_edge_count && !d->stopped; i++) {
			const shd_rfdb_edge_key *key = &views[side]->dead_edges[i];
			if (shd_graph_keys_find(&views[!side]->dead_edge_set, views[!side]->dead_edges, key) ==
			    GRAPH_KEYS_NONE)
				TRY(judge_edge(d, key, false, true, err));
		}
	return SHERD_OK;
}

/* ---- all of it */

/* Nodes before edges, and what the newer version has before what it has not. */
static int near_tell(near_diff *d, sherd_error *err)
{
	for (int forward = 1; forward >= 0; forward--) {
		if (d->fns->node && !d->stopped)
			TRY(near_nodes(d, forward, err));
		if (d->fns->node && !forward && !d->stopped)
			TRY(near_dead_nodes(d, err));
		if (d->fns->edge && !d->stopped)
			TRY(near_edges(d, forward, err));
	}
	return d->fns->edge && !d->stopped ? near_dead_edges(d, err) : SHERD_OK;
}

static bool side_begin(near_side *s)
{
	for (unsigned kind = 0; kind < 2; kind++)
		s->shared[kind] = calloc(s->graph->view.lists[kind].count + 1, sizeof(bool));
	return s->shared[0] && s->shared[1];
}

static void side_done(near_side *s)
{
	free(s->shared[0]);
	free(s->shared[1]);
}

/* Keys that lie in two shards are for the slow way, and so are changes that were not committed. */
static bool suits(const sherd_graph *g)
{
	return g->view.one_shard && !graph_is_dirty(g);
}

int shd_graph_diff_near(const sherd_graph *from, const sherd_graph *to, const sherd_graph_diff_fns *fns,
                        sherd_error *err)
{
	near_diff d = {.from.graph = from, .to.graph = to, .fns = fns};
	if (!suits(from) || !suits(to))
		return 0;
	bool one_store = from->place.store == to->place.store && strcmp(from->place.folder, to->place.folder) == 0;
	int rc = side_begin(&d.from) && side_begin(&d.to) ? SHERD_OK : shd_fail_nomem(err);
	for (unsigned kind = 0; rc == SHERD_OK && kind < 2; kind++)
		mark_shared(&d.from, &d.to, kind, one_store);
	if (rc == SHERD_OK)
		rc = near_tell(&d, err);
	side_done(&d.from);
	side_done(&d.to);
	return rc < 0 ? rc : 1;
}

/* engine/graph/verify_version.c - what a version promises about all its segments together. */
#include "engine/graph/counts.h"
#include "engine/graph/verify_check.h"

#include <inttypes.h>

/* What we wrote has every key in one shard. */
static int check_strays(const sherd_graph *g, sherd_rfdb_kind kind, sherd_error *err)
{
	graph_row stray;
	int rc = sherd_graph_view_find_stray(&g->view, kind, &stray, err);
	if (rc <= 0)
		return rc;
	rc = sherd_fail(err, SHERD_ECORRUPT, "two-shards", "the key of row %" PRIu64 " is in another shard too",
	                stray.row);
	return sherd_graph_segment_blame(stray.segment, err, rc);
}

/* Does the node live in the shard? 1, or 0. */
static int has_node(const graph_view *v, uint32_t shard, sherd_u128 id, sherd_error *err)
{
	const graph_list *list = &v->lists[SHERD_RFDB_NODES];
	graph_range r = sherd_graph_list_shard(list, shard);
	int rc = 0;
	for (size_t i = r.from; i < r.to && !rc; i++)
		rc = sherd_graph_list_has_node(list, i, id, err);
	return rc > 0 && sherd_graph_ids_find(&v->dead_node_set, id) != GRAPH_IDS_NONE ? 0 : rc;
}

/* Where the manifest says so, an edge that lives has its source beside it. The edges of one source mostly follow each
 * other: it is looked up once. */
static int check_placed(const sherd_graph *g, size_t i, sherd_error *err)
{
	const graph_segment *s = g->view.lists[SHERD_RFDB_EDGES].items[i];
	sherd_u128 last = 0;
	bool beside = false;
	for (uint64_t row = 0; row < s->rows.rows; row++) {
		sherd_rfdb_edge edge;
		TRY(sherd_graph_segment_read_edge(s, row, &edge, err));
		if (row == 0 || edge.src != last) {
			int found = has_node(&g->view, s->shard, edge.src, err);
			TRY(found);
			beside = found;
			last = edge.src;
		}
		const sherd_rfdb_edge_key key = {.src = edge.src, .dst = edge.dst, .type = edge.type};
		int lives = beside ? 0 : sherd_graph_view_edge_lives(&g->view, i, row, &key, err);
		TRY(lives);
		if (lives) {
			int rc = sherd_fail(err, SHERD_ECORRUPT, "no-source",
			                    "the source of edge %" PRIu64 " is not in its shard", row);
			return sherd_graph_segment_blame(s, err, rc);
		}
	}
	return SHERD_OK;
}

static bool same_counts(const graph_counts *a, const graph_counts *b)
{
	for (unsigned kind = 0; kind < 2; kind++) {
		if (a->types[kind] != b->types[kind])
			return false;
		for (size_t i = 0; i < a->types[kind]; i++) {
			const sherd_rfdb_count *x = &a->of[kind][i], *y = &b->of[kind][i];
			if (x->count != y->count || x->type.len != y->type.len ||
			    memcmp(x->type.ptr, y->type.ptr, x->type.len) != 0)
				return false;
		}
	}
	return true;
}

static int check_counts(sherd_graph *g, sherd_error *err)
{
	graph_counts said = g->counts;
	const graph_counts *counted;
	g->counts = (graph_counts){0};
	int rc = sherd_graph_counts_know(g, &counted, err);
	if (rc == SHERD_OK && !same_counts(&said, counted))
		rc = sherd_fail(err, SHERD_ECORRUPT, "bad-count", "the manifest counts other records than live");
	sherd_graph_counts_done(&said);
	return rc;
}

/* ---- the version, out of segments that are open already */

static int open_once(const graph_checking *c, graph_checked *one, sherd_error *err)
{
	return one->segment ? SHERD_OK : sherd_graph_segment_open(&one->segment, &c->place, &one->about, false, err);
}

static int fill_list(graph_checking *c, graph_list *list, sherd_rfdb_kind kind, const sherd_rfdb_descriptors *l0,
                     const sherd_rfdb_descriptors *l1, sherd_error *err)
{
	TRY(sherd_graph_list_make(list, l0->count + l1->count, err));
	for (size_t i = 0; i < l0->count + l1->count; i++) {
		bool level1 = i < l1->count;
		const sherd_rfdb_descriptor *about = level1 ? &l1->items[i] : &l0->items[i - l1->count];
		size_t place = sherd_graph_checking_place(c, about);
		uint32_t shard = about->shard == SHERD_RFDB_FLAT ? 0 : about->shard;
		if (place == SHERD_MAP_NONE)
			return sherd_fail(err, SHERD_ENOTFOUND, "changed", "the manifest was replaced meanwhile");
		if (about->kind != kind)
			return sherd_fail(err, SHERD_ECORRUPT, "bad-type", "segment %" PRIu64 " is of the other kind",
			                  about->id);
		if (shard >= c->shards)
			return sherd_fail(err, SHERD_ECORRUPT, "out-of-range",
			                  "segment %" PRIu64 " is in shard %" PRIu32 " of %" PRIu32, about->id, shard,
			                  c->shards);
		graph_checked *one = graph_checked_at(c, place);
		TRY(open_once(c, one, err));
		one->segment->level1 = level1;
		one->segment->age = i;
		list->items[list->count++] = one->segment;
	}
	sherd_graph_list_sort(list);
	sherd_graph_list_link(list);
	return SHERD_OK;
}

static int check_together(sherd_graph *g, sherd_error *err)
{
	TRY(check_strays(g, SHERD_RFDB_NODES, err));
	TRY(check_strays(g, SHERD_RFDB_EDGES, err));
	for (size_t i = 0; g->view.placed && i < g->view.lists[SHERD_RFDB_EDGES].count; i++)
		TRY(check_placed(g, i, err));
	return check_counts(g, err);
}

static int check(graph_checking *c, sherd_graph *g, const sherd_rfdb_manifest *m, sherd_error *err)
{
	graph_view *v = &g->view;
	TRY(fill_list(c, &v->lists[SHERD_RFDB_NODES], SHERD_RFDB_NODES, &m->nodes, &m->l1_nodes, err));
	TRY(fill_list(c, &v->lists[SHERD_RFDB_EDGES], SHERD_RFDB_EDGES, &m->edges, &m->l1_edges, err));
	v->one_shard = m->counts.known;
	v->placed = m->counts.known && m->counts.placed;
	TRY(sherd_graph_view_bury(v, &m->dead_nodes, &m->dead_edges, err));
	TRY(sherd_graph_counts_take(&g->counts, &m->counts, err));
	return g->counts.known && !c->options->quick ? check_together(g, err) : SHERD_OK;
}

int sherd_graph_checking_version(graph_checking *c, const sherd_rfdb_manifest *m, sherd_error *err)
{
	sherd_graph g = {.version = m->version};
	pthread_mutex_init(&g.counting, NULL);
	int rc = sherd_graph_view_settle(&g.view, check(c, &g, m, err), err);
	sherd_graph_view_done(&g.view, false);
	sherd_graph_counts_done(&g.counts);
	pthread_mutex_destroy(&g.counting);
	return rc;
}

/* engine/graph/verify/proof.c - what a version promises about where its records lie. What versions before it have shown
 * of the segments that it shares with them is not looked at again. */
#include "base/pool.h"
#include "engine/graph/verify/check.h"

#include <inttypes.h>

/* ---- keys in one shard */

/* Has a segment of another shard a row with the key of this one? 1, or 0. */
static int has_rival(const graph_list *list, shd_rfdb_kind kind, size_t i, uint64_t row, sherd_error *err)
{
	const graph_segment *s = list->items[i];
	shd_u128 id = shd_rfdb_segment_id(&s->rows, row);
	int rc = 0;
	for (size_t k = 0; k < list->count && !rc; k++) {
		shd_rfdb_edge edge;
		if (list->items[k]->shard == s->shard || !shd_rfdb_bloom_has(&list->blooms[k], id))
			continue;
		if (kind == SHD_RFDB_NODES) {
			rc = shd_graph_list_has_node(list, k, id, err);
			continue;
		}
		TRY(shd_graph_segment_read_edge(s, row, &edge, err));
		const shd_rfdb_edge_key key = {.src = edge.src, .dst = edge.dst, .type = edge.type};
		rc = shd_graph_list_has_edge(list, k, &key, err);
	}
	return rc;
}

/* Those that were apart in the last round are apart from each other. */
static bool is_new(const graph_checking *c, const graph_segment *s, shd_rfdb_kind kind)
{
	return !s->proof->apart || s->proof->apart != c->rounds[kind];
}

/* Of few new rows each filter is asked for each; else all rows are walked over side by side. 1: some are shared. */
static int find_shared(const graph_checking *c, const graph_view *v, shd_rfdb_kind kind, graph_row *stray,
                       sherd_error *err)
{
	const graph_list *list = &v->lists[kind];
	uint64_t fresh = 0, all = 0;
	for (size_t i = 0; i < list->count; i++) {
		all += list->items[i]->rows.rows;
		fresh += is_new(c, list->items[i], kind) ? list->items[i]->rows.rows : 0;
	}
	int rc = fresh > all / (list->count + 1);
	for (size_t i = 0; i < list->count && !rc; i++) {
		if (!is_new(c, list->items[i], kind))
			continue;
		for (uint64_t row = 0; row < list->items[i]->rows.rows && !rc; row++)
			rc = has_rival(list, kind, i, row, err);
	}
	return rc > 0 ? shd_graph_view_find_stray(v, kind, stray, err) : rc;
}

/* Does one run, which was compared with its segments, say of all of them that no id (source) is in two? */
static bool run_proves(const graph_view *v, shd_rfdb_kind kind)
{
	const graph_cover *cover = &v->cover;
	return cover->count == 1 && !cover->bare_count[kind] && cover->runs[0]->head.unique[kind];
}

int shd_graph_checking_apart(graph_checking *c, const graph_view *v, shd_rfdb_kind kind, sherd_error *err)
{
	graph_row stray;
	int rc = run_proves(v, kind) ? 0 : find_shared(c, v, kind, &stray, err);
	if (rc > 0) {
		rc = shd_fail(err, SHERD_ECORRUPT, "two-shards", "the key of row %" PRIu64 " is in another shard too",
		              stray.row);
		return shd_graph_segment_blame(stray.segment, err, rc);
	}
	TRY(rc);
	c->rounds[kind]++;
	for (size_t i = 0; i < v->lists[kind].count; i++)
		v->lists[kind].items[i]->proof->apart = c->rounds[kind];
	return SHERD_OK;
}

/* ---- edges with their sources */

static bool has_witness(const graph_proof *p, size_t place)
{
	for (size_t i = 0; i < p->witnesses.count; i++)
		if (p->witnesses.items[i] == place)
			return true;
	return false;
}

/* Are all segments of nodes still in the shard that held its sources? */
static bool are_witnesses_there(const graph_list *nodes, graph_range r, const graph_proof *p)
{
	size_t found = 0;
	for (size_t i = r.from; i < r.to; i++)
		found += has_witness(p, nodes->items[i]->proof->place);
	return found == p->witnesses.count;
}

/* The oldest segment of the shard with a row of the node, since that one stays longest: 1, or 0. The one at *item,
 * where the last was found, is asked first: what was added together lies together. */
static int find_witness(const graph_list *nodes, graph_range r, shd_u128 id, size_t *item, size_t *place,
                        sherd_error *err)
{
	int rc = 0;
	if (*item >= r.from && *item < r.to) {
		rc = shd_graph_list_has_node(nodes, *item, id, err);
		*place = nodes->items[*item]->proof->place;
	}
	for (size_t i = r.to; i-- > r.from && !rc;) {
		rc = shd_graph_list_has_node(nodes, i, id, err);
		*place = nodes->items[i]->proof->place;
		*item = i;
	}
	return rc;
}

static int know_sources(const graph_view *v, const graph_segment *s, sherd_error *err)
{
	const graph_list *nodes = &v->lists[SHD_RFDB_NODES];
	graph_range r = shd_graph_list_shard(nodes, s->shard);
	graph_proof *p = s->proof;
	shd_u128 last = 0;
	if (p->sources_known && are_witnesses_there(nodes, r, p))
		return SHERD_OK;
	p->sources_known = false;
	p->witnesses.count = p->loose.count = 0;
	size_t item = SIZE_MAX;
	for (uint64_t row = 0; row < s->rows.rows; row++) {
		size_t place;
		shd_u128 src = shd_rfdb_segment_id(&s->rows, row);
		if (row && src == last)
			continue;
		last = src;
		int rc = find_witness(nodes, r, src, &item, &place, err);
		TRY(rc);
		if (!rc)
			shd_vec_push(&p->loose, row);
		else if (!has_witness(p, place))
			shd_vec_push(&p->witnesses, place);
	}
	TRY(shd_vec_check(&p->witnesses, err));
	TRY(shd_vec_check(&p->loose, err));
	p->sources_known = true;
	return SHERD_OK;
}

/* The edge must be dead: its source is not in its shard. */
static int check_dead(const graph_view *v, size_t i, uint64_t row, sherd_error *err)
{
	const graph_segment *s = v->lists[SHD_RFDB_EDGES].items[i];
	shd_rfdb_edge edge;
	TRY(shd_graph_segment_read_edge(s, row, &edge, err));
	const shd_rfdb_edge_key key = {.src = edge.src, .dst = edge.dst, .type = edge.type};
	int rc = shd_graph_view_edge_lives(v, i, row, &key, err);
	if (rc <= 0)
		return rc;
	rc = shd_fail(err, SHERD_ECORRUPT, "no-source", "the source of edge %" PRIu64 " is not in its shard", row);
	return shd_graph_segment_blame(s, err, rc);
}

/* Runs whose source no segment of the shard held when they were looked at: one that came since may. */
static int check_loose(const graph_view *v, size_t i, sherd_error *err)
{
	const graph_segment *s = v->lists[SHD_RFDB_EDGES].items[i];
	const graph_list *nodes = &v->lists[SHD_RFDB_NODES];
	graph_range r = shd_graph_list_shard(nodes, s->shard);
	for (size_t k = 0; k < s->proof->loose.count; k++) {
		size_t item = SIZE_MAX, place;
		shd_u128 src = shd_rfdb_segment_id(&s->rows, s->proof->loose.items[k]);
		int rc = find_witness(nodes, r, src, &item, &place, err);
		TRY(rc);
		for (uint64_t row = s->proof->loose.items[k];
		     !rc && row < s->rows.rows && shd_rfdb_segment_id(&s->rows, row) == src; row++)
			TRY(check_dead(v, i, row, err));
	}
	return SHERD_OK;
}

/* Edges from a node that has a tombstone. */
static int check_buried(const graph_view *v, shd_u128 id, sherd_error *err)
{
	const graph_list *edges = &v->lists[SHD_RFDB_EDGES];
	for (size_t i = 0; i < edges->count; i++) {
		shd_rfdb_run run;
		if (!shd_rfdb_bloom_has(&edges->blooms[i], id))
			continue;
		TRY(shd_graph_segment_sources(edges->items[i], id, &run, err));
		for (uint64_t k = 0; k < run.count; k++)
			TRY(check_dead(v, i, shd_rfdb_run_at(&run, k), err));
	}
	return SHERD_OK;
}

/* Each segment keeps what it knows to itself. */
static int check_sources_of(void *arg, size_t index, sherd_error *err)
{
	const graph_view *v = arg;
	TRY(know_sources(v, v->lists[SHD_RFDB_EDGES].items[index], err));
	return check_loose(v, index, err);
}

int shd_graph_checking_sources(const graph_checking *c, const graph_view *v, sherd_error *err)
{
	const graph_list *edges = &v->lists[SHD_RFDB_EDGES];
	TRY(shd_pool_run(c->options->pool, edges->count, check_sources_of, (void *)(uintptr_t)v, err));
	for (size_t i = 0; i < v->dead_node_count; i++)
		TRY(check_buried(v, v->dead_nodes[i], err));
	return SHERD_OK;
}

/* engine/graph/verify/counts.c - does a version have as many live records of each type as it says?
 *
 * The newest rows of a shard are those of its older segments, and those of the next newer one less the rows that they
 * take the place of. Versions share their older segments: each row of such a tail is looked at once. What has a
 * tombstone is taken off for each version. */
#include "engine/graph/verify/check.h"

#include <stdlib.h>

static graph_tally *tally_at(const graph_checking *c, size_t place)
{
	return c->tallies.items[place];
}

void shd_graph_checking_forget_counts(graph_checking *c)
{
	for (size_t i = 0; i < c->tallies.count; i++) {
		shd_graph_tally_done(tally_at(c, i));
		free(tally_at(c, i));
	}
	shd_vec_done(&c->tallies);
	shd_map_done(&c->tails);
}

/* The newest row in these places with a key: of an edge, or of the node with this id. 1, or 0. */
static int find_first(const graph_list *list, graph_range in, const shd_rfdb_edge_key *key, shd_u128 id, graph_row *out,
                      sherd_error *err)
{
	int rc = 0;
	for (size_t i = in.from; i < in.to && !rc; i++) {
		out->segment = list->items[i];
		out->row = 0;
		rc = key ? shd_graph_list_has_edge(list, i, key, err)
		         : shd_graph_list_node(list, i, id, &out->row, err);
	}
	return rc;
}

/* That row does not count. */
static int take_off(graph_tally *t, const graph_list *list, graph_range in, const shd_rfdb_edge_key *key, shd_u128 id,
                    sherd_error *err)
{
	graph_row row;
	shd_str type = {"", 0};
	int rc = find_first(list, in, key, id, &row, err);
	if (rc <= 0)
		return rc;
	if (key)
		type = key->type;
	if (key || shd_rfdb_segment_text(&row.segment->rows, SHD_RFDB_NODE_TYPE, row.row, &type))
		shd_graph_tally_add(t, type, (uint64_t)-1);
	return SHERD_OK;
}

static int count_row(graph_tally *t, const graph_list *list, graph_range r, uint64_t row, bool sorted, sherd_error *err)
{
	const graph_segment *s = list->items[r.from];
	const graph_range older = {r.from + 1, r.to};
	uint64_t newest = row;
	shd_str type = {"", 0};
	shd_rfdb_edge edge;
	if (s->rows.kind == SHD_RFDB_EDGES) {
		TRY(shd_graph_segment_read_edge(s, row, &edge, err));
		const shd_rfdb_edge_key key = {.src = edge.src, .dst = edge.dst, .type = edge.type};
		TRY(sorted ? SHERD_OK : shd_graph_segment_edge(s, &key, &newest, err));
		if (newest != row)
			return SHERD_OK;
		shd_graph_tally_add(t, edge.type, 1);
		return take_off(t, list, older, &key, 0, err);
	}
	shd_u128 id = shd_rfdb_segment_id(&s->rows, row);
	TRY(sorted ? SHERD_OK : shd_graph_segment_node(s, id, &newest, err));
	if (newest != row)
		return SHERD_OK;
	if (shd_rfdb_segment_text(&s->rows, SHD_RFDB_NODE_TYPE, row, &type))
		shd_graph_tally_add(t, type, 1);
	return take_off(t, list, older, NULL, id, err);
}

/* Adds the first segment of the range to what is counted of the others. */
static int count_segment(graph_tally *t, const graph_list *list, graph_range r, sherd_error *err)
{
	const graph_segment *s = list->items[r.from];
	const shd_rfdb_sidecar *x;
	TRY(shd_graph_segment_index(s, GRAPH_BY_ID, &x, err));
	if (x->sorted && r.to - r.from == 1)
		return shd_graph_tally_segment(t, s, err);
	for (uint64_t row = 0; row < s->rows.rows; row++)
		TRY(count_row(t, list, r, row, x->sorted, err));
	return SHERD_OK;
}

static int keep_tail(graph_checking *c, const shd_buf *key, graph_tally *t, sherd_error *err)
{
	bool ok = false;
	const char *kept = shd_arena_copy(&c->arena, key->data, key->len);
	if (kept && shd_vec_reserve(&c->tallies, 1))
		(void)shd_map_add(&c->tails, (shd_str){kept, key->len}, c->tallies.count, &ok);
	if (!ok)
		return shd_fail_nomem(err);
	shd_vec_push(&c->tallies, t);
	return SHERD_OK;
}

/* A tally of its own for a tail, which begins with that of the tail after it. */
static int count_tail(graph_checking *c, const graph_list *list, graph_range r, const shd_buf *key,
                      const graph_tally **tail, sherd_error *err)
{
	graph_tally *t = calloc(1, sizeof(*t));
	if (!t)
		return shd_fail_nomem(err);
	if (*tail)
		shd_graph_tally_merge(t, *tail);
	int rc = count_segment(t, list, r, err);
	if (rc == SHERD_OK)
		rc = keep_tail(c, key, t, err);
	*tail = t;
	if (rc < 0) {
		shd_graph_tally_done(t);
		free(t);
	}
	return rc;
}

/* The newest rows of a shard. */
static int count_shard(graph_checking *c, const graph_list *list, graph_range r, graph_tally *total, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	const graph_tally *tail = NULL;
	for (size_t i = r.to; i-- > r.from;) {
		shd_buf_append(&key, &list->items[i]->proof->place, sizeof(size_t));
		TRY(shd_buf_check(&key, err));
		size_t found = shd_map_find(&c->tails, (shd_str){(const char *)key.data, key.len});
		if (found != SHD_MAP_NONE)
			tail = tally_at(c, found);
		else
			TRY(count_tail(c, list, (graph_range){i, r.to}, &key, &tail, err));
	}
	if (tail)
		shd_graph_tally_merge(total, tail);
	return SHERD_OK;
}

/* Each tombstone once, although others may have written it twice. */
static int count_buried(const graph_view *v, shd_rfdb_kind kind, graph_tally *total, sherd_error *err)
{
	const graph_list *list = &v->lists[kind];
	const graph_range all = {0, list->count};
	for (size_t i = 0; kind == SHD_RFDB_NODES && i < v->dead_node_count; i++)
		if (shd_graph_ids_find(&v->dead_node_set, v->dead_nodes[i]) == i)
			TRY(take_off(total, list, all, NULL, v->dead_nodes[i], err));
	for (size_t i = 0; kind == SHD_RFDB_EDGES && i < v->dead_edge_count; i++)
		if (shd_graph_keys_find(&v->dead_edge_set, v->dead_edges, &v->dead_edges[i]) == i)
			TRY(take_off(total, list, all, &v->dead_edges[i], 0, err));
	return SHERD_OK;
}

/* total has the said numbers below zero: what is left must be nothing. */
static int check_kind(graph_checking *c, const graph_view *v, shd_rfdb_kind kind, graph_tally *total, sherd_error *err)
{
	const graph_list *list = &v->lists[kind];
	for (size_t i = 0; i < list->count;) {
		graph_range r = shd_graph_list_shard(list, list->items[i]->shard);
		TRY(count_shard(c, list, r, total, err));
		i = r.to;
	}
	TRY(count_buried(v, kind, total, err));
	if (total->failed)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < total->list.count; i++)
		if (total->list.items[i].count)
			return shd_fail(err, SHERD_ECORRUPT, "bad-count",
			                "the manifest counts other records than live");
	return SHERD_OK;
}

int shd_graph_checking_counts(graph_checking *c, const graph_view *v, const shd_rfdb_counts *said, sherd_error *err)
{
	for (unsigned kind = 0; kind < 2; kind++) {
		SHD_DONE(shd_graph_tally_done) graph_tally total = {0};
		const shd_rfdb_types *types = &said->of[kind];
		for (size_t i = 0; i < types->count; i++)
			shd_graph_tally_add(&total, types->items[i].type, 0 - types->items[i].count);
		TRY(check_kind(c, v, kind, &total, err));
	}
	return SHERD_OK;
}

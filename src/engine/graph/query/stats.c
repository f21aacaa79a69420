/* engine/graph/query/stats.c - how much there is of what. */
#include "engine/graph/query/counts.h"
#include "engine/graph/shards/held.h"
#include "engine/graph/buffer/write.h"

/* Calls use() with the counts of the version and the buffer. */
static int with_counts(const sherd_graph *g, int (*use)(const graph_counts *, void *), void *arg, sherd_error *err)
{
	const graph_counts *known;
	graph_counts ahead;
	int rc;
	if (!graph_is_dirty(g)) {
		rc = shd_graph_counts_know(g, &known, err);
		TRY(shd_graph_view_settle(&g->view, rc, err));
		return use(known, arg);
	}
	TRY(shd_graph_counts_ahead(g, &ahead, err));
	rc = shd_graph_view_settle(&g->view, SHERD_OK, err);
	if (rc == SHERD_OK)
		rc = use(&ahead, arg);
	shd_graph_counts_done(&ahead);
	return rc;
}

static int take_totals(const graph_counts *c, void *arg)
{
	sherd_graph_totals *t = arg;
	t->nodes = shd_graph_counts_sum(&c->of[SHD_RFDB_NODES]);
	t->edges = shd_graph_counts_sum(&c->of[SHD_RFDB_EDGES]);
	return SHERD_OK;
}

int sherd_graph_stats(sherd_graph_totals *out, const sherd_graph *g, sherd_error *err)
{
	sherd_graph_totals t = {.shards = g->config.shards,
	                        .tombstones = (uint64_t)g->view.dead_node_count + g->view.dead_edge_count};
	TRY(with_counts(g, take_totals, &t, err));
	for (unsigned kind = 0; kind < 2; kind++) {
		t.segments += g->view.lists[kind].count;
		for (size_t i = 0; i < g->view.lists[kind].count; i++)
			t.bytes += g->view.lists[kind].items[i]->rows.size;
	}
	*out = t;
	return SHERD_OK;
}

/* Live rows of the shard at places of the list, without those that the buffer replaces or deletes. */
static int live_rows(const sherd_graph *g, shd_rfdb_kind kind, size_t i, uint64_t *count, sherd_error *err)
{
	const graph_segment *s = g->view.lists[kind].items[i];
	bool fresh = kind == SHD_RFDB_NODES ? g->buffer.node_count : g->buffer.edge_count;
	if (!fresh && shd_graph_view_is_plain(&g->view, kind, i)) {
		*count += s->rows.rows;
		return SHERD_OK;
	}
	for (uint64_t row = 0; row < s->rows.rows; row++) {
		int rc;
		if (kind == SHD_RFDB_NODES) {
			rc = shd_graph_buffer_node(&g->buffer, shd_rfdb_segment_id(&s->rows, row))
			             ? 0
			             : shd_graph_view_node_lives(&g->view, i, row, err);
		} else {
			shd_rfdb_edge edge;
			TRY(shd_graph_segment_read_edge(s, row, &edge, err));
			const shd_rfdb_edge_key key = {.src = edge.src, .dst = edge.dst, .type = edge.type};
			rc = shd_graph_buffer_edge(&g->buffer, &key)
			             ? 0
			             : shd_graph_view_edge_lives(&g->view, i, row, &key, err);
		}
		TRY(rc);
		*count += (uint64_t)rc;
	}
	return SHERD_OK;
}

/* The shard that a node of the buffer would go to now; that of its edges is the same. */
static uint32_t fresh_shard(const sherd_graph *g, const shd_rfdb_node *n)
{
	return sherd_graph_shard_of(g, graph_text_out(n->file));
}

static int add_fresh(const sherd_graph *g, sherd_graph_shard *out, sherd_error *err)
{
	for (size_t i = 0; i < g->buffer.node_count; i++)
		out->nodes += !g->buffer.nodes[i].dead && fresh_shard(g, &g->buffer.nodes[i].node) == out->shard;
	for (size_t i = 0; i < g->buffer.edge_count; i++) {
		const graph_new_edge *e = &g->buffer.edges[i];
		graph_row below;
		if (graph_edge_is_dead(e))
			continue;
		const graph_new_node *src = shd_graph_buffer_node(&g->buffer, e->key.src);
		if (src && !src->dead) {
			out->edges += fresh_shard(g, &src->node) == out->shard;
			continue;
		}
		int rc = shd_graph_view_node(&g->view, e->key.src, &below, err);
		TRY(rc);
		out->edges += rc && below.segment->shard == out->shard;
	}
	return SHERD_OK;
}

const char *sherd_graph_shard_name(const sherd_graph *g, uint32_t shard)
{
	const char *name = shd_rfdb_plan_name(&g->plan, shard);
	return name ? name : "";
}

int sherd_graph_shard_stats(sherd_graph_shard *out, const sherd_graph *g, uint32_t shard, sherd_error *err)
{
	sherd_graph_shard s = {.shard = shard};
	if (shard >= g->config.shards)
		return shd_fail(err, SHERD_EINVAL, "bad-range", "there are %u shards", g->config.shards);
	TRY(shd_graph_settle(g, err));
	for (unsigned kind = 0; kind < 2; kind++) {
		const graph_list *list = &g->view.lists[kind];
		graph_range r = shd_graph_list_shard(list, shard);
		for (size_t i = r.from; i < r.to; i++) {
			s.segments++;
			s.bytes += list->items[i]->rows.size;
			TRY(live_rows(g, kind, i, kind == SHD_RFDB_NODES ? &s.nodes : &s.edges, err));
		}
	}
	TRY(add_fresh(g, &s, err));
	TRY(shd_graph_held_name(g, shard, s.name, sizeof(s.name), err));
	TRY(shd_graph_view_settle(&g->view, SHERD_OK, err));
	*out = s;
	return SHERD_OK;
}

typedef struct listing {
	shd_rfdb_kind kind;
	sherd_graph_count_fn *each;
	void *arg;
} listing;

static int list(const graph_counts *c, void *arg)
{
	const listing *l = arg;
	const shd_rfdb_types *types = &c->of[l->kind];
	for (size_t i = 0; i < types->count; i++)
		if (!l->each(l->arg, graph_text_out(types->items[i].type), types->items[i].count))
			break;
	return SHERD_OK;
}

int sherd_graph_count_nodes(const sherd_graph *g, sherd_graph_count_fn *each, void *arg, sherd_error *err)
{
	listing l = {SHD_RFDB_NODES, each, arg};
	return with_counts(g, list, &l, err);
}

int sherd_graph_count_edges(const sherd_graph *g, sherd_graph_count_fn *each, void *arg, sherd_error *err)
{
	listing l = {SHD_RFDB_EDGES, each, arg};
	return with_counts(g, list, &l, err);
}

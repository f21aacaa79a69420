/* Every kind of read, compared with the arrays. */
#include "support/graph_naive.h"

#include <string.h>

static bool same(sherd_graph_text a, sherd_graph_text b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static bool same_id(sherd_graph_id a, sherd_graph_id b)
{
	return a.lo == b.lo && a.hi == b.hi;
}

static unsigned index_of(sherd_graph_id id)
{
	unsigned i = 0;
	while (i < NAIVE_IDS && !same_id(naive_id(i), id))
		i++;
	must(i < NAIVE_IDS); /* else an id that nobody added */
	return i;
}

static unsigned type_of(sherd_graph_text type)
{
	unsigned t = 0;
	while (t < NAIVE_TYPES && !same(type, sherd_graph_text_of(naive_type(t))))
		t++;
	must(t < NAIVE_TYPES); /* else a type that nobody added */
	return t;
}

static void check_node(const graph_naive *m, const sherd_graph_node *n, unsigned id)
{
	naive_record want;
	must(m->nodes[id].stamp);
	naive_make_node(id, m->nodes[id], &want);
	must(same_id(n->id, want.node.id));
	must(same(n->semantic_id, want.node.semantic_id));
	must(same(n->type, want.node.type));
	must(same(n->name, want.node.name));
	must(same(n->file, want.node.file));
	must(same(n->metadata, want.node.metadata));
	must(n->content_hash == want.node.content_hash);
	must(n->exported == want.node.exported);
}

/* What a read delivered: each record once. */
typedef struct seen {
	const graph_naive *model;
	bool nodes[NAIVE_IDS];
	bool edges[NAIVE_IDS][NAIVE_IDS][NAIVE_TYPES];
	size_t count;
} seen;

static bool see_node(void *arg, const sherd_graph_node *n)
{
	seen *s = arg;
	unsigned id = index_of(n->id);
	must(!s->nodes[id]);
	s->nodes[id] = true;
	s->count++;
	check_node(s->model, n, id);
	return true;
}

static bool see_edge(void *arg, const sherd_graph_edge *e)
{
	seen *s = arg;
	naive_record want;
	unsigned src = index_of(e->src), dst = index_of(e->dst), type = type_of(e->type);
	const naive_edge *edge = &s->model->edges[src][dst][type];
	must(!s->edges[src][dst][type]);
	must(edge->stamp);
	s->edges[src][dst][type] = true;
	s->count++;
	naive_make_edge(src, dst, type, *edge, &want);
	must(same(e->metadata, want.edge.metadata));
	return true;
}

static bool matches(sherd_graph_text text, sherd_graph_text want, bool prefix)
{
	if (!want.ptr)
		return true;
	return prefix ? text.len >= want.len && memcmp(text.ptr, want.ptr, want.len) == 0 : same(text, want);
}

static void check_query(const graph_naive *m, const sherd_graph *g, const sherd_graph_query *q)
{
	seen s = {.model = m};
	must_ok(sherd_graph_find(g, q, see_node, &s, err));
	for (unsigned id = 0; id < NAIVE_IDS; id++) {
		naive_record r;
		bool want = m->nodes[id].stamp;
		if (want) {
			naive_make_node(id, m->nodes[id], &r);
			want = !q || (matches(r.node.type, q->type, q->type_prefix) &&
			              matches(r.node.file, q->file, q->file_prefix) &&
			              matches(r.node.name, q->name, q->name_prefix));
		}
		must(s.nodes[id] == want);
	}
}

static void check_queries(const graph_naive *m, const sherd_graph *g, unsigned dice)
{
	static const char *const types[] = {NULL, "ODD", "http:route", "http", "h", "", "none"};
	static const char *const files[] = {NULL, "a/1", "a/", "a/b/2", "", "e", "f/3", "\xc3\xbc/1", "none"};
	static const char *const names[] = {NULL, "name1", "name10", "name", "", "none"};
	check_query(m, g, NULL);
	for (int file = 0; file < NAIVE_FILES; file++) {
		const sherd_graph_query q = {.file = sherd_graph_text_of(naive_file(file))};
		check_query(m, g, &q);
	}
	for (unsigned i = 0; i < sizeof(types) / sizeof(*types); i++) {
		const sherd_graph_query q = {.type = sherd_graph_text_of(types[i]), .type_prefix = dice >> i & 1};
		check_query(m, g, &q);
	}
	for (unsigned i = 0; i < 12; i++, dice = dice * 1103515245 + 12345) {
		unsigned d = dice >> 8;
		const sherd_graph_query q = {.type = sherd_graph_text_of(types[d % 7]),
		                             .file = sherd_graph_text_of(files[d / 7 % 9]),
		                             .name = sherd_graph_text_of(names[d / 63 % 6]),
		                             .type_prefix = d & 1 << 12,
		                             .file_prefix = d & 1 << 13,
		                             .name_prefix = d & 1 << 14};
		check_query(m, g, &q);
	}
}

/* Edges from or to one id, or all (NAIVE_IDS); of types whose bit is set, none set: of all. */
static void check_edges(const graph_naive *m, const sherd_graph *g, unsigned id, bool incoming, unsigned bits)
{
	sherd_graph_text list[NAIVE_TYPES];
	sherd_graph_types types = {.list = list};
	seen s = {.model = m};
	for (unsigned t = 0; t < NAIVE_TYPES; t++)
		if (bits & 1u << t)
			list[types.count++] = sherd_graph_text_of(naive_type(t));
	if (id == NAIVE_IDS)
		must_ok(sherd_graph_edges(g, &types, see_edge, &s, err));
	else if (incoming)
		must_ok(sherd_graph_incoming(g, naive_id(id), &types, see_edge, &s, err));
	else
		must_ok(sherd_graph_outgoing(g, naive_id(id), bits ? &types : NULL, see_edge, &s, err));
	for (unsigned i = 0; i < NAIVE_IDS; i++)
		for (unsigned j = 0; j < NAIVE_IDS; j++)
			for (unsigned t = 0; t < NAIVE_TYPES; t++)
				must(s.edges[i][j][t] ==
				     (m->edges[i][j][t].stamp && (id == NAIVE_IDS || id == (incoming ? j : i)) &&
				      (!bits || bits & 1u << t)));
}

/* ---- walks */

typedef struct walked {
	unsigned depth[NAIVE_IDS]; /* plus one; 0: not reached */
	unsigned last;
} walked;

static bool see_id(void *arg, sherd_graph_id id, uint32_t depth)
{
	walked *w = arg;
	unsigned i = index_of(id);
	must(!w->depth[i]);
	must(depth >= w->last);
	w->depth[i] = depth + 1;
	w->last = depth;
	return true;
}

static bool joined(const graph_naive *m, unsigned from, unsigned to, sherd_graph_direction direction)
{
	for (unsigned t = 0; t < NAIVE_TYPES; t++)
		if ((direction != SHERD_GRAPH_IN && m->edges[from][to][t].stamp) ||
		    (direction != SHERD_GRAPH_OUT && m->edges[to][from][t].stamp))
			return true;
	return false;
}

static void check_walk(const graph_naive *m, const sherd_graph *g, unsigned dice)
{
	const sherd_graph_walk_options walk = {.direction = (sherd_graph_direction)(dice % 3), .depth = dice / 3 % 5};
	unsigned start = dice / 15 % NAIVE_IDS;
	const sherd_graph_id id = naive_id(start);
	unsigned want[NAIVE_IDS] = {0};
	walked w = {0}, beside = {0};
	want[start] = 1;
	for (unsigned depth = 1; depth <= walk.depth; depth++)
		for (unsigned i = 0; i < NAIVE_IDS; i++)
			for (unsigned j = 0; want[i] == depth && j < NAIVE_IDS; j++)
				if (!want[j] && joined(m, i, j, walk.direction))
					want[j] = depth + 1;
	must_ok(sherd_graph_bfs(g, &id, 1, &walk, see_id, &w, err));
	must(memcmp(w.depth, want, sizeof(want)) == 0);
	must_ok(sherd_graph_neighbours(g, id, &walk, see_id, &beside, err));
	for (unsigned i = 0; i < NAIVE_IDS; i++)
		must((beside.depth[i] != 0) == joined(m, start, i, walk.direction));
}

/* ---- counts */

typedef struct counted {
	const graph_naive *model;
	bool edges;
	uint64_t all;
	char before[32];
} counted;

static uint64_t naive_count(const counted *c, sherd_graph_text type)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < NAIVE_IDS; i++) {
		naive_record r;
		if (!c->edges && c->model->nodes[i].stamp) {
			naive_make_node(i, c->model->nodes[i], &r);
			n += same(r.node.type, type);
		}
		for (unsigned j = 0; c->edges && j < NAIVE_IDS; j++)
			n += c->model->edges[i][j][type_of(type)].stamp != 0;
	}
	return n;
}

static bool see_count(void *arg, sherd_graph_text type, uint64_t count)
{
	counted *c = arg;
	char text[32];
	must(type.len < sizeof(text));
	memcpy(text, type.ptr, type.len);
	text[type.len] = 0;
	must(!c->all || strcmp(text, c->before) > 0);
	must(count > 0 && count == naive_count(c, type));
	memcpy(c->before, text, sizeof(text));
	c->all += count;
	return true;
}

static void check_counts(const graph_naive *m, const sherd_graph *g)
{
	static const graph_naive nothing;
	counted nodes = {.model = m}, edges = {.model = m, .edges = true};
	sherd_graph_update_result all = naive_compare(&nothing, m);
	sherd_graph_totals totals;
	uint64_t shard_nodes = 0, shard_edges = 0, segments = 0, bytes = 0;
	must_ok(sherd_graph_count_nodes(g, see_count, &nodes, err));
	must_ok(sherd_graph_count_edges(g, see_count, &edges, err));
	must(nodes.all == all.nodes_added && edges.all == all.edges_added);
	must_ok(sherd_graph_stats(&totals, g, err));
	must(totals.nodes == all.nodes_added && totals.edges == all.edges_added);
	for (uint32_t i = 0; i < totals.shards; i++) {
		sherd_graph_shard s;
		must_ok(sherd_graph_shard_stats(&s, g, i, err));
		must(s.shard == i);
		shard_nodes += s.nodes;
		shard_edges += s.edges;
		segments += s.segments;
		bytes += s.bytes;
	}
	must(segments == totals.segments && bytes == totals.bytes);
	/* The directory planner has no shard yet for directories in the buffer. */
	if (!sherd_graph_pending(g) || sherd_graph_layout_of(g).planner == SHERD_GRAPH_HASH)
		must(shard_nodes == totals.nodes && shard_edges == totals.edges);
}

void naive_check(const graph_naive *m, const sherd_graph *g, unsigned dice)
{
	for (unsigned id = 0; id < NAIVE_IDS; id++) {
		sherd_graph_node n;
		int rc = sherd_graph_get(&n, g, naive_id(id), NULL);
		must(rc == (m->nodes[id].stamp ? 1 : 0));
		must(sherd_graph_exists(g, naive_id(id), NULL) == rc);
		if (rc)
			check_node(m, &n, id);
		check_edges(m, g, id, false, dice >> id % 16 & 7);
		check_edges(m, g, id, true, dice >> id % 15 & 7);
	}
	check_edges(m, g, NAIVE_IDS, false, 0);
	check_edges(m, g, NAIVE_IDS, false, dice & 7);
	check_queries(m, g, dice);
	check_walk(m, g, dice);
	check_walk(m, g, dice / 7);
	check_counts(m, g);
}

/* ---- differences */

typedef struct differing {
	const graph_naive *from, *to;
	seen seen; /* of what is in `to`, or was in `from` */
	sherd_graph_update_result change;
	uint64_t edges_changed;
} differing;

static bool see_node_change(void *arg, sherd_graph_difference what, const sherd_graph_node *n)
{
	differing *d = arg;
	d->seen.model = what == SHERD_GRAPH_REMOVED ? d->from : d->to;
	d->change.nodes_added += what == SHERD_GRAPH_ADDED;
	d->change.nodes_removed += what == SHERD_GRAPH_REMOVED;
	d->change.nodes_changed += what == SHERD_GRAPH_CHANGED;
	return see_node(&d->seen, n);
}

static bool see_edge_change(void *arg, sherd_graph_difference what, const sherd_graph_edge *e)
{
	differing *d = arg;
	d->seen.model = what == SHERD_GRAPH_REMOVED ? d->from : d->to;
	d->change.edges_added += what == SHERD_GRAPH_ADDED;
	d->change.edges_removed += what == SHERD_GRAPH_REMOVED;
	d->edges_changed += what == SHERD_GRAPH_CHANGED;
	return see_edge(&d->seen, e);
}

static uint64_t count_changed_edges(const graph_naive *from, const graph_naive *to)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < NAIVE_IDS; i++)
		for (unsigned j = 0; j < NAIVE_IDS; j++)
			for (unsigned t = 0; t < NAIVE_TYPES; t++) {
				naive_record a, b;
				if (!from->edges[i][j][t].stamp || !to->edges[i][j][t].stamp)
					continue;
				naive_make_edge(i, j, t, from->edges[i][j][t], &a);
				naive_make_edge(i, j, t, to->edges[i][j][t], &b);
				n += !same(a.edge.metadata, b.edge.metadata);
			}
	return n;
}

void naive_check_diff(const graph_naive *from, const graph_naive *to, const sherd_graph *a, const sherd_graph *b)
{
	differing d = {.from = from, .to = to};
	const sherd_graph_diff_fns fns = {see_node_change, see_edge_change, &d};
	sherd_graph_update_result want = naive_compare(from, to);
	must_ok(sherd_graph_diff(a, b, &fns, err));
	must(memcmp(&d.change, &want, sizeof(want)) == 0);
	must(d.edges_changed == count_changed_edges(from, to));
}

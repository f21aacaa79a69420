#include "ops_model.h"

#include <string.h>

static const char *const file_names[OPS_FILES] = {"a.js", "src/b.js", "src/deep/c.js", "lib/d.js"};
static const char *const kinds[OPS_KINDS] = {"CALLS", "HAS"};

/* ---- records */

sherd_graph_text ops_file(unsigned file)
{
	return sherd_graph_text_of(file_names[file]);
}

sherd_graph_id ops_id(unsigned id)
{
	return (sherd_graph_id){.lo = id + 1, .hi = (uint64_t)id << 60 | 5};
}

void ops_make_node(unsigned id, unsigned file, unsigned stamp, ops_record *out)
{
	out->name[0] = 'v';
	out->name[1] = (char)('0' + stamp / 10);
	out->name[2] = (char)('0' + stamp % 10);
	out->name[3] = 0;
	out->node = (sherd_graph_node){.id = ops_id(id),
	                               .semantic_id = sherd_graph_text_of(out->name),
	                               .type = sherd_graph_text_of(stamp % 2 ? "F" : "M"),
	                               .name = sherd_graph_text_of(out->name),
	                               .file = ops_file(file),
	                               .metadata = sherd_graph_text_of("")};
}

sherd_graph_edge ops_make_edge(unsigned src, unsigned dst, unsigned kind)
{
	return (sherd_graph_edge){.src = ops_id(src),
	                          .dst = ops_id(dst),
	                          .type = sherd_graph_text_of(kinds[kind]),
	                          .metadata = sherd_graph_text_of("")};
}

void ops_forget_node(ops_model *m, unsigned id)
{
	m->nodes[id] = 0;
	for (unsigned other = 0; other < OPS_IDS; other++)
		for (unsigned k = 0; k < OPS_KINDS; k++)
			m->edges[id][other][k] = m->edges[other][id][k] = 0;
}

/* ---- comparing */

typedef struct seen {
	const ops_model *model;
	unsigned out[OPS_IDS], in[OPS_IDS];
} seen;

static bool see_edge(void *arg, const sherd_graph_edge *e)
{
	seen *s = arg;
	unsigned src = (unsigned)e->src.lo - 1, dst = (unsigned)e->dst.lo - 1, kind = e->type.len == strlen(kinds[1]);
	must(src < OPS_IDS && dst < OPS_IDS && s->model->edges[src][dst][kind]);
	s->out[src]++;
	s->in[dst]++;
	return true;
}

static bool same(sherd_graph_text a, sherd_graph_text b)
{
	return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

static void check_node(const ops_model *m, const sherd_graph *g, unsigned id)
{
	sherd_graph_node n;
	ops_record r;
	int rc = sherd_graph_get(&n, g, ops_id(id), NULL);
	must(rc == (m->nodes[id] != 0));
	ops_make_node(id, m->files[id], m->nodes[id], &r);
	must(!rc || (same(n.name, r.node.name) && same(n.file, r.node.file)));
}

void ops_check(const ops_model *m, const sherd_graph *g)
{
	sherd_graph_totals totals;
	seen want = {.model = m}, out = {.model = m}, in = {.model = m}, all = {.model = m};
	uint64_t nodes = 0, edges = 0;
	for (unsigned id = 0; id < OPS_IDS; id++) {
		check_node(m, g, id);
		nodes += m->nodes[id] != 0;
		for (unsigned dst = 0; dst < OPS_IDS; dst++)
			for (unsigned k = 0; k < OPS_KINDS; k++) {
				want.out[id] += m->edges[id][dst][k] != 0;
				want.in[dst] += m->edges[id][dst][k] != 0;
			}
		edges += want.out[id];
		must_ok(sherd_graph_outgoing(g, ops_id(id), NULL, see_edge, &out, err));
		must_ok(sherd_graph_incoming(g, ops_id(id), NULL, see_edge, &in, err));
	}
	must_ok(sherd_graph_edges(g, NULL, see_edge, &all, err));
	must(memcmp(&out, &want, sizeof(want)) == 0 && memcmp(&in, &want, sizeof(want)) == 0);
	must(memcmp(&all, &want, sizeof(want)) == 0);
	must_ok(sherd_graph_stats(&totals, g, err));
	must(totals.nodes == nodes && totals.edges == edges);
}

typedef struct differences {
	unsigned nodes[3], edges[3];
} differences;

static bool see_node_change(void *arg, sherd_graph_difference what, const sherd_graph_node *n)
{
	(void)n;
	((differences *)arg)->nodes[what]++;
	return true;
}

static bool see_edge_change(void *arg, sherd_graph_difference what, const sherd_graph_edge *e)
{
	(void)e;
	((differences *)arg)->edges[what]++;
	return true;
}

static void add_difference(unsigned counts[3], unsigned from, unsigned to, bool changes)
{
	counts[SHERD_GRAPH_ADDED] += !from && to;
	counts[SHERD_GRAPH_REMOVED] += from && !to;
	counts[SHERD_GRAPH_CHANGED] += changes && from && to && from != to;
}

void ops_check_diff(const ops_model *from, const ops_model *to, const sherd_graph *old, const sherd_graph *now)
{
	differences got = {0}, want = {0};
	const sherd_graph_diff_fns fns = {see_node_change, see_edge_change, &got};
	must_ok(sherd_graph_diff(old, now, &fns, err));
	for (unsigned id = 0; id < OPS_IDS; id++) {
		add_difference(want.nodes, from->nodes[id], to->nodes[id], true);
		/* One edge of a key is like another. */
		for (unsigned k = 0; k < OPS_IDS * OPS_KINDS; k++)
			add_difference(want.edges, from->edges[id][k / OPS_KINDS][k % OPS_KINDS],
			               to->edges[id][k / OPS_KINDS][k % OPS_KINDS], false);
	}
	must(memcmp(&got, &want, sizeof(got)) == 0);
}

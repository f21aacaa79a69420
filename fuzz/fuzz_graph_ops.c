/* The input says what is done to a database and to arrays: they must agree. The first byte chooses the layout, each of
 * the others one operation and what it is done to; any bytes do. What is short goes on with operations that follow from
 * it, so that every input changes, commits and opens again.
 *
 * SHERD_FUZZ_STATS=1 tells at the end how many operations and openings the median input had. */
#include "base/map.h"
#include "base/rng.h"
#include "form.h"
#include "support/graph_naive.h"

#include <sherd/verify.h>

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_plain;

enum { IDS = 8, FILES = 4, KINDS = 2, LEAST_STEPS = 24, MOST_STEPS = 96 };

/* Stamps: 0 is not there, else the number of the step that wrote it. */
typedef struct model {
	unsigned nodes[IDS];
	unsigned files[IDS];
	unsigned edges[IDS][IDS][KINDS];
} model;

typedef struct game {
	sherd_store *store;
	sherd_graph *graph, *reader;
	model now, flushed, read;
	unsigned step;
} game;

static const char *const file_names[FILES] = {"a.js", "src/b.js", "src/deep/c.js", "lib/d.js"};
static const char *const kinds[KINDS] = {"CALLS", "HAS"};

/* ---- how much was done */

enum { MOST_COUNTED = 128 };
static struct {
	bool wanted, asked;
	uint64_t inputs, steps[MOST_COUNTED], openings[MOST_COUNTED];
	unsigned opened; /* of the running input */
} stats;

static unsigned median(const uint64_t counts[MOST_COUNTED])
{
	uint64_t sum = 0;
	unsigned i = 0;
	while (i < MOST_COUNTED - 1 && (sum += counts[i]) * 2 < stats.inputs)
		i++;
	return i;
}

static void tell_stats(void)
{
	(void)fprintf(stderr, "%llu inputs, median %u operations and %u openings\n", (unsigned long long)stats.inputs,
	              median(stats.steps), median(stats.openings));
}

static void count_input(unsigned steps)
{
	if (!stats.asked) {
		stats.asked = true;
		stats.wanted = getenv("SHERD_FUZZ_STATS") != NULL;
		if (stats.wanted)
			must(atexit(tell_stats) == 0);
	}
	stats.inputs++;
	stats.steps[steps < MOST_COUNTED ? steps : MOST_COUNTED - 1]++;
	stats.openings[stats.opened < MOST_COUNTED ? stats.opened : MOST_COUNTED - 1]++;
	stats.opened = 0;
}

/* ---- a database to begin with, made once for each layout */

static bool copy_object(const char *key, const sherd_stat *stat, void *arg)
{
	sherd_store *const *stores = arg;
	char *data = NULL;
	size_t len = 0;
	(void)stat;
	must_ok(sherd_store_get(stores[0], key, 1 << 20, &data, &len, err));
	must_ok(sherd_store_put(stores[1], key, SHERD_WRITE_NEW, data, len, err));
	free(data);
	return true;
}

static sherd_store *fresh_store(unsigned layout)
{
	static const sherd_graph_layout layouts[] = {{.shards = 1},
	                                             {.shards = 2},
	                                             {.planner = SHERD_GRAPH_DIRECTORY, .min_files = 1},
	                                             {.planner = SHERD_GRAPH_DIRECTORY, .min_files = 3}};
	static sherd_store *templates[sizeof(layouts) / sizeof(*layouts)];
	sherd_store *pair[2] = {NULL, NULL};
	layout %= sizeof(layouts) / sizeof(*layouts);
	if (!templates[layout]) {
		must_ok(sherd_store_open_memory(&templates[layout], err));
		must_ok(sherd_graph_create(templates[layout], "", &layouts[layout], 1, err));
	}
	pair[0] = templates[layout];
	must_ok(sherd_store_open_memory(&pair[1], err));
	must_ok(sherd_store_list(pair[0], "", "", copy_object, pair, err));
	return pair[1];
}

/* ---- records */

static sherd_graph_id id_of(unsigned id)
{
	return (sherd_graph_id){.lo = id + 1, .hi = (uint64_t)id << 60 | 5};
}

typedef struct record {
	sherd_graph_node node;
	char name[16];
} record;

static void make_node(unsigned id, unsigned file, unsigned stamp, record *out)
{
	(void)snprintf(out->name, sizeof(out->name), "v%u", stamp);
	out->node = (sherd_graph_node){.id = id_of(id),
	                               .semantic_id = sherd_graph_text_of(out->name),
	                               .type = sherd_graph_text_of(stamp % 2 ? "F" : "M"),
	                               .name = sherd_graph_text_of(out->name),
	                               .file = sherd_graph_text_of(file_names[file]),
	                               .metadata = sherd_graph_text_of("")};
}

static sherd_graph_edge make_edge(unsigned src, unsigned dst, unsigned kind)
{
	return (sherd_graph_edge){.src = id_of(src),
	                          .dst = id_of(dst),
	                          .type = sherd_graph_text_of(kinds[kind]),
	                          .metadata = sherd_graph_text_of("")};
}

static void forget_node(model *m, unsigned id)
{
	m->nodes[id] = 0;
	for (unsigned other = 0; other < IDS; other++)
		for (unsigned k = 0; k < KINDS; k++)
			m->edges[id][other][k] = m->edges[other][id][k] = 0;
}

/* ---- operations: arg is below 32 */

static void add_node(game *g, unsigned arg)
{
	record r;
	unsigned id = arg % IDS, file = arg / IDS;
	make_node(id, file, g->step, &r);
	must_ok(sherd_graph_add_nodes(g->graph, &r.node, 1, err));
	g->now.nodes[id] = g->step;
	g->now.files[id] = file;
}

static void add_edges(game *g, unsigned arg)
{
	sherd_graph_edge list[KINDS];
	unsigned src = arg % IDS, dst = (arg * 5 + g->step) % IDS;
	for (unsigned k = 0; k < KINDS; k++)
		list[k] = make_edge(src, (dst + k) % IDS, k);
	int rc = sherd_graph_add_edges(g->graph, list, KINDS, NULL);
	must(rc == (g->now.nodes[src] ? SHERD_OK : SHERD_EINVAL));
	for (unsigned k = 0; k < KINDS && rc == SHERD_OK; k++)
		g->now.edges[src][(dst + k) % IDS][k] = g->step;
}

static void delete_node(game *g, unsigned arg)
{
	uint64_t deleted;
	unsigned id = arg % IDS;
	const sherd_graph_id ids[] = {id_of(id)};
	must_ok(sherd_graph_delete_nodes(g->graph, ids, 1, &deleted, err));
	must(deleted == (g->now.nodes[id] != 0));
	if (deleted)
		forget_node(&g->now, id);
}

static void delete_edges(game *g, unsigned arg)
{
	uint64_t deleted, there = 0;
	unsigned src = arg % IDS, kind = arg / 16;
	sherd_graph_edge list[IDS];
	for (unsigned dst = 0; dst < IDS; dst++) {
		list[dst] = make_edge(src, dst, kind);
		there += g->now.edges[src][dst][kind] != 0;
		g->now.edges[src][dst][kind] = 0;
	}
	must_ok(sherd_graph_delete_edges(g->graph, list, IDS, &deleted, err));
	must(deleted == there);
}

/* Two nodes take the place of all that the file had, with an edge between them. */
static void update_file(game *g, unsigned arg)
{
	record r[2];
	unsigned file = arg % FILES, ids[2] = {arg / FILES, (arg / FILES + 1 + g->step % 3) % IDS};
	const sherd_graph_edge edge = make_edge(ids[0], ids[1], 0);
	sherd_graph_node nodes[2];
	for (unsigned i = 0; i < 2; i++) {
		make_node(ids[i], file, g->step, &r[i]);
		nodes[i] = r[i].node;
	}
	must_ok(sherd_graph_update_file(g->graph, nodes[0].file, nodes, 2, &edge, 1, NULL, err));
	for (unsigned id = 0; id < IDS; id++) {
		bool stays = id == ids[0] || id == ids[1];
		if (!g->now.nodes[id] || g->now.files[id] != file)
			continue;
		if (stays)
			memset(g->now.edges[id], 0, sizeof(g->now.edges[id]));
		else
			forget_node(&g->now, id);
	}
	for (unsigned i = 0; i < 2; i++) {
		g->now.nodes[ids[i]] = g->step;
		g->now.files[ids[i]] = file;
	}
	g->now.edges[ids[0]][ids[1]][0] = g->step;
}

static void delete_file(game *g, unsigned file)
{
	must_ok(sherd_graph_delete_file(g->graph, sherd_graph_text_of(file_names[file]), NULL, err));
	for (unsigned id = 0; id < IDS; id++)
		if (g->now.nodes[id] && g->now.files[id] == file)
			forget_node(&g->now, id);
}

static void flush(game *g)
{
	must_ok(sherd_graph_flush(g->graph, NULL, err));
	g->flushed = g->now;
}

static void reopen(game *g)
{
	sherd_graph_close(g->graph);
	must_ok(sherd_graph_open(&g->graph, g->store, "", NULL, err));
	g->now = g->flushed;
	stats.opened++;
}

static void read_now(game *g)
{
	sherd_graph_close(g->reader);
	must_ok(sherd_graph_open(&g->reader, g->store, "", &(sherd_graph_options){.read_only = true}, err));
	g->read = g->flushed;
	stats.opened++;
}

static void collect(game *g, uint32_t keep)
{
	flush(g);
	must_ok(sherd_graph_gc(g->graph, &(sherd_graph_gc_options){.keep = keep}, NULL, err));
}

static void maintain(game *g, unsigned arg)
{
	switch (arg / 4) {
	case 0:
		must_ok(sherd_graph_compact(g->graph, NULL, err));
		g->flushed = g->now;
		break;
	case 1: collect(g, 1 + arg % 2); break;
	case 2: must_ok(sherd_graph_spill(g->graph, err)); break;
	case 3: must_ok(sherd_graph_set_tag(g->graph, 0, "k", arg % 2 ? "v" : NULL, err)); break;
	case 4: read_now(g); break;
	case 5: reopen(g); break;
	case 6: delete_file(g, arg % FILES); break;
	default: delete_edges(g, arg); break;
	}
}

/* Commits take most of the time: every fourth that could be one is. */
static void flush_or_add(game *g, unsigned arg)
{
	if (arg % 4)
		add_edges(g, arg);
	else
		flush(g);
}

/* ---- comparing */

static void verify(const game *g)
{
	sherd_report *r = NULL;
	must_ok(sherd_verify(&r, g->store, "", NULL, err));
	must(sherd_report_errors(r) == 0);
	sherd_report_close(r);
}

typedef struct seen {
	const model *model;
	unsigned src, count;
} seen;

static bool see_edge(void *arg, const sherd_graph_edge *e)
{
	seen *s = arg;
	unsigned dst = (unsigned)e->dst.lo - 1, kind = e->type.len == strlen(kinds[1]);
	must(dst < IDS && s->model->edges[s->src][dst][kind]);
	s->count++;
	return true;
}

static bool same(sherd_graph_text a, sherd_graph_text b)
{
	return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

static void check_node(const model *m, const sherd_graph *g, unsigned id)
{
	sherd_graph_node n;
	record r;
	int rc = sherd_graph_get(g, id_of(id), &n, NULL);
	must(rc == (m->nodes[id] != 0));
	make_node(id, m->files[id], m->nodes[id], &r);
	must(!rc || (same(n.name, r.node.name) && same(n.file, r.node.file)));
}

static void check(const model *m, const sherd_graph *g)
{
	sherd_graph_totals totals;
	uint64_t nodes = 0, edges = 0;
	for (unsigned id = 0; id < IDS; id++) {
		seen s = {.model = m, .src = id};
		unsigned want = 0;
		check_node(m, g, id);
		for (unsigned dst = 0; dst < IDS; dst++)
			for (unsigned k = 0; k < KINDS; k++)
				want += m->edges[id][dst][k] != 0;
		must_ok(sherd_graph_outgoing(g, id_of(id), NULL, see_edge, &s, err));
		must(s.count == want);
		edges += want;
		nodes += m->nodes[id] != 0;
	}
	must_ok(sherd_graph_stats(g, &totals, err));
	must(totals.nodes == nodes && totals.edges == edges);
}

/* ---- playing */

static void play(game *g, uint8_t byte)
{
	static void (*const acts[8])(game *, unsigned) = {add_node,    add_edges,    add_node,    update_file,
	                                                  delete_node, flush_or_add, update_file, maintain};
	g->step++;
	acts[byte >> 5](g, byte & 31);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	game g = {.store = fresh_store(len ? data[0] : 0)};
	uint64_t more = sherd_hash(1, data, len);
	size_t steps = len > MOST_STEPS ? MOST_STEPS : len < LEAST_STEPS ? LEAST_STEPS : len;
	must_ok(sherd_graph_open(&g.graph, g.store, "", NULL, err));
	for (size_t i = 1; i <= steps; i++) {
		play(&g, i < len ? data[i] : (uint8_t)sherd_splitmix64(more + i));
		if (i == steps / 2)
			reopen(&g);
	}
	check(&g.now, g.graph);
	flush(&g);
	reopen(&g);
	check(&g.now, g.graph);
	if (g.reader)
		check(&g.read, g.reader);
	if (more % 16 == 0)
		verify(&g);
	sherd_graph_close(g.reader);
	sherd_graph_close(g.graph);
	sherd_store_close(g.store);
	count_input((unsigned)steps);
	return 0;
}

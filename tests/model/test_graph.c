/* Random changes to a graph, and what a naive one would hold: arrays, indexed by small numbers. */
#include "support/graph_make.h"
#include "support/test.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/rng.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { IDS = 40, FILES = 12, TYPES = 3 };

typedef struct naive {
	int file[IDS]; /* -1: no such node */
	unsigned name[IDS];
	unsigned edge[IDS][IDS][TYPES]; /* what its metadata says; 0: no such edge */
	int context[IDS][IDS][TYPES];   /* the file it is about, or -1 */
} naive;

typedef struct run {
	sherd_store *store;
	sherd_graph *graph;
	naive model;
	uint64_t state;
	unsigned turn;
} run;

static const char *const types[TYPES] = {"CALLS", "HAS", "a"};

static unsigned pick(run *r, unsigned below)
{
	r->state = sherd_splitmix64(r->state);
	return (unsigned)(r->state >> 33) % below;
}

static const char *file_name(int file)
{
	static const char *const names[FILES] = {"a/1",   "a/2", "a/b/1", "a/b/2", "a/b/3", "c/1",
	                                         "c/d/1", "e",   "f/1",   "f/2",   "f/3",   "g/h/i/1"};
	return names[file];
}

static const char *id_text(unsigned id, char *text)
{
	(void)snprintf(text, 16, id % 5 ? "id%u" : "%u", id);
	return text;
}

static void metadata_text(unsigned value, int context, char *text)
{
	if (context >= 0)
		(void)snprintf(text, 96, "{\"v\":%u,\"__file_context\":\"__enrichment__/who/%s\"}", value,
		               file_name(context));
	else
		(void)snprintf(text, 96, "{\"v\":%u}", value);
}

static sherd_graph_node node_of(unsigned id, unsigned name, int file, char text[2][16])
{
	(void)snprintf(text[1], 16, "name%u", name);
	return graph_node(id_text(id, text[0]), name % 2 ? "ODD" : "EVEN", text[1], file_name(file));
}

static void remove_node(naive *m, unsigned id)
{
	m->file[id] = -1;
	for (unsigned other = 0; other < IDS; other++)
		for (unsigned t = 0; t < TYPES; t++)
			m->edge[id][other][t] = m->edge[other][id][t] = 0;
}

static void add_node(run *r)
{
	char text[2][16];
	unsigned id = pick(r, IDS);
	int file = (int)pick(r, FILES);
	const sherd_graph_node n = node_of(id, r->turn, file, text);
	assert_ok(sherd_graph_add_nodes(r->graph, &n, 1, err));
	r->model.file[id] = file;
	r->model.name[id] = r->turn;
}

static void add_edge(run *r)
{
	char from[16], to[16], metadata[96];
	unsigned src = pick(r, IDS), dst = pick(r, IDS), t = pick(r, TYPES);
	int context = pick(r, 4) ? -1 : (int)pick(r, FILES);
	metadata_text(r->turn, context, metadata);
	const sherd_graph_edge e = graph_edge(id_text(src, from), id_text(dst, to), types[t], metadata);
	if (r->model.file[src] < 0) {
		assert_refused(SHERD_EINVAL, "unknown-source", sherd_graph_add_edges(r->graph, &e, 1, err));
		return;
	}
	assert_ok(sherd_graph_add_edges(r->graph, &e, 1, err));
	r->model.edge[src][dst][t] = r->turn;
	r->model.context[src][dst][t] = context;
}

static void delete_node(run *r)
{
	char text[16];
	unsigned id = pick(r, IDS);
	const sherd_graph_id key = graph_id(id_text(id, text));
	uint64_t deleted;
	assert_ok(sherd_graph_delete_nodes(r->graph, &key, 1, &deleted, err));
	assert_int_equal(deleted, r->model.file[id] >= 0);
	if (deleted)
		remove_node(&r->model, id);
}

static void delete_edge(run *r)
{
	char from[16], to[16];
	unsigned src = pick(r, IDS), dst = pick(r, IDS), t = pick(r, TYPES);
	const sherd_graph_edge e = graph_edge(id_text(src, from), id_text(dst, to), types[t], "");
	uint64_t deleted;
	assert_ok(sherd_graph_delete_edges(r->graph, &e, 1, &deleted, err));
	assert_int_equal(deleted, r->model.edge[src][dst][t] != 0);
	r->model.edge[src][dst][t] = 0;
}

/* What the naive graph does with a file: its nodes, their edges, edges about it. */
static void forget_file(naive *m, int file, const bool stays[IDS])
{
	for (unsigned id = 0; id < IDS; id++) {
		if (m->file[id] != file)
			continue;
		if (!stays[id])
			remove_node(m, id);
		else
			memset(m->edge[id], 0, sizeof(m->edge[id]));
	}
	for (unsigned i = 0; i < IDS; i++)
		for (unsigned j = 0; j < IDS; j++)
			for (unsigned t = 0; t < TYPES; t++)
				if (m->context[i][j][t] == file)
					m->edge[i][j][t] = 0;
}

static void update_file(run *r)
{
	char text[8][2][16], ends[8][2][16], metadata[96];
	sherd_graph_node nodes[8];
	sherd_graph_edge edges[8];
	unsigned ids[8], count = pick(r, 6), edge_count = count ? pick(r, 8) : 0;
	bool stays[IDS] = {0};
	int file = (int)pick(r, FILES);
	metadata_text(r->turn, -1, metadata);
	for (unsigned i = 0; i < count; i++) {
		ids[i] = pick(r, IDS);
		stays[ids[i]] = true;
		nodes[i] = node_of(ids[i], r->turn, file, text[i]);
	}
	forget_file(&r->model, file, stays);
	for (unsigned i = 0; i < edge_count; i++) {
		unsigned src = ids[pick(r, count)], dst = pick(r, IDS), t = pick(r, TYPES);
		edges[i] = graph_edge(id_text(src, ends[i][0]), id_text(dst, ends[i][1]), types[t], metadata);
		r->model.edge[src][dst][t] = r->turn;
		r->model.context[src][dst][t] = -1;
	}
	for (unsigned i = 0; i < count; i++) {
		r->model.file[ids[i]] = file;
		r->model.name[ids[i]] = r->turn;
	}
	assert_ok(sherd_graph_update_file(r->graph, sherd_graph_text_of(file_name(file)), nodes, count, edges,
	                                  edge_count, NULL, err));
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* As graph_dump() writes it. */
static char *dump(const naive *m)
{
	SHERD_AUTO_BUF lines = {0};
	sherd_buf text = {0};
	for (unsigned i = 0; i < IDS; i++) {
		char key[16], id[SHERD_GRAPH_ID_TEXT], *line;
		sherd_graph_id_format(graph_id(id_text(i, key)), id);
		if (m->file[i] >= 0) {
			assert_true(asprintf(&line, "N %s|%s|%s|name%u|%s||0|0\n", id, key,
			                     m->name[i] % 2 ? "ODD" : "EVEN", m->name[i], file_name(m->file[i])) > 0);
			sherd_buf_append(&lines, &line, sizeof(line));
		}
		for (unsigned j = 0; j < IDS; j++)
			for (unsigned t = 0; t < TYPES; t++) {
				char other[16], to[SHERD_GRAPH_ID_TEXT], metadata[96];
				if (!m->edge[i][j][t])
					continue;
				sherd_graph_id_format(graph_id(id_text(j, other)), to);
				metadata_text(m->edge[i][j][t], m->context[i][j][t], metadata);
				assert_true(asprintf(&line, "E %s|%s|%s|%s\n", id, to, types[t], metadata) > 0);
				sherd_buf_append(&lines, &line, sizeof(line));
			}
	}
	char **list = (char **)(void *)lines.data;
	size_t count = lines.len / sizeof(*list);
	if (count)
		qsort(list, count, sizeof(*list), compare);
	for (size_t i = 0; i < count; i++) {
		sherd_buf_str(&text, list[i]);
		free(list[i]);
	}
	sherd_buf_append(&text, "", 1);
	return (char *)text.data;
}

static void assert_like_model(const sherd_graph *g, const naive *m)
{
	char *expected = dump(m), *found = graph_dump(g);
	assert_string_equal(found, expected);
	free(expected);
	free(found);
	for (unsigned id = 0; id < IDS; id++) {
		char text[16];
		size_t out = 0, in = 0;
		for (unsigned other = 0; other < IDS; other++)
			for (unsigned t = 0; t < TYPES; t++) {
				out += m->edge[id][other][t] != 0;
				in += m->edge[other][id][t] != 0;
			}
		(void)id_text(id, text);
		assert_int_equal(sherd_graph_exists(g, graph_id(text), NULL), m->file[id] >= 0);
		assert_int_equal(graph_count_out(g, text, NULL), out);
		assert_int_equal(graph_count_in(g, text, NULL), in);
	}
	for (int file = 0; file < FILES; file++) {
		size_t nodes = 0;
		for (unsigned id = 0; id < IDS; id++)
			nodes += m->file[id] == file;
		assert_int_equal(graph_count(g, NULL, file_name(file), NULL), nodes);
	}
	sherd_graph_totals totals;
	size_t nodes = 0, edges = 0;
	for (unsigned i = 0; i < IDS; i++) {
		nodes += m->file[i] >= 0;
		for (unsigned j = 0; j < IDS; j++)
			for (unsigned t = 0; t < TYPES; t++)
				edges += m->edge[i][j][t] != 0;
	}
	assert_ok(sherd_graph_stats(g, &totals, err));
	assert_int_equal(totals.nodes, nodes);
	assert_int_equal(totals.edges, edges);
}

static void reopen(run *r)
{
	const sherd_graph_commit commit = {.time_ms = 1000};
	assert_ok(sherd_graph_flush(r->graph, &commit, err));
	sherd_graph_close(TAKE(r->graph));
	r->graph = graph_open(r->store, "db", NULL);
}

static void reshard(run *r)
{
	const sherd_graph_layout layout = {.planner = pick(r, 2) ? SHERD_GRAPH_DIRECTORY : SHERD_GRAPH_HASH,
	                                   .shards = 1 + pick(r, 9),
	                                   .min_files = 1 + pick(r, 3)};
	const sherd_graph_reshard_options small = {.memory = 2000};
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_memory(&store, err));
	assert_ok(sherd_graph_reshard(r->graph, store, "db", &layout, &small, err));
	sherd_graph_close(r->graph);
	sherd_store_close(r->store);
	r->store = store;
	r->graph = graph_open(store, "db", NULL);
}

static void step(run *r)
{
	unsigned what = pick(r, 100);
	r->turn++;
	if (what < 25)
		add_node(r);
	else if (what < 60)
		add_edge(r);
	else if (what < 66)
		delete_node(r);
	else if (what < 72)
		delete_edge(r);
	else if (what < 82)
		update_file(r);
	else if (what < 92)
		assert_ok(sherd_graph_flush(r->graph, NULL, err));
	else if (what < 94)
		assert_ok(sherd_graph_spill(r->graph, err));
	else if (what < 96)
		assert_ok(sherd_graph_compact(r->graph, NULL, err));
	else if (what < 97)
		reshard(r);
	else
		reopen(r);
	if (what == 99)
		assert_ok(sherd_graph_gc(r->graph, NULL, NULL, err));
}

static void run_with(uint64_t seed, const sherd_graph_layout *layout, unsigned steps)
{
	run r = {.state = seed};
	for (unsigned i = 0; i < IDS; i++)
		r.model.file[i] = -1;
	memset(r.model.context, -1, sizeof(r.model.context));
	assert_ok(sherd_store_open_memory(&r.store, err));
	r.graph = graph_create(r.store, "db", layout, NULL);
	for (unsigned i = 0; i < steps; i++) {
		step(&r);
		if (i % 7 == 0)
			assert_like_model(r.graph, &r.model);
	}
	reopen(&r);
	assert_like_model(r.graph, &r.model);
	sherd_graph_close(r.graph);
	sherd_store_close(r.store);
}

TEST(a_graph_holds_what_a_naive_one_would)
{
	static const sherd_graph_layout layouts[] = {{.shards = 1},
	                                             {.shards = 8},
	                                             {.planner = SHERD_GRAPH_DIRECTORY, .min_files = 1},
	                                             {.planner = SHERD_GRAPH_DIRECTORY}};
	const char *given = getenv("SHERD_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
	print_message("seed %" PRIu64 "\n", seed);
	for (unsigned i = 0; i < 12; i++)
		run_with(seed + i, &layouts[i % COUNT_OF(layouts)], 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_graph_holds_what_a_naive_one_would),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* bench_graph_large - how things grow with the graph, up to one that memory does not hold (G8, G11).
 * bench_graph_large [NODES]: 1,000,000 unless told; 50,000,000 is the target's. Seven edges a node; about 700 bytes of
 * disk for each node. The graph is made file by file and spilled, so memory is bounded by what is added between. Every
 * step doubles it. Up to 10,000,000 nodes LMDB gets the same graph afterwards, and has to give the same answers. */
#include "folder.h"
#include "graph_grown.h"
#include "graph_peers.h"
#include "machine.h"
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>

enum { DEGREE = 7, QUESTIONS = 5000, COLD = 1000, STEPS = 128 };
#define PEER_NODES ((uint64_t)10000000)

static sherd_pool *pool;

/* The greatest private memory that was seen while files were added. */
static double add_watching(graph_ours *o, graph_size size, uint64_t from, uint64_t to)
{
	enum { STEP = 2000 };
	double most = 0;
	for (uint64_t i = from; i < to; i += STEP) {
		graph_ours_add_files(o, size, i, i + STEP < to ? i + STEP : to);
		double now = (double)graph_private_memory() / 1e6;
		most = now > most ? now : most;
	}
	return most;
}

typedef struct totals {
	bench_series rate, lookup, neighbours, memory, open;
	double seconds, last_seconds; /* of adding: all; the last step, which is half of it */
} totals;

static void print_step(const char *folder, uint64_t files, double rate, double memory, double open_ms, graph_latency l)
{
	uint64_t nodes = files * GRAPH_FILE_NODES;
	printf("    %10llu nodes %8.0f nodes/s in  open %6.2f ms  lookup p50 %6.2f p99 %7.2f us  neighbours p50 %6.2f "
	       "p99 %7.2f us  private %4.0f MB  disk %6.0f MB, %.0f a node\n",
	       (unsigned long long)nodes, rate, open_ms, l.lookup_p50, l.lookup_p99, l.edges_p50, l.edges_p99, memory,
	       (double)bench_folder_bytes(folder, NULL) / 1e6,
	       (double)bench_folder_bytes(folder, NULL) / (double)nodes);
	(void)fflush(stdout);
}

static void grow(const char *folder, graph_size size, uint64_t from, uint64_t to, totals *t)
{
	double start = bench_now();
	graph_ours o = graph_ours_open(folder, false, pool);
	double memory = add_watching(&o, size, from, to);
	graph_ours_flush(&o);
	/* The version before goes, as it would with whoever loads: what stays is one graph. */
	GRAPH_OR_FAIL(sherd_graph_gc(o.graph, NULL, NULL, err));
	double seconds = bench_now() - start, rate = (double)(to - from) * GRAPH_FILE_NODES / seconds;
	t->seconds += seconds;
	t->last_seconds = seconds;
	graph_ours_close(&o);
	start = bench_now();
	o = graph_ours_open(folder, true, NULL);
	double open_ms = (bench_now() - start) * 1e3;
	const graph_size now_size = {to, size.degree};
	(void)graph_ask(&o, folder, now_size, QUESTIONS, false);
	graph_latency warm = graph_ask(&o, folder, now_size, QUESTIONS, false);
	double now = (double)graph_private_memory() / 1e6;
	graph_ours_close(&o);
	memory = now > memory ? now : memory;
	print_step(folder, to, rate, memory, open_ms, warm);
	bench_add(&t->rate, rate / 1e3);
	bench_add(&t->lookup, warm.lookup_p99 / 1e3);
	bench_add(&t->neighbours, warm.edges_p99 / 1e3);
	bench_add(&t->memory, memory);
	bench_add(&t->open, open_ms);
}

static bench_series one(double value)
{
	bench_series out = {.count = 0};
	bench_add(&out, value);
	return out;
}

static double last(const bench_series *s)
{
	return s->values[s->count - 1];
}

static void limit(const char *id, const char *what, const char *unit, double value, const char *against, double most,
                  bench_goal goal)
{
	bench_series s = one(value);
	bench_report(&(bench_row){id, what, unit, &s, against, NULL, most, goal, 1});
}

/* Warm, p99: the last step against the first. A doubling may cost a step more, and caches count. */
static void report_growth(const char *what, const bench_series *s, double nodes)
{
	char against[64];
	bench_series ours = one(last(s)), other = one(s->values[0]);
	(void)snprintf(against, sizeof(against), "at %.2f M nodes", nodes / STEPS / 1e6);
	bench_report(&(bench_row){"G11", what, "ms", &ours, against, &other, 0, BENCH_AT_MOST, 3});
}

static void report(const totals *t, double nodes, uint64_t most_disk, uint64_t written)
{
	limit("G8", "nodes in, with their edges, all", "k/s", nodes / t->seconds / 1e3, "100,000 nodes/s", 100,
	      BENCH_AT_LEAST);
	limit("G8", "the last half", "k/s", last(&t->rate), "100,000 nodes/s", 100, BENCH_AT_LEAST);
	limit("G8", "private memory, at most", "MB", last(&t->memory), "500 MB", 500, BENCH_AT_MOST);
	limit("G8", "disk, at most, sampled every second", "B/node", (double)most_disk / nodes, "700", 700,
	      BENCH_AT_MOST);
	bench_note("%.0f bytes a node were written in all steps", (double)written / nodes);
	limit("G8", "look up a node, p99, warm", "ms", last(&t->lookup), "1 ms", 1, BENCH_AT_MOST);
	limit("G8", "edges from and to a node, p99, warm", "ms", last(&t->neighbours), "10 ms", 10, BENCH_AT_MOST);
	limit("G5", "open", "ms", last(&t->open), "20 ms", 20, BENCH_AT_MOST);
	report_growth("look up a node, p99, warm", &t->lookup, nodes);
	report_growth("edges from and to a node, p99, warm", &t->neighbours, nodes);
}

static void ask_cold(const char *folder, graph_size size)
{
	graph_ours o = graph_ours_open(folder, true, NULL);
	graph_latency l = graph_ask(&o, folder, size, COLD, true);
	printf("    cold: lookup p50 %.1f p99 %.1f us, neighbours p50 %.1f p99 %.1f us\n", l.lookup_p50, l.lookup_p99,
	       l.edges_p50, l.edges_p99);
	graph_ours_close(&o);
}

/* ---- LMDB beside it */

static double mean_of(const double *list, int count)
{
	double sum = 0;
	for (int i = 0; i < count; i++)
		sum += list[i];
	return sum / count;
}

/* Mean microseconds of both, and whether they say the same. kind: 0 get, 1 out, 2 in. */
static void compare_answers(const graph_ours *o, void *db, const sherd_graph_id *ids, int kind, const char *what)
{
	static double mine[QUESTIONS], theirs[QUESTIONS];
	/* Twice: the first time to have all in memory. */
	for (int k = 0; k < 2 * QUESTIONS; k++) {
		int i = k % QUESTIONS;
		double start = bench_now();
		uint64_t a = kind ? graph_ours_edges(o, ids[i], kind == 2) : graph_ours_get(o, ids[i]);
		double middle = bench_now();
		uint64_t b = kind ? graph_lmdb.edges(db, ids[i], kind == 2) : graph_lmdb.get(db, ids[i]);
		mine[i] = (middle - start) * 1e6;
		theirs[i] = (bench_now() - middle) * 1e6;
		if (a != b)
			bench_fail("LMDB has another answer for %s", what);
	}
	bench_series ours = one(mean_of(mine, QUESTIONS)), other = one(mean_of(theirs, QUESTIONS));
	bench_report(&(bench_row){"G8", what, "us", &ours, "LMDB", &other, 0, BENCH_SHOWN, 0});
}

static void compare_lmdb(const char *folder, graph_size size, double seconds)
{
	graph_data data;
	if (!graph_lmdb.load) {
		bench_missing("G8", graph_lmdb.name, graph_lmdb.package);
		return;
	}
	graph_data_make(&data, size);
	char *theirs = bench_folder_make();
	double start = bench_now();
	void *db = graph_lmdb.load(&data, theirs);
	bench_series load = one(seconds), other = one(bench_now() - start);
	bench_series bytes = one((double)bench_folder_bytes(folder, NULL) / 1e6),
		     other_bytes = one((double)bench_folder_bytes(theirs, NULL) / 1e6);
	bench_report(
		&(bench_row){"G8", "load, 2 workers", "s", &load, "LMDB, sorted before", &other, 0, BENCH_SHOWN, 0});
	bench_report(&(bench_row){"G8", "size", "MB", &bytes, "LMDB", &other_bytes, 0, BENCH_SHOWN, 0});
	graph_data_done(&data);
	graph_ours o = graph_ours_open(folder, true, NULL);
	sherd_graph_id *ids = graph_random_ids(size, QUESTIONS);
	static const char *const names[] = {"look up a node, mean", "edges from a node, mean", "edges to a node, mean"};
	for (int kind = 0; kind < 3; kind++)
		compare_answers(&o, db, ids, kind, names[kind]);
	bench_note("%d answers were the same", 3 * QUESTIONS);
	free(ids);
	graph_ours_close(&o);
	graph_lmdb.close(db);
	bench_folder_remove(theirs);
}

int main(int argc, char **argv)
{
	uint64_t nodes = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000, from = 0;
	const graph_size size = {.files = nodes / GRAPH_FILE_NODES, .degree = DEGREE};
	totals t = {.rate = {.count = 0}};
	if (size.files < STEPS)
		bench_fail("at least %d nodes", STEPS * GRAPH_FILE_NODES);
	bench_begin("graph_large");
	GRAPH_OR_FAIL(sherd_pool_open(&pool, 2, err));
	char *folder = bench_folder_make();
	graph_ours o = graph_ours_create(folder, NULL, NULL);
	graph_ours_close(&o);
	graph_watch *watch = graph_watch_begin(folder);
	uint64_t written = graph_bytes_written();
	/* Every step doubles the graph. */
	for (uint64_t to = size.files / STEPS; from < size.files; to = to * 2 < size.files ? to * 2 : size.files) {
		grow(folder, size, from, to, &t);
		from = to;
	}
	written = graph_bytes_written() - written;
	report(&t, (double)size.files * GRAPH_FILE_NODES, graph_watch_end(watch), written);
	ask_cold(folder, size);
	graph_ask_all(folder, size, pool);
	if (nodes <= PEER_NODES)
		compare_lmdb(folder, size, t.seconds);
	bench_folder_remove(folder);
	sherd_pool_close(pool);
	bench_end();
	return 0;
}

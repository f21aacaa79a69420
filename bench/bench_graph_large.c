/* bench_graph_large - how things grow with the graph, up to one that memory does not hold (G8).
 * bench_graph_large [NODES]: 1,000,000 unless told; 50,000,000 is the target's. Seven edges a node; about 700 bytes of
 * disk for each node. The graph is made file by file and spilled, so memory is bounded by what is added between. */
#include "folder.h"
#include "graph_ours.h"
#include "machine.h"
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>

enum { DEGREE = 7, QUESTIONS = 5000 };

static sherd_pool *pool;

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Microseconds at the 99th percentile: of looking up a node, of both kinds of its edges. */
static void ask(const graph_ours *o, graph_size size, double *lookup, double *neighbours)
{
	static double gets[QUESTIONS], edges[QUESTIONS];
	sherd_graph_id *ids = graph_random_ids(size, QUESTIONS);
	for (int i = 0; i < QUESTIONS; i++) {
		double start = bench_now();
		if (!graph_ours_get(o, ids[i]))
			bench_fail("a node is lost");
		double middle = bench_now();
		(void)graph_ours_edges(o, ids[i], false);
		(void)graph_ours_edges(o, ids[i], true);
		gets[i] = (middle - start) * 1e6;
		edges[i] = (bench_now() - middle) * 1e6;
	}
	qsort(gets, QUESTIONS, sizeof(gets[0]), by_size);
	qsort(edges, QUESTIONS, sizeof(edges[0]), by_size);
	*lookup = gets[QUESTIONS / 100 * 99];
	*neighbours = edges[QUESTIONS / 100 * 99];
	free(ids);
}

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
	bench_series rate, lookup, neighbours, memory;
} totals;

static void grow(const char *folder, graph_size size, uint64_t from, uint64_t to, totals *t)
{
	double lookup, neighbours, start = bench_now();
	graph_ours o = graph_ours_open(folder, false, pool);
	double memory = add_watching(&o, size, from, to);
	graph_ours_flush(&o);
	double seconds = bench_now() - start, rate = (double)(to - from) * GRAPH_FILE_NODES / seconds;
	graph_ours_close(&o);
	o = graph_ours_open(folder, true, NULL);
	ask(&o, (graph_size){to, size.degree}, &lookup, &neighbours);
	double now = (double)graph_private_memory() / 1e6;
	graph_ours_close(&o);
	memory = now > memory ? now : memory;
	printf("    %10llu nodes %11llu edges %8.0f nodes/s in  lookup p99 %7.1f us  neighbours p99 %8.1f us  "
	       "private %4.0f MB  disk %6.0f MB\n",
	       (unsigned long long)to * GRAPH_FILE_NODES, (unsigned long long)to * GRAPH_FILE_NODES * size.degree, rate,
	       lookup, neighbours, memory, (double)bench_folder_bytes(folder, NULL) / 1e6);
	(void)fflush(stdout);
	bench_add(&t->rate, rate / 1e3);
	bench_add(&t->lookup, lookup / 1e3);
	bench_add(&t->neighbours, neighbours / 1e3);
	bench_add(&t->memory, memory);
}

static bench_series last(const bench_series *s)
{
	bench_series out = {.count = 0};
	bench_add(&out, s->values[s->count - 1]);
	return out;
}

int main(int argc, char **argv)
{
	uint64_t nodes = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000, from = 0;
	const graph_size size = {.files = nodes / GRAPH_FILE_NODES, .degree = DEGREE};
	totals t = {.rate = {.count = 0}};
	if (size.files < 64)
		bench_fail("at least %d nodes", 64 * GRAPH_FILE_NODES);
	bench_begin("graph_large");
	GRAPH_OR_FAIL(sherd_pool_open(&pool, 2, err));
	char *folder = bench_folder_make();
	graph_ours o = graph_ours_create(folder, NULL, NULL);
	graph_ours_close(&o);
	/* Every step doubles the graph. */
	for (uint64_t to = size.files / 32; from < size.files; to = to * 2 < size.files ? to * 2 : size.files) {
		grow(folder, size, from, to, &t);
		from = to;
	}
	bench_series rate = last(&t.rate), lookup = last(&t.lookup), neighbours = last(&t.neighbours),
		     memory = last(&t.memory);
	bench_report(&(bench_row){"G8", "nodes in, with their edges", "k/s", &rate, "100,000 nodes/s", NULL, 100,
	                          BENCH_AT_LEAST, 1});
	bench_report(&(bench_row){"G8", "look up a node, p99", "ms", &lookup, "1 ms", NULL, 1, BENCH_AT_MOST, 1});
	bench_report(&(bench_row){"G8", "edges from and to a node, p99", "ms", &neighbours, "10 ms", NULL, 10,
	                          BENCH_AT_MOST, 1});
	bench_report(
		&(bench_row){"G8", "private memory, at most", "MB", &memory, "500 MB", NULL, 500, BENCH_AT_MOST, 1});
	bench_folder_remove(folder);
	sherd_pool_close(pool);
	bench_end();
	return 0;
}

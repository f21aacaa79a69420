/* bench_graph_commit - versions: one file committed again and again (G6), planning (G9), flushes and commits over many
 * shards (G10). bench_graph_commit [again,plan,shards,segments,parallel] */
#include "folder.h"
#include "graph_ours.h"
#include "graph_server.h"
#include "machine.h"
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static graph_data data;
static sherd_pool *pool;

static double ms_since(double start)
{
	return (bench_now() - start) * 1e3;
}

/* ---- G6 */

static graph_file *new_file(void)
{
	graph_file *f = malloc(sizeof(*f));
	if (!f)
		bench_fail("no memory");
	return f;
}

/* Milliseconds of replacing one file by another edition of it, durably. */
static double commit_file(graph_ours *o, graph_file *f, uint64_t number, graph_size size, unsigned edition)
{
	graph_file_make(f, number, size, edition);
	double start = bench_now();
	GRAPH_OR_FAIL(sherd_graph_update_file(o->graph, sherd_graph_text_of(f->path), f->nodes, GRAPH_FILE_NODES,
	                                      f->edges, f->edge_count, NULL, err));
	graph_ours_flush(o);
	return ms_since(start);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median_of(double *list, int count)
{
	qsort(list, (size_t)count, sizeof(*list), by_size);
	return (list[(count - 1) / 2] + list[count / 2]) / 2;
}

enum { SERVER_TIMES = 50, SERVER_ENDS = 10 };

/* The real server takes longer each time, so it is asked for fewer; ours: what the same commits took us. */
static void bench_again_server(double ours[SERVER_TIMES])
{
	double theirs[SERVER_TIMES];
	bench_series one = {.count = 0}, other = {.count = 0}, late = {.count = 0}, other_late = {.count = 0};
	graph_server s;
	int done = 0;
	if (!graph_server_start(&s, &data, "G6"))
		return;
	graph_file *f = new_file();
	char *folder = bench_folder_make();
	if (graph_server_load(&s, folder) >= 0)
		for (; done < SERVER_TIMES; done++) {
			graph_file_make(f, 7, data.size, (unsigned)done + 1);
			if ((theirs[done] = graph_server_commit(&s, f)) < 0)
				break;
		}
	graph_server_close(&s);
	graph_server_stop(&s);
	bench_folder_remove(folder);
	free(f);
	if (done < SERVER_TIMES)
		return;
	bench_add(&one, median_of(ours, SERVER_ENDS));
	bench_add(&other, median_of(theirs, SERVER_ENDS));
	bench_add(&late, median_of(ours + SERVER_TIMES - SERVER_ENDS, SERVER_ENDS));
	bench_add(&other_late, median_of(theirs + SERVER_TIMES - SERVER_ENDS, SERVER_ENDS));
	bench_report(&(bench_row){"G6", "commit one file again, median of the first 10", "ms", &one, GRAPH_SERVER,
	                          &other, 0, BENCH_SHOWN, 0});
	bench_report(
		&(bench_row){"G6", "of commits 41 to 50", "ms", &late, GRAPH_SERVER, &other_late, 0, BENCH_SHOWN, 0});
}

static void bench_again(void)
{
	enum { TIMES = 1000, ENDS = 50 };
	static double times[TIMES];
	double slowest = 0;
	int slowest_at = 0;
	bench_series last = {.count = 0}, first = {.count = 0}, worst = {.count = 0};
	char *folder = bench_folder_make();
	graph_file *f = new_file();
	graph_ours o = graph_ours_create(folder, NULL, pool);
	graph_ours_add(&o, &data);
	graph_ours_flush(&o);
	for (int i = 0; i < TIMES; i++) {
		times[i] = commit_file(&o, f, 7, data.size, (unsigned)i + 1);
		if (times[i] > slowest) {
			slowest = times[i];
			slowest_at = i + 1;
		}
	}
	bench_again_server(times);
	bench_add(&last, median_of(times + TIMES - ENDS, ENDS));
	bench_add(&first, median_of(times, ENDS));
	bench_add(&worst, slowest);
	bench_report(&(bench_row){"G6", "commit one file again, median of the last 50", "ms", &last,
	                          "median of the first 50", &first, 0, BENCH_AT_MOST, 1.5});
	bench_report(&(bench_row){"G6", "the slowest of 1000", "ms", &worst, "median of the first 50", &first, 0,
	                          BENCH_SHOWN, 0});
	bench_note("the slowest was commit %d; %.1f MB on disk after all, with every version", slowest_at,
	           (double)bench_folder_bytes(folder, NULL) / 1e6);
	graph_ours_close(&o);
	bench_folder_remove(folder);
	free(f);
}

/* ---- G9 */

static void bench_plan(sherd_graph_planner planner, const char *what)
{
	enum { FILES = 10000 };
	static char paths[FILES][GRAPH_PATH];
	static sherd_graph_text texts[FILES];
	bench_series ms = {.count = 0};
	const sherd_graph_layout layout = {.planner = planner};
	for (int i = 0; i < FILES; i++) {
		graph_file_path((uint64_t)i, paths[i]);
		texts[i] = sherd_graph_text_of(paths[i]);
	}
	for (int i = -1; i < bench_pairs(); i++) {
		sherd_graph_plan *plan;
		uint64_t sum = 0;
		double start = bench_now();
		GRAPH_OR_FAIL(sherd_graph_plan_open(&plan, &layout, err));
		GRAPH_OR_FAIL(sherd_graph_plan_add(plan, texts, FILES, err));
		for (int k = 0; k < FILES; k++)
			sum += sherd_graph_plan_shard(plan, texts[k]);
		double took = ms_since(start);
		sherd_graph_plan_close(plan);
		if (!sum)
			bench_fail("all files are in one shard");
		if (i >= 0)
			bench_add(&ms, took);
	}
	bench_report(&(bench_row){"G9", what, "ms", &ms, "1 ms", NULL, 1, BENCH_AT_MOST, 1});
}

/* ---- G10 */

static bool count_node(void *arg, const sherd_graph_node *node)
{
	(void)node;
	++*(uint64_t *)arg;
	return true;
}

/* 10,000 nodes that lie all over. */
static double search_names(const graph_ours *o)
{
	uint64_t found = 0;
	const sherd_graph_query q = {.name = sherd_graph_text_of("handler"), .name_prefix = true};
	double start = bench_now();
	GRAPH_OR_FAIL(sherd_graph_find(o->graph, &q, count_node, &found, err));
	double took = ms_since(start);
	if (found != 5000)
		bench_fail("%llu nodes were found", (unsigned long long)found);
	return took;
}

static double look_up(const graph_ours *o, const sherd_graph_id *ids, int count)
{
	double start = bench_now();
	for (int i = 0; i < count; i++)
		if (!graph_ours_get(o, ids[i]))
			bench_fail("a node is lost");
	return ms_since(start) * 1e3 / count;
}

static void bench_shards(uint32_t shards)
{
	enum { LOOKUPS = 10000 };
	char what[80];
	bench_series flush = {.count = 0}, lookup = {.count = 0}, find = {.count = 0};
	const sherd_graph_layout layout = {.shards = shards};
	const graph_size small = {.files = 200, .degree = 5};
	sherd_graph_id *ids = graph_random_ids(data.size, LOOKUPS);
	for (int i = 0; i < bench_pairs(); i++) {
		char *folder = bench_folder_make(), *other = bench_folder_make();
		graph_ours o = graph_ours_create(folder, &layout, pool);
		for (size_t k = 0; k < data.node_count; k += 5000)
			GRAPH_OR_FAIL(sherd_graph_add_nodes(o.graph, data.nodes + k, 5000, err));
		double start = bench_now();
		graph_ours_flush(&o);
		bench_add(&flush, ms_since(start));
		bench_add(&lookup, look_up(&o, ids, LOOKUPS));
		graph_ours_close(&o);
		o = graph_ours_create(other, &layout, pool);
		graph_ours_stream(&o, small, 0, small.files);
		bench_add(&find, search_names(&o));
		graph_ours_close(&o);
		bench_folder_remove(folder);
		bench_folder_remove(other);
	}
	free(ids);
	(void)snprintf(what, sizeof(what), "%u shards: flush 100k nodes", shards);
	bench_report(&(bench_row){"G10", what, "ms", &flush, "1 s", NULL, 1000, BENCH_AT_MOST, 1});
	(void)snprintf(what, sizeof(what), "%u shards: look up a node", shards);
	bench_report(&(bench_row){"G10", what, "us", &lookup, "20 us", NULL, 20, BENCH_AT_MOST, 1});
	(void)snprintf(what, sizeof(what), "%u shards: search 10k nodes by name, first time", shards);
	bench_report(&(bench_row){"G10", what, "ms", &find, "100 ms", NULL, 100, BENCH_AT_MOST, 1});
}

/* A directory a shard, 500 of them with nodes and edges: 1000 segments. */
static void bench_segments(void)
{
	enum { SHARDS = 500, EACH = 3 };
	const graph_size size = {.files = SHARDS * 20, .degree = 5};
	const sherd_graph_layout layout = {.planner = SHERD_GRAPH_DIRECTORY};
	sherd_graph_totals totals;
	bench_series ms = {.count = 0};
	char *folder = bench_folder_make();
	graph_file *f = new_file();
	graph_ours o = graph_ours_create(folder, &layout, pool);
	for (uint64_t i = 0; i < SHARDS * EACH; i++) {
		graph_file_make(f, i / EACH * 20 + i % EACH, size, 0);
		GRAPH_OR_FAIL(sherd_graph_add_nodes(o.graph, f->nodes, GRAPH_FILE_NODES, err));
		GRAPH_OR_FAIL(sherd_graph_add_edges(o.graph, f->edges, f->edge_count, err));
	}
	graph_ours_flush(&o);
	GRAPH_OR_FAIL(sherd_graph_stats(&totals, o.graph, err));
	for (int i = 0; i < bench_pairs(); i++)
		bench_add(&ms, commit_file(&o, f, (uint64_t)i * 20, size, 1));
	bench_note("%llu segments", (unsigned long long)totals.segments);
	bench_report(&(bench_row){"G10", "commit one file among 1000 segments", "ms", &ms, "100 ms", NULL, 100,
	                          BENCH_AT_MOST, 1});
	graph_ours_close(&o);
	bench_folder_remove(folder);
	free(f);
}

static double flush_four(sherd_pool *workers)
{
	const sherd_graph_layout layout = {.shards = 4};
	char *folder = bench_folder_make();
	graph_ours o = graph_ours_create(folder, &layout, workers);
	graph_ours_add(&o, &data);
	bench_settle();
	double start = bench_now();
	graph_ours_flush(&o);
	double took = ms_since(start);
	graph_ours_close(&o);
	bench_folder_remove(folder);
	return took;
}

static void bench_parallel_flush(void)
{
	bench_series one = {.count = 0}, two = {.count = 0};
	for (int i = 0; i < bench_pairs(); i++) {
		bench_add(&one, 1e3 / flush_four(NULL));
		bench_add(&two, 1e3 / flush_four(pool));
	}
	bench_report(&(bench_row){"G10", "flush 4 shards, 600k records, 2 workers", "1/s", &two, "1 worker", &one, 0,
	                          BENCH_AT_LEAST, 1.6});
}

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : "";
	bench_begin("graph_commit");
	GRAPH_OR_FAIL(sherd_pool_open(&pool, 2, err));
	graph_data_make(&data, (graph_size){.files = 2000, .degree = 5});
	if (!*only || strstr(only, "plan")) {
		bench_plan(SHERD_GRAPH_HASH, "plan 10,000 files and ask for each, by hash");
		bench_plan(SHERD_GRAPH_DIRECTORY, "the same, by directory");
	}
	if (!*only || strstr(only, "shards")) {
		bench_shards(8);
		bench_shards(10);
	}
	if (!*only || strstr(only, "segments"))
		bench_segments();
	if (!*only || strstr(only, "parallel"))
		bench_parallel_flush();
	if (!*only || strstr(only, "again"))
		bench_again();
	graph_data_done(&data);
	sherd_pool_close(pool);
	bench_end();
	return 0;
}

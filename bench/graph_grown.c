#include "graph_grown.h"

#include "folder.h"
#include "measure.h"

#include <sherd/verify.h>

#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double percentile(double *list, int count, int percent)
{
	qsort(list, (size_t)count, sizeof(*list), by_size);
	return list[(long)(count - 1) * percent / 100];
}

/* ---- what the system has cached */

static int drop_file(const char *path, const struct stat *stat, int type, struct FTW *where)
{
	(void)stat, (void)where;
	int fd = type == FTW_F ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return 0;
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	(void)close(fd);
	return 0;
}

static void drop_cache(const char *folder)
{
	sync();
	(void)nftw(folder, drop_file, 16, FTW_PHYS);
}

/* ---- questions */

graph_latency graph_ask(const graph_ours *o, const char *folder, graph_size size, int questions, bool cold)
{
	double *gets = malloc((size_t)questions * sizeof(*gets)), *edges = malloc((size_t)questions * sizeof(*edges));
	sherd_graph_id *ids = graph_random_ids(size, (size_t)questions);
	if (!gets || !edges)
		bench_fail("no memory");
	for (int kind = 0; kind < 2; kind++) {
		if (cold)
			drop_cache(folder);
		for (int i = 0; i < questions; i++) {
			double start = bench_now();
			if (kind == 0 && !graph_ours_get(o, ids[i]))
				bench_fail("a node is lost");
			if (kind == 1) {
				(void)graph_ours_edges(o, ids[i], false);
				(void)graph_ours_edges(o, ids[i], true);
			}
			(kind ? edges : gets)[i] = (bench_now() - start) * 1e6;
		}
	}
	graph_latency l = {percentile(gets, questions, 50), percentile(gets, questions, 99),
	                   percentile(edges, questions, 50), percentile(edges, questions, 99)};
	free(gets);
	free(edges);
	free(ids);
	return l;
}

/* ---- disk */

struct graph_watch {
	const char *folder;
	pthread_t thread;
	_Atomic bool stop;
	uint64_t most;
};

/* Files may go while they are looked at. */
static uint64_t watched;
static int watch_file(const char *path, const struct stat *stat, int type, struct FTW *where)
{
	(void)path, (void)where;
	if (type == FTW_F)
		watched += (uint64_t)stat->st_blocks * 512;
	return 0;
}

static void *watch_main(void *arg)
{
	graph_watch *w = arg;
	for (int tenths = 0; !atomic_load(&w->stop); tenths++) {
		(void)usleep(100000);
		if (tenths % 10)
			continue;
		watched = 0;
		(void)nftw(w->folder, watch_file, 16, FTW_PHYS);
		w->most = watched > w->most ? watched : w->most;
	}
	return NULL;
}

graph_watch *graph_watch_begin(const char *folder)
{
	graph_watch *w = calloc(1, sizeof(*w));
	if (!w)
		bench_fail("no memory");
	w->folder = folder;
	if (pthread_create(&w->thread, NULL, watch_main, w) != 0)
		bench_fail("no thread");
	return w;
}

uint64_t graph_watch_end(graph_watch *w)
{
	atomic_store(&w->stop, true);
	(void)pthread_join(w->thread, NULL);
	uint64_t most = w->most;
	free(w);
	return most;
}

uint64_t graph_bytes_written(void)
{
	FILE *f = fopen("/proc/self/io", "re");
	unsigned long long bytes = 0;
	char line[128];
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "wchar: %llu", &bytes) == 1)
			break;
	if (f)
		(void)fclose(f);
	return bytes;
}

/* ---- one thing after the other */

static void say(const char *what, double start, const char *more)
{
	printf("    %-44s %10.2f ms  private %4.0f MB  %s\n", what, (bench_now() - start) * 1e3,
	       (double)graph_private_memory() / 1e6, more);
	(void)fflush(stdout);
}

static bool count_node(void *arg, const sherd_graph_node *node)
{
	++*(uint64_t *)arg;
	return node->name.len > 0;
}

static void find_all(const graph_ours *o, graph_size size)
{
	graph_file *f = malloc(sizeof(*f));
	char more[64];
	if (!f)
		bench_fail("no memory");
	graph_file_make(f, size.files / 3, size, 0);
	const sherd_graph_query queries[] = {{.file = sherd_graph_text_of(f->path)},
	                                     {.name = f->nodes[7].name},
	                                     {.name = f->nodes[7].name, .file = sherd_graph_text_of(f->path)},
	                                     {.type = f->nodes[7].type, .file = sherd_graph_text_of(f->path)}};
	static const char *const names[] = {"find by file", "find by name", "find by name and file",
	                                    "find by type and file"};
	for (int i = 0; i < 4; i++)
		for (int again = 0; again < 2; again++) {
			uint64_t count = 0;
			double start = bench_now();
			GRAPH_OR_FAIL(sherd_graph_find(o->graph, &queries[i], count_node, &count, err));
			(void)snprintf(more, sizeof(more), "%llu nodes%s", (unsigned long long)count,
			               again ? ", again" : "");
			say(names[i], start, more);
		}
	free(f);
}

static bool count_hundred(void *arg, const sherd_graph_node *node)
{
	(void)node;
	return ++*(uint64_t *)arg < 100;
}

static bool see_version(void *arg, const sherd_graph_snapshot *s)
{
	(void)s;
	++*(uint64_t *)arg;
	return true;
}

static void read_all(const char *folder, graph_size size)
{
	double start = bench_now();
	graph_ours o = graph_ours_open(folder, true, NULL);
	say("open", start, "");
	find_all(&o, size);
	graph_file *f = malloc(sizeof(*f));
	uint64_t count = 0;
	if (!f)
		bench_fail("no memory");
	graph_file_make(f, 0, size, 0);
	const sherd_graph_query type = {.type = f->nodes[0].type};
	start = bench_now();
	GRAPH_OR_FAIL(sherd_graph_find(o.graph, &type, count_hundred, &count, err));
	say("the first 100 of a type", start, "");
	free(f);
	sherd_graph_totals totals;
	start = bench_now();
	GRAPH_OR_FAIL(sherd_graph_stats(&totals, o.graph, err));
	say("stats", start, "");
	start = bench_now();
	count = 0;
	GRAPH_OR_FAIL(sherd_graph_versions(o.graph, see_version, &count, err));
	say("versions", start, "");
	graph_ours_close(&o);
}

static void verify(const char *folder, sherd_pool *pool, bool quick)
{
	sherd_store *store;
	sherd_report *report = NULL;
	char more[64];
	const sherd_verify_options options = {.quick = quick, .pool = pool};
	GRAPH_OR_FAIL(sherd_store_open_local(&store, folder, NULL, err));
	double start = bench_now();
	GRAPH_OR_FAIL(sherd_verify(&report, store, "", &options, err));
	(void)snprintf(more, sizeof(more), "%.0f MB/s",
	               (double)sherd_report_checked_bytes(report) / 1e6 / (bench_now() - start));
	say(quick ? "verify --quick" : "verify", start, quick ? "" : more);
	if (sherd_report_errors(report))
		bench_fail("verification found damage");
	sherd_report_close(report);
	sherd_store_close(store);
}

/* One file again and again: every 32nd manifest is a full one. */
static void commit_again(const char *folder, graph_size size, sherd_pool *pool)
{
	enum { TIMES = 70 };
	double times[TIMES], most = 0;
	graph_file *f = malloc(sizeof(*f));
	char more[64];
	graph_ours o = graph_ours_open(folder, false, pool);
	if (!f)
		bench_fail("no memory");
	for (int i = 0; i < TIMES; i++) {
		graph_file_make(f, size.files / 2, size, (unsigned)i + 1);
		double start = bench_now();
		GRAPH_OR_FAIL(sherd_graph_update_file(o.graph, sherd_graph_text_of(f->path), f->nodes, GRAPH_FILE_NODES,
		                                      f->edges, f->edge_count, NULL, err));
		graph_ours_flush(&o);
		times[i] = (bench_now() - start) * 1e3;
		most = times[i] > most ? times[i] : most;
	}
	double first = times[0];
	(void)snprintf(more, sizeof(more), "the first %.1f, the slowest %.1f ms", first, most);
	printf("    %-44s %10.2f ms  private %4.0f MB  %s\n", "commit one file again, median of 70",
	       percentile(times, TIMES, 50), (double)graph_private_memory() / 1e6, more);
	graph_ours_close(&o);
	free(f);
}

static bool count_node_change(void *arg, sherd_graph_difference what, const sherd_graph_node *node)
{
	(void)what, (void)node;
	++*(uint64_t *)arg;
	return true;
}

static bool count_edge_change(void *arg, sherd_graph_difference what, const sherd_graph_edge *edge)
{
	(void)what, (void)edge;
	++*(uint64_t *)arg;
	return true;
}

static void diff(const char *folder)
{
	uint64_t count = 0;
	char more[64];
	graph_ours now = graph_ours_open(folder, true, NULL), before = {0};
	const sherd_graph_options options = {.version = sherd_graph_version(now.graph) - 1};
	GRAPH_OR_FAIL(sherd_graph_open(&before.graph, now.store, "", &options, err));
	const sherd_graph_diff_fns fns = {count_node_change, count_edge_change, &count};
	double start = bench_now();
	GRAPH_OR_FAIL(sherd_graph_diff(before.graph, now.graph, &fns, err));
	(void)snprintf(more, sizeof(more), "%llu records", (unsigned long long)count);
	say("diff of neighbouring versions", start, more);
	sherd_graph_close(before.graph);
	graph_ours_close(&now);
}

static void collect(const char *folder, sherd_pool *pool)
{
	char more[64];
	sherd_graph_gc_result result;
	graph_ours o = graph_ours_open(folder, false, pool);
	double start = bench_now();
	GRAPH_OR_FAIL(sherd_graph_gc(o.graph, NULL, &result, err));
	(void)snprintf(more, sizeof(more), "%llu versions, %llu files", (unsigned long long)result.versions,
	               (unsigned long long)result.files);
	say("gc", start, more);
	graph_ours_close(&o);
}

void graph_ask_all(const char *folder, graph_size size, sherd_pool *pool)
{
	read_all(folder, size);
	verify(folder, pool, true);
	commit_again(folder, size, pool);
	diff(folder);
	collect(folder, pool);
	verify(folder, pool, false);
}

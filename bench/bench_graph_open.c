/* bench_graph_open - opening a graph of 1M nodes and 5M edges, compacted: time and private memory (G5).
 * bench_graph_open [FILES]: of 50 nodes each; 20000. */
#include "folder.h"
#include "graph_ours.h"
#include "machine.h"
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *folder;
static graph_size size = {.files = 20000, .degree = 5};

typedef struct opening {
	double ms, mib; /* that it took; of private memory that it added: files that are mapped do not count */
} opening;

/* asking: looks around before the memory is weighed. */
static opening open_once(bool asking)
{
	enum { QUESTIONS = 10000 };
	uint64_t before = graph_private_memory(), seen = 0;
	double start = bench_now();
	graph_ours o = graph_ours_open(folder, true, NULL);
	opening out = {.ms = (bench_now() - start) * 1e3};
	if (asking) {
		sherd_graph_id *ids = graph_random_ids(size, QUESTIONS);
		for (int i = 0; i < QUESTIONS; i++)
			seen += graph_ours_get(&o, ids[i]) + graph_ours_edges(&o, ids[i], false) +
			        graph_ours_edges(&o, ids[i], true);
		free(ids);
	}
	uint64_t after = graph_private_memory();
	if (asking && !seen)
		bench_fail("nothing was found");
	graph_ours_close(&o);
	out.mib = (double)(after > before ? after - before : 0) / (1 << 20);
	return out;
}

/* In a process that has just begun: this one has memory left over from making the graph. */
static opening open_afresh(const char *program, bool asking)
{
	int ends[2], status;
	char line[64] = "";
	opening out = {0};
	if (pipe(ends) < 0)
		bench_fail("no pipe");
	(void)fflush(stdout);
	pid_t child = fork();
	if (child < 0)
		bench_fail("cannot fork");
	if (child == 0) {
		if (dup2(ends[1], 1) >= 0)
			(void)execl(program, program, asking ? "ask" : "open", folder, (char *)NULL);
		_exit(1);
	}
	(void)close(ends[1]);
	ssize_t got = read(ends[0], line, sizeof(line) - 1);
	(void)close(ends[0]);
	if (waitpid(child, &status, 0) != child || status != 0 || got <= 0)
		bench_fail("the program does not run itself");
	char *rest;
	out.ms = strtod(line, &rest);
	out.mib = strtod(rest, NULL);
	return out;
}

int main(int argc, char **argv)
{
	bench_series times = {.count = 0}, open = {.count = 0}, asked = {.count = 0};
	sherd_pool *pool;
	if (argc > 2) {
		folder = argv[2];
		opening found = open_once(strcmp(argv[1], "ask") == 0);
		printf("%.3f %.3f\n", found.ms, found.mib);
		return 0;
	}
	if (argc > 1)
		size.files = strtoull(argv[1], NULL, 10);
	bench_begin("graph_open");
	GRAPH_OR_FAIL(sherd_pool_open(&pool, 2, err));
	folder = bench_folder_make();
	graph_ours o = graph_ours_create(folder, NULL, pool);
	graph_ours_stream(&o, size, 0, size.files);
	GRAPH_OR_FAIL(sherd_graph_compact(o.graph, NULL, err));
	GRAPH_OR_FAIL(sherd_graph_gc(o.graph, NULL, NULL, err));
	graph_ours_close(&o);
	sherd_pool_close(pool);
	for (int i = 0; i < bench_pairs(); i++) {
		opening found = open_afresh("/proc/self/exe", false);
		bench_add(&times, found.ms);
		bench_add(&open, found.mib);
		bench_add(&asked, open_afresh("/proc/self/exe", true).mib);
	}
	bench_note("%llu files of 50 nodes, %llu nodes, %llu edges", (unsigned long long)size.files,
	           (unsigned long long)size.files * GRAPH_FILE_NODES,
	           (unsigned long long)size.files * GRAPH_FILE_NODES * size.degree);
	bench_report(&(bench_row){"G5", "open, read-only", "ms", &times, "5 ms", NULL, 5, BENCH_AT_MOST, 1});
	bench_report(&(bench_row){"G5", "private memory, opened", "MiB", &open, "16 MiB", NULL, 16, BENCH_AT_MOST, 1});
	bench_report(&(bench_row){"G5", "the same after 30,000 questions", "MiB", &asked, "16 MiB", NULL, 16,
	                          BENCH_AT_MOST, 1});
	bench_folder_remove(folder);
	bench_end();
	return 0;
}

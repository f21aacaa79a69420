/* bench_graph_import - JSON Lines of 200k nodes and 1M edges into a database and out of one, by 1, 2, 4, 8, 16 workers,
 * as far as there are processors. bench_graph_import [FILES of 50 nodes each] */
#include "folder.h"
#include "graph_ours.h"
#include "machine.h"
#include "measure.h"

#include <sherd/graph_json.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static graph_size size = {.files = 4000, .degree = 5};
static char *work, lines_path[4096];
static uint64_t bytes;

static void write_file(FILE *to, const graph_file *f)
{
	static char *line;
	static size_t room;
	size_t len;
	for (size_t i = 0; i < GRAPH_FILE_NODES; i++) {
		GRAPH_OR_FAIL(sherd_graph_node_line(&line, &room, &len, &f->nodes[i], err));
		bytes += (uint64_t)fprintf(to, "%s\n", line);
	}
	for (size_t i = 0; i < f->edge_count; i++) {
		GRAPH_OR_FAIL(sherd_graph_edge_line(&line, &room, &len, &f->edges[i], err));
		bytes += (uint64_t)fprintf(to, "%s\n", line);
	}
}

static void make_lines(void)
{
	static graph_file f;
	(void)snprintf(lines_path, sizeof(lines_path), "%s/graph.jsonl", work);
	FILE *to = fopen(lines_path, "w");
	if (!to)
		bench_fail("cannot write %s", lines_path);
	for (uint64_t i = 0; i < size.files; i++) {
		graph_file_make(&f, i, size, 0);
		write_file(to, &f);
	}
	if (fclose(to) != 0)
		bench_fail("cannot write %s", lines_path);
}

static int64_t read_lines(void *arg, void *buf, size_t room, sherd_error *err)
{
	(void)err;
	return read(*(int *)arg, buf, room);
}

/* MB/s until the version is durable. */
static double import_by(unsigned workers)
{
	char *folder = bench_folder_make();
	sherd_pool *pool = NULL;
	int fd = open(lines_path, O_RDONLY | O_CLOEXEC);
	const sherd_graph_source source = {.read = read_lines, .arg = &fd, .name = lines_path};
	GRAPH_OR_FAIL(sherd_pool_open(&pool, workers, err));
	graph_ours o = graph_ours_create(folder, NULL, pool);
	const sherd_graph_import_options options = {.pool = pool};
	bench_settle();
	double start = bench_now();
	GRAPH_OR_FAIL(sherd_graph_import(o.graph, &source, &options, NULL, err));
	graph_ours_flush(&o);
	double took = bench_now() - start;
	graph_ours_close(&o);
	sherd_pool_close(pool);
	(void)close(fd);
	bench_folder_remove(folder);
	return (double)bytes / took / 1e6;
}

static int drop_lines(void *arg, const void *text, size_t len, sherd_error *err)
{
	(void)text, (void)err;
	*(uint64_t *)arg += len;
	return SHERD_OK;
}

static double export_by(const graph_ours *o, unsigned workers)
{
	sherd_pool *pool = NULL;
	uint64_t out = 0;
	GRAPH_OR_FAIL(sherd_pool_open(&pool, workers, err));
	const sherd_graph_export_options options = {.nodes = true, .edges = true, .pool = pool};
	double start = bench_now();
	GRAPH_OR_FAIL(sherd_graph_export(o->graph, &options, drop_lines, &out, NULL, err));
	double took = bench_now() - start;
	sherd_pool_close(pool);
	if (out != bytes)
		bench_fail("%llu bytes of lines came out, not %llu", (unsigned long long)out,
		           (unsigned long long)bytes);
	return (double)out / took / 1e6;
}

static void bench_workers(const graph_ours *o, unsigned workers)
{
	char in[64], out[64];
	bench_series one = {.count = 0}, many = {.count = 0}, one_out = {.count = 0}, many_out = {.count = 0};
	for (int i = 0; i < bench_pairs(); i++) {
		bench_add(&one, import_by(1));
		bench_add(&many, import_by(workers));
		bench_add(&one_out, export_by(o, 1));
		bench_add(&many_out, export_by(o, workers));
	}
	(void)snprintf(in, sizeof(in), "import, durable, %u workers", workers);
	(void)snprintf(out, sizeof(out), "export, %u workers", workers);
	bool goal = workers == 2 || workers == 16;
	bench_report(&(bench_row){"J1", in, "MB/s", &many, "1 worker", &one, 0, goal ? BENCH_AT_LEAST : BENCH_SHOWN,
	                          workers == 2 ? 1.7 : 6});
	bench_report(&(bench_row){"J2", out, "MB/s", &many_out, "1 worker", &one_out, 0, BENCH_SHOWN, 0});
}

int main(int argc, char **argv)
{
	bench_begin("graph_import");
	if (argc > 1)
		size.files = strtoull(argv[1], NULL, 10);
	work = bench_folder_make();
	make_lines();
	bench_note("%.0f MB of lines, %llu nodes", (double)bytes / 1e6,
	           (unsigned long long)(size.files * GRAPH_FILE_NODES));
	char *folder = bench_folder_make();
	graph_ours o = graph_ours_create(folder, NULL, NULL);
	graph_ours_stream(&o, size, 0, size.files);
	for (unsigned workers = 2; workers <= 16; workers *= 2) {
		if (workers > 2 && (long)workers > sysconf(_SC_NPROCESSORS_ONLN)) {
			bench_note("no figures for %u workers: the machine has fewer processors", workers);
			continue;
		}
		bench_workers(&o, workers);
	}
	graph_ours_close(&o);
	bench_folder_remove(folder);
	bench_folder_remove(work);
	bench_end();
	return 0;
}

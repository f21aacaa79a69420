/* bench_graph - a graph of 100k nodes and 500k edges in our store, in LMDB, SQLite and RocksDB, in the real server:
 * loading it (G1, G7), looking things up (G2, G3), searching (G4). bench_graph [load,read,find] */
#include "folder.h"
#include "graph_ours.h"
#include "graph_peers.h"
#include "graph_server.h"
#include "machine.h"
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static graph_data data;
static sherd_pool *pool;
static const graph_peer *const peers[] = {&graph_lmdb, &graph_sqlite, &graph_rocksdb};
enum { PEERS = sizeof(peers) / sizeof(peers[0]) };

static bool is_here(const graph_peer *p, const char *id)
{
	char how[80];
	(void)snprintf(how, sizeof(how), "Debian: %s, then build again", p->package);
	if (!p->load)
		bench_missing(id, p->name, how);
	return p->load;
}

/* ---- G1, G7: loading */

static double load_ours(sherd_pool *workers, char **keep)
{
	char *folder = bench_folder_make();
	double start = bench_now();
	graph_ours o = graph_ours_create(folder, NULL, workers);
	graph_ours_add(&o, &data);
	graph_ours_flush(&o);
	double seconds = bench_now() - start;
	graph_ours_close(&o);
	if (keep)
		*keep = folder;
	else
		bench_folder_remove(folder);
	return seconds;
}

static double load_peer(const graph_peer *p)
{
	char *folder = bench_folder_make();
	double start = bench_now();
	void *db = p->load(&data, folder);
	double seconds = bench_now() - start;
	p->close(db);
	bench_folder_remove(folder);
	return seconds;
}

static void bench_load(const graph_peer *p)
{
	bench_series one = {.count = 0}, two = {.count = 0}, peer = {.count = 0};
	bool lmdb = p == &graph_lmdb;
	char against[64];
	if (!is_here(p, "G1"))
		return;
	for (int i = 0; i < (lmdb ? bench_pairs() : (bench_pairs() + 1) / 2); i++) {
		bench_settle();
		bench_add(&peer, load_peer(p) * 1e3);
		bench_settle();
		bench_add(&one, load_ours(NULL, NULL) * 1e3);
		bench_settle();
		bench_add(&two, load_ours(pool, NULL) * 1e3);
	}
	(void)snprintf(against, sizeof(against), "%s, sorted, one transaction", p->name);
	bench_report(&(bench_row){"G1", "load, durable, 2 workers", "ms", &two, against, &peer, 0,
	                          lmdb ? BENCH_AT_MOST : BENCH_SHOWN, 0.5});
	bench_report(&(bench_row){"G1", "load, durable, 1 worker", "ms", &one, against, &peer, 0, BENCH_SHOWN, 0});
}

/* MB that it takes on the disk; negative when it failed. */
static double bench_load_server(graph_server *s)
{
	bench_series ours = {.count = 0}, theirs = {.count = 0};
	double megabytes = -1;
	for (int i = 0; i < (bench_pairs() + 1) / 2; i++) {
		char *folder = bench_folder_make();
		bench_settle();
		double seconds = graph_server_load(s, folder);
		graph_server_close(s);
		megabytes = (double)bench_folder_bytes(folder, NULL) / 1e6;
		bench_folder_remove(folder);
		if (seconds < 0)
			return -1;
		bench_add(&theirs, seconds * 1e3);
		bench_settle();
		bench_add(&ours, load_ours(pool, NULL) * 1e3);
	}
	bench_report(
		&(bench_row){"G1", "load, durable, 2 workers", "ms", &ours, GRAPH_SERVER, &theirs, 0, BENCH_SHOWN, 0});
	return megabytes;
}

/* server: MB; negative: not known. */
static void bench_size(double server)
{
	char *folder;
	bench_series all = {.count = 0}, segments = {.count = 0};
	(void)load_ours(pool, &folder);
	bench_add(&all, (double)bench_folder_bytes(folder, NULL) / 1e6);
	bench_add(&segments, (double)bench_folder_bytes(folder, ".seg") / 1e6);
	bench_folder_remove(folder);
	bench_report(&(bench_row){"G7", "bytes on disk, indexes included", "MB", &all,
	                          server < 0 ? "the server, on record" : "the server, the same graph", NULL,
	                          server < 0 ? 37.1 : server, BENCH_AT_MOST, 1.3});
	bench_report(&(bench_row){"G7", "bytes on disk, indexes included", "MB", &all, "the segments alone", &segments,
	                          0, BENCH_SHOWN, 0});
}

/* ---- G2, G3: looking up */

enum { LOOKUPS = 20000 };

typedef struct asked {
	const graph_ours *ours; /* NULL: ask the peer */
	const graph_peer *peer;
	void *db;
	int what; /* 0: a node, 1: edges from it, 2: edges to it */
} asked;

static uint64_t ask(const asked *a, sherd_graph_id id)
{
	if (a->ours)
		return a->what ? graph_ours_edges(a->ours, id, a->what == 2) : graph_ours_get(a->ours, id);
	return a->what ? a->peer->edges(a->db, id, a->what == 2) : a->peer->get(a->db, id);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

typedef struct percentiles {
	double p50, p99;
} percentiles;

/* Microseconds between two readings of the clock. */
static double clock_cost(void)
{
	static double times[1000];
	for (int i = 0; i < 1000; i++) {
		double start = bench_now();
		times[i] = (bench_now() - start) * 1e6;
	}
	qsort(times, 1000, sizeof(times[0]), by_size);
	return times[500];
}

/* Microseconds of one call, without the clock's own; *seen adds up what was found. */
static percentiles time_calls(const asked *a, const sherd_graph_id *ids, uint64_t *seen)
{
	static double times[LOOKUPS];
	double clock = clock_cost();
	/* Once untimed: the other one has had its turn, and the caches are full of it. */
	*seen = 0;
	for (int i = 0; i < LOOKUPS; i++)
		*seen += ask(a, ids[i]);
	*seen = 0;
	for (int i = 0; i < LOOKUPS; i++) {
		double start = bench_now();
		*seen += ask(a, ids[i]);
		times[i] = (bench_now() - start) * 1e6 - clock;
	}
	qsort(times, LOOKUPS, sizeof(times[0]), by_size);
	return (percentiles){times[LOOKUPS / 2], times[LOOKUPS / 100 * 99]};
}

/* series: ours and theirs, p50, then p99. */
static void report_calls(int what, const char *peer, bench_goal goal, const bench_series *const series[4])
{
	static const char *const works[] = {"look up a node, random, p50", "edges from a node, p50",
	                                    "edges to a node, p50"};
	const char *id = what ? "G3" : "G2";
	bench_report(&(bench_row){id, works[what], "us", series[0], peer, series[1], 0, goal, what ? 1 : 0.6});
	bench_report(&(bench_row){id, "the same, p99", "us", series[2], peer, series[3], 0, BENCH_SHOWN, 0});
}

static void bench_calls(const graph_ours *o, const graph_peer *p, void *db, const sherd_graph_id *ids, int what)
{
	bench_series ours = {.count = 0}, peer = {.count = 0}, ours99 = {.count = 0}, peer99 = {.count = 0};
	const asked us = {.ours = o, .what = what}, them = {.peer = p, .db = db, .what = what};
	uint64_t a, b;
	(void)time_calls(&us, ids, &a);
	for (int i = 0; i < bench_pairs(); i++) {
		percentiles t = time_calls(&them, ids, &b);
		bench_add(&peer, t.p50);
		bench_add(&peer99, t.p99);
		t = time_calls(&us, ids, &a);
		bench_add(&ours, t.p50);
		bench_add(&ours99, t.p99);
		if (a != b)
			bench_fail("%s gives other answers than we do", p->name);
	}
	report_calls(what, p->name, p == &graph_lmdb ? BENCH_AT_MOST : BENCH_SHOWN,
	             (const bench_series *[]){&ours, &peer, &ours99, &peer99});
}

static void bench_read(const graph_ours *o, const graph_peer *p, const sherd_graph_id *ids)
{
	if (!is_here(p, "G2"))
		return;
	char *folder = bench_folder_make();
	void *db = p->load(&data, folder);
	if (p->settle)
		p->settle(db);
	for (int what = 0; what < 3; what++)
		bench_calls(o, p, db, ids, what);
	p->close(db);
	bench_folder_remove(folder);
}

static void bench_look_server(const graph_ours *o, graph_server *s, const sherd_graph_id *ids, int what)
{
	static const char *const names[] = {"node", "out", "in"};
	bench_series ours = {.count = 0}, theirs = {.count = 0}, ours99 = {.count = 0}, theirs99 = {.count = 0};
	const asked us = {.ours = o, .what = what};
	for (int i = 0; i < bench_pairs(); i++) {
		double p99, p50 = graph_server_look(s, names[what], &p99);
		uint64_t seen;
		if (p50 < 0)
			return;
		bench_add(&theirs, p50);
		bench_add(&theirs99, p99);
		percentiles t = time_calls(&us, ids, &seen);
		bench_add(&ours, t.p50);
		bench_add(&ours99, t.p99);
	}
	report_calls(what, GRAPH_SERVER, BENCH_SHOWN, (const bench_series *[]){&ours, &theirs, &ours99, &theirs99});
}

static void bench_read_server(const graph_ours *o, graph_server *s, const sherd_graph_id *ids)
{
	char *folder = bench_folder_make();
	if (graph_server_load(s, folder) >= 0)
		for (int what = 0; what < 3; what++)
			bench_look_server(o, s, ids, what);
	graph_server_close(s);
	bench_folder_remove(folder);
}

/* ---- G4: searching */

static bool see_node(void *arg, const sherd_graph_node *node)
{
	uint64_t *seen = arg;
	seen[0]++;
	seen[1] += graph_see_node(node);
	return true;
}

/* Microseconds of one search; *found counts its results. */
static double search(const graph_ours *o, const sherd_graph_query *q, double *found)
{
	enum { TIMES = 50 };
	uint64_t seen[2] = {0, 0};
	double start = bench_now();
	for (int i = 0; i < TIMES; i++)
		GRAPH_OR_FAIL(sherd_graph_find(o->graph, q, see_node, seen, err));
	*found = (double)seen[0] / TIMES;
	return (bench_now() - start) * 1e6 / TIMES;
}

static void bench_find(const graph_ours *large, const graph_ours *small)
{
	char path[GRAPH_PATH];
	double found;
	bench_series many = {.count = 0}, few = {.count = 0}, file = {.count = 0}, file_small = {.count = 0};
	graph_file_path(7, path);
	const sherd_graph_query by_type = {.type = sherd_graph_text_of("FUNCTION")};
	const sherd_graph_query by_file = {.file = sherd_graph_text_of(path)};
	for (int i = -1; i < bench_pairs(); i++) {
		double times[4];
		times[0] = search(large, &by_type, &found) * 1e3 / found;
		times[1] = search(small, &by_type, &found) * 1e3 / found;
		times[2] = search(large, &by_file, &found);
		times[3] = search(small, &by_file, &found);
		if (i < 0)
			continue; /* the first one prepares the indexes */
		bench_add(&many, times[0]);
		bench_add(&few, times[1]);
		bench_add(&file, times[2]);
		bench_add(&file_small, times[3]);
	}
	bench_report(&(bench_row){"G4", "find by type, a result", "ns", &many, "the same in an eighth of the graph",
	                          &few, 0, BENCH_AT_MOST, 2});
	bench_report(&(bench_row){"G4", "find by file, 50 results", "us", &file, "the same in an eighth of the graph",
	                          &file_small, 0, BENCH_AT_MOST, 2});
}

static void bench_finding(const graph_ours *o)
{
	char *folder = bench_folder_make();
	graph_ours small = graph_ours_create(folder, NULL, pool);
	graph_ours_stream(&small, (graph_size){data.size.files / 8, data.size.degree}, 0, data.size.files / 8);
	bench_find(o, &small);
	graph_ours_close(&small);
	bench_folder_remove(folder);
}

static bool wants(const char *only, const char *part)
{
	return !*only || strstr(only, part);
}

static void bench_reading(const char *only, graph_server *server)
{
	char *folder;
	sherd_graph_id *ids = graph_random_ids(data.size, LOOKUPS);
	(void)load_ours(pool, &folder);
	graph_ours o = graph_ours_open(folder, true, NULL);
	for (size_t i = 0; i < PEERS && wants(only, "read"); i++)
		bench_read(&o, peers[i], ids);
	if (server && wants(only, "read"))
		bench_read_server(&o, server, ids);
	if (wants(only, "find"))
		bench_finding(&o);
	graph_ours_close(&o);
	bench_folder_remove(folder);
	free(ids);
}

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : "";
	graph_server server;
	bench_begin("graph");
	GRAPH_OR_FAIL(sherd_pool_open(&pool, 2, err));
	graph_data_make(&data, (graph_size){.files = 2000, .degree = 5});
	bool real = (wants(only, "load") || wants(only, "read")) && graph_server_start(&server, &data, "G1");
	if (wants(only, "load")) {
		for (size_t i = 0; i < PEERS; i++)
			bench_load(peers[i]);
		bench_size(real ? bench_load_server(&server) : -1);
	}
	if (wants(only, "read") || wants(only, "find"))
		bench_reading(only, real ? &server : NULL);
	if (real)
		graph_server_stop(&server);
	graph_data_done(&data);
	sherd_pool_close(pool);
	bench_end();
	return 0;
}

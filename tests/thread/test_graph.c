/* Threads share a reader, also while its indexes are built for the first time. */
#include "support/graph_make.h"
#include "support/test.h"

#include "base/error.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, NODES = 300 };

typedef struct reading {
	const sherd_graph *graph;
	const char *expected;
	bool same;
} reading;

static bool count(void *arg, const sherd_graph_edge *e)
{
	(void)e;
	++*(size_t *)arg;
	return true;
}

static void *read_all(void *arg)
{
	reading *r = arg;
	size_t edges[2] = {0};
	sherd_graph_totals totals;
	r->same = sherd_graph_stats(r->graph, &totals, NULL) == SHERD_OK;
	for (unsigned i = 0; i < NODES; i++) {
		char id[16];
		sherd_graph_node n;
		(void)snprintf(id, sizeof(id), "n%u", i);
		r->same = r->same && sherd_graph_get(r->graph, graph_id(id), &n, NULL) == 1;
		(void)sherd_graph_outgoing(r->graph, graph_id(id), NULL, count, &edges[0], NULL);
		(void)sherd_graph_incoming(r->graph, graph_id(id), NULL, count, &edges[1], NULL);
	}
	char *found = graph_dump(r->graph);
	r->same = r->same && strcmp(found, r->expected) == 0 && edges[0] == totals.edges && edges[1] == totals.edges;
	free(found);
	return NULL;
}

static bool is_sidecar(const char *key, const sherd_stat *stat, void *arg)
{
	(void)stat;
	return !strstr(key, ".idx") || sherd_store_remove(arg, key, NULL) == SHERD_OK;
}

static void assert_shared(sherd_store *store, const char *expected)
{
	const sherd_graph_options o = {.read_only = true};
	sherd_graph *g = graph_open(store, "", &o);
	pthread_t threads[THREADS];
	reading readings[THREADS];
	for (unsigned i = 0; i < THREADS; i++) {
		readings[i] = (reading){.graph = g, .expected = expected};
		assert_int_equal(pthread_create(&threads[i], NULL, read_all, &readings[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_true(readings[i].same);
	}
	sherd_graph_close(g);
}

TEST(threads_share_a_reader)
{
	sherd_store *store = NULL;
	sherd_pool *pool = NULL;
	assert_ok(sherd_store_open_memory(&store, err));
	assert_ok(sherd_pool_open(&pool, THREADS, err));
	sherd_graph *g = graph_create(store, "", NULL, pool);
	for (uint64_t round = 0; round < 3; round++) {
		graph_add_random(g, NODES, 800, 9, round);
		graph_flush(g);
	}
	char *expected = graph_dump(g);
	sherd_graph_close(g);
	assert_shared(store, expected);
	assert_ok(sherd_store_list(store, "segments/", "", is_sidecar, store, err));
	assert_shared(store, expected);
	free(expected);
	sherd_pool_close(pool);
	sherd_store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(threads_share_a_reader)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

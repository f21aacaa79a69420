/* Workers change no byte of what a flush writes; threads share a reader, and open others, while somebody else commits,
 * compacts and collects: each keeps the version it has. */
#include "support/ckpt_place.h"
#include "support/graph_make.h"
#include "support/graph_naive.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"
#include "base/rng.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

/* ---- workers */

enum { NODES = 5000, EDGES = 12000 };

/* So many at once that workers share them; some stand there twice, and the last one counts. */
static void add_many(sherd_graph *g, unsigned round)
{
	sherd_graph_node *nodes = calloc(NODES, sizeof(*nodes));
	sherd_graph_edge *edges = calloc(EDGES, sizeof(*edges));
	char(*texts)[24] = calloc(NODES, sizeof(*texts));
	assert_true(nodes && edges && texts);
	for (unsigned i = 0; i < NODES; i++) {
		(void)snprintf(texts[i], sizeof(texts[i]), "m%u", i % (NODES - 300));
		nodes[i] = graph_node(texts[i], i % 3 ? "F" : "G", texts[i / 2], i % 7 ? "src/d1/m.js" : "src/d5/m.js");
		nodes[i].content_hash = round + i;
		nodes[i].exported = i % 11 == 0;
	}
	for (unsigned i = 0; i < EDGES; i++)
		edges[i] =
			graph_edge(texts[i / 5 % NODES], texts[i * 7 % NODES], i % 2 ? "CALLS" : "HAS", texts[i % 9]);
	assert_ok(sherd_graph_add_nodes(g, nodes, NODES, err));
	assert_ok(sherd_graph_add_edges(g, edges, EDGES, err));
	/* By now no source is in the buffer: all are looked for in segments. */
	graph_flush(g);
	assert_ok(sherd_graph_add_edges(g, edges, EDGES, err));
	nodes[NODES - 1].name = (sherd_graph_text){"\xff", 1};
	assert_int_equal(sherd_graph_add_nodes(g, nodes, NODES, NULL), SHERD_EINVAL);
	edges[EDGES - 1].src = graph_id("nobody");
	assert_int_equal(sherd_graph_add_edges(g, edges, EDGES, NULL), SHERD_EINVAL);
	assert_int_equal(sherd_graph_pending(g), EDGES);
	graph_flush(g);
	free(nodes);
	free(edges);
	free(texts);
}

static void write_history(sherd_store *store, const sherd_graph_layout *layout, sherd_pool *pool)
{
	sherd_graph *g = graph_create(store, "db", layout, pool);
	graph_add_random(g, 200, 300, 9, 1);
	graph_flush(g);
	for (unsigned i = 0; i < 6; i++) {
		const sherd_graph_node n = graph_node("n5", "F", "moved", i % 2 ? "src/d1/x.js" : "src/d2/y.js");
		assert_ok(sherd_graph_update_file(g, n.file, &n, 1, NULL, 0, NULL, err));
		graph_flush(g);
	}
	graph_add_random(g, 60, 90, 12, 2);
	assert_ok(sherd_graph_spill(g, err));
	graph_add_random(g, 50, 80, 5, 3);
	const sherd_graph_id gone[] = {graph_id("n1"), graph_id("n2"), graph_id("n77")};
	assert_ok(sherd_graph_delete_nodes(g, gone, 3, NULL, err));
	graph_flush(g);
	assert_ok(sherd_graph_set_tag(g, 3, "k", "v", err));
	assert_ok(sherd_graph_compact(g, &(sherd_graph_commit_options){.time_ns = 5000000000}, err));
	graph_add_random(g, 30, 30, 4, 4);
	graph_flush(g);
	add_many(g, 1);
	add_many(g, 2);
	sherd_graph_close(g);
}

static bool compare_object(void *arg, const char *key, const sherd_stat *stat)
{
	sherd_store **stores = arg;
	size_t an, bn;
	char *a = object_get(stores[0], key, &an), *b = object_get(stores[1], key, &bn);
	assert_int_equal(an, stat->size);
	assert_int_equal(an, bn);
	assert_memory_equal(a, b, an);
	sherd_free(a);
	sherd_free(b);
	return true;
}

TEST(the_bytes_of_a_database_do_not_depend_on_the_workers)
{
	static const sherd_graph_layout layouts[] = {{.shards = 8}, {.planner = SHERD_GRAPH_DIRECTORY, .min_files = 1}};
	for (size_t l = 0; l < COUNT_OF(layouts); l++) {
		sherd_store *alone = NULL;
		assert_ok(sherd_store_open_memory(&alone, err));
		write_history(alone, &layouts[l], NULL);
		char *keys = object_keys(alone);
		for (unsigned workers = 1; workers <= 4; workers++) {
			sherd_store *store = NULL;
			sherd_pool *pool = NULL;
			assert_ok(sherd_store_open_memory(&store, err));
			assert_ok(sherd_pool_open(&pool, workers, err));
			write_history(store, &layouts[l], pool);
			assert_keys(store, keys);
			sherd_store *both[] = {alone, store};
			assert_ok(sherd_store_list(alone, "", "", compare_object, both, err));
			sherd_pool_close(pool);
			sherd_store_close(store);
		}
		free(keys);
		sherd_store_close(alone);
	}
}

/* ---- readers and a writer */

enum { READERS = 3, ROUNDS = 80, VERSIONS = 128 };

typedef struct theatre {
	sherd_store *stores[2]; /* of the writer, and of the readers */
	sherd_graph *shared;    /* open at one version from the beginning */
	graph_naive model;      /* of that */
	pthread_mutex_t mutex;
	graph_naive *models; /* by version, once it may be seen */
	_Atomic bool over;
	_Atomic unsigned opened;
} theatre;

static void change(graph_naive *m, sherd_graph *g, unsigned round)
{
	for (unsigned i = 0; i < 4; i++) {
		naive_record r, e;
		unsigned dice = (unsigned)(shd_splitmix64(round * 4 + i) >> 33), id = dice % NAIVE_IDS;
		unsigned dst = dice / 29 % NAIVE_IDS, type = dice / 997 % NAIVE_TYPES;
		m->nodes[id] = (naive_node){.stamp = round * 4 + i + 1, .file = (int)(dice / 31 % NAIVE_FILES)};
		m->edges[id][dst][type] = (naive_edge){.stamp = round * 4 + i + 1, .context = NAIVE_NONE};
		naive_make_node(id, m->nodes[id], &r);
		naive_make_edge(id, dst, type, m->edges[id][dst][type], &e);
		must_ok(sherd_graph_add_nodes(g, &r.node, 1, err));
		must_ok(sherd_graph_add_edges(g, &e.edge, 1, err));
	}
	unsigned gone = round % NAIVE_IDS;
	const sherd_graph_id id = naive_id(gone);
	if (m->nodes[gone].stamp && round % 3 == 0) {
		naive_remove_node(m, gone);
		must_ok(sherd_graph_delete_nodes(g, &id, 1, NULL, err));
	}
}

static void announce(theatre *t, uint64_t version, const graph_naive *m)
{
	pthread_mutex_lock(&t->mutex);
	must(version < VERSIONS);
	t->models[version] = *m;
	pthread_mutex_unlock(&t->mutex);
}

static void check_current(theatre *t, unsigned dice)
{
	const sherd_graph_options reading = {.read_only = true};
	sherd_graph *g = NULL;
	graph_naive m;
	must_ok(sherd_graph_open(&g, t->stores[1], "db", &reading, err));
	pthread_mutex_lock(&t->mutex);
	m = t->models[sherd_graph_version(g)];
	pthread_mutex_unlock(&t->mutex);
	naive_check(&m, g, dice);
	sherd_graph_close(g);
	(void)atomic_fetch_add(&t->opened, 1);
}

static void *read_on(void *arg)
{
	theatre *t = arg;
	unsigned dice = 1;
	do {
		naive_check(&t->model, t->shared, dice);
		check_current(t, dice);
		dice = dice * 1103515245 + 12345;
	} while (!atomic_load(&t->over));
	naive_check(&t->model, t->shared, dice);
	return NULL;
}

static bool remove_index(void *arg, const char *key, const sherd_stat *stat)
{
	size_t n = strlen(key);
	(void)stat;
	if (n > 4 && strcmp(key + n - 4, ".idx") == 0)
		must_ok(sherd_store_remove(arg, key, err));
	return true;
}

static sherd_graph *begin(theatre *t, sherd_pool *pool)
{
	const sherd_graph_layout layout = {.shards = 3};
	const sherd_graph_options writing = {.pool = pool}, reading = {.read_only = true};
	sherd_graph *g = NULL;
	must_ok(sherd_graph_create(t->stores[0], "db", &layout, 1, err));
	must_ok(sherd_graph_open(&g, t->stores[0], "db", &writing, err));
	announce(t, 1, &t->model);
	for (unsigned round = 0; round < 20; round++) {
		change(&t->model, g, round);
		announce(t, sherd_graph_version(g) + 1, &t->model);
		must_ok(sherd_graph_flush(g, NULL, err));
	}
	/* So that the threads find none and make them, all at once. */
	must_ok(sherd_store_list(t->stores[0], "db/", "", remove_index, t->stores[0], err));
	must_ok(sherd_graph_open(&t->shared, t->stores[1], "db", &reading, err));
	return g;
}

static void play(sherd_store *writers, sherd_store *readers)
{
	theatre t = {.stores = {writers, readers}, .models = calloc(VERSIONS, sizeof(graph_naive))};
	pthread_t threads[READERS];
	sherd_pool *pool = NULL;
	assert_non_null(t.models);
	pthread_mutex_init(&t.mutex, NULL);
	assert_ok(sherd_pool_open(&pool, 2, err));
	sherd_graph *g = begin(&t, pool);
	graph_naive m = t.model;
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_on, &t), 0);
	for (unsigned round = 20; round < 20 + ROUNDS; round++) {
		change(&m, g, round);
		announce(&t, sherd_graph_version(g) + 1, &m);
		if (round % 5 == 0)
			must_ok(sherd_graph_compact(g, NULL, err));
		else
			must_ok(sherd_graph_flush(g, NULL, err));
		if (round % 2)
			must_ok(sherd_graph_gc(g, NULL, NULL, err));
		naive_check(&m, g, round);
	}
	while (atomic_load(&t.opened) < READERS)
		(void)sched_yield();
	atomic_store(&t.over, true);
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	sherd_graph_close(t.shared);
	sherd_graph_close(g);
	sherd_pool_close(pool);
	pthread_mutex_destroy(&t.mutex);
	free(t.models);
}

TEST(readers_keep_their_version_while_another_handle_writes)
{
	sherd_store *stores[2] = {0};
	char *folder = scratch_make();
	for (int i = 0; i < 2; i++)
		assert_ok(sherd_store_open_local(&stores[i], folder, NULL, err));
	play(stores[0], stores[1]);
	sherd_store_close(stores[0]);
	sherd_store_close(stores[1]);
	scratch_remove(folder);
}

TEST(so_they_do_in_memory)
{
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_memory(&store, err));
	play(store, store);
	sherd_store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bytes_of_a_database_do_not_depend_on_the_workers),
		cmocka_unit_test(readers_keep_their_version_while_another_handle_writes),
		cmocka_unit_test(so_they_do_in_memory),
	};
	scratch_in_memory();
	return cmocka_run_group_tests_name("thread/graph", tests, NULL, NULL);
}

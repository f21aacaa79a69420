/* Databases that come into being: created, or copied from another. */
#include "support/graph_auto.h"
#include "support/graph_make.h"
#include "support/test.h"

#include "base/error.h"
#include "engine/graph/version.h"

#include <stdlib.h>

static void put(sherd_store *store, const char *key)
{
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_NEW, "x", 1, err));
}

static bool is_there(sherd_store *store, const char *key)
{
	sherd_stat stat;
	return sherd_store_stat(store, key, &stat, NULL) == SHERD_OK;
}

TEST(what_was_not_finished_is_no_database_and_is_cleared_by_the_next)
{
	static const char *const parts[] = {"db/graph.making",
	                                    "db/LOCK",
	                                    "db/db_config.json",
	                                    "db/shard_plan.json",
	                                    "db/manifests/7.json",
	                                    "db/manifests/000002.json",
	                                    "db/notes",
	                                    "db/segments/00/seg_000007_nodes.seg",
	                                    "db/segments/00/seg_000007_nodes.idx"};
	for (int copied = 0; copied < 2; copied++) {
		SCOPED_STORE store = memory();
		SCOPED_GRAPH from = graph_create(store, "from", NULL, NULL);
		sherd_graph *g = NULL;
		graph_add_node(from, "a", "F", "a", "a.js");
		for (size_t i = 0; i < COUNT_OF(parts); i++)
			put(store, parts[i]);
		assert_refused(SHERD_ENOTFOUND, "incomplete", sherd_graph_open(&g, store, "db", NULL, err));
		if (copied)
			assert_ok(sherd_graph_reshard(from, store, "db", NULL, NULL, NULL, err));
		else
			assert_ok(sherd_graph_create(store, "db", NULL, 1, err));
		assert_false(is_there(store, "db/graph.making"));
		assert_false(is_there(store, "db/shard_plan.json"));
		assert_false(is_there(store, "db/segments/00/seg_000007_nodes.seg"));
		assert_false(is_there(store, "db/segments/00/seg_000007_nodes.idx"));
		/* No parts of a database. */
		assert_true(is_there(store, "db/manifests/7.json"));
		assert_true(is_there(store, "db/notes"));
		g = graph_open(store, "db", NULL);
		assert_int_equal(graph_count(g, NULL, NULL, NULL), copied);
		sherd_graph_close(g);
	}
}

TEST(what_is_left_of_a_damaged_database_is_not_overwritten)
{
	static const char *const parts[] = {
		"db/db_config.json",        "db/manifest_index.json",        "db/shard_plan.json",
		"db/manifests/000009.json", "db/manifests/000009.edit.json", "db/segments/03/seg_000001_edges.seg"};
	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		SCOPED_STORE store = memory();
		SCOPED_GRAPH from = graph_create(store, "from", NULL, NULL);
		put(store, parts[i]);
		assert_refused(SHERD_EEXIST, "leftovers", sherd_graph_create(store, "db", NULL, 1, err));
		assert_refused(SHERD_EEXIST, "leftovers",
		               sherd_graph_reshard(from, store, "db", NULL, NULL, NULL, err));
		assert_true(is_there(store, parts[i]));
		assert_false(is_there(store, "db/graph.making"));
		assert_false(is_there(store, "db/LOCK"));
	}
}

TEST(a_mark_that_stayed_means_nothing_and_is_collected)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "db", NULL, NULL);
	put(store, "db/graph.making");
	SCOPED_GRAPH reader = graph_open(store, "db", &(sherd_graph_options){.read_only = true});
	assert_int_equal(sherd_graph_version(reader), 1);
	assert_refused(SHERD_EEXIST, "exists", sherd_graph_create(store, "db", NULL, 1, err));
	assert_ok(sherd_graph_gc(g, NULL, NULL, err));
	assert_false(is_there(store, "db/graph.making"));
}

TEST(the_copy_of_an_empty_graph_is_an_empty_graph)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH from = graph_create(store, "from", NULL, NULL);
	sherd_graph_reshard_result done;
	assert_ok(sherd_graph_reshard(from, store, "to", NULL, NULL, &done, err));
	SCOPED_GRAPH to = graph_open(store, "to", NULL);
	assert_int_equal(done.nodes + done.edges + done.lost_edges, 0);
	assert_same_graph(from, to);
}

/* Takes a segment of nodes out of the current version, as a program that keeps edges without sources would leave it. */
static void lose_nodes(sherd_store *store)
{
	graph_place place;
	graph_version v;
	SHERD_AUTO_BUF text = {0};
	char name[SHERD_RFDB_NAME_MAX];
	assert_ok(sherd_graph_place_init(&place, store, "db", NULL, err));
	assert_ok(sherd_graph_version_load(&v, &place, 2, err));
	sherd_rfdb_manifest m = v.manifest;
	assert_int_equal(m.nodes.count, 2);
	m.nodes.count = 1;
	m.counts.known = false;
	sherd_rfdb_manifest_encode(&m, &text);
	sherd_rfdb_manifest_name(2, false, name);
	assert_ok(sherd_graph_place_put(&place, name, SHERD_WRITE_REPLACE, &text, err));
	sherd_graph_version_done(&v);
	sherd_graph_place_done(&place);
}

TEST(edges_that_cannot_be_copied_are_counted)
{
	SCOPED_STORE store = memory();
	const sherd_graph_layout directories = {.planner = SHERD_GRAPH_DIRECTORY, .min_files = 1};
	sherd_graph_reshard_result done;
	sherd_graph *g = graph_create(store, "db", &directories, NULL);
	graph_add_node(g, "a", "F", "a", "a/a.js");
	graph_add_node(g, "b", "F", "b", "b/b.js");
	graph_add_edge(g, "a", "b", "CALLS", "");
	graph_add_edge(g, "a", "b", "READS", "");
	graph_add_edge(g, "b", "a", "CALLS", "");
	graph_add_edge(g, "b", "a", "READS", "");
	graph_flush(g);
	sherd_graph_close(g);
	lose_nodes(store);
	SCOPED_GRAPH from = graph_open(store, "db", &(sherd_graph_options){.read_only = true});
	assert_ok(sherd_graph_reshard(from, store, "new", NULL, NULL, &done, err));
	assert_int_equal(done.nodes, 1);
	assert_int_equal(done.edges, 2);
	assert_int_equal(done.lost_edges, 2);
	SCOPED_GRAPH to = graph_open(store, "new", NULL);
	assert_int_equal(graph_count_out(to, "a", NULL) + graph_count_out(to, "b", NULL), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_not_finished_is_no_database_and_is_cleared_by_the_next),
		cmocka_unit_test(what_is_left_of_a_damaged_database_is_not_overwritten),
		cmocka_unit_test(a_mark_that_stayed_means_nothing_and_is_collected),
		cmocka_unit_test(the_copy_of_an_empty_graph_is_an_empty_graph),
		cmocka_unit_test(edges_that_cannot_be_copied_are_counted),
	};
	return cmocka_run_group_tests_name("engine/graph_making", tests, NULL, NULL);
}

/* Shards by hash: the 26 tests that the design of them (RFD-7, tech spec 9 and 10) asks for, under its names. */
#include "support/graph_auto.h"
#include "support/graph_make.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_graph_plan, sherd_graph_plan_close)
#define PLAN SHD_AUTO(sherd_graph_plan, sherd_graph_plan_close)

static const sherd_graph_layout eight = {.shards = 8};
static const sherd_graph_options reading = {.read_only = true};

static uint32_t shard_of(const sherd_graph_plan *plan, const char *file)
{
	return sherd_graph_plan_shard(plan, sherd_graph_text_of(file));
}

/* 9.1 */

TEST(test_compute_shard_id_deterministic)
{
	PLAN plan = NULL;
	assert_ok(sherd_graph_plan_open(&plan, &eight, err));
	for (int i = 0; i < 100; i++)
		assert_int_equal(shard_of(plan, "src/auth/login.ts"), 5);
	assert_int_equal(shard_of(plan, "main.js"), 7);
	assert_int_equal(shard_of(plan, "src/api/routes.ts"), 2);
}

TEST(test_compute_shard_id_same_directory)
{
	PLAN plan = NULL;
	assert_ok(sherd_graph_plan_open(&plan, &eight, err));
	assert_int_equal(shard_of(plan, "src/a.js"), shard_of(plan, "src/b.js"));
	assert_int_equal(shard_of(plan, "src/a.js"), shard_of(plan, "src/c.js"));
}

TEST(test_compute_shard_id_different_directories)
{
	PLAN plan = NULL;
	bool seen[8] = {0};
	unsigned different = 0;
	assert_ok(sherd_graph_plan_open(&plan, &eight, err));
	for (int i = 0; i < 64; i++) {
		char file[32];
		(void)snprintf(file, sizeof(file), "d%d/a.js", i);
		uint32_t shard = shard_of(plan, file);
		assert_in_range(shard, 0, 7);
		different += !seen[shard];
		seen[shard] = true;
	}
	assert_int_equal(different, 8);
}

static void assert_all_planned(unsigned files, unsigned directories)
{
	PLAN plan = NULL;
	unsigned counts[8] = {0}, total = 0;
	assert_ok(sherd_graph_plan_open(&plan, &eight, err));
	assert_int_equal(sherd_graph_plan_shards(plan), 8);
	for (unsigned i = 0; i < files; i++) {
		char file[48];
		(void)snprintf(file, sizeof(file), "p/d%u/f%u.js", i % directories, i);
		counts[shard_of(plan, file)]++;
	}
	for (int i = 0; i < 8; i++) {
		assert_int_equal(counts[i] % (files / directories), 0);
		total += counts[i];
	}
	assert_int_equal(total, files);
}

TEST(test_plan_groups_by_shard)
{
	assert_all_planned(20, 5);
}

TEST(test_plan_every_file_assigned)
{
	assert_all_planned(100, 100);
}

/* 9.2 */

TEST(test_config_roundtrip)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "db", &eight, NULL);
	sherd_graph_layout layout = sherd_graph_layout_of(g);
	assert_int_equal(layout.planner, SHERD_GRAPH_HASH);
	assert_int_equal(layout.shards, 8);
	char *text;
	size_t len;
	assert_ok(sherd_store_get(&text, &len, store, "db/db_config.json", 4096, err));
	assert_non_null(strstr(text, "\"shard_count\": 8"));
	assert_non_null(strstr(text, "1700000000"));
	sherd_free(text);
}

TEST(test_config_read_nonexistent)
{
	SCOPED_STORE store = memory();
	sherd_graph *g = NULL;
	assert_fails(SHERD_ENOTFOUND, SHERD_NO_OFFSET, sherd_graph_open(&g, store, "db", NULL, err));
	assert_fails(SHERD_ENOTFOUND, SHERD_NO_OFFSET, sherd_graph_open(&g, store, "db", &reading, err));
	assert_null(g);
}

static bool is_plain(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat;
	assert_null(strstr(key, "tmp"));
	++*(size_t *)arg;
	return true;
}

TEST(test_config_atomic_write)
{
	char *folder = scratch_make();
	SCOPED_STORE store = NULL;
	size_t files = 0;
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	sherd_graph_close(graph_create(store, "db", &eight, NULL));
	assert_ok(sherd_store_list(store, "", "", is_plain, &files, err));
	assert_int_equal(files, 5); /* LOCK, config, current, index, the first manifest */
	scratch_remove(folder);
}

/* 9.3 */

/* "Don't exist yet" gives way: the real server cannot write into a shard without its folder. */
TEST(test_create_multi_shard_db)
{
	char *folder = scratch_make(), path[512];
	SCOPED_STORE store = NULL;
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	sherd_graph_close(graph_create(store, "db", &eight, NULL));
	for (int i = 0; i < 8; i++) {
		sherd_store *shard = NULL;
		(void)snprintf(path, sizeof(path), "%s/db/segments/%02d", folder, i);
		assert_ok(sherd_store_open_local(&shard, path, NULL, err));
		sherd_store_close(shard);
	}
	assert_fails(SHERD_EEXIST, SHERD_NO_OFFSET, sherd_graph_create(store, "db", &eight, 0, err));
	scratch_remove(folder);
}

TEST(test_ephemeral_multi_shard)
{
	const sherd_graph_layout four = {.shards = 4};
	SCOPED_GRAPH g = NULL;
	assert_ok(sherd_graph_open_ephemeral(&g, &four, NULL, err));
	graph_add_random(g, 100, 200, 9, 1);
	assert_consistent(g);
	graph_flush(g);
	assert_consistent(g);
	assert_int_equal(graph_count(g, NULL, NULL, NULL), 100);
}

static void add_many(sherd_graph *g, const char *directory, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		char id[64], file[64];
		(void)snprintf(id, sizeof(id), "%s%u", directory, i);
		(void)snprintf(file, sizeof(file), "%s%u.js", directory, i);
		graph_add_node(g, id, "FUNCTION", id, file);
	}
}

static sherd_graph_shard stats_of(const sherd_graph *g, const char *file)
{
	sherd_graph_shard s;
	uint32_t shard = sherd_graph_shard_of(g, sherd_graph_text_of(file));
	assert_ok(sherd_graph_shard_stats(&s, g, shard, err));
	return s;
}

TEST(test_add_nodes_distributes_by_directory)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", &eight, NULL);
	static const char *const directories[] = {"src/", "lib/", "test/"};
	uint64_t expected[8] = {0};
	for (int i = 0; i < 3; i++) {
		add_many(g, directories[i], 10);
	}
	for (int i = 0; i < 3; i++) {
		char file[32];
		(void)snprintf(file, sizeof(file), "%sx.js", directories[i]);
		expected[sherd_graph_shard_of(g, sherd_graph_text_of(file))] += 10;
	}
	for (int flushed = 0; flushed < 2; flushed++) {
		for (uint32_t i = 0; i < 8; i++) {
			sherd_graph_shard s;
			assert_ok(sherd_graph_shard_stats(&s, g, i, err));
			assert_int_equal(s.nodes, expected[i]);
		}
		graph_flush(g);
	}
}

TEST(test_add_edges_routes_to_source_shard)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", &eight, NULL);
	graph_add_node(g, "A", "F", "a", "src/auth/a.js"); /* shard 5 */
	graph_add_node(g, "B", "F", "b", "src/api/b.js");  /* shard 2 */
	graph_add_edge(g, "A", "B", "CALLS", "");
	graph_flush(g);
	assert_int_equal(stats_of(g, "src/auth/a.js").edges, 1);
	assert_int_equal(stats_of(g, "src/api/b.js").edges, 0);
	assert_int_equal(stats_of(g, "src/auth/a.js").shard, 5);
}

TEST(test_add_edges_src_not_found_error)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", &eight, NULL);
	graph_add_node(g, "B", "F", "b", "lib/b.js");
	const sherd_graph_edge edges[] = {graph_edge("B", "B", "CALLS", ""), graph_edge("A", "B", "CALLS", "")};
	char id[SHERD_GRAPH_ID_TEXT];
	sherd_graph_id_format(id, graph_id("A"));
	sherd_error e = {0};
	assert_int_equal(sherd_graph_add_edges(g, edges, 2, &e), SHERD_EINVAL);
	assert_string_equal(e.reason, "unknown-source");
	assert_non_null(strstr(e.message, id));
	assert_int_equal(graph_count_out(g, "B", NULL), 0);
	assert_int_equal(sherd_graph_pending(g), 1);
}

static void assert_shards_written(sherd_graph *g, unsigned shards)
{
	unsigned written = 0;
	for (uint32_t i = 0; i < 8; i++) {
		sherd_graph_shard s;
		assert_ok(sherd_graph_shard_stats(&s, g, i, err));
		assert_int_equal(s.segments != 0, s.nodes != 0);
		written += s.segments != 0;
	}
	assert_int_equal(written, shards);
}

TEST(test_flush_all_commits_manifest)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", &eight, NULL);
	graph_add_node(g, "a", "F", "a", "src/auth/a.js");
	graph_add_node(g, "b", "F", "b", "src/api/b.js");
	graph_add_node(g, "c", "F", "c", "c.js");
	graph_flush(g);
	assert_int_equal(sherd_graph_version(g), 2);
	char *text;
	size_t len;
	assert_ok(sherd_store_get(&text, &len, store, "manifests/000002.json", 1 << 20, err));
	assert_non_null(strstr(text, "\"shard_id\": 2"));
	assert_non_null(strstr(text, "\"shard_id\": 5"));
	assert_non_null(strstr(text, "\"shard_id\": 7"));
	sherd_free(text);
	graph_flush(g);
	assert_int_equal(sherd_graph_version(g), 2); /* nothing to flush, no version */
}

TEST(test_flush_empty_shards_skipped)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", &eight, NULL);
	graph_add_node(g, "a", "F", "a", "src/auth/a.js");
	graph_add_node(g, "b", "F", "b", "src/api/b.js");
	graph_add_node(g, "c", "F", "c", "c.js");
	graph_flush(g);
	assert_shards_written(g, 3);
}

TEST(test_open_existing_db)
{
	char *folder = scratch_make();
	SCOPED_STORE store = NULL;
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	sherd_graph *writer = graph_create(store, "a/db", &eight, NULL);
	graph_add_random(writer, 200, 600, 11, 2);
	char *before = graph_dump(writer);
	graph_flush(writer);
	sherd_graph_close(writer);
	SCOPED_GRAPH g = graph_open(store, "a/db", &reading);
	char *after = graph_dump(g);
	assert_string_equal(before, after);
	assert_consistent(g);
	free(before);
	free(after);
	scratch_remove(folder);
}

/* 9.4 */

TEST(test_get_node_finds_across_shards)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", &eight, NULL);
	for (int i = 0; i < 80; i++) {
		char id[32], file[32];
		(void)snprintf(id, sizeof(id), "id%d", i);
		(void)snprintf(file, sizeof(file), "d%d/x.js", i);
		graph_add_node(g, id, "F", id, file);
	}
	graph_flush(g);
	assert_shards_written(g, 8);
	for (int i = 0; i < 80; i++) {
		char id[32];
		sherd_graph_node n;
		(void)snprintf(id, sizeof(id), "id%d", i);
		assert_int_equal(sherd_graph_get(&n, g, graph_id(id), NULL), 1);
		assert_int_equal(n.name.len, strlen(id));
		assert_memory_equal(n.name.ptr, id, n.name.len);
	}
	assert_int_equal(sherd_graph_exists(g, graph_id("id80"), NULL), 0);
}

TEST(test_find_nodes_deduplicates)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", &eight, NULL);
	graph_add_node(g, "a", "F", "old", "src/a.js");
	graph_flush(g);
	graph_add_node(g, "a", "F", "new", "src/a.js");
	assert_int_equal(graph_count(g, "F", "src/a.js", NULL), 1);
	assert_int_equal(graph_count(g, "F", "src/a.js", "new"), 1);
	graph_flush(g);
	assert_int_equal(graph_count(g, "F", "src/a.js", NULL), 1);
	assert_int_equal(graph_count(g, "F", NULL, "old"), 0);
}

TEST(test_cross_shard_edges_queryable)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", &eight, NULL);
	graph_add_node(g, "A", "F", "a", "src/auth/a.js");
	graph_add_node(g, "B", "F", "b", "b.js");
	graph_add_edge(g, "A", "B", "CALLS", "");
	for (int flushed = 0; flushed < 2; flushed++) {
		assert_int_equal(graph_count_out(g, "A", NULL), 1);
		assert_int_equal(graph_count_in(g, "B", NULL), 1);
		assert_int_equal(graph_count_in(g, "B", "CALLS"), 1);
		assert_int_equal(graph_count_in(g, "B", "IMPORTS"), 0);
		assert_int_equal(graph_count_in(g, "A", NULL), 0);
		graph_flush(g);
	}
}

TEST(test_incoming_edges_fans_out)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", &eight, NULL);
	graph_add_node(g, "Z", "F", "z", "z/z.js");
	for (int i = 0; i < 10; i++) {
		char id[16], file[32];
		(void)snprintf(id, sizeof(id), "s%d", i);
		(void)snprintf(file, sizeof(file), "d%d/x.js", i);
		graph_add_node(g, id, "F", id, file);
		graph_add_edge(g, id, "Z", "CALLS", "");
	}
	graph_flush(g);
	assert_int_equal(graph_count_in(g, "Z", NULL), 10);
}

/* 9.5 */

TEST(test_equivalence_single_vs_multi_shard)
{
	const sherd_graph_layout one = {.shards = 1};
	SCOPED_STORE store = memory();
	SCOPED_GRAPH a = graph_create(store, "one", &one, NULL);
	SCOPED_GRAPH b = graph_create(store, "eight", &eight, NULL);
	graph_add_random(a, 1000, 5000, 40, 3);
	graph_add_random(b, 1000, 5000, 40, 3);
	graph_flush(a);
	graph_flush(b);
	assert_same_graph(a, b);
}

TEST(test_full_lifecycle)
{
	char *folder = scratch_make();
	SCOPED_STORE store = NULL;
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	sherd_graph *g = graph_create(store, "", &eight, NULL);
	add_many(g, "src/", 100);
	graph_flush(g);
	sherd_graph_close(g);
	g = graph_open(store, "", NULL);
	assert_int_equal(graph_count(g, NULL, NULL, NULL), 100);
	add_many(g, "lib/", 100);
	graph_flush(g);
	sherd_graph_close(g);
	g = graph_open(store, "", &reading);
	assert_int_equal(graph_count(g, NULL, NULL, NULL), 200);
	assert_consistent(g);
	sherd_graph_close(g);
	scratch_remove(folder);
}

TEST(test_uneven_distribution)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", &eight, NULL);
	add_many(g, "src/", 80);
	add_many(g, "lib/", 10);
	add_many(g, "test/", 10);
	graph_flush(g);
	assert_true(stats_of(g, "src/x.js").nodes >= 80);
	assert_consistent(g);
}

TEST(test_empty_shards_ok)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", &eight, NULL);
	assert_consistent(g);
	graph_add_node(g, "a", "F", "a", "src/auth/a.js");
	graph_add_node(g, "b", "F", "b", "src/api/b.js");
	graph_add_node(g, "c", "F", "c", "c.js");
	graph_flush(g);
	assert_consistent(g);
}

TEST(test_node_to_shard_mapping_persistent)
{
	SCOPED_STORE store = memory();
	sherd_graph *first = graph_create(store, "", &eight, NULL);
	add_many(first, "src/auth/", 5);
	add_many(first, "src/api/", 5);
	graph_flush(first);
	sherd_graph_close(first);
	SCOPED_GRAPH g = graph_open(store, "", NULL);
	graph_add_edge(g, "src/auth/1", "src/api/2", "CALLS", "");
	graph_add_edge(g, "src/api/1", "src/auth/2", "CALLS", "");
	graph_flush(g);
	assert_int_equal(stats_of(g, "src/auth/x").edges, 1);
	assert_int_equal(stats_of(g, "src/api/x").edges, 1);
	assert_consistent(g);
}

/* 10.3 */

TEST(test_shard_count_mismatch)
{
	SCOPED_STORE store = memory();
	sherd_graph *g = graph_create(store, "", &eight, NULL);
	graph_add_node(g, "a", "F", "a", "src/auth/a.js");
	graph_flush(g);
	sherd_graph_close(g);
	const char *config = "{\"shard_count\": 4}";
	assert_ok(sherd_store_put(store, "db_config.json", SHERD_WRITE_REPLACE, config, strlen(config), err));
	assert_refused(SHERD_ECORRUPT, "out-of-range", sherd_graph_open(&g, store, "", &reading, err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compute_shard_id_deterministic),
		cmocka_unit_test(test_compute_shard_id_same_directory),
		cmocka_unit_test(test_compute_shard_id_different_directories),
		cmocka_unit_test(test_plan_groups_by_shard),
		cmocka_unit_test(test_plan_every_file_assigned),
		cmocka_unit_test(test_config_roundtrip),
		cmocka_unit_test(test_config_read_nonexistent),
		cmocka_unit_test(test_config_atomic_write),
		cmocka_unit_test(test_create_multi_shard_db),
		cmocka_unit_test(test_ephemeral_multi_shard),
		cmocka_unit_test(test_add_nodes_distributes_by_directory),
		cmocka_unit_test(test_add_edges_routes_to_source_shard),
		cmocka_unit_test(test_add_edges_src_not_found_error),
		cmocka_unit_test(test_flush_all_commits_manifest),
		cmocka_unit_test(test_flush_empty_shards_skipped),
		cmocka_unit_test(test_open_existing_db),
		cmocka_unit_test(test_get_node_finds_across_shards),
		cmocka_unit_test(test_find_nodes_deduplicates),
		cmocka_unit_test(test_cross_shard_edges_queryable),
		cmocka_unit_test(test_incoming_edges_fans_out),
		cmocka_unit_test(test_equivalence_single_vs_multi_shard),
		cmocka_unit_test(test_full_lifecycle),
		cmocka_unit_test(test_uneven_distribution),
		cmocka_unit_test(test_empty_shards_ok),
		cmocka_unit_test(test_node_to_shard_mapping_persistent),
		cmocka_unit_test(test_shard_count_mismatch),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

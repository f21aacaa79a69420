/* A shard for each directory: the 20 tests that the design of them (T2.3) asks for, under its names. */
#include "support/graph_auto.h"
#include "support/graph_make.h"
#include "support/graph_naive.h"
#include "support/rfdb_files.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/buf.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

SHD_AUTO_DEFINE(sherd_pool, sherd_pool_close)
SHD_AUTO_DEFINE(sherd_graph_plan, sherd_graph_plan_close)
#define POOL SHD_AUTO(sherd_pool, sherd_pool_close)
#define PLAN SHD_AUTO(sherd_graph_plan, sherd_graph_plan_close)

static const sherd_graph_layout by_directory = {.planner = SHERD_GRAPH_DIRECTORY, .min_files = 1};
static const sherd_graph_layout by_three = {.planner = SHERD_GRAPH_DIRECTORY};

static sherd_graph_plan *plan_of(const sherd_graph_layout *layout, const char *const *files, size_t count)
{
	sherd_graph_plan *plan = NULL;
	sherd_graph_text texts[32];
	for (size_t i = 0; i < count; i++)
		texts[i] = sherd_graph_text_of(files[i]);
	assert_ok(sherd_graph_plan_open(&plan, layout, err));
	assert_ok(sherd_graph_plan_add(plan, texts, count, err));
	return plan;
}

static const char *name_of(const sherd_graph_plan *plan, const char *file)
{
	return sherd_graph_plan_name(plan, sherd_graph_plan_shard(plan, sherd_graph_text_of(file)));
}

/* Planner */

TEST(plan_single_directory)
{
	static const char *const files[] = {"src/a.ts", "src/b.ts", "src/c.ts"};
	PLAN plan = plan_of(&by_three, files, 3);
	assert_int_equal(sherd_graph_plan_shards(plan), 1);
	assert_string_equal(name_of(plan, "src/a.ts"), "src");
}

TEST(plan_multiple_directories)
{
	static const char *const files[] = {"a/1", "a/2", "a/3", "b/1", "b/2", "b/3", "c/1", "c/2", "c/3"};
	PLAN plan = plan_of(&by_three, files, COUNT_OF(files));
	assert_int_equal(sherd_graph_plan_shards(plan), 3);
	assert_string_equal(name_of(plan, "b/1"), "b");
}

TEST(plan_nested_directories)
{
	static const char *const files[] = {"src/auth/login.ts", "src/auth/register.ts", "src/api/routes.ts",
	                                    "src/api/handlers.ts", "src/app.ts"};
	PLAN plan = plan_of(&by_directory, files, COUNT_OF(files));
	assert_int_equal(sherd_graph_plan_shards(plan), 3);
	assert_string_equal(name_of(plan, "src/auth/login.ts"), "src_auth");
	assert_string_equal(name_of(plan, "src/api/routes.ts"), "src_api");
	assert_string_equal(name_of(plan, "src/app.ts"), "src");
}

TEST(plan_small_directory_merged)
{
	static const char *const files[] = {"src/a.ts", "src/b.ts", "src/c.ts", "src/one/x.ts", "top.ts"};
	PLAN plan = plan_of(&by_three, files, COUNT_OF(files));
	assert_string_equal(name_of(plan, "src/one/x.ts"), "src");
	assert_string_equal(name_of(plan, "top.ts"), "_root");
}

TEST(plan_deterministic)
{
	static const char *const files[] = {"a/1", "a/2", "a/3", "b/1", "b/c/2", "b/3", "c/1", "c/2", "c/3"};
	const char *turned[COUNT_OF(files)];
	for (size_t i = 0; i < COUNT_OF(files); i++)
		turned[i] = files[COUNT_OF(files) - 1 - i];
	PLAN one = plan_of(&by_three, files, COUNT_OF(files));
	PLAN other = plan_of(&by_three, turned, COUNT_OF(files));
	assert_int_equal(sherd_graph_plan_shards(one), sherd_graph_plan_shards(other));
	for (size_t i = 0; i < COUNT_OF(files); i++)
		assert_int_equal(sherd_graph_plan_shard(one, sherd_graph_text_of(files[i])),
		                 sherd_graph_plan_shard(other, sherd_graph_text_of(files[i])));
}

TEST(plan_stability)
{
	static const char *const files[] = {"src/a.ts", "src/b.ts", "src/c.ts", "src/one/x.ts"};
	PLAN plan = plan_of(&by_three, files, COUNT_OF(files));
	const sherd_graph_text more[] = {sherd_graph_text_of("src/one/y.ts"), sherd_graph_text_of("src/one/z.ts"),
	                                 sherd_graph_text_of("lib/1"), sherd_graph_text_of("lib/2"),
	                                 sherd_graph_text_of("lib/3")};
	uint32_t before[COUNT_OF(files)];
	for (size_t i = 0; i < COUNT_OF(files); i++)
		before[i] = sherd_graph_plan_shard(plan, sherd_graph_text_of(files[i]));
	assert_ok(sherd_graph_plan_add(plan, more, COUNT_OF(more), err));
	for (size_t i = 0; i < COUNT_OF(files); i++)
		assert_int_equal(sherd_graph_plan_shard(plan, sherd_graph_text_of(files[i])), before[i]);
	assert_string_equal(name_of(plan, "src/one/y.ts"), "src");
	assert_string_equal(name_of(plan, "lib/1"), "lib");
}

TEST(plan_completeness)
{
	static const char *const files[] = {"a/1", "a/b/2", "a/b/c/3", "x", "/y", "d//e", "./f"};
	PLAN plan = plan_of(&by_three, files, COUNT_OF(files));
	for (size_t i = 0; i < COUNT_OF(files); i++)
		assert_true(sherd_graph_plan_shard(plan, sherd_graph_text_of(files[i])) <
		            sherd_graph_plan_shards(plan));
}

/* Write and read */

static sherd_graph *three_directories(sherd_store *store, sherd_pool *pool)
{
	sherd_graph *g = graph_create(store, "db", &by_directory, pool);
	graph_add_node(g, "a1", "F", "a1", "a/1");
	graph_add_node(g, "a2", "F", "a2", "a/2");
	graph_add_node(g, "b1", "F", "b1", "b/1");
	graph_add_node(g, "c1", "C", "c1", "c/1");
	graph_add_edge(g, "a1", "b1", "CALLS", "");
	graph_add_edge(g, "b1", "c1", "CALLS", "{}");
	return g;
}

static sherd_graph_shard shard_named(const sherd_graph *g, const char *name)
{
	sherd_graph_totals totals;
	assert_ok(sherd_graph_stats(&totals, g, err));
	for (uint32_t i = 0; i < totals.shards; i++) {
		sherd_graph_shard s;
		assert_ok(sherd_graph_shard_stats(&s, g, i, err));
		if (strcmp(s.name, name) == 0)
			return s;
	}
	fail_msg("no shard %s", name);
	return (sherd_graph_shard){0};
}

TEST(write_routed_to_correct_shard)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = three_directories(store, NULL);
	graph_flush(g);
	assert_int_equal(shard_named(g, "a").nodes, 2);
	assert_int_equal(shard_named(g, "a").edges, 1);
	assert_int_equal(shard_named(g, "b").nodes, 1);
	assert_int_equal(shard_named(g, "c").nodes, 1);
	assert_int_equal(shard_named(g, "c").edges, 0);
}

TEST(query_all_shards)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = three_directories(store, NULL);
	graph_flush(g);
	assert_int_equal(graph_count(g, NULL, NULL, NULL), 4);
	assert_int_equal(graph_count(g, "F", NULL, NULL), 3);
	assert_consistent(g);
}

static void cut(const char *path, const uint8_t *data, size_t len)
{
	(void)data, (void)len;
	assert_int_equal(truncate(path, 0), 0);
}

/* The files of the other shards are cut off under their maps: who touches one dies. */
TEST(query_specific_shard)
{
	char *folder = scratch_make(), path[512];
	SCOPED_STORE store = NULL;
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	sherd_graph *writer = three_directories(store, NULL);
	graph_flush(writer);
	uint32_t others[] = {shard_named(writer, "b").shard, shard_named(writer, "c").shard};
	sherd_graph_close(writer);
	const sherd_graph_options reading = {.read_only = true};
	SCOPED_GRAPH g = graph_open(store, "db", &reading);
	for (size_t i = 0; i < COUNT_OF(others); i++) {
		(void)snprintf(path, sizeof(path), "%s/db/segments/%02u", folder, others[i]);
		assert_true(rfdb_each_file(path, "", cut) >= 2);
	}
	assert_int_equal(graph_count(g, NULL, "a/1", NULL), 1);
	assert_int_equal(graph_count(g, "F", "a/2", "a2"), 1);
	assert_int_equal(graph_count(g, NULL, "d/1", NULL), 0);
	scratch_remove(folder);
}

TEST(point_lookup_cross_shard)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = three_directories(store, NULL);
	graph_flush(g);
	static const char *const ids[] = {"a1", "a2", "b1", "c1"};
	for (size_t i = 0; i < COUNT_OF(ids); i++)
		assert_int_equal(sherd_graph_exists(g, graph_id(ids[i]), NULL), 1);
	assert_int_equal(sherd_graph_exists(g, graph_id("d1"), NULL), 0);
}

/* Edges across shards */

TEST(cross_shard_outgoing)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = three_directories(store, NULL);
	graph_flush(g);
	assert_int_equal(graph_count_out(g, "a1", NULL), 1);
	assert_int_equal(graph_count_out(g, "c1", NULL), 0);
}

TEST(cross_shard_incoming)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = three_directories(store, NULL);
	graph_flush(g);
	assert_int_equal(graph_count_in(g, "b1", NULL), 1);
	assert_int_equal(graph_count_in(g, "c1", "CALLS"), 1);
}

/* Parallel writes */

typedef struct files {
	sherd_store *store;
	shd_buf text;
} files;

static bool note_file(void *arg, const char *key, const sherd_stat *stat)
{
	files *f = arg;
	char *data;
	size_t len;
	(void)stat;
	assert_ok(sherd_store_get(&data, &len, f->store, key, 1 << 28, err));
	shd_buf_printf(&f->text, "\n%s %zu\n", key, len);
	shd_buf_append(&f->text, data, len);
	sherd_free(data);
	return true;
}

/* Every byte of every file, by name. */
static shd_buf contents(sherd_store *store)
{
	files f = {.store = store};
	assert_ok(sherd_store_list(store, "", "", note_file, &f, err));
	assert_false(f.text.failed);
	return f.text;
}

static sherd_store *written_with(unsigned workers, const sherd_graph_layout *layout)
{
	sherd_store *store = memory();
	POOL pool = NULL;
	if (workers)
		assert_ok(sherd_pool_open(&pool, workers, err));
	SCOPED_GRAPH g = graph_create(store, "db", layout, pool);
	for (uint64_t round = 0; round < 3; round++) {
		graph_add_random(g, 500, 2000, 30, round);
		graph_flush(g);
	}
	const sherd_graph_commit_options commit = {.time_ns = 1700000002000000000};
	assert_ok(sherd_graph_compact(g, &commit, err));
	assert_consistent(g);
	return store;
}

TEST(parallel_flush_correct)
{
	SCOPED_STORE store = memory();
	POOL pool = NULL;
	assert_ok(sherd_pool_open(&pool, 4, err));
	sherd_graph *g = graph_create(store, "db", NULL, pool);
	graph_add_random(g, 500, 2000, 30, 5);
	char *before = graph_dump(g);
	graph_flush(g);
	sherd_graph_close(g);
	g = graph_open(store, "db", NULL);
	char *after = graph_dump(g);
	assert_string_equal(before, after);
	sherd_graph_close(g);
	free(before);
	free(after);
}

static bool count_manifest(void *arg, const char *key, const sherd_stat *stat)
{
	(void)key, (void)stat;
	++*(size_t *)arg;
	return true;
}

TEST(parallel_flush_manifest)
{
	SCOPED_STORE store = memory();
	POOL pool = NULL;
	size_t manifests = 0;
	assert_ok(sherd_pool_open(&pool, 4, err));
	SCOPED_GRAPH g = graph_create(store, "db", NULL, pool);
	graph_add_random(g, 500, 2000, 30, 5);
	graph_flush(g);
	assert_ok(sherd_store_list(store, "db/manifests/", "", count_manifest, &manifests, err));
	assert_int_equal(manifests, 2);
	assert_int_equal(sherd_graph_version(g), 2);
}

TEST(parallel_result_equals_sequential)
{
	const sherd_graph_layout *layouts[] = {NULL, &by_three};
	for (size_t l = 0; l < COUNT_OF(layouts); l++) {
		SCOPED_STORE one = written_with(0, layouts[l]);
		SHD_AUTO_BUF expected = contents(one);
		for (unsigned workers = 1; workers <= 4; workers += 3) {
			SCOPED_STORE other = written_with(workers, layouts[l]);
			SHD_AUTO_BUF found = contents(other);
			assert_int_equal(found.len, expected.len);
			assert_memory_equal(found.data, expected.data, expected.len);
		}
	}
}

/* Equivalence */

TEST(equivalence_single_vs_multi_shard)
{
	const sherd_graph_layout one = {.shards = 1};
	SCOPED_STORE store = memory();
	SCOPED_GRAPH a = graph_create(store, "one", &one, NULL);
	SCOPED_GRAPH b = graph_create(store, "many", &by_three, NULL);
	graph_add_random(a, 600, 3000, 25, 9);
	graph_add_random(b, 600, 3000, 25, 9);
	graph_flush(a);
	graph_flush(b);
	assert_same_graph(a, b);
}

/* Adds some nodes and the edges between them to both. */
static void add_round(graph_naive *plain, sherd_graph *g, unsigned round)
{
	naive_record record;
	for (unsigned id = round; id < NAIVE_IDS; id += 2) {
		plain->nodes[id] =
			(naive_node){.stamp = 100 * round + id + 1, .file = (int)(id * (round + 1) % NAIVE_FILES)};
		naive_make_node(id, plain->nodes[id], &record);
		assert_ok(sherd_graph_add_nodes(g, &record.node, 1, err));
	}
	for (unsigned i = 0; i < 200; i++) {
		unsigned src = (i * 7 + round) % NAIVE_IDS, dst = i * 5 % NAIVE_IDS, type = i % NAIVE_TYPES;
		if (!plain->nodes[src].stamp)
			continue;
		plain->edges[src][dst][type] = (naive_edge){.stamp = 1000 * round + i + 1, .context = NAIVE_NONE};
		naive_make_edge(src, dst, type, plain->edges[src][dst][type], &record);
		assert_ok(sherd_graph_add_edges(g, &record.edge, 1, err));
	}
}

/* There is no v1: the oracle is a graph of plain arrays, which every kind of read is held against. */
TEST(equivalence_v1_vs_v2_multi)
{
	const sherd_graph_layout *layouts[] = {NULL, &by_directory, &by_three};
	for (size_t l = 0; l < COUNT_OF(layouts); l++) {
		SCOPED_STORE store = memory();
		graph_naive plain = {0};
		SCOPED_GRAPH g = graph_create(store, "db", layouts[l], NULL);
		for (unsigned round = 0; round < 4; round++) {
			add_round(&plain, g, round);
			naive_check(&plain, g, round);
			graph_flush(g);
			naive_check(&plain, g, round);
		}
	}
}

/* Edge cases */

TEST(empty_shard)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = three_directories(store, NULL);
	graph_flush(g);
	assert_ok(sherd_graph_delete_file(g, sherd_graph_text_of("b/1"), NULL, err));
	graph_flush(g);
	assert_int_equal(graph_count(g, NULL, "b/1", NULL), 0);
	sherd_graph_shard b;
	assert_string_equal(sherd_graph_shard_name(g, 1), "b");
	assert_ok(sherd_graph_shard_stats(&b, g, 1, err));
	assert_int_equal(b.nodes, 0);
	assert_string_equal(b.name, "");
	assert_int_equal(graph_count_out(g, "a1", NULL), 0);
	assert_consistent(g);
	assert_ok(sherd_graph_compact(g, NULL, err));
	assert_ok(sherd_graph_shard_stats(&b, g, 1, err));
	assert_int_equal(b.segments, 0);
	assert_consistent(g);
}

TEST(single_file_project)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", &by_three, NULL);
	graph_add_node(g, "m", "MODULE", "m", "main.js");
	graph_add_edge(g, "m", "m", "SELF", "");
	graph_flush(g);
	sherd_graph_totals totals;
	assert_ok(sherd_graph_stats(&totals, g, err));
	assert_int_equal(totals.shards, 1);
	assert_int_equal(shard_named(g, "_root").nodes, 1);
	assert_consistent(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plan_single_directory),
		cmocka_unit_test(plan_multiple_directories),
		cmocka_unit_test(plan_nested_directories),
		cmocka_unit_test(plan_small_directory_merged),
		cmocka_unit_test(plan_deterministic),
		cmocka_unit_test(plan_stability),
		cmocka_unit_test(plan_completeness),
		cmocka_unit_test(write_routed_to_correct_shard),
		cmocka_unit_test(query_all_shards),
		cmocka_unit_test(query_specific_shard),
		cmocka_unit_test(point_lookup_cross_shard),
		cmocka_unit_test(cross_shard_outgoing),
		cmocka_unit_test(cross_shard_incoming),
		cmocka_unit_test(parallel_flush_correct),
		cmocka_unit_test(parallel_flush_manifest),
		cmocka_unit_test(parallel_result_equals_sequential),
		cmocka_unit_test(equivalence_single_vs_multi_shard),
		cmocka_unit_test(equivalence_v1_vs_v2_multi),
		cmocka_unit_test(empty_shard),
		cmocka_unit_test(single_file_project),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

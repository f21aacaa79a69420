/* Nodes that lie in another shard than the planner says, as after commits of the real server: what stats says of them,
 * and that compaction puts them right. */
#include "support/ckpt_place.h"
#include "support/graph_auto.h"
#include "support/graph_make.h"
#include "support/graph_moved.h"
#include "support/test.h"

#include "engine/graph/graph.h"

#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>

enum { SHARDS = 4, DIRECTORIES = 7 };

/* Some segments, tombstones; the last version has a tag. All of it by hash. */
static sherd_store *by_hash(void)
{
	sherd_store *store = memory();
	SCOPED_GRAPH g = graph_create(store, "db", &(sherd_graph_layout){.shards = SHARDS}, NULL);
	graph_add_random(g, 60, 150, DIRECTORIES, 1);
	graph_flush(g);
	graph_add_random(g, 40, 80, DIRECTORIES, 2);
	graph_flush(g);
	const sherd_graph_id gone[] = {graph_id("n3"), graph_id("n17"), graph_id("n50")};
	assert_ok(sherd_graph_delete_nodes(g, gone, 3, NULL, err));
	graph_flush(g);
	assert_ok(sherd_graph_set_tag(g, sherd_graph_version(g), "kept", "yes", err));
	return store;
}

/* The manifest of the current version as the real server writes it: it does not know counts, and where a node gets a
 * file in another directory its old row stays. more: a segment of nodes, or NULL. */
static void forget_counts(sherd_store *store, const shd_rfdb_descriptor *more)
{
	size_t len;
	shd_arena arena = {0};
	shd_rfdb_manifest m;
	shd_rfdb_descriptor list[32];
	SHD_AUTO_BUF text = {0};
	char *old = object_get(store, "db/manifests/000004.json", &len);
	assert_ok(shd_rfdb_manifest_decode(old, len, NULL, &arena, &m, err));
	m.counts = (shd_rfdb_counts){0};
	memcpy(list, m.nodes.items, m.nodes.count * sizeof(*list));
	if (more) {
		list[m.nodes.count] = *more;
		m.nodes = (shd_rfdb_descriptors){list, m.nodes.count + 1};
	}
	shd_rfdb_manifest_encode(&m, &text);
	object_put(store, "db/manifests/000004.json", text.data, text.len);
	shd_arena_done(&arena);
	sherd_free(old);
}

static void assert_verifies(sherd_store *store)
{
	sherd_report *r = NULL;
	assert_ok(sherd_verify(&r, store, "db", NULL, err));
	if (sherd_report_errors(r))
		fail_msg("%s: %s", sherd_report_error(r, 0)->object, sherd_report_error(r, 0)->message);
	sherd_report_close(r);
}

static void assert_dump(const sherd_graph *g, const char *want)
{
	char *got = graph_dump(g);
	assert_string_equal(got, want);
	free(got);
	assert_consistent(g);
}

/* Compacts what the graph shows, its buffer included, and looks at the result from all sides. */
static void compact_and_check(sherd_store *store, sherd_graph *g)
{
	char *before = graph_dump(g);
	uint64_t version = sherd_graph_version(g);
	assert_ok(sherd_graph_compact(g, NULL, err));
	assert_int_equal(sherd_graph_version(g), version + 1);
	graph_check_placed(g);
	assert_dump(g, before);
	assert_verifies(store);
	SCOPED_GRAPH reader = graph_open(store, "db", &(sherd_graph_options){.read_only = true});
	graph_check_placed(reader);
	assert_dump(reader, before);
	free(before);
	assert_ok(sherd_graph_compact(g, NULL, err));
	assert_int_equal(sherd_graph_version(g), version + 1);
}

/* G-7. */
TEST(compaction_places_nodes_where_the_planner_says)
{
	for (int counts = 0; counts < 2; counts++) {
		SCOPED_STORE store = by_hash();
		if (!counts)
			forget_counts(store, NULL);
		graph_plan_by_directory(store, "db");
		SCOPED_GRAPH g = graph_open(store, "db", NULL);
		compact_and_check(store, g);
		assert_int_equal(sherd_graph_layout_of(g).shards, DIRECTORIES);
		assert_int_equal(g->view.placed, counts);
	}
}

/* A segment of "db" with one node, as another database would have it. */
static shd_rfdb_descriptor smuggle(sherd_store *store, const char *id, const char *file)
{
	char from[SHD_RFDB_NAME_MAX + 8], to[SHD_RFDB_NAME_MAX + 8], name[SHD_RFDB_NAME_MAX];
	SCOPED_GRAPH g = graph_create(store, "other", &(sherd_graph_layout){.shards = SHARDS}, NULL);
	size_t len;
	graph_add_node(g, id, "MOVED", "moved", file);
	graph_flush(g);
	const graph_segment *s = g->view.lists[SHD_RFDB_NODES].items[0];
	shd_rfdb_descriptor about = {
		.id = 77, .kind = SHD_RFDB_NODES, .shard = s->shard, .rows = 1, .bytes = s->about.bytes};
	shd_rfdb_segment_name(s->shard, s->about.id, SHD_RFDB_NODES, name);
	(void)snprintf(from, sizeof(from), "other/%s", name);
	shd_rfdb_segment_name(s->shard, about.id, SHD_RFDB_NODES, name);
	(void)snprintf(to, sizeof(to), "db/%s", name);
	char *data = object_get(store, from, &len);
	object_put(store, to, data, len);
	sherd_free(data);
	return about;
}

/* Its rows lie in two shards, and it belongs into a third: directories are numbered by name, this one is the last. */
TEST(a_node_that_the_server_moved_goes_where_its_newest_row_belongs)
{
	SCOPED_STORE store = by_hash();
	const shd_rfdb_descriptor more = smuggle(store, "n5", "test/away.js");
	forget_counts(store, &more);
	graph_plan_by_directory(store, "db");
	SCOPED_GRAPH g = graph_open(store, "db", NULL);
	assert_int_equal(graph_count(g, "MOVED", "test/away.js", NULL), 1);
	size_t edges = graph_count_out(g, "n5", NULL);
	assert_true(edges > 0);
	compact_and_check(store, g);
	assert_int_equal(graph_count(g, "MOVED", "test/away.js", NULL), 1);
	assert_int_equal(graph_count_out(g, "n5", NULL), edges);
}

/* In the same compaction: records of the buffer that go to moved nodes, come from them, take their place or end them.
 */
TEST(so_it_does_with_what_was_not_flushed)
{
	for (int otherwise = 0; otherwise < 2; otherwise++) {
		SCOPED_STORE store = by_hash();
		if (otherwise)
			graph_plan_otherwise(store, "db");
		else
			graph_plan_by_directory(store, "db");
		SCOPED_GRAPH g = graph_open(store, "db", NULL);
		graph_add_random(g, 20, 40, DIRECTORIES, 3);
		graph_add_node(g, "n30", "F", "elsewhere", "new/place.js");
		graph_add_edge(g, "n31", "n30", "CALLS", "{\"fresh\":1}");
		graph_add_edge(g, "n30", "n33", "CALLS", "");
		const sherd_graph_id gone[] = {graph_id("n21"), graph_id("n40")};
		assert_ok(sherd_graph_delete_nodes(g, gone, 2, NULL, err));
		compact_and_check(store, g);
	}
}

TEST(the_version_before_stays_until_it_is_collected)
{
	SCOPED_STORE store = by_hash();
	graph_plan_by_directory(store, "db");
	const sherd_graph_options before = {.version = 4};
	char *dump;
	{
		SCOPED_GRAPH old = graph_open(store, "db", &before);
		dump = graph_dump(old);
	}
	SCOPED_GRAPH g = graph_open(store, "db", NULL);
	assert_ok(sherd_graph_compact(g, NULL, err));
	assert_ok(sherd_graph_gc(g, NULL, NULL, err));
	{
		SCOPED_GRAPH old = graph_open(store, "db", &before);
		assert_dump(old, dump);
	}
	assert_ok(sherd_graph_gc(g, &(sherd_graph_gc_options){.untag = true}, NULL, err));
	assert_dump(g, dump);
	assert_verifies(store);
	free(dump);
}

/* Not even an index is looked at. */
TEST(compaction_without_need_costs_the_lists_of_files)
{
	SCOPED_STORE store = by_hash();
	graph_plan_by_directory(store, "db");
	{
		SCOPED_GRAPH g = graph_open(store, "db", NULL);
		assert_ok(sherd_graph_compact(g, NULL, err));
	}
	SCOPED_GRAPH g = graph_open(store, "db", NULL);
	uint64_t version = sherd_graph_version(g);
	assert_ok(sherd_graph_compact(g, NULL, err));
	assert_int_equal(sherd_graph_version(g), version);
	for (size_t i = 0; i < g->view.lists[SHD_RFDB_NODES].count; i++)
		assert_int_equal(g->view.lists[SHD_RFDB_NODES].items[i]->ready & GRAPH_BY_FILE, 0);
}

static void assert_name(const sherd_graph *g, uint32_t shard, const char *want)
{
	sherd_graph_shard s;
	assert_ok(sherd_graph_shard_stats(&s, g, shard, err));
	assert_string_equal(s.name, want);
}

/* G-7. By hash of two: "" and src/auth go to shard 1, src and src/api to 0. */
TEST(a_shard_is_named_by_what_it_holds)
{
	SCOPED_STORE store = memory();
	{
		SCOPED_GRAPH g = graph_create(store, "db", &(sherd_graph_layout){.shards = 2}, NULL);
		graph_add_node(g, "m", "F", "m", "m.js");
		graph_add_node(g, "l", "F", "l", "src/auth/l.js");
		graph_add_node(g, "s", "F", "s", "src/s.js");
		graph_add_node(g, "a", "F", "a", "src/api/a.js");
		graph_flush(g);
		assert_name(g, 0, "");
	}
	graph_plan_by_directory(store, "db");
	SCOPED_GRAPH g = graph_open(store, "db", NULL);
	assert_name(g, 0, "src, src_api");
	assert_name(g, 1, "_root, src_auth");
	/* What is dead, or replaced, is not held. */
	assert_ok(sherd_graph_delete_file(g, sherd_graph_text_of("src/s.js"), NULL, err));
	assert_name(g, 0, "src_api");
	graph_flush(g);
	assert_name(g, 0, "src_api");
	assert_ok(sherd_graph_compact(g, NULL, err));
	assert_name(g, 0, "_root");
	assert_name(g, 1, "src_api");
	assert_name(g, 2, "src_auth");
	assert_ok(sherd_graph_delete_file(g, sherd_graph_text_of("m.js"), NULL, err));
	assert_name(g, 0, "");
	assert_string_equal(sherd_graph_shard_name(g, 0), "_root");
	assert_string_equal(sherd_graph_shard_name(g, 3), "");
}

TEST(many_and_long_directories_are_cut_short)
{
	SCOPED_STORE store = memory();
	char file[512] = "";
	{
		SCOPED_GRAPH g = graph_create(store, "db", &(sherd_graph_layout){.shards = 1}, NULL);
		for (int i = 0; i < 5; i++) {
			(void)snprintf(file, sizeof(file), "d%d/f", i);
			graph_add_node(g, file, "F", "n", file);
		}
		graph_flush(g);
	}
	graph_plan_by_directory(store, "db");
	SCOPED_GRAPH g = graph_open(store, "db", NULL);
	assert_name(g, 0, "d0, d1, d2 and 2 more");
	for (int i = 0; i < 5; i++) {
		(void)snprintf(file, sizeof(file), "d%d/f", i);
		assert_ok(sherd_graph_delete_file(g, sherd_graph_text_of(file), NULL, err));
	}
	/* 255 bytes would end amid the last character. */
	(void)snprintf(file, sizeof(file), "x");
	for (int i = 0; i < 130; i++)
		(void)strcat(file, "\xc3\x9c");
	(void)strcat(file, "/f");
	graph_add_node(g, "long", "F", "n", file);
	graph_flush(g);
	file[255] = 0;
	assert_name(g, 0, file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compaction_places_nodes_where_the_planner_says),
		cmocka_unit_test(a_node_that_the_server_moved_goes_where_its_newest_row_belongs),
		cmocka_unit_test(so_it_does_with_what_was_not_flushed),
		cmocka_unit_test(the_version_before_stays_until_it_is_collected),
		cmocka_unit_test(compaction_without_need_costs_the_lists_of_files),
		cmocka_unit_test(a_shard_is_named_by_what_it_holds),
		cmocka_unit_test(many_and_long_directories_are_cut_short),
	};
	return cmocka_run_group_tests_name("unit/engine/graph/moves", tests, NULL, NULL);
}

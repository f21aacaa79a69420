/* Adding, deleting, replacing files, spilling; what each leaves, before and after a flush, and after reopening. */
#include "support/fail_store.h"
#include "support/graph_auto.h"
#include "support/graph_make.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_pool, sherd_pool_close)

static const sherd_graph_options reading = {.read_only = true};

TEST(a_deleted_node_takes_its_edges_with_it)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", NULL, NULL);
	graph_add_random(g, 60, 300, 6, 1);
	for (int flushed = 0; flushed < 2; flushed++) {
		char id[16];
		(void)snprintf(id, sizeof(id), "n%d", 7 + flushed);
		const sherd_graph_id ids[] = {graph_id(id), graph_id("nobody"), graph_id(id)};
		uint64_t deleted;
		assert_ok(sherd_graph_delete_nodes(g, ids, 3, &deleted, err));
		assert_int_equal(deleted, 1);
		assert_int_equal(sherd_graph_exists(g, ids[0], NULL), 0);
		assert_int_equal(graph_count_out(g, id, NULL) + graph_count_in(g, id, NULL), 0);
		assert_consistent(g);
		graph_flush(g);
		assert_consistent(g);
	}
	assert_stored(store, g);
}

TEST(what_was_deleted_can_be_added_again)
{
	const sherd_graph_layout one = {.shards = 1};
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", &one, NULL);
	graph_add_random(g, 60, 300, 6, 1);
	graph_add_edge(g, "n1", "n2", "HAS", "{\"v\":1}");
	graph_flush(g);
	const sherd_graph_id id = graph_id("n1");
	assert_ok(sherd_graph_delete_nodes(g, &id, 1, NULL, err));
	graph_flush(g);
	sherd_graph_totals totals;
	assert_ok(sherd_graph_stats(&totals, g, err));
	assert_int_equal(totals.nodes, 59);
	assert_true(totals.tombstones > 1);
	graph_add_node(g, "n1", "NEW", "new", "elsewhere/x.js");
	graph_add_edge(g, "n1", "n2", "HAS", "{\"v\":2}");
	assert_int_equal(graph_count_out(g, "n1", NULL), 1);
	graph_flush(g);
	assert_int_equal(graph_count_out(g, "n1", NULL), 1);
	assert_int_equal(graph_count(g, "NEW", NULL, NULL), 1);
	assert_consistent(g);
	assert_stored(store, g);
	assert_ok(sherd_graph_compact(g, NULL, err));
	assert_ok(sherd_graph_stats(&totals, g, err));
	assert_int_equal(totals.tombstones, 0);
	assert_int_equal(totals.segments, 2);
	assert_stored(store, g);
}

TEST(edges_are_deleted_by_their_key)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", NULL, NULL);
	graph_add_node(g, "a", "F", "a", "a.js");
	graph_add_node(g, "b", "F", "b", "b.js");
	graph_add_edge(g, "a", "b", "CALLS", "{}");
	graph_add_edge(g, "a", "b", "HAS", "");
	graph_flush(g);
	const sherd_graph_edge edges[] = {graph_edge("a", "b", "CALLS", "other"), graph_edge("a", "c", "CALLS", "")};
	uint64_t deleted;
	assert_ok(sherd_graph_delete_edges(g, edges, 2, &deleted, err));
	assert_int_equal(deleted, 1);
	assert_int_equal(graph_count_out(g, "a", "CALLS"), 0);
	graph_flush(g);
	assert_int_equal(graph_count_out(g, "a", NULL), 1);
	assert_int_equal(graph_count_in(g, "b", "HAS"), 1);
	assert_stored(store, g);
}

/* Nodes x1, x2 of src/x.js and y1 of lib/y.js, edges both ways, and one of an enrichment about src/x.js. */
static sherd_graph *two_files(sherd_store *store)
{
	sherd_graph *g = graph_create(store, "", NULL, NULL);
	graph_add_node(g, "x1", "F", "x1", "src/x.js");
	graph_add_node(g, "x2", "F", "x2", "src/x.js");
	graph_add_node(g, "y1", "F", "y1", "lib/y.js");
	graph_add_edge(g, "x1", "y1", "CALLS", "");
	graph_add_edge(g, "y1", "x1", "CALLS", "");
	graph_add_edge(g, "y1", "x2", "CALLS", "");
	graph_add_edge(g, "y1", "x1", "DERIVED", "{\"__file_context\":\"__enrichment__/linker/src/x.js\"}");
	graph_add_edge(g, "y1", "x1", "OTHER", "{\"__file_context\":\"__enrichment__/linker/src/xx.js\"}");
	return g;
}

TEST(an_update_replaces_what_belongs_to_the_file_and_nothing_else)
{
	for (int flushed = 0; flushed < 2; flushed++) {
		SCOPED_STORE store = memory();
		SCOPED_GRAPH g = two_files(store);
		if (flushed)
			graph_flush(g);
		const sherd_graph_node nodes[] = {graph_node("x1", "F", "x1 again", "src/x.js"),
		                                  graph_node("x3", "F", "x3", "src/x.js")};
		const sherd_graph_edge edges[] = {graph_edge("x3", "y1", "CALLS", "")};
		sherd_graph_update_result change;
		assert_ok(sherd_graph_update_file(g, nodes[0].file, nodes, 2, edges, 1, &change, err));
		assert_int_equal(change.nodes_added, 1);
		assert_int_equal(change.nodes_changed, 1);
		assert_int_equal(change.nodes_removed, 1);
		assert_int_equal(change.edges_added, 1);
		assert_int_equal(change.edges_removed, 3); /* from x1, to x2, and the derived one */
		for (int i = 0; i < 2; i++) {
			assert_int_equal(graph_count(g, NULL, "src/x.js", NULL), 2);
			assert_int_equal(graph_count(g, NULL, NULL, "x1 again"), 1);
			assert_int_equal(sherd_graph_exists(g, graph_id("x2"), NULL), 0);
			assert_int_equal(graph_count_out(g, "x1", NULL), 0);
			assert_int_equal(graph_count_in(g, "x1", "CALLS"), 1);
			assert_int_equal(graph_count_in(g, "x1", "DERIVED"), 0);
			assert_int_equal(graph_count_in(g, "x1", "OTHER"), 1);
			assert_int_equal(graph_count_in(g, "y1", NULL), 1);
			assert_consistent(g);
			graph_flush(g);
		}
		assert_stored(store, g);
	}
}

TEST(an_update_that_is_refused_changes_nothing)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = two_files(store);
	graph_flush(g);
	char *before = graph_dump(g);
	const sherd_graph_node node = graph_node("x1", "F", "x1", "src/x.js"),
			       other = graph_node("z", "F", "z", "z.js");
	const sherd_graph_edge vanished = graph_edge("x2", "y1", "CALLS", ""),
			       unknown = graph_edge("q", "y1", "CALLS", "");
	assert_refused(SHERD_EINVAL, "unknown-source",
	               sherd_graph_update_file(g, node.file, &node, 1, &vanished, 1, NULL, err));
	assert_refused(SHERD_EINVAL, "unknown-source",
	               sherd_graph_update_file(g, node.file, &node, 1, &unknown, 1, NULL, err));
	assert_refused(SHERD_EINVAL, "other-file",
	               sherd_graph_update_file(g, node.file, &other, 1, NULL, 0, NULL, err));
	const sherd_graph_node bad = graph_node("x1", "F", "\xff", "src/x.js");
	assert_refused(SHERD_EINVAL, "bad-utf8", sherd_graph_update_file(g, node.file, &bad, 1, NULL, 0, NULL, err));
	assert_int_equal(sherd_graph_pending(g), 0);
	char *after = graph_dump(g);
	assert_string_equal(before, after);
	free(before);
	free(after);
}

enum { RECORDS = 5000 };

TEST(an_error_tells_which_record_is_at_fault)
{
	SCOPED_STORE store = memory();
	SHD_AUTO(sherd_pool, sherd_pool_close) pool = NULL;
	assert_ok(sherd_pool_open(&pool, 4, err));
	SCOPED_GRAPH g = graph_create(store, "", NULL, pool);
	static sherd_graph_node nodes[RECORDS];
	static sherd_graph_edge edges[RECORDS];
	for (size_t i = 0; i < RECORDS; i++) {
		nodes[i] = graph_node("a", "F", i == 3333 || i == 4444 ? "\xff" : "a", "x.js");
		edges[i] = graph_edge(i == 2500 ? "q" : "a", "a", i == 2600 ? "\xff" : "T", "");
	}
	sherd_error e = {0};
	assert_int_equal(sherd_graph_add_nodes(g, nodes, RECORDS, &e), SHERD_EINVAL);
	assert_int_equal(e.index, 3333);
	assert_ok(sherd_graph_add_nodes(g, nodes, 1, err));
	assert_int_equal(sherd_graph_add_edges(g, edges, RECORDS, &e), SHERD_EINVAL);
	assert_int_equal(e.index, 2500);
	assert_int_equal(sherd_graph_update_file(g, nodes[0].file, nodes, 10, edges, RECORDS, NULL, &e), SHERD_EINVAL);
	assert_int_equal(e.index, 10 + 2600);
	assert_int_equal(sherd_graph_update_file(g, nodes[0].file, nodes, 10, edges, 2600, NULL, &e), SHERD_EINVAL);
	assert_int_equal(e.index, 10 + 2500);
	nodes[7].file = sherd_graph_text_of("y.js");
	assert_int_equal(sherd_graph_update_file(g, nodes[0].file, nodes, 10, edges, 10, NULL, &e), SHERD_EINVAL);
	assert_int_equal(e.index, 7);
}

TEST(updates_write_edits_and_every_thirty_second_version_in_full)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = two_files(store);
	graph_flush(g);
	for (unsigned turn = 3; turn <= 70; turn++) {
		char name[16], key[64];
		sherd_stat stat;
		(void)snprintf(name, sizeof(name), "t%u", turn);
		const sherd_graph_node node = graph_node("x1", "F", name, "src/x.js");
		assert_ok(sherd_graph_update_file(g, node.file, &node, 1, NULL, 0, NULL, err));
		graph_flush(g);
		assert_int_equal(sherd_graph_version(g), turn);
		(void)snprintf(key, sizeof(key), turn % 32 ? "manifests/%06u.edit.json" : "manifests/%06u.json", turn);
		assert_ok(sherd_store_stat(&stat, store, key, err));
	}
	assert_stored(store, g);
	const sherd_graph_options old = {.version = 45};
	SCOPED_GRAPH then = graph_open(store, "", &old);
	assert_int_equal(graph_count(then, NULL, NULL, "t45"), 1);
	assert_consistent(then);
}

TEST(exported_nodes_are_marked_in_their_metadata)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", NULL, NULL);
	sherd_graph_node n = graph_node("a", "F", "a", "a.js"), got;
	n.metadata = sherd_graph_text_of("{ \"z\": [1, {\"y\": 2, \"a\": null}], \"b\": \"x\" }");
	n.exported = true;
	assert_ok(sherd_graph_add_nodes(g, &n, 1, err));
	graph_flush(g);
	assert_int_equal(sherd_graph_get(&got, g, n.id, NULL), 1);
	const char *expected = "{\"__exported\":true,\"b\":\"x\",\"z\":[1,{\"a\":null,\"y\":2}]}";
	assert_true(got.exported);
	assert_int_equal(got.metadata.len, strlen(expected));
	assert_memory_equal(got.metadata.ptr, expected, got.metadata.len);
	char *plain;
	size_t len;
	assert_ok(sherd_graph_metadata(&plain, &len, got.metadata, false, err));
	assert_string_equal(plain, "{\"b\":\"x\",\"z\":[1,{\"a\":null,\"y\":2}]}");
	sherd_free(plain);
	n.metadata = sherd_graph_text_of("[]");
	assert_int_equal(sherd_graph_add_nodes(g, &n, 1, NULL), SHERD_EINVAL);
}

static bool count_file(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat;
	*(size_t *)arg += strstr(key, ".seg") != NULL;
	return true;
}

static size_t segment_files(sherd_store *store)
{
	size_t n = 0;
	assert_ok(sherd_store_list(store, "segments/", "", count_file, &n, err));
	return n;
}

TEST(what_is_spilled_is_seen_by_nobody_else_until_a_flush)
{
	SCOPED_STORE store = memory();
	sherd_graph *g = graph_create(store, "", NULL, NULL);
	SCOPED_GRAPH plain = NULL;
	assert_ok(sherd_graph_open_ephemeral(&plain, NULL, NULL, err));
	for (uint64_t round = 0; round < 3; round++) {
		graph_add_random(g, 100, 300, 9, round);
		graph_add_random(plain, 100, 300, 9, round);
		assert_ok(sherd_graph_spill(g, err));
		assert_int_equal(sherd_graph_pending(g), 0);
		assert_int_equal(sherd_graph_version(g), 1);
		assert_same_graph(g, plain);
		SCOPED_GRAPH other = graph_open(store, "", &reading);
		assert_int_equal(graph_count(other, NULL, NULL, NULL), 0);
	}
	graph_flush(g);
	assert_int_equal(sherd_graph_version(g), 2);
	assert_same_graph(g, plain);
	assert_stored(store, g);
	size_t files = segment_files(store);
	graph_add_random(g, 200, 10, 3, 8);
	assert_ok(sherd_graph_spill(g, err));
	assert_true(segment_files(store) > files);
	sherd_graph_close(g);
	assert_int_equal(segment_files(store), files);
}

TEST(a_deletion_that_was_spilled_is_part_of_the_next_version)
{
	const sherd_graph_layout one = {.shards = 1};
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", &one, NULL);
	graph_add_random(g, 60, 300, 6, 1);
	graph_flush(g);
	const sherd_graph_id id = graph_id("n1");
	assert_ok(sherd_graph_delete_nodes(g, &id, 1, NULL, err));
	assert_ok(sherd_graph_spill(g, err));
	assert_int_equal(sherd_graph_exists(g, id, NULL), 0);
	graph_flush(g);
	assert_int_equal(sherd_graph_version(g), 3);
	assert_stored(store, g);
}

/* The segments of nodes and of edges; sidecars come with the version. */
TEST(a_spill_opens_what_it_wrote_once)
{
	const sherd_graph_layout one = {.shards = 1};
	SCOPED_STORE store = fail_store_over(memory());
	SCOPED_GRAPH g = graph_create(store, "", &one, NULL);
	graph_add_random(g, 60, 300, 6, 1);
	graph_flush(g);
	long before = fail_store_opens(store);
	graph_add_random(g, 60, 300, 6, 2);
	assert_ok(sherd_graph_spill(g, err));
	assert_int_equal(fail_store_opens(store) - before, 2);
	assert_consistent(g);
}

TEST(one_writer_at_a_time_and_readers_do_not_write)
{
	char *folder = scratch_make();
	SCOPED_STORE store = NULL;
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	SCOPED_GRAPH g = two_files(store);
	graph_flush(g);
	sherd_graph *other = NULL;
	assert_fails(SHERD_ECONFLICT, SHERD_NO_OFFSET, sherd_graph_open(&other, store, "", NULL, err));
	SCOPED_GRAPH reader = graph_open(store, "", &reading);
	const sherd_graph_node n = graph_node("a", "F", "a", "a.js");
	assert_refused(SHERD_EINVAL, "read-only", sherd_graph_add_nodes(reader, &n, 1, err));
	assert_refused(SHERD_EINVAL, "read-only", sherd_graph_flush(reader, NULL, err));
	assert_refused(SHERD_EINVAL, "read-only", sherd_graph_compact(reader, NULL, err));
	scratch_remove(folder);
}

static bool take_id(void *arg, sherd_graph_id id, uint32_t depth)
{
	uint64_t *sum = arg;
	(void)id;
	sum[0]++;
	sum[1] += depth;
	return true;
}

TEST(walks_visit_every_id_once_by_distance)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", NULL, NULL);
	char id[16], next[16];
	for (int i = 0; i < 20; i++) {
		(void)snprintf(id, sizeof(id), "c%d", i);
		graph_add_node(g, id, "F", id, "c.js");
	}
	for (int i = 0; i < 19; i++) {
		(void)snprintf(id, sizeof(id), "c%d", i);
		(void)snprintf(next, sizeof(next), "c%d", i + 1);
		graph_add_edge(g, id, next, "NEXT", "");
		graph_add_edge(g, id, "c0", "BACK", "");
	}
	for (int flushed = 0; flushed < 2; flushed++) {
		const sherd_graph_id start = graph_id("c0"), last = graph_id("c19");
		uint64_t sum[2] = {0};
		sherd_graph_walk_options walk = {.depth = 5};
		assert_ok(sherd_graph_bfs(g, &start, 1, &walk, take_id, sum, err));
		assert_int_equal(sum[0], 6);
		assert_int_equal(sum[1], 15);
		walk = (sherd_graph_walk_options){.depth = 100, .direction = SHERD_GRAPH_IN};
		sum[0] = 0;
		assert_ok(sherd_graph_bfs(g, &last, 1, &walk, take_id, sum, err));
		assert_int_equal(sum[0], 20);
		walk.most = 10;
		assert_refused(SHERD_ELIMIT, "too-many-nodes", sherd_graph_bfs(g, &last, 1, &walk, take_id, sum, err));
		sum[0] = 0;
		assert_ok(sherd_graph_neighbours(g, start, NULL, take_id, sum, err));
		assert_int_equal(sum[0], 19);
		graph_flush(g);
	}
}

TEST(ids_that_are_small_numbers_are_found_too)
{
	const sherd_graph_layout one = {.shards = 1};
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", &one, NULL);
	char id[16], to[16];
	for (int i = 0; i < 3000; i++) {
		(void)snprintf(id, sizeof(id), "%d", i);
		graph_add_node(g, id, "F", id, "a.js");
	}
	for (int i = 0; i < 3000; i++) {
		(void)snprintf(id, sizeof(id), "%d", i);
		(void)snprintf(to, sizeof(to), "%d", i * 7 % 1000);
		graph_add_edge(g, id, to, "CALLS", "");
		graph_add_edge(g, "5", id, "HUB", "");
	}
	graph_flush(g);
	for (int i = 0; i < 1000; i += 13) {
		(void)snprintf(id, sizeof(id), "%d", i);
		assert_int_equal(graph_count_in(g, id, "CALLS"), 3);
		assert_int_equal(sherd_graph_exists(g, graph_id(id), NULL), 1);
	}
	assert_int_equal(graph_count_out(g, "5", "HUB"), 3000);
	assert_int_equal(sherd_graph_exists(g, graph_id("3000"), NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_deleted_node_takes_its_edges_with_it),
		cmocka_unit_test(what_was_deleted_can_be_added_again),
		cmocka_unit_test(edges_are_deleted_by_their_key),
		cmocka_unit_test(an_update_replaces_what_belongs_to_the_file_and_nothing_else),
		cmocka_unit_test(an_update_that_is_refused_changes_nothing),
		cmocka_unit_test(an_error_tells_which_record_is_at_fault),
		cmocka_unit_test(updates_write_edits_and_every_thirty_second_version_in_full),
		cmocka_unit_test(exported_nodes_are_marked_in_their_metadata),
		cmocka_unit_test(what_is_spilled_is_seen_by_nobody_else_until_a_flush),
		cmocka_unit_test(a_deletion_that_was_spilled_is_part_of_the_next_version),
		cmocka_unit_test(a_spill_opens_what_it_wrote_once),
		cmocka_unit_test(one_writer_at_a_time_and_readers_do_not_write),
		cmocka_unit_test(walks_visit_every_id_once_by_distance),
		cmocka_unit_test(ids_that_are_small_numbers_are_found_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

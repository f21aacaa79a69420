/* What goes wrong in the real server (0.4.0) must not go wrong here. */
#include "support/graph_auto.h"
#include "support/graph_make.h"
#include "support/rfdb_files.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>

static void update(sherd_graph *g, const char *file, unsigned nodes, unsigned edges, unsigned turn,
                   sherd_graph_update_result *change)
{
	sherd_graph_node list[64];
	sherd_graph_edge links[256];
	char ids[64][64], metadata[256][32];
	for (unsigned i = 0; i < nodes; i++) {
		(void)snprintf(ids[i], sizeof(ids[i]), "%s->%u", file, i);
		list[i] = graph_node(ids[i], "FUNCTION", ids[i], file);
	}
	for (unsigned i = 0; i < edges; i++) {
		(void)snprintf(metadata[i], sizeof(metadata[i]), "{\"turn\":%u}", turn);
		links[i] =
			graph_edge(ids[i % nodes], ids[(i * 7 + 1) % nodes], i % 2 ? "CALLS" : "CONTAINS", metadata[i]);
	}
	assert_ok(sherd_graph_update_file(g, sherd_graph_text_of(file), list, nodes, links, edges, change, err));
}

/* 1 */
TEST(compacting_after_a_flush_and_an_update_loses_nothing)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", NULL, NULL);
	graph_add_node(g, "1", "F", "a", "src/a.js");
	graph_add_node(g, "2", "F", "b", "src/a.js");
	graph_add_node(g, "3", "F", "c", "src/a.js");
	graph_flush(g);
	update(g, "src/b.js", 2, 0, 0, NULL);
	graph_flush(g);
	assert_ok(sherd_graph_compact(g, NULL, err));
	assert_int_equal(graph_count(g, NULL, NULL, NULL), 5);
	SCOPED_GRAPH again = graph_open(store, "", &(sherd_graph_options){.read_only = true});
	assert_int_equal(graph_count(again, NULL, NULL, NULL), 5);
}

static bool take_metadata(void *arg, const sherd_graph_edge *e)
{
	(void)snprintf(arg, 64, "%.*s", (int)e->metadata.len, e->metadata.ptr);
	return true;
}

/* 2 */
TEST(of_an_edge_in_two_segments_the_newest_metadata_counts)
{
	const sherd_graph_layout one = {.shards = 1};
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", &one, NULL);
	/* So many rows that the first segment is not merged with the second. */
	graph_add_random(g, 50, 200, 3, 1);
	graph_add_node(g, "a", "F", "a", "src/a.js");
	graph_add_edge(g, "a", "n1", "CALLS", "{\"v\":1}");
	graph_flush(g);
	graph_add_edge(g, "a", "n1", "CALLS", "{\"v\":2}");
	graph_flush(g);
	sherd_graph_shard s;
	assert_ok(sherd_graph_shard_stats(&s, g, 0, err));
	assert_int_equal(s.segments, 3);
	for (int i = 0; i < 2; i++) {
		char text[64] = "";
		assert_ok(sherd_graph_outgoing(g, graph_id("a"), NULL, take_metadata, text, err));
		assert_string_equal(text, "{\"v\":2}");
		assert_int_equal(graph_count_in(g, "n1", NULL), graph_count_in(g, "n1", "CALLS") +
		                                                        graph_count_in(g, "n1", "CONTAINS") +
		                                                        graph_count_in(g, "n1", "IMPORTS_FROM"));
		assert_consistent(g);
		assert_ok(sherd_graph_compact(g, NULL, err));
	}
}

/* 3 */
TEST(a_file_among_more_than_ten_thousand_is_found_and_removed)
{
	const sherd_graph_layout one = {.shards = 1};
	enum { FILES = 10500 };
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", &one, NULL);
	for (unsigned i = 0; i < FILES; i++) {
		char id[32], file[32];
		(void)snprintf(id, sizeof(id), "n%u", i);
		(void)snprintf(file, sizeof(file), "src/f%u.js", i);
		graph_add_node(g, id, "F", id, file);
	}
	graph_flush(g);
	sherd_graph_update_result change;
	assert_int_equal(graph_count(g, NULL, "src/f7000.js", NULL), 1);
	assert_ok(sherd_graph_delete_file(g, sherd_graph_text_of("src/f7000.js"), &change, err));
	assert_int_equal(change.nodes_removed, 1);
	graph_flush(g);
	assert_int_equal(graph_count(g, NULL, "src/f7000.js", NULL), 0);
	assert_int_equal(graph_count(g, NULL, NULL, NULL), FILES - 1);
	assert_int_equal(sherd_graph_exists(g, graph_id("n7000"), NULL), 0);
}

typedef struct sizes {
	uint64_t largest_edit, files;
} sizes;

static bool see(void *arg, const char *key, const sherd_stat *stat)
{
	sizes *s = arg;
	if (strstr(key, ".edit.json") && stat->size > s->largest_edit)
		s->largest_edit = stat->size;
	s->files += strstr(key, ".seg") != NULL;
	return true;
}

/* 4 and 5: what a commit writes and what opening reads does not grow with the commits before. */
TEST(committing_one_file_again_and_again_stays_small)
{
	const sherd_graph_layout one = {.shards = 1};
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", &one, NULL);
	graph_add_random(g, 500, 2000, 10, 1);
	graph_flush(g);
	uint64_t early = 0;
	for (unsigned turn = 0; turn < 100; turn++) {
		/* Edges that come and go: each turn has some that the one before did not have. */
		update(g, "src/again.js", 30, 100 + turn % 20, turn, NULL);
		graph_flush(g);
		sizes s = {0};
		assert_ok(sherd_store_list(store, "", "", see, &s, err));
		if (turn == 20)
			early = s.largest_edit;
		if (turn > 20)
			assert_true(s.largest_edit < early + early / 4 + 1024);
		sherd_graph_totals totals;
		assert_ok(sherd_graph_stats(&totals, g, err));
		assert_true(totals.segments <= 6);
		assert_true(totals.tombstones <= 20);
	}
	assert_consistent(g);
	SCOPED_GRAPH again = graph_open(store, "", &(sherd_graph_options){.read_only = true});
	assert_same_graph(again, g);
}

/* 6 */
TEST(a_node_that_moves_is_not_found_where_it_was)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", NULL, NULL);
	graph_add_node(g, "m", "F", "m", "src/auth/a.js"); /* shard 5 */
	graph_add_node(g, "x", "F", "x", "src/auth/x.js");
	graph_add_edge(g, "m", "x", "CALLS", "{\"k\":1}");
	graph_add_edge(g, "x", "m", "CALLS", "");
	graph_flush(g);
	graph_add_node(g, "m", "F", "m", "src/api/a.js"); /* shard 2 */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(graph_count(g, NULL, "src/auth/a.js", NULL), 0);
		assert_int_equal(graph_count(g, NULL, "src/api/a.js", NULL), 1);
		assert_int_equal(graph_count_out(g, "m", NULL), 1);
		assert_int_equal(graph_count_in(g, "m", NULL), 1);
		assert_consistent(g);
		if (i == 0)
			graph_flush(g);
		else
			assert_ok(sherd_graph_compact(g, NULL, err));
	}
	sherd_graph_shard old, now;
	assert_ok(sherd_graph_shard_stats(&old, g, 5, err));
	assert_ok(sherd_graph_shard_stats(&now, g, 2, err));
	assert_int_equal(old.nodes, 1);
	assert_int_equal(now.nodes, 1);
	assert_int_equal(now.edges, 1); /* its edge went with it */
}

/* 7 */
TEST(what_an_update_removes_is_counted_once)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", NULL, NULL);
	sherd_graph_update_result change;
	update(g, "src/a.js", 10, 20, 0, &change);
	assert_int_equal(change.nodes_added, 10);
	graph_flush(g);
	uint64_t edges = change.edges_added;
	for (unsigned turn = 1; turn < 4; turn++) {
		update(g, "src/a.js", 10, 20, turn, &change);
		assert_int_equal(change.edges_removed, 0);
		assert_int_equal(change.edges_added, 0);
		assert_int_equal(change.nodes_removed + change.nodes_added + change.nodes_changed, 0);
		graph_flush(g);
	}
	assert_ok(sherd_graph_delete_file(g, sherd_graph_text_of("src/a.js"), &change, err));
	assert_int_equal(change.nodes_removed, 10);
	assert_int_equal(change.edges_removed, edges);
	graph_flush(g);
	assert_int_equal(graph_count(g, NULL, NULL, NULL), 0);
	assert_consistent(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compacting_after_a_flush_and_an_update_loses_nothing),
		cmocka_unit_test(of_an_edge_in_two_segments_the_newest_metadata_counts),
		cmocka_unit_test(a_file_among_more_than_ten_thousand_is_found_and_removed),
		cmocka_unit_test(committing_one_file_again_and_again_stays_small),
		cmocka_unit_test(a_node_that_moves_is_not_found_where_it_was),
		cmocka_unit_test(what_an_update_removes_is_counted_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What a writer has added before a flush: edges are a log, nodes have chains by file, pieces of a load wait. Whoever
 * asks in between must not be able to tell. */
#include "support/fail_store.h"
#include "support/graph_auto.h"
#include "support/graph_make.h"
#include "support/test.h"

#include "base/error.h"
#include "engine/graph/graph.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t edges_in(const sherd_graph *g)
{
	sherd_graph_totals totals;
	assert_ok(sherd_graph_stats(&totals, g, err));
	return totals.edges;
}

static bool keep_metadata(void *arg, const sherd_graph_edge *edge)
{
	char *out = arg;
	assert_true(edge->metadata.len < 16);
	memcpy(out, edge->metadata.ptr, edge->metadata.len);
	out[edge->metadata.len] = 0;
	return true;
}

/* Of the only edge from a. */
static void assert_metadata(const sherd_graph *g, const char *want)
{
	char got[16] = "";
	assert_int_equal(graph_count_out(g, "a", NULL), 1);
	assert_ok(sherd_graph_outgoing(g, graph_id("a"), NULL, keep_metadata, got, err));
	assert_string_equal(got, want);
}

static void delete_edge(sherd_graph *g, const char *src, const char *dst, const char *type)
{
	const sherd_graph_edge edge = graph_edge(src, dst, type, "");
	uint64_t deleted;
	assert_ok(sherd_graph_delete_edges(g, &edge, 1, &deleted, err));
	assert_int_equal(deleted, 1);
}

TEST(the_last_of_several_entries_of_an_edge_counts)
{
	for (int asked = 0; asked < 2; asked++) {
		SCOPED_STORE store = memory();
		SCOPED_GRAPH g = graph_create(store, "", NULL, NULL);
		graph_add_node(g, "a", "F", "a", "a.js");
		graph_add_node(g, "b", "F", "b", "b.js");
		for (int round = 0; round < 3; round++) {
			char metadata[16];
			for (int i = 0; i < 4; i++) {
				(void)snprintf(metadata, sizeof(metadata), "[%d]", 10 * round + i);
				graph_add_edge(g, "a", "b", "CALLS", metadata);
				if (asked)
					assert_metadata(g, metadata);
			}
			assert_int_equal(edges_in(g), 1);
			graph_flush(g);
			assert_metadata(g, metadata);
			assert_int_equal(edges_in(g), 1);
			assert_stored(store, g);
		}
	}
}

TEST(adding_and_deleting_take_turns_before_a_flush)
{
	for (int last = 0; last < 2; last++) {
		SCOPED_STORE store = memory();
		SCOPED_GRAPH g = graph_create(store, "", NULL, NULL);
		graph_add_random(g, 40, 100, 4, 3);
		graph_flush(g);
		uint64_t before = edges_in(g);
		graph_add_node(g, "a", "F", "a", "a.js");
		graph_add_node(g, "b", "F", "b", "b.js");
		for (int i = 0; i < 5; i++) {
			graph_add_edge(g, "a", "b", "CALLS", "1");
			graph_add_edge(g, "a", "n3", "CALLS", "2");
			delete_edge(g, "a", "b", "CALLS");
			delete_edge(g, "a", "n3", "CALLS");
		}
		if (last)
			graph_add_edge(g, "a", "b", "CALLS", "3");
		graph_flush(g);
		assert_int_equal(edges_in(g), before + (uint64_t)last);
		assert_int_equal(graph_count_out(g, "a", NULL), last);
		assert_int_equal(graph_count_in(g, "b", NULL), last);
		assert_consistent(g);
		assert_stored(store, g);
	}
}

/* A file of another shard than that of d0/x.js. */
static void file_elsewhere(const sherd_graph *g, char out[32])
{
	uint32_t here = sherd_graph_shard_of(g, sherd_graph_text_of("d0/x.js"));
	for (int i = 1;; i++) {
		(void)snprintf(out, 32, "d%d/x.js", i);
		if (sherd_graph_shard_of(g, sherd_graph_text_of(out)) != here)
			return;
	}
}

static void add_numbered(sherd_graph *g, const char *prefix, int count, const char *file)
{
	for (int i = 0; i < count; i++) {
		char id[32];
		(void)snprintf(id, sizeof(id), "%s%d", prefix, i);
		graph_add_node(g, id, "F", id, file);
	}
}

/* The node's row goes with a merge, that of its edge stays under its tombstone: then both come back elsewhere. */
TEST(a_row_under_a_tombstone_does_not_come_back_when_its_source_moves)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", NULL, NULL);
	char elsewhere[32], to[16];
	file_elsewhere(g, elsewhere);
	add_numbered(g, "x", 4, "d0/x.js");
	add_numbered(g, "t", 400, elsewhere);
	for (int i = 0; i < 400; i++) {
		(void)snprintf(to, sizeof(to), "t%d", i);
		graph_add_edge(g, i % 2 ? "x1" : "x2", to, "CALLS", "{}");
	}
	graph_add_edge(g, "x0", "x1", "CALLS", "old");
	graph_flush(g);
	const sherd_graph_id gone = graph_id("x0");
	assert_ok(sherd_graph_delete_nodes(g, &gone, 1, NULL, err));
	graph_flush(g);
	add_numbered(g, "y", 8, "d0/x.js");
	graph_flush(g);
	sherd_graph_totals totals;
	assert_ok(sherd_graph_stats(&totals, g, err));
	assert_int_equal(totals.tombstones, 1); /* of the edge alone: else this test shows nothing */
	graph_add_node(g, "x0", "F", "x0", elsewhere);
	graph_add_edge(g, "x0", "x1", "CALLS", "new");
	graph_flush(g);
	assert_int_equal(graph_count_out(g, "x0", NULL), 1);
	assert_int_equal(edges_in(g), 401);
	assert_consistent(g);
	assert_stored(store, g);
	delete_edge(g, "x0", "x1", "CALLS");
	graph_flush(g);
	assert_int_equal(graph_count_out(g, "x0", NULL), 0);
	assert_consistent(g);
	assert_stored(store, g);
}

/* An edge without a source would be out of place; one that went with its source is none, settled or not. */
TEST(edges_stay_placed_when_a_node_comes_and_goes_before_a_flush)
{
	for (int way = 0; way < 2; way++) {
		SCOPED_STORE store = memory();
		SCOPED_GRAPH g = graph_create(store, "", NULL, NULL);
		const sherd_graph_text file = sherd_graph_text_of("d0/x.js");
		const sherd_graph_id gone = graph_id("x0");
		graph_add_node(g, "t", "F", "t", "d1/t.js");
		graph_add_node(g, "x0", "F", "x0", "d0/x.js");
		graph_add_edge(g, "x0", "t", "CALLS", "");
		graph_add_edge(g, "t", "x0", "CALLS", "");
		graph_add_edge(g, "t", "t", "CALLS", "");
		if (way)
			assert_ok(sherd_graph_delete_file(g, file, NULL, err));
		else
			assert_ok(sherd_graph_delete_nodes(g, &gone, 1, NULL, err));
		graph_flush(g);
		assert_true(g->view.placed);
		assert_int_equal(edges_in(g), 1);
		assert_int_equal(graph_count_out(g, "t", NULL), 1);
		assert_consistent(g);
		assert_stored(store, g);
	}
}

TEST(nodes_are_found_by_file_wherever_they_were_put_since)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", NULL, NULL);
	add_numbered(g, "x", 5, "one.js");
	add_numbered(g, "y", 3, "two.js");
	assert_int_equal(graph_count(g, NULL, "one.js", NULL), 5);
	graph_add_node(g, "x1", "F", "moved", "two.js");
	assert_int_equal(graph_count(g, NULL, "one.js", NULL), 4);
	assert_int_equal(graph_count(g, NULL, "two.js", NULL), 4);
	const sherd_graph_id ids[] = {graph_id("x1"), graph_id("y0")};
	assert_ok(sherd_graph_delete_nodes(g, ids, 2, NULL, err));
	assert_int_equal(graph_count(g, NULL, "two.js", NULL), 2);
	graph_add_node(g, "x1", "F", "back", "one.js");
	graph_add_node(g, "y0", "F", "back", "two.js");
	graph_add_node(g, "z", "F", "z", "three.js");
	assert_int_equal(graph_count(g, NULL, "one.js", NULL), 5);
	assert_int_equal(graph_count(g, NULL, "two.js", NULL), 3);
	assert_int_equal(graph_count(g, NULL, "three.js", NULL), 1);
	assert_int_equal(graph_count(g, NULL, "four.js", NULL), 0);
	graph_flush(g);
	assert_int_equal(graph_count(g, NULL, "one.js", NULL), 5);
	assert_stored(store, g);
}

TEST(pieces_of_a_load_become_few_segments_and_the_same_graph)
{
	const sherd_graph_layout two = {.shards = 2};
	SCOPED_STORE store = memory();
	SCOPED_STORE other = memory();
	SCOPED_GRAPH at_once = graph_create(other, "", &two, NULL);
	SCOPED_GRAPH g = graph_create(store, "", &two, NULL);
	for (unsigned piece = 0; piece < 40; piece++) {
		graph_add_random(g, 60, 200, 5, piece);
		graph_add_random(at_once, 60, 200, 5, piece);
		assert_ok(sherd_graph_spill(g, err));
		if (piece % 7 == 0)
			assert_consistent(g);
	}
	graph_flush(g);
	graph_flush(at_once);
	assert_same_graph(g, at_once);
	assert_stored(store, g);
	sherd_graph_totals totals;
	assert_ok(sherd_graph_stats(&totals, g, err));
	assert_true(totals.segments <= 2 * 2 * 2);
}

static uint64_t segments_in(const sherd_graph *g)
{
	sherd_graph_totals totals;
	assert_ok(sherd_graph_stats(&totals, g, err));
	return totals.segments;
}

static void add_piece(sherd_graph *g, int piece)
{
	char id[32], before[32] = "", file[32];
	for (int i = 0; i < 40; i++) {
		(void)snprintf(id, sizeof(id), "p%d/%d", piece, i);
		(void)snprintf(file, sizeof(file), "d%d/x.js", i);
		graph_add_node(g, id, "F", id, file);
		graph_add_edge(g, id, i ? before : id, "CALLS", "");
		memcpy(before, id, sizeof(id));
	}
}

/* The last piece has records for one shard and kind, or for none. */
TEST(pieces_that_the_flush_has_nothing_for_do_not_stay)
{
	const sherd_graph_layout eight = {.shards = 8};
	for (int more = 0; more < 2; more++) {
		SCOPED_STORE store = memory();
		SCOPED_STORE other = memory();
		SCOPED_GRAPH at_once = graph_create(other, "", &eight, NULL);
		SCOPED_GRAPH g = graph_create(store, "", &eight, NULL);
		for (int piece = 0; piece < 9; piece++) {
			add_piece(g, piece);
			add_piece(at_once, piece);
			assert_ok(sherd_graph_spill(g, err));
		}
		assert_true(segments_in(g) > 100);
		if (more) {
			graph_add_node(g, "a", "F", "a", "d0/a.js");
			graph_add_node(at_once, "a", "F", "a", "d0/a.js");
		}
		graph_flush(g);
		graph_flush(at_once);
		assert_same_graph(g, at_once);
		assert_stored(store, g);
		assert_int_equal(segments_in(g), segments_in(at_once));
	}
}

/* Pieces need not be durable, and have no indexes: also one that nothing joins is written again for the version. */
TEST(a_single_piece_is_written_for_good_with_its_version)
{
	const sherd_graph_layout one = {.shards = 1};
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", &one, NULL);
	graph_add_random(g, 60, 200, 5, 1);
	assert_ok(sherd_graph_spill(g, err));
	uint64_t next = g->next_segment;
	for (unsigned kind = 0; kind < 2; kind++)
		assert_true(g->view.lists[kind].items[0]->piece && !g->view.lists[kind].items[0]->index_reader);
	graph_flush(g);
	assert_int_equal(g->next_segment, next + 2);
	assert_int_equal(segments_in(g), 2);
	for (unsigned kind = 0; kind < 2; kind++)
		assert_true(!g->view.lists[kind].items[0]->piece && g->view.lists[kind].items[0]->index_reader);
	assert_stored(store, g);
}

/* A tombstone in version 3, of an edge that is added again and spilled. */
static sherd_graph *with_tombstone(sherd_store *store)
{
	sherd_graph *g = graph_create(store, "", &(sherd_graph_layout){.shards = 1}, NULL);
	graph_add_random(g, 10, 40, 1, 3);
	graph_add_edge(g, "n1", "n2", "COMES_AND_GOES", "");
	graph_flush(g);
	delete_edge(g, "n1", "n2", "COMES_AND_GOES");
	graph_flush(g);
	assert_int_equal(g->view.dead_edge_count, 1);
	graph_add_edge(g, "n1", "n2", "COMES_AND_GOES", "{}");
	assert_ok(sherd_graph_spill(g, err));
	return g;
}

/* Its key was read from memory that was given back. Only who reads by the edit sees that: when the manifest in full
 * could not be written. */
TEST(a_tombstone_that_goes_after_a_spill_goes_in_the_edit_too)
{
	bool hit = true;
	size_t edits = 0;
	(void)mallopt(M_PERTURB, 0x55);
	for (long n = 1; hit; n++) {
		SCOPED_STORE store = fail_store_over(memory());
		SCOPED_GRAPH g = with_tombstone(store);
		sherd_stat stat;
		fail_store_at(store, n);
		int rc = sherd_graph_flush(g, NULL, NULL);
		hit = fail_store_hit(store);
		fail_store_at(store, 0);
		if (rc < 0 || sherd_store_stat(&stat, store, "manifests/000004.json", NULL) == SHERD_OK)
			continue;
		edits++;
		assert_stored(store, g);
		SCOPED_GRAPH reader = graph_open(store, "", &(sherd_graph_options){.read_only = true});
		assert_int_equal(graph_count_out(reader, "n1", "COMES_AND_GOES"), 1);
	}
	(void)mallopt(M_PERTURB, 0);
	assert_true(edits > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_of_several_entries_of_an_edge_counts),
		cmocka_unit_test(adding_and_deleting_take_turns_before_a_flush),
		cmocka_unit_test(a_row_under_a_tombstone_does_not_come_back_when_its_source_moves),
		cmocka_unit_test(edges_stay_placed_when_a_node_comes_and_goes_before_a_flush),
		cmocka_unit_test(nodes_are_found_by_file_wherever_they_were_put_since),
		cmocka_unit_test(pieces_of_a_load_become_few_segments_and_the_same_graph),
		cmocka_unit_test(pieces_that_the_flush_has_nothing_for_do_not_stay),
		cmocka_unit_test(a_single_piece_is_written_for_good_with_its_version),
		cmocka_unit_test(a_tombstone_that_goes_after_a_spill_goes_in_the_edit_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

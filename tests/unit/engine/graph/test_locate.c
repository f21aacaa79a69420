#include "engine/graph/view/locate.h"

#include "support/graph_auto.h"
#include "support/graph_make.h"
#include "support/test.h"

#include "base/error.h"
#include "engine/graph/graph.h"

#include <stdio.h>
#include <stdlib.h>

enum { NODES = 5000, MOST_ROWS = 500000 };

/* Numbers in a row, which differ in few bits; every eighth has a high half too. */
static shd_u128 id_of(unsigned i)
{
	return i % 8 ? i : (shd_u128)i << 64 | 7;
}

static void add(sherd_graph *g, unsigned i, const char *name, const char *file)
{
	const sherd_graph_node node = {.id = graph_id_out(id_of(i)),
	                               .type = sherd_graph_text_of("F"),
	                               .name = sherd_graph_text_of(name),
	                               .file = sherd_graph_text_of(file)};
	assert_ok(sherd_graph_add_nodes(g, &node, 1, err));
}

static const char *file_of(unsigned i)
{
	static const char *const files[] = {"a/1", "b/2", "c/3", "d/4", "e/5"};
	return files[i % COUNT_OF(files)];
}

static sherd_graph *make_graph(sherd_store *store)
{
	sherd_graph *g = graph_create(store, "db", NULL, NULL);
	for (unsigned i = 1; i <= NODES; i++)
		add(g, i, "old", file_of(i));
	graph_flush(g);
	return g;
}

/* Asks until there is a table. */
static bool ask_until_made(const graph_view *v, size_t most)
{
	graph_row row;
	for (size_t i = 0; i < most; i++)
		if (shd_graph_locate(v, id_of(1), &row) >= 0)
			return true;
	return false;
}

static void assert_at(const graph_view *v, unsigned i, const char *name)
{
	graph_row row;
	shd_rfdb_node node;
	assert_int_equal(shd_graph_locate(v, id_of(i), &row), 1);
	assert_ok(shd_graph_segment_read_node(row.segment, row.row, &node, err));
	assert_true(node.id == id_of(i));
	assert_true(shd_str_is(node.name, name));
}

TEST(it_is_made_when_a_part_of_the_nodes_was_asked_for)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = make_graph(store);
	graph_row row;
	assert_int_equal(shd_graph_locate(&g->view, id_of(1), &row), -1);
	assert_false(ask_until_made(&g->view, NODES / 8));
	assert_true(ask_until_made(&g->view, 2 * NODES));
}

TEST(every_id_is_found_and_no_other)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = make_graph(store);
	graph_row row;
	assert_true(ask_until_made(&g->view, 2 * NODES));
	for (unsigned i = 1; i <= NODES; i++) {
		assert_at(&g->view, i, "old");
		/* One bit beside it. */
		for (unsigned bit = 0; bit < 128; bit += 13) {
			shd_u128 other = id_of(i) ^ (shd_u128)1 << bit;
			bool there = other && (other <= NODES ? other % 8 != 0
			                                      : (uint64_t)other == 7 && (other >> 64) <= NODES &&
			                                                (other >> 64) % 8 == 0 && other >> 64);
			assert_int_equal(shd_graph_locate(&g->view, other, &row), there);
		}
	}
	assert_int_equal(shd_graph_locate(&g->view, 0, &row), 0);
	assert_int_equal(shd_graph_locate(&g->view, ~(shd_u128)0, &row), 0);
}

static size_t segments_of(const sherd_graph *g)
{
	return g->view.lists[SHD_RFDB_NODES].count;
}

TEST(of_several_rows_the_newest_is_found)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = make_graph(store);
	size_t before = segments_of(g);
	for (unsigned i = 1; i <= NODES; i += 50)
		add(g, i, "new", file_of(i));
	graph_flush(g);
	assert_true(segments_of(g) > before);
	assert_true(ask_until_made(&g->view, 2 * NODES));
	for (unsigned i = 1; i <= NODES; i++)
		assert_at(&g->view, i, i % 50 == 1 ? "new" : "old");
}

TEST(a_node_that_moved_is_found_where_it_is)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = make_graph(store);
	for (unsigned i = 1; i <= NODES; i += 50)
		add(g, i, "moved", file_of(i + 1));
	graph_flush(g);
	assert_true(ask_until_made(&g->view, 2 * NODES));
	for (unsigned i = 1; i <= NODES; i++)
		assert_at(&g->view, i, i % 50 == 1 ? "moved" : "old");
}

/* It knows rows, not tombstones: these are the view's. */
TEST(what_was_deleted_is_not_alive_and_lives_when_added_again)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = make_graph(store);
	const sherd_graph_id gone[] = {graph_id_out(id_of(5)), graph_id_out(id_of(8))};
	graph_row row;
	assert_ok(sherd_graph_delete_nodes(g, gone, COUNT_OF(gone), NULL, err));
	graph_flush(g);
	assert_int_equal(g->view.dead_node_count, 2);
	assert_true(ask_until_made(&g->view, 2 * NODES));
	for (unsigned i = 1; i <= NODES; i++)
		assert_int_equal(shd_graph_view_node(&g->view, id_of(i), &row, NULL), i != 5 && i != 8);
	add(g, 8, "again", file_of(8));
	graph_flush(g);
	assert_true(ask_until_made(&g->view, 2 * NODES));
	assert_at(&g->view, 8, "again");
	assert_int_equal(shd_graph_view_node(&g->view, id_of(8), &row, NULL), 1);
	assert_int_equal(shd_graph_view_node(&g->view, id_of(5), &row, NULL), 0);
}

/* A table belongs to its view: the next version has none, and then one of its own. */
TEST(a_graph_that_grows_gets_another)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "db", NULL, NULL);
	graph_row row;
	unsigned made = 0;
	for (unsigned size = 1; size <= NODES; size = size * 3 + 1) {
		for (; made < size; made++)
			add(g, made + 1, "old", file_of(made + 1));
		graph_flush(g);
		assert_true(ask_until_made(&g->view, 2 * (size_t)size + 2));
		for (unsigned i = 1; i <= size; i++)
			assert_at(&g->view, i, "old");
		assert_int_equal(shd_graph_locate(&g->view, id_of(size + 1), &row), 0);
	}
}

/* So many items, all of them the one segment of the graph. */
static bool is_made_for(const sherd_graph *g, uint64_t rows)
{
	graph_segment *one = g->view.lists[SHD_RFDB_NODES].items[0];
	graph_view v = {.one_shard = true};
	size_t items = (size_t)(rows / one->rows.rows);
	assert_ok(shd_graph_list_make(&v.lists[SHD_RFDB_NODES], items, err));
	for (size_t i = 0; i < items; i++)
		v.lists[SHD_RFDB_NODES].items[i] = one;
	v.lists[SHD_RFDB_NODES].count = items;
	bool made = ask_until_made(&v, 2 * (size_t)rows);
	if (made)
		for (unsigned i = 1; i <= NODES; i += 11)
			assert_at(&v, i, "old");
	shd_graph_view_done(&v, false);
	return made;
}

/* Twelve megabytes at most, whatever the graph: above this many rows there is none. */
TEST(memory_is_bounded)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "db", &(sherd_graph_layout){.shards = 1}, NULL);
	for (unsigned i = 1; i <= NODES; i++)
		add(g, i, "old", file_of(i));
	graph_flush(g);
	assert_int_equal(segments_of(g), 1);
	assert_true(is_made_for(g, MOST_ROWS));
	assert_false(is_made_for(g, MOST_ROWS + NODES));
	assert_false(is_made_for(g, 4 * MOST_ROWS));
}

/* Where a key may have rows in two shards the first one found is not the one that counts. */
TEST(there_is_none_for_what_others_wrote)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = make_graph(store);
	g->view.one_shard = false;
	assert_false(ask_until_made(&g->view, 4 * NODES));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_made_when_a_part_of_the_nodes_was_asked_for),
		cmocka_unit_test(every_id_is_found_and_no_other),
		cmocka_unit_test(of_several_rows_the_newest_is_found),
		cmocka_unit_test(a_node_that_moved_is_found_where_it_is),
		cmocka_unit_test(what_was_deleted_is_not_alive_and_lives_when_added_again),
		cmocka_unit_test(a_graph_that_grows_gets_another),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(there_is_none_for_what_others_wrote),
	};
	return cmocka_run_group_tests_name("engine/graph/locate", tests, NULL, NULL);
}

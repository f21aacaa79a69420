/* Indexes over many segments: answers are the same with them, without them, and with such that are stale, damaged or
 * left over; verification knows the difference. */
#include "support/ckpt_place.h"
#include "support/graph_auto.h"
#include "support/graph_make.h"
#include "support/test.h"

#include "base/error.h"
#include "base/vec.h"
#include "engine/graph/graph.h"

#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int make_small(void **state)
{
	(void)state;
	shd_graph_tuning = (graph_tuning){.run_rows = 20,
	                                  .run_some_rows = 20,
	                                  .run_segments = 1,
	                                  .full_nodes = 50,
	                                  .full_edges = 150,
	                                  .full_files = 8};
	return 0;
}

/* Loads with spills, small commits on top, deletions. */
static void fill(sherd_graph *g)
{
	for (unsigned i = 0; i < 6; i++) {
		graph_add_random(g, 60, 200, 9, i + 1);
		assert_ok(sherd_graph_spill(g, err));
	}
	graph_flush(g);
	graph_add_node(g, "late", "F", "late", "d1/late.js");
	graph_add_edge(g, "late", "n1", "CALLS", "");
	graph_flush(g);
	const sherd_graph_id id = graph_id("n2");
	assert_ok(sherd_graph_delete_nodes(g, &id, 1, NULL, err));
	graph_flush(g);
}

static sherd_store *sample(uint32_t shards)
{
	const sherd_graph_layout layout = {.shards = shards};
	sherd_store *store = memory();
	sherd_graph *g = graph_create(store, "db", &layout, NULL);
	fill(g);
	sherd_graph_close(g);
	return store;
}

typedef SHD_VEC(char *) names;

typedef struct found {
	char key[128];
	size_t count;
} found;

static bool see_run(void *arg, const char *key, const sherd_stat *stat)
{
	found *f = arg;
	(void)stat;
	(void)snprintf(f->key, sizeof(f->key), "%s", key);
	f->count++;
	return true;
}

/* Runs that are there, and the last of them. */
static found runs_in(sherd_store *store)
{
	found f = {0};
	assert_ok(sherd_store_list(store, "db/segments/run_", "", see_run, &f, err));
	return f;
}

static size_t errors(sherd_store *store)
{
	sherd_report *r = NULL;
	assert_ok(sherd_verify(&r, store, "db", NULL, err));
	size_t n = sherd_report_errors(r);
	sherd_report_close(r);
	return n;
}

/* Whether an index is used, and what is in the graph. */
static char *dump_of(sherd_store *store, bool covered)
{
	SCOPED_GRAPH g = graph_open(store, "db", &(sherd_graph_options){.read_only = true});
	assert_int_equal(shd_graph_cover_holds(&g->view.cover), covered);
	assert_consistent(g);
	return graph_dump(g);
}

static void expect(sherd_store *store, const char *dump, bool covered)
{
	char *now = dump_of(store, covered);
	assert_string_equal(now, dump);
	free(now);
}

TEST(a_load_gets_an_index_and_commits_on_top_of_it_get_none)
{
	for (uint32_t shards = 1; shards <= 4; shards *= 4) {
		SCOPED_STORE store = sample(shards);
		assert_int_equal(runs_in(store).count, 1);
		assert_int_equal(errors(store), 0);
		char *dump = dump_of(store, true);
		found run = runs_in(store);
		assert_ok(sherd_store_remove(store, run.key, err));
		expect(store, dump, false);
		assert_int_equal(errors(store), 0);
		free(dump);
	}
}

/* Pages are compared one bit in every few bytes: a bit more would take minutes. Most damage is found by verification
 * alone, since nobody asks that page. */
TEST(a_damaged_index_changes_no_answer_and_is_found)
{
	SCOPED_STORE store = sample(2);
	found run = runs_in(store);
	size_t len;
	char *dump = dump_of(store, true), *data = object_get(store, run.key, &len);
	for (size_t at = 0; at < len; at += at < 256 ? 3 : 331) {
		data[at] = (char)(data[at] ^ 0x10);
		object_put(store, run.key, data, len);
		if (!errors(store))
			fail_msg("byte %zu was not noticed", at);
		SCOPED_GRAPH g = graph_open(store, "db", &(sherd_graph_options){.read_only = true});
		assert_consistent(g);
		char *now = graph_dump(g);
		assert_string_equal(now, dump);
		free(now);
		data[at] = (char)(data[at] ^ 0x10);
	}
	for (size_t cut = 0; cut < len; cut += 1 + cut / 2) {
		object_put(store, run.key, data, cut);
		assert_true(errors(store) > 0);
		expect(store, dump, false);
	}
	sherd_free(data);
	free(dump);
}

/* That of another database, and of a version that is gone: no segment is as it says. */
TEST(an_index_of_other_segments_counts_for_nothing)
{
	SCOPED_STORE store = sample(2);
	SCOPED_STORE other = memory();
	sherd_graph *g = graph_create(other, "db", &(sherd_graph_layout){.shards = 2}, NULL);
	graph_add_random(g, 100, 300, 3, 77);
	graph_flush(g);
	sherd_graph_close(g);
	size_t len;
	char *dump = dump_of(store, true);
	found mine = runs_in(store), theirs = runs_in(other);
	char *data = object_get(other, theirs.key, &len);
	object_put(store, mine.key, data, len);
	expect(store, dump, false);
	/* It is whole, and of segments that are not there: nothing is wrong with that. */
	assert_int_equal(errors(store), 0);
	sherd_free(data);
	free(dump);
}

/* A newer one takes in what the old ones had; the collector takes those that serve no version. */
TEST(indexes_stay_few_and_go_with_their_versions)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "db", &(sherd_graph_layout){.shards = 2}, NULL);
	for (unsigned i = 0; i < 12; i++) {
		graph_add_random(g, 60, 200, 9, i + 1);
		graph_flush(g);
		assert_true(g->view.cover.count <= 4);
		assert_consistent(g);
	}
	assert_ok(sherd_graph_compact(g, NULL, err));
	assert_consistent(g);
	assert_ok(sherd_graph_gc(g, NULL, NULL, err));
	assert_int_equal(runs_in(store).count, 1);
	assert_true(shd_graph_cover_holds(&g->view.cover));
	assert_int_equal(g->view.cover.bare_count[SHD_RFDB_NODES] + g->view.cover.bare_count[SHD_RFDB_EDGES], 0);
	assert_int_equal(errors(store), 0);
}

/* Another program's compaction: the same rows in a segment that has no checksum in its manifest. */
TEST(segments_of_others_are_asked_beside_the_index)
{
	SCOPED_STORE store = sample(1);
	SCOPED_GRAPH g = graph_open(store, "db", NULL);
	assert_true(shd_graph_cover_holds(&g->view.cover));
	char *dump = graph_dump(g);
	for (unsigned kind = 0; kind < 2; kind++)
		for (size_t i = 0; i < g->view.lists[kind].count; i++)
			g->view.lists[kind].items[i]->about.has_sha256 = i % 2;
	shd_graph_cover_done(&g->view.cover);
	assert_ok(shd_graph_cover_make(&g->view.cover, g->view.lists, &g->runs, err));
	assert_true(g->view.cover.bare_count[SHD_RFDB_NODES] > 0 && shd_graph_cover_holds(&g->view.cover));
	assert_consistent(g);
	char *now = graph_dump(g);
	assert_string_equal(now, dump);
	free(now);
	free(dump);
}

TEST(a_writer_that_gives_up_leaves_no_index)
{
	SCOPED_STORE store = memory();
	sherd_graph *g = graph_create(store, "db", &(sherd_graph_layout){.shards = 2}, NULL);
	graph_add_random(g, 60, 200, 9, 1);
	assert_ok(sherd_graph_spill(g, err));
	graph_add_random(g, 60, 200, 9, 2);
	assert_ok(sherd_graph_spill(g, err));
	sherd_graph_close(g);
	found files = {0};
	assert_ok(sherd_store_list(store, "db/segments/", "", see_run, &files, err));
	assert_int_equal(files.count, 0);
}

/* Each row is in a piece, and in a segment that stays: no number is used a third time. */
TEST(a_load_writes_a_row_at_most_twice)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "db", &(sherd_graph_layout){.shards = 1}, NULL);
	uint64_t written = 0, rows = 0;
	for (unsigned i = 0; i < 40; i++) {
		char id[16], file[16];
		for (unsigned k = 0; k < 10; k++) {
			(void)snprintf(id, sizeof(id), "%u-%u", i, k);
			(void)snprintf(file, sizeof(file), "d/%u.js", i);
			graph_add_node(g, id, "F", id, file);
			rows++;
		}
		uint64_t next = g->next_segment;
		assert_ok(sherd_graph_spill(g, err));
		for (size_t s = 0; s < g->view.lists[0].count; s++)
			if (g->view.lists[0].items[s]->about.id >= next)
				written += g->view.lists[0].items[s]->rows.rows;
	}
	uint64_t next = g->next_segment;
	graph_flush(g);
	for (size_t s = 0; s < g->view.lists[0].count; s++)
		if (g->view.lists[0].items[s]->about.id >= next)
			written += g->view.lists[0].items[s]->rows.rows;
	assert_true(written <= 2 * rows);
	assert_true(g->view.lists[0].count > 4); /* merges stay small */
	assert_consistent(g);
}

static bool note_index(void *arg, const char *key, const sherd_stat *stat)
{
	size_t len = strlen(key);
	(void)stat;
	if (len > 4 && strcmp(key + len - 4, ".idx") == 0 && !strstr(key, "/run_"))
		shd_vec_push((names *)arg, strdup(key));
	return true;
}

/* Segments without their own indexes fit no new run. */
static void remove_indexes(sherd_store *store)
{
	names indexes = {0};
	assert_ok(sherd_store_list(store, "db/segments/", "", note_index, &indexes, err));
	assert_true(indexes.count > 0);
	for (size_t i = 0; i < indexes.count; i++) {
		assert_ok(sherd_store_remove(store, indexes.items[i], err));
		free(indexes.items[i]);
	}
	shd_vec_done(&indexes);
}

static bool has_run(const graph_runs *runs, const graph_run *run)
{
	for (size_t i = 0; i < runs->count; i++)
		if (runs->items[i] == run)
			return true;
	return false;
}

TEST(an_index_stays_while_the_view_uses_it)
{
	SCOPED_STORE store = memory();
	char id[16], to[16];
	sherd_graph *first = graph_create(store, "db", &(sherd_graph_layout){.shards = 1}, NULL);
	for (unsigned i = 0; i < 200; i++) {
		(void)snprintf(id, sizeof(id), "a%u", i);
		graph_add_node(first, id, "F", id, "d/a.js");
	}
	graph_flush(first);
	sherd_graph_close(first);
	remove_indexes(store);
	SCOPED_GRAPH g = graph_open(store, "db", NULL);
	for (unsigned i = 0; i < 90; i++) {
		(void)snprintf(id, sizeof(id), "x%u", i);
		graph_add_node(g, id, "F", id, "d/b.js");
	}
	for (unsigned i = 0; i < 89; i++) {
		(void)snprintf(id, sizeof(id), "x%u", i);
		(void)snprintf(to, sizeof(to), "x%u", i + 1);
		graph_add_edge(g, id, to, "CALLS", "");
	}
	graph_flush(g);
	assert_true(g->view.cover.count > 0);
	for (size_t i = 0; i < g->view.cover.count; i++)
		assert_true(has_run(&g->runs, g->view.cover.runs[i]));
	assert_consistent(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_load_gets_an_index_and_commits_on_top_of_it_get_none),
		cmocka_unit_test(a_damaged_index_changes_no_answer_and_is_found),
		cmocka_unit_test(an_index_of_other_segments_counts_for_nothing),
		cmocka_unit_test(indexes_stay_few_and_go_with_their_versions),
		cmocka_unit_test(segments_of_others_are_asked_beside_the_index),
		cmocka_unit_test(a_writer_that_gives_up_leaves_no_index),
		cmocka_unit_test(a_load_writes_a_row_at_most_twice),
		cmocka_unit_test(an_index_stays_while_the_view_uses_it),
	};
	return cmocka_run_group_tests_name("unit/engine/graph/runs", tests, make_small, NULL);
}

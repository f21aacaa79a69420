#include "support/graph_auto.h"
#include "support/graph_make.h"
#include "support/late_store.h"
#include "support/test.h"

#include "format/rfdb/synced.h"

#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

typedef struct places {
	sherd_store *near, *below, *far; /* far is as far away as a bucket, over below */
} places;

static int make_places(void **state)
{
	places *p = calloc(1, sizeof(*p));
	p->near = memory();
	p->below = memory();
	p->far = late_store_over(p->below);
	SCOPED_GRAPH g = graph_create(p->near, "db", &(sherd_graph_layout){.shards = 3}, NULL);
	graph_add_random(g, 60, 120, 5, 1);
	graph_flush(g);
	*state = p;
	return 0;
}

static int close_places(void **state)
{
	places *p = *state;
	sherd_store_close(p->far);
	sherd_store_close(p->below);
	sherd_store_close(p->near);
	free(p);
	return 0;
}

#define NEAR (((places *)*state)->near)
#define FAR (((places *)*state)->far)

static void change(sherd_store *store, const char *id)
{
	SCOPED_GRAPH g = graph_open(store, "db", NULL);
	graph_add_node(g, id, "F", id, "d0/f.js");
	graph_flush(g);
}

static sherd_graph_transfer_result pushed(void **state, const sherd_graph_transfer_options *options)
{
	sherd_graph_transfer_result r = {0};
	assert_ok(sherd_graph_push(NEAR, "db", FAR, "pub", options, &r, err));
	return r;
}

static void assert_same(sherd_store *a, const char *a_folder, sherd_store *b, const char *b_folder)
{
	const sherd_graph_options o = {.read_only = true};
	SCOPED_GRAPH one = graph_open(a, a_folder, &o);
	SCOPED_GRAPH two = graph_open(b, b_folder, &o);
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	assert_same_graph(one, two);
	assert_ok(sherd_verify(&r, b, b_folder, NULL, err));
	assert_int_equal(sherd_report_errors(r), 0);
}

static bool count_one(void *arg, const char *key, const sherd_stat *stat)
{
	(void)key, (void)stat;
	++*(size_t *)arg;
	return true;
}

static size_t count_below(sherd_store *store, const char *prefix)
{
	size_t n = 0;
	assert_ok(sherd_store_list(store, prefix, "", count_one, &n, err));
	return n;
}

TEST(a_push_makes_the_database_and_later_sends_what_is_missing)
{
	sherd_graph_transfer_result r = pushed(state, NULL);
	assert_true(r.created && r.changed);
	assert_int_equal(r.reused, 0);
	assert_same(NEAR, "db", FAR, "pub");
	uint64_t all = r.segments;
	r = pushed(state, NULL);
	assert_false(r.created || r.changed);
	assert_int_equal(r.version, 2);
	change(NEAR, "more");
	r = pushed(state, NULL);
	assert_true(r.changed && !r.created);
	assert_in_range(r.segments, 1, 2);
	assert_true(r.reused >= all - 2);
	assert_int_equal(r.version, 3);
	assert_same(NEAR, "db", FAR, "pub");
}

TEST(a_pull_brings_a_copy_up_to_date)
{
	SCOPED_STORE copy = memory();
	sherd_graph_transfer_result r = {0};
	(void)pushed(state, NULL);
	assert_ok(sherd_graph_pull(FAR, "pub", copy, "db", NULL, &r, err));
	assert_true(r.created);
	change(NEAR, "more");
	(void)pushed(state, NULL);
	assert_ok(sherd_graph_pull(FAR, "pub", copy, "db", NULL, &r, err));
	assert_true(r.changed && !r.created && r.reused > 0);
	assert_same(NEAR, "db", copy, "db");
	/* And on, the other way. */
	change(copy, "from the copy");
	assert_ok(sherd_graph_push(copy, "db", FAR, "pub", NULL, &r, err));
	assert_ok(sherd_graph_pull(FAR, "pub", NEAR, "db", NULL, &r, err));
	assert_same(copy, "db", NEAR, "db");
}

TEST(what_would_be_lost_is_refused_unless_it_is_to_be)
{
	SCOPED_STORE copy = memory();
	(void)pushed(state, NULL);
	assert_ok(sherd_graph_pull(FAR, "pub", copy, "db", NULL, NULL, err));
	change(NEAR, "mine");
	change(copy, "yours");
	(void)pushed(state, NULL);
	size_t before = count_below(FAR, "pub/");
	assert_refused(SHERD_ECONFLICT, "diverged", sherd_graph_push(copy, "db", FAR, "pub", NULL, NULL, err));
	assert_refused(SHERD_ECONFLICT, "diverged", sherd_graph_pull(FAR, "pub", copy, "db", NULL, NULL, err));
	assert_int_equal(count_below(FAR, "pub/"), before);
	const sherd_graph_transfer_options o = {.replace = true};
	assert_ok(sherd_graph_push(copy, "db", FAR, "pub", &o, NULL, err));
	assert_same(copy, "db", FAR, "pub");
}

/* The note tells what old versions cannot any more; without both nobody can know. */
TEST(who_collects_before_it_pushes_is_known_by_the_note)
{
	(void)pushed(state, NULL);
	for (int i = 0; i < 2; i++) {
		change(NEAR, i ? "two" : "one");
		SCOPED_GRAPH g = graph_open(NEAR, "db", NULL);
		assert_ok(sherd_graph_gc(g, NULL, NULL, err));
		if (i)
			assert_ok(sherd_store_remove(NEAR, "db/" SHD_RFDB_SYNCED, err));
		if (!i)
			assert_true(pushed(state, NULL).changed);
	}
	assert_refused(SHERD_ECONFLICT, "diverged", sherd_graph_push(NEAR, "db", FAR, "pub", NULL, NULL, err));
}

TEST(a_note_that_is_damaged_is_done_without)
{
	(void)pushed(state, NULL);
	change(NEAR, "more");
	assert_ok(sherd_store_put(NEAR, "db/" SHD_RFDB_SYNCED, SHERD_WRITE_REPLACE, "{\"synced\":[]}", 13, err));
	assert_true(pushed(state, NULL).changed);
	assert_same(NEAR, "db", FAR, "pub");
}

static bool spoil_one(void *arg, const char *key, const sherd_stat *stat)
{
	char *data = NULL;
	size_t len, n = strlen(key);
	(void)stat;
	if (n < 4 || strcmp(key + n - 4, ".seg") != 0)
		return true;
	assert_ok(sherd_store_get(&data, &len, arg, key, 1 << 20, err));
	data[len / 2] ^= 1;
	assert_ok(sherd_store_put(arg, key, SHERD_WRITE_REPLACE, data, len, err));
	sherd_free(data);
	return false;
}

TEST(a_damaged_segment_is_not_sent_and_nothing_is_left)
{
	assert_ok(sherd_store_list(NEAR, "db/segments/", "", spoil_one, NEAR, err));
	sherd_error e = {0};
	assert_int_equal(sherd_graph_push(NEAR, "db", FAR, "pub", NULL, NULL, &e), SHERD_ECORRUPT);
	assert_string_equal(e.reason, "bad-checksum");
	assert_ptr_equal(e.store, NEAR);
	assert_non_null(strstr(e.object, ".seg"));
	assert_int_equal(count_below(FAR, ""), 0);
}

TEST(tags_tombstones_and_other_versions_travel)
{
	const sherd_graph_id gone = graph_id("n1");
	{
		SCOPED_GRAPH g = graph_open(NEAR, "db", NULL);
		assert_ok(sherd_graph_set_tag(g, 2, "release", "1.0", err));
		assert_ok(sherd_graph_delete_nodes(g, &gone, 1, NULL, err));
		graph_flush(g);
	}
	(void)pushed(state, &(sherd_graph_transfer_options){.version = 2});
	SCOPED_GRAPH far = graph_open(FAR, "pub", &(sherd_graph_options){.read_only = true});
	uint64_t version = 0;
	assert_ok(sherd_graph_find_tag(&version, far, "release", "1.0", err));
	assert_int_equal(sherd_graph_exists(far, gone, NULL), 1);
	assert_true(pushed(state, NULL).changed);
	assert_same(NEAR, "db", FAR, "pub");
	assert_refused(
		SHERD_ENOTFOUND, "no-version",
		sherd_graph_push(NEAR, "db", FAR, "pub", &(sherd_graph_transfer_options){.version = 9}, NULL, err));
}

TEST(a_place_that_is_laid_out_otherwise_is_refused)
{
	assert_ok(sherd_graph_create(FAR, "pub", &(sherd_graph_layout){.shards = 7}, 0, err));
	assert_refused(SHERD_ECONFLICT, "other-layout", sherd_graph_push(NEAR, "db", FAR, "pub", NULL, NULL, err));
}

TEST(directories_get_their_shards_there_too)
{
	const sherd_graph_layout layout = {.planner = SHERD_GRAPH_DIRECTORY, .min_files = 1};
	SCOPED_STORE store = memory();
	SCOPED_STORE copy = memory();
	for (int round = 0; round < 3; round++) {
		{
			SCOPED_GRAPH g =
				round ? graph_open(store, "db", NULL) : graph_create(store, "db", &layout, NULL);
			graph_add_random(g, 20, 20, 4 * (unsigned)round + 1, (uint64_t)round);
			graph_flush(g);
		}
		assert_ok(sherd_graph_push(store, "db", FAR, "dirs", NULL, NULL, err));
		assert_ok(sherd_graph_pull(FAR, "dirs", copy, "db", NULL, NULL, err));
		assert_same(store, "db", copy, "db");
	}
	SCOPED_GRAPH a = graph_open(store, "db", NULL);
	SCOPED_GRAPH b = graph_open(copy, "db", NULL);
	assert_int_equal(sherd_graph_layout_of(a).shards, sherd_graph_layout_of(b).shards);
	graph_add_random(b, 20, 20, 13, 9);
	graph_flush(b);
	assert_consistent(b);
}

/* The head's answer is lost: what is there tells. */
TEST(a_push_whose_last_answer_is_lost_has_succeeded)
{
	(void)pushed(state, NULL);
	change(NEAR, "more");
	late_store_lose(FAR, "pub/current.json", LATE_DONE, 1);
	assert_true(pushed(state, NULL).changed);
	assert_same(NEAR, "db", FAR, "pub");
	change(NEAR, "again");
	late_store_lose(FAR, "pub/current.json", LATE_NEVER, 1);
	assert_true(pushed(state, NULL).changed);
	assert_same(NEAR, "db", FAR, "pub");
}

static bool stop(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)total;
	return done == 0;
}

TEST(a_push_that_is_cancelled_leaves_what_was_there)
{
	const sherd_progress progress = {.update = stop};
	const sherd_graph_transfer_options o = {.progress = &progress};
	assert_refused(SHERD_ECANCELLED, "cancelled", sherd_graph_push(NEAR, "db", FAR, "pub", &o, NULL, err));
	assert_int_equal(count_below(FAR, ""), 0);
	(void)pushed(state, NULL);
	change(NEAR, "more");
	size_t before = count_below(FAR, "");
	assert_refused(SHERD_ECANCELLED, "cancelled", sherd_graph_push(NEAR, "db", FAR, "pub", &o, NULL, err));
	assert_int_equal(count_below(FAR, ""), before);
}

TEST(a_pull_waits_for_no_writer)
{
	(void)pushed(state, NULL);
	SCOPED_GRAPH g = graph_open(NEAR, "db", NULL);
	assert_non_null(g);
	assert_refused(SHERD_ECONFLICT, "locked", sherd_graph_pull(FAR, "pub", NEAR, "db", NULL, NULL, err));
}

TEST(the_note_remembers_sixteen_places)
{
	SHD_AUTO_BUF text = {0};
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_rfdb_synced s = {0}, again = {0};
	char names[20][8];
	for (unsigned i = 0; i < 20; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "p\"%u", i);
		shd_rfdb_synced_put(&s,
		                    &(shd_rfdb_synced_with){.place = shd_str_of(names[i]), .here = i, .there = i + 1});
	}
	shd_rfdb_synced_put(&s, &(shd_rfdb_synced_with){.place = shd_str_of(names[7]), .here = 70});
	assert_int_equal(s.count, SHD_RFDB_MOST_SYNCED);
	assert_null(shd_rfdb_synced_find(&s, shd_str_of(names[3])));
	shd_rfdb_synced_encode(&s, &text);
	assert_ok(shd_rfdb_synced_decode(text.data, text.len, &arena, &again, err));
	assert_int_equal(again.count, s.count);
	assert_int_equal(shd_rfdb_synced_find(&again, shd_str_of(names[7]))->here, 70);
	assert_int_equal(again.items[again.count - 1].here, 70);
	text.data[20] ^= 1;
	assert_refused(SHERD_ECORRUPT, "bad-seal", shd_rfdb_synced_decode(text.data, text.len, &arena, &again, err));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_places, close_places)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_push_makes_the_database_and_later_sends_what_is_missing),
		CASE(a_pull_brings_a_copy_up_to_date),
		CASE(what_would_be_lost_is_refused_unless_it_is_to_be),
		CASE(who_collects_before_it_pushes_is_known_by_the_note),
		CASE(a_note_that_is_damaged_is_done_without),
		CASE(a_damaged_segment_is_not_sent_and_nothing_is_left),
		CASE(tags_tombstones_and_other_versions_travel),
		CASE(a_place_that_is_laid_out_otherwise_is_refused),
		CASE(directories_get_their_shards_there_too),
		CASE(a_push_whose_last_answer_is_lost_has_succeeded),
		CASE(a_push_that_is_cancelled_leaves_what_was_there),
		CASE(a_pull_waits_for_no_writer),
		cmocka_unit_test(the_note_remembers_sixteen_places),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

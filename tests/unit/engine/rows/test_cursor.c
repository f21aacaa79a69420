#include "support/fixtures.h"
#include "support/ckpt_place.h"
#include "support/fail_store.h"
#include "support/rows_set.h"
#include "support/test.h"

#include "base/error.h"
#include "codec/crc32.h"
#include "codec/sha256.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_rows, sherd_rows_close)
SHD_AUTO_DEFINE(sherd_store, sherd_store_close)
SHD_AUTO_DEFINE(sherd_rows_cursor, sherd_rows_cursor_close)
#define ROWS SHD_AUTO(sherd_rows, sherd_rows_close)
#define CURSOR SHD_AUTO(sherd_rows_cursor, sherd_rows_cursor_close)

static const uint64_t shards[] = {5, 0, 1, 11, 0};
enum { TOTAL = 17, WIDTH = 3 };

static sherd_rows *make(sherd_store *store)
{
	sherd_rows *rows = NULL;
	rows_set_make(store, "d", shards, COUNT_OF(shards), WIDTH);
	assert_ok(sherd_rows_open_folder(&rows, store, "d", NULL, err));
	return rows;
}

static sherd_rows_cursor *stream(const sherd_rows *rows, sherd_rows_stream_options options)
{
	sherd_rows_cursor *c = NULL;
	assert_ok(sherd_rows_cursor_open(&c, rows, &options, err));
	return c;
}

static void assert_next(sherd_rows_cursor *c, uint64_t number, uint64_t first, size_t count)
{
	sherd_rows_batch b;
	assert_int_equal(sherd_rows_next(&b, c, NULL), 1);
	assert_int_equal(b.number, number);
	assert_rows(&b, NULL, first, count);
}

static void assert_end(sherd_rows_cursor *c)
{
	sherd_rows_batch b;
	assert_int_equal(sherd_rows_next(&b, c, NULL), 0);
	assert_int_equal(sherd_rows_next(&b, c, NULL), 0);
}

TEST(one_shard_comes_back_as_it_was_written)
{
	ROWS rows = NULL;
	sherd_rows_batch b;
	const char *key = "a";
	rows_set_put(STORE, key, 0, 3, 4, 0);
	assert_ok(sherd_rows_open(&rows, STORE, &key, 1, NULL, err));
	CURSOR c = NULL;
	assert_ok(sherd_rows_cursor_open(&c, rows, NULL, err));
	assert_int_equal(sherd_rows_batch_rows(c), 3);
	assert_int_equal(sherd_rows_next(&b, c, NULL), 1);
	assert_int_equal(b.width, 4);
	assert_int_equal(b.dtype, SHERD_F64);
	assert_int_equal(b.first_id, 0);
	assert_null(b.ids);
	assert_false(b.padding);
	assert_int_equal((uintptr_t)b.data % 64, 0);
	assert_rows(&b, NULL, 0, 3);
	assert_end(c);
}

TEST(ids_go_on_from_shard_to_shard_and_a_reset_replays)
{
	ROWS rows = make(STORE);
	for (sherd_rows_access access = SHERD_ROWS_AUTO; access <= SHERD_ROWS_DIRECT; access++)
		for (int wide = 0; wide < 2; wide++) {
			CURSOR c = stream(rows, (sherd_rows_stream_options){.batch_rows = 6,
			                                                    .access = access,
			                                                    .dtype = wide ? SHERD_F64 : SHERD_F32});
			for (int turn = 0; turn < 3; turn++) {
				assert_next(c, 0, 0, 5);
				assert_next(c, 1, 5, 1);
				assert_next(c, 2, 6, 6);
				if (turn != 1) {
					assert_next(c, 3, 12, 5);
					assert_end(c);
				}
				sherd_rows_reset(c);
			}
		}
}

TEST(the_default_batch_has_1024_rows)
{
	static const uint64_t big[] = {1500, 600};
	ROWS rows = NULL;
	rows_set_make(STORE, "b", big, 2, 1);
	assert_ok(sherd_rows_open_folder(&rows, STORE, "b", NULL, err));
	CURSOR c = stream(rows, (sherd_rows_stream_options){0});
	assert_int_equal(sherd_rows_batch_rows(c), 1024);
	assert_next(c, 0, 0, 1024);
	assert_next(c, 1, 1024, 476);
	assert_next(c, 2, 1500, 600);
	assert_end(c);
}

TEST(floats_are_views_into_the_map)
{
	ROWS rows = make(STORE);
	sherd_reader *reader = NULL;
	const void *map;
	CURSOR c = stream(rows,
	                  (sherd_rows_stream_options){.dtype = SHERD_F32, .batch_rows = 2, .access = SHERD_ROWS_MAP});
	sherd_rows_batch a, b;
	assert_int_equal(sherd_rows_next(&a, c, NULL), 1);
	assert_int_equal(sherd_rows_next(&b, c, NULL), 1);
	assert_ptr_equal((const float *)a.data + 2 * WIDTH, b.data);
	if (!FOLDER) {
		/* In memory there is but one copy. */
		assert_ok(sherd_store_read(&reader, STORE, "d/part-00000.shard", err));
		assert_ok(sherd_reader_map(&map, reader, 32, 4, err));
		assert_ptr_equal(a.data, map);
		sherd_reader_close(reader);
	}
}

TEST(a_cursor_seeks_to_any_row)
{
	ROWS rows = make(STORE);
	CURSOR c = stream(rows, (sherd_rows_stream_options){.batch_rows = 4});
	for (uint64_t row = 0; row < TOTAL; row++) {
		uint64_t end = row < 5 ? 5 : row < 6 ? 6 : 17;
		assert_ok(sherd_rows_seek(c, row, err));
		assert_next(c, 0, row, end - row < 4 ? (size_t)(end - row) : 4);
		sherd_rows_reset(c);
		assert_next(c, 0, 0, 4);
	}
	assert_ok(sherd_rows_seek(c, TOTAL, err));
	assert_end(c);
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_rows_seek(c, TOTAL + 1, err));
	assert_end(c);
	assert_ok(sherd_rows_seek(c, 16, err));
	assert_next(c, 0, 16, 1);
}

/* in whatever way the stream came to where it stands. */
TEST(what_is_skipped_is_not_delivered_and_counts)
{
	ROWS rows = make(STORE);
	for (uint64_t skipped = 0; skipped < 8; skipped++) {
		CURSOR all = stream(rows, (sherd_rows_stream_options){.batch_rows = 3});
		CURSOR some = stream(rows, (sherd_rows_stream_options){.batch_rows = 3});
		sherd_rows_batch a, b;
		uint64_t passed = 99, had = 0;
		while (had < skipped && sherd_rows_next(&a, all, NULL) == 1)
			had++;
		assert_ok(sherd_rows_skip(some, skipped, &passed, err));
		assert_int_equal(passed, had);
		char here[SHERD_ROWS_CURSOR_TEXT], there[SHERD_ROWS_CURSOR_TEXT];
		assert_ok(sherd_rows_tell(here, all, err));
		assert_ok(sherd_rows_tell(there, some, err));
		assert_string_equal(here, there);
		int rc = sherd_rows_next(&a, all, NULL);
		assert_int_equal(sherd_rows_next(&b, some, NULL), rc);
		if (rc == 1)
			assert_rows(&b, NULL, a.first_id, a.rows);
	}
}

TEST(a_reset_goes_to_the_row_where_the_stream_begins)
{
	ROWS rows = make(STORE);
	char text[SHERD_ROWS_CURSOR_TEXT];
	CURSOR c = stream(rows, (sherd_rows_stream_options){.batch_rows = 4, .from = 3});
	assert_next(c, 0, 3, 2);
	assert_next(c, 1, 5, 1);
	assert_ok(sherd_rows_tell(text, c, err));
	assert_ok(sherd_rows_seek(c, TOTAL, err));
	assert_end(c);
	sherd_rows_reset(c);
	assert_next(c, 0, 3, 2);
	CURSOR again = stream(rows, (sherd_rows_stream_options){.resume = text});
	assert_next(again, 2, 6, 4);
	sherd_rows_reset(again);
	assert_next(again, 0, 3, 2);
	assert_next(again, 1, 5, 1);
	assert_next(again, 2, 6, 4);
	sherd_rows_begin_epoch(again, 1);
	assert_int_equal(sherd_rows_epoch(again), 1);
	assert_next(again, 0, 3, 2);
}

/* 6 batches of 4 for a world of 4; who resumes after one round pads with the same batches. */
TEST(padding_is_the_same_after_a_resume)
{
	ROWS rows = make(STORE);
	for (uint32_t rank = 2; rank < 4; rank++) {
		char text[SHERD_ROWS_CURSOR_TEXT];
		sherd_rows_batch b;
		sherd_rows_stream_options o = {
			.batch_rows = 4, .world = 4, .rank = rank, .tail = SHERD_ROWS_TAIL_PAD, .from = 0};
		CURSOR c = stream(rows, o);
		assert_int_equal(sherd_rows_next(&b, c, NULL), 1);
		assert_ok(sherd_rows_tell(text, c, err));
		o.resume = text;
		CURSOR again = stream(rows, o);
		for (int i = 0; i < 2; i++) {
			assert_int_equal(sherd_rows_next(&b, i ? again : c, NULL), 1);
			assert_true(b.padding);
			assert_rows(&b, NULL, rank == 2 ? 0 : 4, rank == 2 ? 4 : 1);
			assert_end(i ? again : c);
		}
	}
	/* Who sought a row of a stream that begins at its end still gets as many batches as the others. */
	sherd_rows_batch b;
	CURSOR late = stream(
		rows, (sherd_rows_stream_options){
			      .batch_rows = 4, .world = 3, .rank = 2, .tail = SHERD_ROWS_TAIL_PAD, .from = TOTAL});
	assert_end(late);
	assert_ok(sherd_rows_seek(late, 16, err));
	assert_int_equal(sherd_rows_next(&b, late, NULL), 1);
	assert_true(b.padding);
	assert_rows(&b, NULL, 4, 1);
}

/* Of ten rows with seed 42; the golden orders are those of docs/formats/rows.md. */
TEST(every_epoch_has_its_own_order)
{
	static const uint64_t ten[] = {5, 2, 3};
	static const uint64_t orders[][10] = {
		{5, 0, 7, 9, 8, 1, 3, 2, 6, 4}, {7, 5, 1, 6, 0, 9, 2, 4, 8, 3}, {6, 7, 5, 8, 1, 4, 2, 3, 0, 9}};
	ROWS rows = NULL;
	char text[SHERD_ROWS_CURSOR_TEXT];
	sherd_rows_batch b;
	rows_set_make(STORE, "e", ten, COUNT_OF(ten), 2);
	assert_ok(sherd_rows_open_folder(&rows, STORE, "e", NULL, err));
	CURSOR all = stream(rows, (sherd_rows_stream_options){.shuffle = true, .seed = 42, .batch_rows = 4});
	for (uint64_t epoch = 0; epoch < 3; epoch++) {
		sherd_rows_stream_options o = {.shuffle = true, .seed = 42, .batch_rows = 4, .epoch = epoch};
		CURSOR one = stream(rows, o);
		sherd_rows_begin_epoch(all, epoch);
		for (size_t at = 0; at < 10; at += 4) {
			for (int i = 0; i < 2; i++) {
				assert_int_equal(sherd_rows_next(&b, i ? all : one, NULL), 1);
				assert_int_equal(b.epoch, epoch);
				assert_rows(&b, orders[epoch] + at, 0, at < 8 ? 4 : 2);
			}
			if (at == 0)
				assert_ok(sherd_rows_tell(text, one, err));
		}
		assert_end(all);
		/* The text knows the epoch. */
		o.epoch = 0;
		o.resume = text;
		CURSOR again = stream(rows, o);
		assert_int_equal(sherd_rows_epoch(again), epoch);
		assert_int_equal(sherd_rows_next(&b, again, NULL), 1);
		assert_rows(&b, orders[epoch] + 4, 0, 4);
	}
}

TEST(a_sample_that_takes_nothing_is_an_empty_stream)
{
	ROWS rows = make(STORE);
	CURSOR c = stream(rows, (sherd_rows_stream_options){.sample = true});
	assert_end(c);
}

TEST(sampled_and_shuffled_batches_span_shards_and_tell_their_ids)
{
	static const uint64_t sample[] = {3, 10}, mixed[] = {1, 3, 0, 2, 6, 7, 5, 4};
	static const uint64_t ten[] = {5, 2, 3};
	sherd_rows_batch b;
	ROWS rows = make(STORE);
	CURSOR c = stream(rows, (sherd_rows_stream_options){.sample = true, .fraction = 0.25, .batch_rows = 100});
	assert_int_equal(sherd_rows_next(&b, c, NULL), 1);
	assert_rows(&b, sample, 0, 2);
	assert_int_equal(b.first_id, 3);
	assert_end(c);
	ROWS small = NULL;
	rows_set_make(STORE, "e", ten, COUNT_OF(ten), 2);
	assert_ok(sherd_rows_open_folder(&small, STORE, "e", NULL, err));
	for (sherd_rows_access access = SHERD_ROWS_AUTO; access <= SHERD_ROWS_DIRECT; access++) {
		CURSOR s = stream(
			small,
			(sherd_rows_stream_options){
				.shuffle = true, .seed = 42, .shuffle_window = 4, .batch_rows = 8, .access = access});
		assert_int_equal(sherd_rows_next(&b, s, NULL), 1);
		assert_rows(&b, mixed, 0, 8);
		assert_int_equal(sherd_rows_next(&b, s, NULL), 1);
		assert_int_equal(b.rows, 2);
		assert_end(s);
	}
}

/* ---- the position as text */

TEST(a_position_is_a_short_text_that_stays_the_same)
{
	ROWS rows = make(STORE);
	char text[SHERD_ROWS_CURSOR_TEXT], body[SHERD_ROWS_CURSOR_TEXT], want[SHERD_ROWS_CURSOR_TEXT + 16];
	CURSOR c = stream(rows, (sherd_rows_stream_options){.batch_rows = 4});
	assert_ok(sherd_rows_tell(text, c, err));
	assert_memory_equal(text, "rows2:0:0:0:0:4:17:3:-:-:-:", 27);
	assert_next(c, 0, 0, 4);
	assert_next(c, 1, 4, 1);
	assert_ok(sherd_rows_tell(text, c, err));
	(void)snprintf(body, sizeof(body), "rows2:0:0:5:2:4:17:3:-:-:-");
	(void)snprintf(want, sizeof(want), "%s:%08" PRIx32, body, shd_crc32(0, body, strlen(body)));
	assert_string_equal(text, want);
	CURSOR s = stream(rows, (sherd_rows_stream_options){.batch_rows = 4,
	                                                    .shuffle = true,
	                                                    .seed = UINT64_MAX,
	                                                    .epoch = UINT64_MAX,
	                                                    .from = 2,
	                                                    .shuffle_window = UINT64_MAX,
	                                                    .sample = true,
	                                                    .fraction = 0.25});
	assert_ok(sherd_rows_tell(text, s, err));
	const char *head =
		"rows2:18446744073709551615:2:2:0:4:17:3:-:ffffffffffffffff/ffffffffffffffff:4000000000000000:";
	assert_memory_equal(text, head, strlen(head));
}

TEST(a_text_resumes_where_it_was_told)
{
	ROWS rows = make(STORE);
	char text[SHERD_ROWS_CURSOR_TEXT];
	CURSOR c = stream(rows, (sherd_rows_stream_options){.batch_rows = 4});
	assert_next(c, 0, 0, 4);
	assert_ok(sherd_rows_tell(text, c, err));
	CURSOR again = stream(rows, (sherd_rows_stream_options){.resume = text});
	assert_int_equal(sherd_rows_batch_rows(again), 4);
	memset(text, 'x', sizeof(text) - 1); /* it need not live on */
	assert_next(again, 1, 4, 1);
	assert_next(again, 2, 5, 1);
	assert_next(again, 3, 6, 4);
	sherd_rows_reset(again);
	assert_next(again, 0, 0, 4);
	/* At the end there is nothing more. */
	while (sherd_rows_next(&(sherd_rows_batch){0}, again, NULL) > 0)
		;
	assert_ok(sherd_rows_tell(text, again, err));
	CURSOR done = stream(rows, (sherd_rows_stream_options){.resume = text});
	assert_end(done);
}

/* As versions before 0.2 told them. */
TEST(texts_of_version_1_resume)
{
	ROWS rows = make(STORE);
	CURSOR c = stream(rows, (sherd_rows_stream_options){.resume = "rows1:5:2:4:17:3:-:-:9b4faaa0"});
	assert_next(c, 2, 5, 1);
	assert_next(c, 3, 6, 4);
	sherd_rows_reset(c);
	assert_next(c, 0, 0, 4);
}

static void assert_no_resume(const sherd_rows *rows, const char *text, sherd_rows_stream_options o, const char *message)
{
	sherd_error e = {0};
	sherd_rows_cursor *c = NULL;
	o.resume = text;
	assert_int_equal(sherd_rows_cursor_open(&c, rows, &o, &e), SHERD_EINVAL);
	assert_null(c);
	assert_string_equal(e.reason, "bad-cursor");
	assert_string_equal(e.message, message);
}

TEST(a_text_of_something_else_is_refused)
{
	static const uint64_t more[] = {5, 13};
	ROWS rows = make(STORE);
	ROWS other = NULL;
	char text[SHERD_ROWS_CURSOR_TEXT], long_text[SHERD_ROWS_CURSOR_TEXT + 100];
	CURSOR c = stream(rows, (sherd_rows_stream_options){.batch_rows = 4, .shuffle = true, .seed = 1});
	assert_ok(sherd_rows_tell(text, c, err));
	const char *order = "the cursor is of another shuffle or sample";
	assert_no_resume(rows, text, (sherd_rows_stream_options){0}, order);
	assert_no_resume(rows, text, (sherd_rows_stream_options){.shuffle = true, .seed = 2}, order);
	assert_no_resume(rows, text, (sherd_rows_stream_options){.shuffle = true, .seed = 1, .shuffle_window = 5},
	                 order);
	assert_no_resume(rows, text,
	                 (sherd_rows_stream_options){.shuffle = true, .seed = 1, .sample = true, .fraction = 1}, order);
	sherd_rows_stream_options same = {.shuffle = true, .seed = 1};
	same.batch_rows = 5;
	assert_no_resume(rows, text, same, "the cursor is of another batch size");
	rows_set_make(STORE, "o", more, 2, WIDTH);
	assert_ok(sherd_rows_open_folder(&other, STORE, "o", NULL, err));
	assert_no_resume(other, text, same, "the cursor is of another set: rows or width differ");
	const char *stranger = "the cursor is no cursor of rows, or of a later version";
	assert_no_resume(rows, "", same, stranger);
	assert_no_resume(rows, "rows1", same, stranger);
	assert_no_resume(rows, "rows3:0:0", same, stranger);
	memset(long_text, '1', sizeof(long_text) - 1);
	memcpy(long_text, "rows1:", 6);
	long_text[sizeof(long_text) - 1] = 0;
	assert_no_resume(rows, long_text, same, stranger);
}

TEST(no_changed_byte_of_a_text_passes)
{
	ROWS rows = make(STORE);
	char text[SHERD_ROWS_CURSOR_TEXT];
	sherd_rows_stream_options o = {.batch_rows = 4, .shuffle = true, .seed = 77, .sample = true, .fraction = 0.5};
	CURSOR c = stream(rows, o);
	assert_ok(sherd_rows_tell(text, c, err));
	size_t len = strlen(text);
	for (size_t i = 0; i < len; i++)
		for (int bit = 0; bit < 8; bit++) {
			char bad[SHERD_ROWS_CURSOR_TEXT];
			sherd_rows_cursor *none = NULL;
			memcpy(bad, text, sizeof(bad));
			bad[i] = (char)(bad[i] ^ (1 << bit));
			o.resume = bad;
			assert_refused(SHERD_EINVAL, "bad-cursor", sherd_rows_cursor_open(&none, rows, &o, err));
		}
	for (size_t i = 0; i < len; i++) {
		char bad[SHERD_ROWS_CURSOR_TEXT];
		sherd_rows_cursor *none = NULL;
		memcpy(bad, text, i);
		bad[i] = 0;
		o.resume = bad;
		assert_refused(SHERD_EINVAL, "bad-cursor", sherd_rows_cursor_open(&none, rows, &o, err));
	}
}

/* The sum is right and the rest is not. */
TEST(a_text_that_was_made_up_is_refused)
{
	static const char *const bodies[] = {
		"rows1:18:0:4:17:3:-:-",     "rows1:0:0:0:17:3:-:-",       "rows1:0:0:4:17:3:-",
		"rows1:0:0:4:17:3:-:-:-",    "rows1::0:4:17:3:-:-",        "rows1:-1:0:4:17:3:-:-",
		"rows1:0x0:0:4:17:3:-:-",    "rows1:0:0:4:17:3",           "rows1:99999999999999999999:0:4:17:3:-:-",
		"rows1:0:0:4:17:3:-:- ",     "rows1: 0:0:4:17:3:-:-",      "rows1:",
		"rows1:0:0:4:17:3:-:-\xff",  "rows2:0:0:0:0:4:17:3:-:-",   "rows2:0:18:0:0:4:17:3:-:-:-",
		"rows2:0:0:0:0:4:17:3::-:-", "rows2:0:0:0:0:4:16:3:-:-:-", "rows2:0:0:0:0:4:17:3:00:-:-"};
	ROWS rows = make(STORE);
	for (size_t i = 0; i < COUNT_OF(bodies); i++) {
		char text[SHERD_ROWS_CURSOR_TEXT];
		sherd_rows_cursor *none = NULL;
		(void)snprintf(text, sizeof(text), "%s:%08" PRIx32, bodies[i],
		               shd_crc32(0, bodies[i], strlen(bodies[i])));
		assert_refused(SHERD_EINVAL, "bad-cursor",
		               sherd_rows_cursor_open(&none, rows, &(sherd_rows_stream_options){.resume = text}, err));
	}
}

/* ---- failures */

TEST(a_batch_that_failed_is_delivered_when_it_is_asked_for_again)
{
	sherd_store *inner = NULL;
	assert_ok(sherd_store_open_memory(&inner, err));
	SHD_AUTO(sherd_store, sherd_store_close) store = fail_store_over(inner);
	ROWS rows = make(store);
	for (int shuffle = 0; shuffle < 2; shuffle++) {
		CURSOR c = stream(rows, (sherd_rows_stream_options){.batch_rows = 4,
		                                                    .access = SHERD_ROWS_READ,
		                                                    .window_bytes = 1,
		                                                    .shuffle = shuffle != 0});
		CURSOR want = stream(rows, (sherd_rows_stream_options){.batch_rows = 4, .shuffle = shuffle != 0});
		sherd_rows_batch a, b;
		for (bool more = true; more;) {
			fail_store_at(store, 0);
			more = sherd_rows_next(&a, want, NULL) > 0;
			int rc = SHERD_EIO, tries = 0;
			while (rc < 0 && tries < 50) {
				fail_store_at(store, ++tries);
				rc = sherd_rows_next(&b, c, NULL);
			}
			assert_int_equal(rc, more);
			if (more) {
				assert_int_equal(a.number, b.number);
				assert_rows(&b, a.ids, a.first_id, a.rows);
			}
		}
		fail_store_at(store, 0);
	}
}

TEST(a_shard_that_was_exchanged_is_noticed)
{
	ROWS rows = make(STORE);
	CURSOR c = stream(rows, (sherd_rows_stream_options){.window_bytes = 1});
	sherd_rows_batch b;
	assert_next(c, 0, 0, 5);
	rows_set_put(STORE, "d/part-00003.shard", 6, 12, WIDTH, 0);
	assert_next(c, 1, 5, 1);
	sherd_error e;
	assert_int_equal(sherd_rows_next(&b, c, &e), SHERD_ECONFLICT);
	assert_string_equal(e.reason, "changed");
	assert_string_equal(e.object, "d/part-00003.shard");
	/* As long as before, with other numbers in its head. */
	rows_set_put_head(STORE, "d/part-00003.shard", 10, WIDTH, 0, 0, 11 * WIDTH * 4);
	assert_refused(SHERD_ECONFLICT, "changed", sherd_rows_next(&b, c, err));
	/* What comes ahead cannot be opened: no failure until it is due. */
	assert_ok(sherd_store_remove(STORE, "d/part-00003.shard", err));
	CURSOR ahead = stream(rows, (sherd_rows_stream_options){.window_bytes = 1 << 20});
	assert_next(ahead, 0, 0, 5);
	assert_next(ahead, 1, 5, 1);
	assert_int_equal(sherd_rows_next(&b, ahead, NULL), SHERD_ENOTFOUND);
}

TEST(many_small_shards_are_not_all_open_at_once)
{
	enum { MANY = 150 };
	static uint64_t many[MANY];
	ROWS rows = NULL;
	for (size_t i = 0; i < MANY; i++)
		many[i] = i % 3;
	rows_set_make(STORE, "m", many, MANY, 2);
	assert_ok(sherd_rows_open_folder(&rows, STORE, "m", NULL, err));
	for (int read = 0; read < 2; read++) {
		CURSOR c = stream(rows, (sherd_rows_stream_options){.access = read ? SHERD_ROWS_READ : SHERD_ROWS_MAP});
		uint64_t at = 0, number = 0;
		for (size_t i = 0; i < MANY; at += many[i++])
			if (many[i])
				assert_next(c, number++, at, (size_t)many[i]);
		assert_end(c);
	}
}

/* ---- files that others made */

static sherd_store *fixtures(void)
{
	char path[4096];
	sherd_store *store = NULL;
	(void)snprintf(path, sizeof(path), "%s/rows", fixtures_folder());
	assert_ok(sherd_store_open_local(&store, path, NULL, err));
	return store;
}

TEST(the_golden_shard_reads_as_one_to_nine)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = fixtures();
	ROWS rows = NULL;
	const char *key = "golden-3x3.shard";
	sherd_rows_batch b;
	assert_ok(sherd_rows_open(&rows, store, &key, 1, NULL, err));
	CURSOR c = stream(rows, (sherd_rows_stream_options){0});
	assert_int_equal(sherd_rows_next(&b, c, NULL), 1);
	assert_int_equal(b.rows, 3);
	for (int i = 0; i < 9; i++)
		assert_true(((const double *)b.data)[i] == i + 1);
}

TEST(the_fixture_streams_as_expected)
{
	static const size_t want[] = {5, 1, 1024, 6};
	SHD_AUTO(sherd_store, sherd_store_close) store = fixtures();
	ROWS rows = NULL;
	assert_ok(sherd_rows_open_folder(&rows, store, "set", NULL, err));
	assert_int_equal(sherd_rows_total(rows), 1036);
	assert_int_equal(sherd_rows_width(rows), 4);
	for (sherd_rows_access access = SHERD_ROWS_AUTO; access <= SHERD_ROWS_DIRECT; access++) {
		CURSOR c = stream(rows, (sherd_rows_stream_options){.access = access});
		sherd_rows_batch b;
		shd_sha256 hash;
		uint8_t sum[SHD_SHA256_BYTES];
		char hex[SHD_SHA256_HEX + 1];
		shd_sha256_init(&hash);
		for (size_t i = 0; i < COUNT_OF(want); i++) {
			assert_int_equal(sherd_rows_next(&b, c, NULL), 1);
			assert_int_equal(b.rows, want[i]);
			shd_sha256_add(&hash, b.data, b.rows * 4 * sizeof(double));
			if (i == 0)
				assert_true(((const double *)b.data)[0] == -2.8186757564544678);
			if (i == 1)
				assert_true(((const double *)b.data)[0] == 7.620081901550293);
		}
		assert_end(c);
		shd_sha256_finish(&hash, sum);
		shd_hex(sum, sizeof(sum), hex);
		assert_string_equal(hex, "eb341d6a32fcf556b324cd9796018ca8c49685c41d39c3b22e33a23054bb6a30");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_ON_BOTH(one_shard_comes_back_as_it_was_written),
		CASE_ON_BOTH(ids_go_on_from_shard_to_shard_and_a_reset_replays),
		CASE_ON_BOTH(the_default_batch_has_1024_rows),
		CASE_ON_BOTH(floats_are_views_into_the_map),
		CASE_ON_BOTH(a_cursor_seeks_to_any_row),
		CASE_ON_BOTH(what_is_skipped_is_not_delivered_and_counts),
		CASE_ON_BOTH(a_reset_goes_to_the_row_where_the_stream_begins),
		CASE_IN_MEMORY(padding_is_the_same_after_a_resume),
		CASE_IN_MEMORY(every_epoch_has_its_own_order),
		CASE_IN_MEMORY(a_sample_that_takes_nothing_is_an_empty_stream),
		CASE_ON_BOTH(sampled_and_shuffled_batches_span_shards_and_tell_their_ids),
		CASE_IN_MEMORY(a_position_is_a_short_text_that_stays_the_same),
		CASE_IN_MEMORY(a_text_resumes_where_it_was_told),
		CASE_IN_MEMORY(texts_of_version_1_resume),
		CASE_IN_MEMORY(a_text_of_something_else_is_refused),
		CASE_IN_MEMORY(no_changed_byte_of_a_text_passes),
		CASE_IN_MEMORY(a_text_that_was_made_up_is_refused),
		cmocka_unit_test(a_batch_that_failed_is_delivered_when_it_is_asked_for_again),
		CASE_ON_BOTH(a_shard_that_was_exchanged_is_noticed),
		CASE_ON_BOTH(many_small_shards_are_not_all_open_at_once),
		cmocka_unit_test(the_golden_shard_reads_as_one_to_nine),
		cmocka_unit_test(the_fixture_streams_as_expected),
	};
	return cmocka_run_group_tests_name("rows cursor", tests, NULL, NULL);
}

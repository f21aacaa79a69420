/* a cursor knows its set, and goes on when that has grown by appends. */
#include "support/ckpt_place.h"
#include "support/rows_set.h"
#include "support/test.h"

#include "base/error.h"
#include "engine/rows/order.h"

#include <stdio.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_rows, sherd_rows_close)
SHD_AUTO_DEFINE(sherd_rows_cursor, sherd_rows_cursor_close)
#define ROWS SHD_AUTO(sherd_rows, sherd_rows_close)
#define CURSOR SHD_AUTO(sherd_rows_cursor, sherd_rows_cursor_close)

enum { WIDTH = 3 };

static const uint64_t sizes[] = {5, 0, 7, 4, 9};

static sherd_rows *make(sherd_store *store, const char *folder, unsigned version, size_t shards)
{
	sherd_rows *rows = NULL;
	rows_set_make_listed(store, folder, SHERD_F32, version, sizes, shards, WIDTH);
	assert_ok(sherd_rows_open_folder(&rows, store, folder, NULL, err));
	return rows;
}

/* Takes some batches and tells. */
static void tell_after(const sherd_rows *rows, sherd_rows_stream_options o, int batches,
                       char text[SHERD_ROWS_CURSOR_TEXT])
{
	CURSOR c = NULL;
	assert_ok(sherd_rows_cursor_open(&c, rows, &o, err));
	for (int i = 0; i < batches; i++)
		assert_int_equal(sherd_rows_next(&(sherd_rows_batch){0}, c, NULL), 1);
	assert_ok(sherd_rows_tell(text, c, err));
}

/* The epoch goes on over the 12 rows that it began with, in their order; the next one has all 25. */
static void assert_goes_on(const sherd_rows *grown, const char *text, sherd_rows_stream_options o)
{
	CURSOR c = NULL;
	sherd_rows_batch b;
	rows_order order = {.total = 12, .shuffle = o.shuffle, .seed = o.seed, .window = o.shuffle_window, .epoch = 3};
	uint64_t at = 4, seen = 0;
	o.epoch = 0;
	o.resume = text;
	assert_ok(sherd_rows_cursor_open(&c, grown, &o, err));
	assert_int_equal(sherd_rows_epoch(c), 3);
	while (sherd_rows_next(&b, c, NULL) > 0)
		for (size_t i = 0; i < b.rows; i++)
			assert_int_equal(rows_batch_id(&b, i), shd_rows_order_at(&order, at++));
	assert_int_equal(at, 12);
	/* Again, from its beginning. */
	sherd_rows_reset(c);
	for (at = 0; sherd_rows_next(&b, c, NULL) > 0; at += b.rows)
		assert_int_equal(rows_batch_id(&b, 0), shd_rows_order_at(&order, at));
	assert_int_equal(at, 12);
	sherd_rows_begin_epoch(c, 4);
	while (sherd_rows_next(&b, c, NULL) > 0)
		seen += b.rows;
	assert_int_equal(seen, 25);
}

TEST(an_epoch_goes_on_over_a_set_that_has_grown)
{
	for (unsigned version = 1; version <= 2; version++)
		for (int k = 0; k < 3; k++) {
			char text[SHERD_ROWS_CURSOR_TEXT], folder[8];
			const sherd_rows_stream_options o = {.batch_rows = 2,
			                                     .shuffle = k > 0,
			                                     .seed = 8,
			                                     .shuffle_window = k > 1 ? 5 : 0,
			                                     .epoch = 3};
			(void)snprintf(folder, sizeof(folder), "d%u%d", version, k);
			ROWS small = make(STORE, folder, version, 3);
			tell_after(small, o, 2, text);
			ROWS grown = make(STORE, folder, 2, 5);
			assert_goes_on(grown, text, o);
			/* Not the other way round. */
			tell_after(grown, o, 2, text);
			sherd_rows_cursor *none = NULL;
			assert_refused(
				SHERD_EINVAL, "bad-cursor",
				sherd_rows_cursor_open(&none, small,
			                               &(sherd_rows_stream_options){.shuffle = o.shuffle,
			                                                            .seed = o.seed,
			                                                            .shuffle_window = o.shuffle_window,
			                                                            .resume = text},
			                               err));
		}
}

static void assert_other(const sherd_rows *rows, const char *text, const char *message)
{
	sherd_rows_cursor *none = NULL;
	sherd_error e = {0};
	assert_int_equal(sherd_rows_cursor_open(&none, rows, &(sherd_rows_stream_options){.resume = text}, &e),
	                 SHERD_EINVAL);
	assert_string_equal(e.reason, "bad-cursor");
	assert_string_equal(e.message, message);
}

TEST(another_set_of_the_same_size_is_refused)
{
	static const uint64_t other_sizes[] = {6, 6, 4, 9}, inside[] = {5, 10};
	char text[SHERD_ROWS_CURSOR_TEXT];
	ROWS rows = make(STORE, "a", 2, 3);
	tell_after(rows, (sherd_rows_stream_options){.batch_rows = 2}, 1, text);
	/* The same values, cut otherwise; and of a set in which no shard ends there. */
	const char *differs = "the cursor is of another set: it does not begin with the same shards";
	rows_set_make_listed(STORE, "b", SHERD_F32, 2, other_sizes, COUNT_OF(other_sizes), WIDTH);
	ROWS other = NULL;
	assert_ok(sherd_rows_open_folder(&other, STORE, "b", NULL, err));
	assert_other(other, text, differs);
	rows_set_make_listed(STORE, "c", SHERD_F32, 2, inside, COUNT_OF(inside), WIDTH);
	ROWS longer = NULL;
	assert_ok(sherd_rows_open_folder(&longer, STORE, "c", NULL, err));
	assert_other(longer, text, differs);
	/* The same shards without a manifest. */
	assert_ok(sherd_store_remove(STORE, "a/rows.manifest.json", err));
	ROWS bare = NULL;
	assert_ok(sherd_rows_open_folder(&bare, STORE, "a", NULL, err));
	assert_other(bare, text, "the cursor knows its set by a manifest, and there is none to compare with");
	/* Who knows nothing of the set takes one of as many rows, and no other. */
	tell_after(bare, (sherd_rows_stream_options){.batch_rows = 2}, 1, text);
	ROWS again = make(STORE, "a", 2, 3);
	CURSOR c = NULL;
	assert_ok(sherd_rows_cursor_open(&c, again, &(sherd_rows_stream_options){.resume = text}, err));
	assert_other(longer, text, "the cursor is of another set: rows or width differ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_IN_MEMORY(an_epoch_goes_on_over_a_set_that_has_grown),
		CASE_IN_MEMORY(another_set_of_the_same_size_is_refused),
	};
	return cmocka_run_group_tests_name("rows grown", tests, NULL, NULL);
}

#include "support/ckpt_place.h"
#include "support/rows_set.h"
#include "support/test.h"

#include "base/error.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_rows, sherd_rows_close)
SHD_AUTO_DEFINE(sherd_rows_cursor, sherd_rows_cursor_close)
#define ROWS SHD_AUTO(sherd_rows, sherd_rows_close)
#define CURSOR SHD_AUTO(sherd_rows_cursor, sherd_rows_cursor_close)

/* Rows as they are gathered look like a batch with ids. */
static void assert_gathers(sherd_rows_cursor *c, sherd_dtype dtype, uint64_t width, const uint64_t *ids, size_t count)
{
	double *out = malloc((count ? count : 1) * (size_t)width * sizeof(double));
	assert_non_null(out);
	assert_ok(sherd_rows_gather(c, ids, count, out, err));
	sherd_rows_batch b = {.rows = count, .width = width, .dtype = dtype, .data = out, .ids = ids};
	assert_rows(&b, ids, 0, count);
	free(out);
}

typedef struct way {
	sherd_rows_access access;
	sherd_dtype dtype;
	uint64_t window; /* one that holds all, and one that holds nothing */
} way;

static const way ways[] = {
	{SHERD_ROWS_MAP, SHERD_F64, 1},  {SHERD_ROWS_MAP, SHERD_F64, UINT64_MAX},
	{SHERD_ROWS_MAP, SHERD_F32, 1},  {SHERD_ROWS_MAP, SHERD_F32, UINT64_MAX},
	{SHERD_ROWS_READ, SHERD_F64, 1}, {SHERD_ROWS_READ, SHERD_F64, UINT64_MAX},
	{SHERD_ROWS_READ, SHERD_F32, 1}, {SHERD_ROWS_READ, SHERD_F32, UINT64_MAX},
};

static sherd_rows_cursor *open_way(const sherd_rows *rows, const way *w)
{
	sherd_rows_cursor *c = NULL;
	sherd_rows_stream_options o = {.access = w->access, .dtype = w->dtype, .window_bytes = w->window};
	assert_ok(sherd_rows_cursor_open(&c, rows, &o, err));
	return c;
}

TEST(rows_come_in_the_order_asked_for_and_as_often)
{
	static const uint64_t shards[] = {5, 0, 1, 11}, ids[] = {16, 0, 5, 5, 3, 16, 4, 6, 0, 15, 5};
	ROWS rows = NULL;
	rows_set_make(STORE, "d", shards, COUNT_OF(shards), 3);
	assert_ok(sherd_rows_open_folder(&rows, STORE, "d", NULL, err));
	for (size_t i = 0; i < COUNT_OF(ways); i++) {
		CURSOR c = open_way(rows, &ways[i]);
		for (size_t n = 0; n <= COUNT_OF(ids); n++)
			assert_gathers(c, ways[i].dtype, 3, ids, n);
	}
}

TEST(rows_past_the_end_are_refused_before_anything_is_written)
{
	static const uint64_t shards[] = {5}, ids[] = {1, 5};
	ROWS rows = NULL;
	double out[6] = {1, 2, 3, 4, 5, 6};
	rows_set_make(STORE, "d", shards, 1, 3);
	assert_ok(sherd_rows_open_folder(&rows, STORE, "d", NULL, err));
	CURSOR c = open_way(rows, &ways[0]);
	sherd_error e;
	assert_int_equal(sherd_rows_gather(c, ids, 2, out, &e), SHERD_EINVAL);
	assert_string_equal(e.reason, "bad-argument");
	assert_string_equal(e.message, "row 5 of 5");
	assert_true(out[0] == 1 && out[5] == 6);
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_rows_gather(c, &(uint64_t){UINT64_MAX}, 1, out, err));
}

TEST(a_stream_goes_on_after_a_gather)
{
	static const uint64_t shards[] = {5, 70}, ids[] = {60, 2};
	ROWS rows = NULL;
	rows_set_make(STORE, "d", shards, 2, 3);
	assert_ok(sherd_rows_open_folder(&rows, STORE, "d", NULL, err));
	for (size_t i = 0; i < COUNT_OF(ways); i++) {
		CURSOR c = open_way(rows, &ways[i]);
		sherd_rows_batch b;
		assert_int_equal(sherd_rows_next(&b, c, NULL), 1);
		assert_gathers(c, ways[i].dtype, 3, ids, 2);
		assert_int_equal(sherd_rows_next(&b, c, NULL), 1);
		assert_rows(&b, NULL, 5, 70);
	}
}

/* Neighbours are read in one go, up to a size, over small gaps, within a shard: every case of that. */
TEST(near_and_far_rows_of_all_sizes)
{
	static const uint64_t widths[] = {1, 7, 900, 1025, 70000};
	for (size_t w = 0; w < COUNT_OF(widths); w++) {
		uint64_t n = widths[w] > 1000 ? 6 : 3000, shards[] = {n / 2, n - n / 2 - 1, 1};
		uint64_t seed = w, ids[200];
		ROWS rows = NULL;
		rows_set_make(STORE, "d", shards, COUNT_OF(shards), widths[w]);
		assert_ok(sherd_rows_open_folder(&rows, STORE, "d", NULL, err));
		size_t count = n < 10 ? 12 : COUNT_OF(ids);
		for (size_t i = 0; i < count; i++) {
			uint64_t step = shd_splitmix64(seed++);
			ids[i] = i % 50 == 0 ? step % n : (ids[i - 1] + step % 3) % n;
		}
		for (size_t i = 0; i < COUNT_OF(ways); i++) {
			CURSOR c = open_way(rows, &ways[i]);
			assert_gathers(c, ways[i].dtype, widths[w], ids, count);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_ON_BOTH(rows_come_in_the_order_asked_for_and_as_often),
		CASE_IN_MEMORY(rows_past_the_end_are_refused_before_anything_is_written),
		CASE_ON_BOTH(a_stream_goes_on_after_a_gather),
		CASE_ON_BOTH(near_and_far_rows_of_all_sizes),
	};
	return cmocka_run_group_tests_name("rows gather", tests, NULL, NULL);
}

#include "support/ckpt_place.h"
#include "support/rows_set.h"
#include "support/test.h"

#include <sherd/sys/backend.h>

#include "base/error.h"
#include "engine/rows/fetch.h"
#include "format/rows/shard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_rows, sherd_rows_close)
#define ROWS SHD_AUTO(sherd_rows, sherd_rows_close)

/* Opening this one shard fails so, at this byte, with these words. */
static void assert_shard_refused(sherd_store *store, sherd_status code, const char *reason, uint64_t offset,
                                 const char *message)
{
	sherd_error e = {0};
	sherd_rows *rows = NULL;
	const char *key = "d/a.shard";
	assert_int_equal(sherd_rows_open(&rows, store, &key, 1, NULL, &e), code);
	assert_null(rows);
	assert_int_equal(e.code, code);
	assert_string_equal(e.reason, reason);
	assert_int_equal(e.offset, offset);
	assert_string_equal(e.object, key);
	assert_string_equal(e.message, message);
	assert_int_equal(sherd_rows_open_folder(&rows, store, "d", NULL, &e), code);
	assert_string_equal(e.reason, reason);
	assert_string_equal(e.object, key);
}

TEST(a_shard_that_is_shorter_than_its_head_is_truncated)
{
	for (size_t len = 0; len < 32; len++) {
		object_put(STORE, "d/a.shard", "GAMSAE01\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", len);
		char message[80];
		(void)snprintf(message, sizeof(message), "the head expects 32 bytes, the file has %zu", len);
		assert_shard_refused(STORE, SHERD_ECORRUPT, "truncated", len, message);
	}
}

TEST(a_short_payload_is_truncated_with_both_sizes)
{
	rows_set_put_head(STORE, "d/a.shard", 3, 5, 0, 0, 59);
	assert_shard_refused(STORE, SHERD_ECORRUPT, "truncated", 91, "the head expects 92 bytes, the file has 91");
}

TEST(sizes_that_overflow_are_truncated)
{
	static const struct {
		uint64_t rows, width;
	} heads[] = {
		{UINT64_MAX, 1},
		{1, UINT64_MAX},
		{UINT64_MAX, UINT64_MAX},
		{UINT64_C(1) << 62, 1},
		{1, UINT64_C(1) << 62},
		{UINT64_C(1) << 31, UINT64_C(1) << 31},
		{UINT64_C(0x3ffffffffffffff9), 1}, /* the payload fits, with its head it does not */
		{0, UINT64_C(1) << 62},
	};
	for (size_t i = 0; i < COUNT_OF(heads); i++) {
		rows_set_put_head(STORE, "d/a.shard", heads[i].rows, heads[i].width, 0, 0, 64);
		assert_shard_refused(STORE, SHERD_ECORRUPT, "truncated", 96,
		                     "the head expects 18446744073709551615 bytes, the file has 96");
	}
	rows_set_put_head(STORE, "d/a.shard", UINT64_C(0x3ffffffffffffff7), 1, 0, 0, 0);
	assert_shard_refused(STORE, SHERD_ECORRUPT, "truncated", 32,
	                     "the head expects 18446744073709551612 bytes, the file has 32");
}

TEST(another_magic_is_refused_and_not_skipped)
{
	rows_set_put(STORE, "d/b.shard", 0, 1, 1, 0);
	object_put(STORE, "d/a.shard", "GAMSAE02aaaaaaaabbbbbbbbccccdddd", 32);
	assert_shard_refused(STORE, SHERD_ECORRUPT, "bad-magic", 0, "no shard of rows: wrong magic");
}

TEST(another_type_is_refused_with_its_tag)
{
	rows_set_put_head(STORE, "d/a.shard", 1, 1, 7, 0, 4);
	assert_shard_refused(STORE, SHERD_EUNSUPPORTED, "bad-dtype", 24, "unsupported type tag 7 (only f32 = 0)");
	/* Before anything that the sizes may say. */
	rows_set_put_head(STORE, "d/a.shard", UINT64_MAX, 0, UINT32_MAX, 0, 4);
	assert_shard_refused(STORE, SHERD_EUNSUPPORTED, "bad-dtype", 24,
	                     "unsupported type tag 4294967295 (only f32 = 0)");
}

TEST(width_zero_is_refused)
{
	rows_set_put_head(STORE, "d/a.shard", 5, 0, 0, 0, 0);
	assert_shard_refused(STORE, SHERD_ECORRUPT, "bad-width", 16, "rows of width 0");
}

TEST(shards_of_two_widths_are_refused_with_both)
{
	sherd_rows *rows = NULL;
	sherd_error e;
	rows_set_put(STORE, "d/a.shard", 0, 2, 3, 0);
	rows_set_put(STORE, "d/b.shard", 2, 2, 4, 0);
	assert_int_equal(sherd_rows_open_folder(&rows, STORE, "d", NULL, &e), SHERD_ECORRUPT);
	assert_string_equal(e.reason, "width-mismatch");
	assert_string_equal(e.message, "width 4, expected 3");
	assert_string_equal(e.object, "d/b.shard");
	assert_int_equal(e.offset, 16);
	/* A shard without rows has a width too. */
	rows_set_put(STORE, "d/a.shard", 0, 0, 3, 0);
	assert_refused(SHERD_ECORRUPT, "width-mismatch", sherd_rows_open_folder(&rows, STORE, "d", NULL, err));
}

TEST(nothing_is_empty)
{
	sherd_rows *rows = NULL;
	const char *keys[] = {"a.shard", "b.shard"};
	assert_refused(SHERD_ECORRUPT, "empty", sherd_rows_open(&rows, STORE, NULL, 0, NULL, err));
	assert_refused(SHERD_ECORRUPT, "empty", sherd_rows_open_folder(&rows, STORE, "", NULL, err));
	assert_refused(SHERD_ECORRUPT, "empty", sherd_rows_open_folder(&rows, STORE, "nowhere", NULL, err));
	rows_set_put(STORE, keys[0], 0, 0, 7, 0);
	rows_set_put(STORE, keys[1], 0, 0, 7, 0);
	assert_refused(SHERD_ECORRUPT, "empty", sherd_rows_open(&rows, STORE, keys, 2, NULL, err));
	assert_refused(SHERD_ECORRUPT, "empty", sherd_rows_open_folder(&rows, STORE, "", NULL, err));
	assert_null(rows);
}

TEST(a_missing_shard_is_named)
{
	sherd_rows *rows = NULL;
	sherd_error e;
	const char *keys[] = {"a.shard", "b.shard"};
	rows_set_put(STORE, keys[0], 0, 1, 1, 0);
	assert_int_equal(sherd_rows_open(&rows, STORE, keys, 2, NULL, &e), SHERD_ENOTFOUND);
	assert_string_equal(e.object, "b.shard");
}

TEST(a_list_keeps_its_order_and_ids_are_contiguous)
{
	static const char *const keys[] = {"z", "a", "m", "y"};
	static const uint64_t counts[] = {3, 0, 4, 1};
	ROWS rows = NULL;
	uint64_t first = 0;
	for (size_t i = 0; i < 4; i++) {
		rows_set_put(STORE, keys[i], first, counts[i], 2, i);
		first += counts[i];
	}
	assert_ok(sherd_rows_open(&rows, STORE, keys, 4, NULL, err));
	assert_int_equal(sherd_rows_total(rows), 8);
	assert_int_equal(sherd_rows_width(rows), 2);
	assert_int_equal(sherd_rows_shards(rows), 4);
	assert_false(sherd_rows_has_manifest(rows));
	first = 0;
	for (size_t i = 0; i < 4; i++) {
		const sherd_rows_shard *s = sherd_rows_shard_at(rows, i);
		assert_string_equal(s->key, keys[i]);
		assert_int_equal(s->rows, counts[i]);
		assert_int_equal(s->first, first);
		assert_int_equal(s->bytes, 32 + counts[i] * 8 + i);
		first += counts[i];
	}
	assert_null(sherd_rows_shard_at(rows, 4));
}

TEST(one_shard_may_be_listed_twice)
{
	static const char *const keys[] = {"a", "a"};
	ROWS rows = NULL;
	rows_set_put(STORE, "a", 0, 3, 2, 0);
	assert_ok(sherd_rows_open(&rows, STORE, keys, 2, NULL, err));
	assert_int_equal(sherd_rows_total(rows), 6);
}

TEST(a_folder_is_ordered_by_the_bytes_of_names)
{
	static const char *const want[] = {"d/10.shard", "d/2.shard",        "d/B.shard",
	                                   "d/a.shard",  "d/\xc3\xa4.shard", "d/\xff.shard"};
	static const uint8_t put[] = {5, 3, 0, 4, 1, 2};
	ROWS rows = NULL;
	for (size_t i = 0; i < COUNT_OF(put); i++)
		rows_set_put(STORE, want[put[i]], put[i], 1, 1, 0);
	assert_ok(sherd_rows_open_folder(&rows, STORE, "d", NULL, err));
	assert_int_equal(sherd_rows_shards(rows), COUNT_OF(want));
	for (size_t i = 0; i < COUNT_OF(want); i++)
		assert_string_equal(sherd_rows_shard_at(rows, i)->key, want[i]);
}

TEST(only_files_with_the_extension_count)
{
	ROWS rows = NULL;
	rows_set_put(STORE, "d/a.shard", 0, 2, 1, 0);
	rows_set_put(STORE, "d/sub/b.shard", 0, 4, 1, 0);
	rows_set_put(STORE, "d/deep.shard/c.shard", 0, 4, 1, 0);
	rows_set_put(STORE, "d.shard", 0, 4, 1, 0);
	rows_set_put(STORE, "dd/e.shard", 0, 4, 1, 0);
	object_put(STORE, "d/.shard", "no rows", 7);
	object_put(STORE, "d/b.SHARD", "no rows", 7);
	object_put(STORE, "d/b.shard.bak", "no rows", 7);
	object_put(STORE, "d/shard", "no rows", 7);
	assert_ok(sherd_rows_open_folder(&rows, STORE, "d", NULL, err));
	assert_int_equal(sherd_rows_shards(rows), 1);
	assert_string_equal(sherd_rows_shard_at(rows, 0)->key, "d/a.shard");
}

TEST(the_top_of_a_store_is_a_folder)
{
	ROWS rows = NULL;
	rows_set_put(STORE, "b.shard", 0, 2, 1, 0);
	rows_set_put(STORE, "d/a.shard", 0, 4, 1, 0);
	assert_ok(sherd_rows_open_folder(&rows, STORE, "", NULL, err));
	assert_int_equal(sherd_rows_total(rows), 2);
}

TEST(shards_of_checkpoints_are_left_out_and_reported)
{
	ROWS rows = NULL;
	const char *const *left;
	rows_set_put(STORE, "d/a.shard", 0, 2, 1, 0);
	object_put(STORE, "d/b.shard", "RAHS\0\0\0\0", 8);
	object_put(STORE, "d/c.shard", "RAHS", 4);
	assert_ok(sherd_rows_open_folder(&rows, STORE, "d", NULL, err));
	assert_int_equal(sherd_rows_total(rows), 2);
	assert_int_equal(sherd_rows_left_out(&left, rows), 2);
	assert_string_equal(left[0], "d/b.shard");
	assert_string_equal(left[1], "d/c.shard");
	/* Who lists it means it. */
	sherd_rows *none = NULL;
	const char *key = "d/b.shard";
	assert_refused(SHERD_ECORRUPT, "truncated", sherd_rows_open(&none, STORE, &key, 1, NULL, err));
	object_put(STORE, "d/b.shard", "RAHS\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 32);
	assert_refused(SHERD_ECORRUPT, "bad-magic", sherd_rows_open(&none, STORE, &key, 1, NULL, err));
}

TEST(a_folder_of_checkpoints_alone_is_empty)
{
	sherd_rows *rows = NULL;
	object_put(STORE, "d/b.shard", "RAHS\0\0\0\0", 8);
	assert_refused(SHERD_ECORRUPT, "empty", sherd_rows_open_folder(&rows, STORE, "d", NULL, err));
}

TEST(a_set_that_is_being_packed_is_incomplete)
{
	sherd_rows *rows = NULL;
	rows_set_put(STORE, "d/a.shard", 0, 2, 1, 0);
	object_put(STORE, "d/rows.packing", "", 0);
	sherd_error e;
	assert_int_equal(sherd_rows_open_folder(&rows, STORE, "d", NULL, &e), SHERD_EINCOMPLETE);
	assert_string_equal(e.reason, "incomplete");
	assert_string_equal(e.object, "d");
	assert_null(rows);
	assert_ok(sherd_rows_open_folder(&rows, STORE, "d", &(sherd_rows_options){.incomplete = true}, err));
	assert_int_equal(sherd_rows_total(rows), 2);
	sherd_rows_close(rows);
	/* A claim in a folder below is that folder's. */
	assert_ok(sherd_store_remove(STORE, "d/rows.packing", err));
	object_put(STORE, "d/e/rows.packing", "", 0);
	assert_ok(sherd_rows_open_folder(&rows, STORE, "d", NULL, err));
	sherd_rows_close(rows);
}

TEST(trailing_bytes_and_the_reserved_field_are_tolerated)
{
	ROWS rows = NULL;
	const char *keys[] = {"a", "b"};
	rows_set_put(STORE, "a", 0, 2, 1, 4099);
	rows_set_put_head(STORE, "b", 1, 1, 0, 0xdeadbeef, 4);
	assert_ok(sherd_rows_open(&rows, STORE, keys, 2, NULL, err));
	assert_int_equal(sherd_rows_total(rows), 3);
}

TEST(more_shards_than_the_limit_are_refused)
{
	sherd_rows *rows = NULL;
	static const uint64_t counts[] = {1, 1, 1};
	sherd_limits limits = {.shards = 2};
	rows_set_make(STORE, "d", counts, 3, 1);
	assert_refused(SHERD_ELIMIT, "too-many-shards",
	               sherd_rows_open_folder(&rows, STORE, "d", &(sherd_rows_options){.limits = &limits}, err));
}

TEST(the_window_never_gives_rows_of_another_shard)
{
	sherd_error e;
	assert_int_equal(shd_rows_check_residency(4, 4, NULL), SHERD_OK);
	assert_int_equal(shd_rows_check_residency(4, 68, &e), SHERD_ECORRUPT);
	assert_string_equal(e.reason, "residency");
	assert_string_equal(e.message, "the read cursor is at shard 4 but the window has shard 68");
}

/* A store of objects of 2^63 bytes, each a shard of as many rows as fit. */
static int huge_at(const sherd_reader *r, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	uint8_t head[SHD_ROWS_HEAD_SIZE];
	(void)r, (void)err;
	shd_rows_head_encode((UINT64_C(1) << 61) - 8, 1, head);
	memset(buf, 0, len);
	if (offset < sizeof(head))
		memcpy(buf, head + offset, len < sizeof(head) - offset ? len : sizeof(head) - (size_t)offset);
	return SHERD_OK;
}

static void huge_close(sherd_reader *r)
{
	free(r);
}

static int huge_read(sherd_reader **out, sherd_store *store, const char *key, sherd_error *err)
{
	static const struct sherd_reader_ops ops = {.at = huge_at, .close = huge_close};
	(void)store, (void)key;
	sherd_reader *r = calloc(1, sizeof(*r));
	if (!r)
		return shd_fail_nomem(err);
	*r = (sherd_reader){.ops = &ops, .size = UINT64_C(1) << 63};
	*out = r;
	return SHERD_OK;
}

TEST(more_rows_than_64_bits_count_are_refused)
{
	static const struct sherd_store_ops ops = {.scheme = "huge", .read = huge_read};
	sherd_store store = {.ops = &ops};
	static const char *const keys[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8"};
	sherd_rows *rows = NULL;
	assert_refused(SHERD_ELIMIT, "too-many-rows", sherd_rows_open(&rows, &store, keys, 9, NULL, err));
	assert_null(rows);
	assert_ok(sherd_rows_open(&rows, &store, keys, 8, NULL, err));
	assert_int_equal(sherd_rows_total(rows), UINT64_MAX - 63);
	/* No maps here, and nothing is allocated for what the heads say. */
	sherd_rows_cursor *c = NULL;
	assert_refused(SHERD_EUNSUPPORTED, "no-map",
	               sherd_rows_cursor_open(&c, rows, &(sherd_rows_stream_options){.access = SHERD_ROWS_MAP}, err));
	sherd_rows_dispenser *d = NULL;
	assert_refused(
		SHERD_EUNSUPPORTED, "no-map",
		sherd_rows_dispenser_open(&d, rows, &(sherd_rows_stream_options){.access = SHERD_ROWS_MAP}, err));
	sherd_rows_close(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_IN_MEMORY(a_shard_that_is_shorter_than_its_head_is_truncated),
		CASE_ON_BOTH(a_short_payload_is_truncated_with_both_sizes),
		CASE_IN_MEMORY(sizes_that_overflow_are_truncated),
		CASE_IN_MEMORY(another_magic_is_refused_and_not_skipped),
		CASE_IN_MEMORY(another_type_is_refused_with_its_tag),
		CASE_IN_MEMORY(width_zero_is_refused),
		CASE_IN_MEMORY(shards_of_two_widths_are_refused_with_both),
		CASE_ON_BOTH(nothing_is_empty),
		CASE_ON_BOTH(a_missing_shard_is_named),
		CASE_ON_BOTH(a_list_keeps_its_order_and_ids_are_contiguous),
		CASE_IN_MEMORY(one_shard_may_be_listed_twice),
		CASE_ON_BOTH(a_folder_is_ordered_by_the_bytes_of_names),
		CASE_ON_BOTH(only_files_with_the_extension_count),
		CASE_ON_BOTH(the_top_of_a_store_is_a_folder),
		CASE_ON_BOTH(shards_of_checkpoints_are_left_out_and_reported),
		CASE_IN_MEMORY(a_folder_of_checkpoints_alone_is_empty),
		CASE_ON_BOTH(a_set_that_is_being_packed_is_incomplete),
		CASE_ON_BOTH(trailing_bytes_and_the_reserved_field_are_tolerated),
		CASE_IN_MEMORY(more_shards_than_the_limit_are_refused),
		cmocka_unit_test(the_window_never_gives_rows_of_another_shard),
		cmocka_unit_test(more_rows_than_64_bits_count_are_refused),
	};
	return cmocka_run_group_tests_name("rows open", tests, NULL, NULL);
}

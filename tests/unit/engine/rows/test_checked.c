/* streams that verify while they deliver. */
#include "support/ckpt_place.h"
#include "support/fail_store.h"
#include "support/rows_set.h"
#include "support/test.h"

#include "base/error.h"
#include "format/rows/manifest.h"

#include <sherd/guard.h>

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_store, sherd_store_close)
SHD_AUTO_DEFINE(sherd_rows, sherd_rows_close)
SHD_AUTO_DEFINE(sherd_rows_cursor, sherd_rows_cursor_close)
SHD_AUTO_DEFINE(sherd_rows_dispenser, sherd_rows_dispenser_close)
SHD_AUTO_DEFINE(sherd_rows_slot, sherd_rows_slot_close)
#define ROWS SHD_AUTO(sherd_rows, sherd_rows_close)
#define CURSOR SHD_AUTO(sherd_rows_cursor, sherd_rows_cursor_close)
#define DISPENSER SHD_AUTO(sherd_rows_dispenser, sherd_rows_dispenser_close)
#define SLOT SHD_AUTO(sherd_rows_slot, sherd_rows_slot_close)

/* 64 KiB a row: 256 of them are a block; the second shard has a block and a half. */
enum { WIDTH = 16384, ROW = 4 * WIDTH, BLOCK_ROWS = SHD_ROWS_BLOCK / ROW };

static const uint64_t sizes[] = {3, BLOCK_ROWS + 128, 5};

static void make(sherd_store *store, unsigned version)
{
	rows_set_make_listed(store, "d", SHERD_F32, version, sizes, COUNT_OF(sizes), WIDTH);
}

static void flip(sherd_store *store, const char *key, size_t at)
{
	size_t len;
	char *data = object_get(store, key, &len);
	data[at] = (char)(data[at] ^ 16);
	object_put(store, key, data, len);
	sherd_free(data);
}

static sherd_rows *open_set(sherd_store *store)
{
	sherd_rows *rows = NULL;
	assert_ok(sherd_rows_open_folder(&rows, store, "d", NULL, err));
	return rows;
}

/* Rows that come before the stream ends, or fails with this. */
static uint64_t deliver(sherd_rows_cursor *c, int *rc, sherd_error *e)
{
	sherd_rows_batch b;
	uint64_t rows = 0;
	while ((*rc = sherd_rows_next(&b, c, e)) > 0) {
		for (size_t i = 0; i < b.rows; i++)
			assert_true(rows_set_is_row(&b, i, rows_batch_id(&b, i)));
		rows += b.rows;
	}
	return rows;
}

TEST(a_damaged_block_is_told_before_its_first_row_is_delivered)
{
	make(STORE, 2);
	flip(STORE, "d/part-00001.shard", 32 + SHD_ROWS_BLOCK + 70 * ROW + 5);
	ROWS rows = open_set(STORE);
	assert_ok(sherd_guard_open(err));
	for (unsigned k = 0; k < 5; k++) {
		sherd_error e = {0};
		int rc;
		CURSOR c = NULL;
		assert_ok(sherd_rows_cursor_open(&c, rows,
		                                 &(sherd_rows_stream_options){.verify = true,
		                                                              .batch_rows = 32,
		                                                              .access = (sherd_rows_access)(k % 4),
		                                                              .dtype = k / 4 ? SHERD_F32 : SHERD_F64},
		                                 err));
		assert_int_equal(deliver(c, &rc, &e), 3 + BLOCK_ROWS);
		for (int again = 0; again < 2; again++) {
			assert_int_equal(rc, SHERD_ECORRUPT);
			assert_string_equal(e.reason, "bad-crc");
			assert_string_equal(e.object, "d/part-00001.shard");
			assert_int_equal(e.offset, 32 + SHD_ROWS_BLOCK);
			rc = sherd_rows_next(&(sherd_rows_batch){0}, c, &e);
		}
		/* Rows elsewhere can be had. */
		static double room[2 * WIDTH];
		const uint64_t good[] = {sizes[0] + sizes[1], 0}, bad[] = {1, 3 + BLOCK_ROWS + 1};
		assert_ok(sherd_rows_gather(c, good, 2, room, err));
		assert_refused(SHERD_ECORRUPT, "bad-crc", sherd_rows_gather(c, bad, 2, room, err));
	}
	sherd_guard_close();
}

TEST(shuffled_rows_are_verified_too_and_who_does_not_ask_gets_what_is_there)
{
	make(STORE, 2);
	flip(STORE, "d/part-00002.shard", 40);
	ROWS rows = open_set(STORE);
	sherd_error e = {0};
	int rc;
	CURSOR c = NULL;
	assert_ok(sherd_rows_cursor_open(
		&c, rows, &(sherd_rows_stream_options){.verify = true, .batch_rows = 16, .shuffle = true, .seed = 4},
		err));
	(void)deliver(c, &rc, &e);
	assert_int_equal(rc, SHERD_ECORRUPT);
	assert_string_equal(e.object, "d/part-00002.shard");
	CURSOR plain = NULL;
	sherd_rows_batch b;
	assert_ok(sherd_rows_cursor_open(&plain, rows, NULL, err));
	while ((rc = sherd_rows_next(&b, plain, NULL)) > 0)
		;
	assert_int_equal(rc, 0);
}

/* What a manifest of version 1 has is the hash of each file. */
TEST(shards_without_blocks_are_verified_whole)
{
	make(STORE, 1);
	flip(STORE, "d/part-00001.shard", 28); /* reserved: no row is wrong, and the file is another */
	ROWS rows = open_set(STORE);
	sherd_error e = {0};
	int rc;
	CURSOR c = NULL;
	assert_ok(sherd_rows_cursor_open(&c, rows, &(sherd_rows_stream_options){.verify = true}, err));
	assert_int_equal(deliver(c, &rc, &e), 3);
	assert_int_equal(rc, SHERD_ECORRUPT);
	assert_string_equal(e.reason, "bad-checksum");
	assert_string_equal(e.object, "d/part-00001.shard");
	assert_int_equal(e.offset, 0);
}

TEST(without_checksums_there_is_nothing_to_verify)
{
	rows_set_make(STORE, "d", sizes, 1, 4);
	ROWS rows = open_set(STORE);
	sherd_rows_cursor *c = NULL;
	sherd_rows_dispenser *d = NULL;
	const sherd_rows_stream_options o = {.verify = true};
	assert_refused(SHERD_EUNSUPPORTED, "no-checksum", sherd_rows_cursor_open(&c, rows, &o, err));
	assert_refused(SHERD_EUNSUPPORTED, "no-checksum", sherd_rows_dispenser_open(&d, rows, &o, err));
}

/* Each part is read once more than it is delivered, in all passes together. */
TEST(a_block_is_verified_once)
{
	sherd_store *inner = NULL;
	assert_ok(sherd_store_open_memory(&inner, err));
	SHD_AUTO(sherd_store, sherd_store_close) store = fail_store_over(inner);
	make(store, 2);
	ROWS rows = open_set(store);
	const uint64_t payload = (3 + BLOCK_ROWS + 128 + 5) * (uint64_t)ROW;
	sherd_error e;
	int rc;
	CURSOR c = NULL;
	assert_ok(sherd_rows_cursor_open(
		&c, rows, &(sherd_rows_stream_options){.verify = true, .batch_rows = 10, .access = SHERD_ROWS_READ},
		err));
	for (uint64_t pass = 1; pass <= 2; pass++) {
		uint64_t before = fail_store_read_bytes(store);
		assert_int_equal(deliver(c, &rc, &e), 3 + BLOCK_ROWS + 128 + 5);
		assert_int_equal(rc, 0);
		assert_in_range(fail_store_read_bytes(store) - before, payload * (pass == 1 ? 2 : 1),
		                payload * (pass == 1 ? 2 : 1) + 1000);
		sherd_rows_reset(c);
	}
}

TEST(slots_share_what_was_verified)
{
	make(STORE, 2);
	flip(STORE, "d/part-00001.shard", 50);
	ROWS rows = open_set(STORE);
	DISPENSER d = NULL;
	SLOT a = NULL;
	SLOT b = NULL;
	sherd_rows_batch batch;
	assert_ok(sherd_rows_dispenser_open(&d, rows, &(sherd_rows_stream_options){.verify = true, .batch_rows = 8},
	                                    err));
	assert_ok(sherd_rows_slot_open(&a, d, err));
	assert_ok(sherd_rows_slot_open(&b, d, err));
	assert_int_equal(sherd_rows_slot_next(&batch, a, NULL), 1);
	assert_refused(SHERD_ECORRUPT, "bad-crc", sherd_rows_slot_next(&batch, b, err));
	assert_refused(SHERD_ECORRUPT, "bad-crc", sherd_rows_slot_next(&batch, a, err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_ON_BOTH(a_damaged_block_is_told_before_its_first_row_is_delivered),
		CASE_IN_MEMORY(shuffled_rows_are_verified_too_and_who_does_not_ask_gets_what_is_there),
		CASE_IN_MEMORY(shards_without_blocks_are_verified_whole),
		CASE_IN_MEMORY(without_checksums_there_is_nothing_to_verify),
		cmocka_unit_test(a_block_is_verified_once),
		CASE_IN_MEMORY(slots_share_what_was_verified),
	};
	return cmocka_run_group_tests_name("rows checked", tests, NULL, NULL);
}

/* shards that are cut off while they are streamed are errors, whichever way they are read. */
#include "support/ckpt_place.h"
#include "support/rows_set.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/guard.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

SHD_AUTO_DEFINE(sherd_rows, sherd_rows_close)
SHD_AUTO_DEFINE(sherd_rows_cursor, sherd_rows_cursor_close)
SHD_AUTO_DEFINE(sherd_rows_dispenser, sherd_rows_dispenser_close)
SHD_AUTO_DEFINE(sherd_rows_slot, sherd_rows_slot_close)
#define ROWS SHD_AUTO(sherd_rows, sherd_rows_close)
#define CURSOR SHD_AUTO(sherd_rows_cursor, sherd_rows_cursor_close)
#define DISPENSER SHD_AUTO(sherd_rows_dispenser, sherd_rows_dispenser_close)
#define SLOT SHD_AUTO(sherd_rows_slot, sherd_rows_slot_close)

/* 4000 bytes a row. */
enum { WIDTH = 1000, ROWS_A_SHARD = 300, BATCH = 50, KEPT = 32 + 170 * 4000 };

static sherd_rows *make(sherd_store *store)
{
	static const uint64_t shards[] = {ROWS_A_SHARD, ROWS_A_SHARD};
	sherd_rows *rows = NULL;
	rows_set_make(store, "d", shards, COUNT_OF(shards), WIDTH);
	assert_ok(sherd_rows_open_folder(&rows, store, "d", NULL, err));
	return rows;
}

static void cut(const char *folder, const char *name, off_t size)
{
	char path[4096];
	(void)snprintf(path, sizeof(path), "%s/d/%s", folder, name);
	assert_int_equal(truncate(path, size), 0);
}

/* Takes what comes and looks at every row; how it ends. *good counts rows that were right. */
static int drain(sherd_rows_cursor *c, size_t *good, sherd_error *e)
{
	sherd_rows_batch b;
	int rc;
	while ((rc = sherd_rows_next(&b, c, e)) > 0)
		for (size_t i = 0; i < b.rows; i++)
			*good += rows_set_is_row(&b, i, rows_batch_id(&b, i));
	return rc;
}

static void assert_cut(const sherd_rows *rows, const char *folder, const sherd_rows_stream_options *o)
{
	CURSOR c = NULL;
	sherd_rows_batch b;
	sherd_error e = {0};
	size_t good = 0;
	assert_ok(sherd_rows_cursor_open(&c, rows, o, err));
	assert_int_equal(sherd_rows_next(&b, c, NULL), 1);
	cut(folder, "part-00000.shard", KEPT);
	if (drain(c, &good, &e) == 0) {
		/* Direct reads had it all before. */
		assert_true(o->access == SHERD_ROWS_DIRECT || o->access == SHERD_ROWS_AUTO);
		assert_int_equal(good, 2 * ROWS_A_SHARD - BATCH);
		return;
	}
	assert_int_equal(e.code, SHERD_ECORRUPT);
	assert_string_equal(e.reason, "truncated");
	assert_string_equal(e.object, "d/part-00000.shard");
	assert_true(e.offset <= KEPT + BATCH * 4000);
	/* What was right before it is right; a failed batch does not become good by asking again. */
	assert_int_equal(drain(c, &good, &e), SHERD_ECORRUPT);
}

TEST(a_shard_that_is_cut_off_is_an_error_in_every_way_of_reading)
{
	static const uint64_t windows[] = {0, 1, UINT64_MAX};
	for (int guarded = 0; guarded < 2; guarded++)
		for (unsigned access = SHERD_ROWS_AUTO; access <= SHERD_ROWS_DIRECT; access++)
			for (unsigned k = 0; k < 4 * COUNT_OF(windows); k++) {
				if (!guarded && access == SHERD_ROWS_MAP)
					continue;
				ROWS rows = make(STORE);
				if (guarded)
					assert_ok(sherd_guard_open(err));
				assert_cut(rows, FOLDER,
				           &(sherd_rows_stream_options){.batch_rows = BATCH,
				                                        .access = (sherd_rows_access)access,
				                                        .dtype = k % 2 ? SHERD_F32 : SHERD_F64,
				                                        .shuffle = k / 2 % 2,
				                                        .window_bytes = windows[k / 4]});
				if (guarded)
					sherd_guard_close();
			}
}

/* The last page of a file reads as zeros behind its new end, without a signal: the end of the stream tells. */
TEST(a_shard_that_loses_its_last_bytes_is_noticed_at_the_end)
{
	ROWS rows = make(STORE);
	CURSOR c = NULL;
	sherd_error e = {0};
	size_t good = 0;
	assert_ok(sherd_guard_open(err));
	assert_ok(sherd_rows_cursor_open(
		&c, rows,
		&(sherd_rows_stream_options){.batch_rows = BATCH, .access = SHERD_ROWS_MAP, .dtype = SHERD_F32}, err));
	assert_int_equal(sherd_rows_next(&(sherd_rows_batch){0}, c, NULL), 1);
	cut(FOLDER, "part-00001.shard", 32 + ROWS_A_SHARD * 4000 - 1);
	assert_int_equal(drain(c, &good, &e), SHERD_ECORRUPT);
	assert_string_equal(e.object, "d/part-00001.shard");
	assert_int_equal(e.offset, 32 + ROWS_A_SHARD * 4000 - 1);
	sherd_guard_close();
}

TEST(digests_of_what_was_cut_off_are_none)
{
	ROWS rows = make(STORE);
	CURSOR c = NULL;
	sherd_rows_digest digest;
	assert_ok(sherd_guard_open(err));
	assert_ok(sherd_rows_cursor_open(
		&c, rows,
		&(sherd_rows_stream_options){.batch_rows = BATCH, .access = SHERD_ROWS_MAP, .dtype = SHERD_F32}, err));
	assert_int_equal(sherd_rows_next(&(sherd_rows_batch){0}, c, NULL), 1);
	cut(FOLDER, "part-00000.shard", KEPT);
	assert_refused(SHERD_ECORRUPT, "truncated",
	               sherd_rows_digest_values(&digest, c, &(sherd_rows_digest_options){.batches = 4}, err));
	assert_refused(SHERD_ECORRUPT, "truncated", sherd_rows_digest_set(&digest, c, NULL, err));
	sherd_guard_close();
}

TEST(slots_of_a_dispenser_tell_too)
{
	ROWS rows = make(STORE);
	DISPENSER d = NULL;
	SLOT s = NULL;
	sherd_rows_batch b;
	sherd_error e = {0};
	int rc;
	assert_ok(sherd_guard_open(err));
	assert_ok(sherd_rows_dispenser_open(
		&d, rows,
		&(sherd_rows_stream_options){.batch_rows = BATCH, .access = SHERD_ROWS_MAP, .dtype = SHERD_F32}, err));
	assert_ok(sherd_rows_slot_open(&s, d, err));
	assert_int_equal(sherd_rows_slot_next(&b, s, NULL), 1);
	cut(FOLDER, "part-00000.shard", KEPT);
	while ((rc = sherd_rows_slot_next(&b, s, &e)) > 0)
		(void)rows_set_is_row(&b, b.rows - 1, rows_batch_id(&b, b.rows - 1));
	assert_int_equal(rc, SHERD_ECORRUPT);
	assert_string_equal(e.reason, "truncated");
	sherd_guard_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_IN_FOLDER(a_shard_that_is_cut_off_is_an_error_in_every_way_of_reading),
		CASE_IN_FOLDER(a_shard_that_loses_its_last_bytes_is_noticed_at_the_end),
		CASE_IN_FOLDER(digests_of_what_was_cut_off_are_none),
		CASE_IN_FOLDER(slots_of_a_dispenser_tell_too),
	};
	return cmocka_run_group_tests_name("rows cut", tests, NULL, NULL);
}

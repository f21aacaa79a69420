/* Fault: every allocation and every operation of the store fails once while sets are opened, streamed, gathered and
 * dispensed. Nothing leaks, nothing wrong is delivered, and what failed works when it is asked for again. */
#include "support/fail_malloc.h"
#include "support/fail_store.h"
#include "support/rows_set.h"
#include "support/test.h"

#include "base/error.h"

#include <string.h>

SHD_AUTO_DEFINE(sherd_rows, sherd_rows_close)
SHD_AUTO_DEFINE(sherd_rows_cursor, sherd_rows_cursor_close)
SHD_AUTO_DEFINE(sherd_rows_dispenser, sherd_rows_dispenser_close)
SHD_AUTO_DEFINE(sherd_rows_slot, sherd_rows_slot_close)

static const uint64_t shards[] = {5, 0, 3, 11};
enum { TOTAL = 19, WIDTH = 3 };

static sherd_store *store;

static int make_store(void **state)
{
	(void)state;
	sherd_store *inner = NULL;
	assert_ok(sherd_store_open_memory(&inner, err));
	store = fail_store_over(inner);
	rows_set_make(store, "d", shards, COUNT_OF(shards), WIDTH);
	assert_ok(sherd_store_put(store, "d/other.shard", SHERD_WRITE_NEW, "RAHS", 4, err));
	rows_set_make_listed(store, "v", SHERD_F32, 2, shards, COUNT_OF(shards), WIDTH);
	return 0;
}

static int close_store(void **state)
{
	(void)state;
	sherd_store_close(store);
	return 0;
}

/* Rows that were delivered, each once, all right. */
typedef struct tally {
	bool had[TOTAL];
	size_t count;
} tally;

static void take(tally *t, const sherd_rows_batch *b)
{
	for (size_t i = 0; i < b->rows; i++) {
		uint64_t id = rows_batch_id(b, i);
		assert_true(id < TOTAL && !t->had[id]);
		assert_true(rows_set_is_row(b, i, id));
		t->had[id] = true;
		t->count++;
	}
}

/* Goes on after a failure, and hands it on at the end. */
static int stream_all(const sherd_rows *rows, const sherd_rows_stream_options *o, sherd_error *err)
{
	SHD_AUTO(sherd_rows_cursor, sherd_rows_cursor_close) c = NULL;
	sherd_rows_batch b;
	tally t = {.count = 0};
	int rc, failed = SHERD_OK;
	TRY(sherd_rows_cursor_open(&c, rows, o, err));
	while ((rc = sherd_rows_next(&b, c, failed ? NULL : err)) != 0)
		if (rc > 0)
			take(&t, &b);
		else
			failed = rc;
	assert_int_equal(t.count, TOTAL);
	return failed;
}

static int gather_some(const sherd_rows *rows, const sherd_rows_stream_options *o, sherd_error *err)
{
	SHD_AUTO(sherd_rows_cursor, sherd_rows_cursor_close) c = NULL;
	static const uint64_t ids[] = {18, 0, 6, 7, 1, 2};
	double out[COUNT_OF(ids) * WIDTH];
	sherd_rows_batch b = {.width = WIDTH, .dtype = o->dtype, .data = out, .ids = ids};
	TRY(sherd_rows_cursor_open(&c, rows, o, err));
	TRY(sherd_rows_gather(c, ids, COUNT_OF(ids), out, err));
	b.rows = COUNT_OF(ids);
	assert_rows(&b, ids, 0, COUNT_OF(ids));
	return SHERD_OK;
}

static int dispense_all(const sherd_rows *rows, const sherd_rows_stream_options *o, sherd_error *err)
{
	SHD_AUTO(sherd_rows_dispenser, sherd_rows_dispenser_close) d = NULL;
	SHD_AUTO(sherd_rows_slot, sherd_rows_slot_close) one = NULL;
	SHD_AUTO(sherd_rows_slot, sherd_rows_slot_close) two = NULL;
	sherd_rows_batch b;
	tally t = {.count = 0};
	int failed = SHERD_OK;
	TRY(sherd_rows_dispenser_open(&d, rows, o, err));
	TRY(sherd_rows_slot_open(&one, d, err));
	TRY(sherd_rows_slot_open(&two, d, err));
	for (int turn = 0, ended = 0; ended < 2; turn ^= 1) {
		int rc = sherd_rows_slot_next(&b, turn ? one : two, failed ? NULL : err);
		ended = rc == 0 ? ended + 1 : 0;
		if (rc > 0)
			take(&t, &b);
		else if (rc < 0)
			failed = rc;
	}
	assert_int_equal(t.count, TOTAL);
	return failed;
}

static int verify_all(sherd_rows_access access, sherd_error *err)
{
	SHD_AUTO(sherd_rows, sherd_rows_close) rows = NULL;
	sherd_rows_stream_options o = {.batch_rows = 4, .access = access, .verify = true};
	TRY(sherd_rows_open_folder(&rows, store, "v", NULL, err));
	TRY(stream_all(rows, &o, err));
	TRY(gather_some(rows, &o, err));
	return dispense_all(rows, &o, err);
}

static int do_all(sherd_rows_access access, sherd_error *err)
{
	SHD_AUTO(sherd_rows, sherd_rows_close) rows = NULL;
	static const sherd_dtype types[] = {SHERD_F64, SHERD_F32};
	TRY(sherd_rows_open_folder(&rows, store, "d", NULL, err));
	for (size_t i = 0; i < COUNT_OF(types); i++) {
		sherd_rows_stream_options o = {
			.batch_rows = 4, .access = access, .dtype = types[i], .window_bytes = 40};
		TRY(stream_all(rows, &o, err));
		TRY(gather_some(rows, &o, err));
		TRY(dispense_all(rows, &o, err));
		o.shuffle = true;
		TRY(stream_all(rows, &o, err));
		TRY(dispense_all(rows, &o, err));
	}
	return verify_all(access, err);
}

TEST(every_allocation_may_fail)
{
	for (sherd_rows_access access = SHERD_ROWS_MAP; access <= SHERD_ROWS_DIRECT; access++) {
		long nth = 0;
		bool hit;
		do {
			sherd_error e = {0};
			fail_malloc_at(++nth);
			int rc = do_all(access, &e);
			hit = fail_malloc_hit();
			fail_malloc_at(0);
			/* Hints may fail unseen. */
			assert_true(rc == SHERD_OK || (hit && rc == SHERD_ENOMEM));
			assert_int_equal(e.code, rc);
		} while (hit);
		assert_true(nth > 60);
	}
}

TEST(every_operation_of_the_store_may_fail)
{
	for (sherd_rows_access access = SHERD_ROWS_MAP; access <= SHERD_ROWS_DIRECT; access++) {
		long nth = 0;
		bool hit;
		do {
			sherd_error e = {0};
			fail_store_at(store, ++nth);
			int rc = do_all(access, &e);
			hit = fail_store_hit(store);
			fail_store_at(store, 0);
			assert_true(rc == SHERD_OK || (hit && rc == SHERD_EIO));
			assert_int_equal(e.code, rc);
			if (rc < 0)
				assert_true(e.object[0] != 0);
		} while (hit);
		assert_true(nth > 60);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_allocation_may_fail, make_store, close_store),
		cmocka_unit_test_setup_teardown(every_operation_of_the_store_may_fail, make_store, close_store),
	};
	return cmocka_run_group_tests_name("rows faults", tests, NULL, NULL);
}

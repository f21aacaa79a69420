/* An append, and an index, with the nth allocation, operation or system call failing, for every n. */
#include "support/test.h"

#include "store/local/local.h"
#include "support/fail_malloc.h"
#include "support/fail_store.h"
#include "support/fail_sys.h"
#include "support/scratch.h"

#include <sherd/rows.h>
#include <sherd/verify.h>

#include <errno.h>
#include <stdlib.h>

enum { WIDTH = 2, BEFORE = 3, STEP = 3 };

static const float values[STEP * WIDTH] = {1, 2, 3, 4, 5, 6};

/* A set of three rows, and beside it what a dead writer left. */
static void begin(sherd_store *s)
{
	const sherd_rows_writer_options options = {.rows_per_shard = 2};
	sherd_rows_writer *w;
	assert_ok(sherd_rows_writer_open(&w, s, "d", WIDTH, &options, err));
	assert_ok(sherd_rows_writer_append(w, SHERD_F32, values, BEFORE, err));
	assert_ok(sherd_rows_writer_commit(w, err));
	assert_ok(sherd_rows_write_shard(s, "i/a.shard", (const double[]){1, 2}, 1, 2, NULL, NULL, err));
}

static int grow(sherd_store *s, sherd_error *err)
{
	const sherd_rows_writer_options options = {.append = true, .rows_per_shard = 2};
	sherd_rows_writer *w;
	int rc = sherd_rows_writer_open(&w, s, "d", 0, &options, err);
	if (rc < 0)
		return rc;
	rc = sherd_rows_writer_append(w, SHERD_F32, values, STEP, err);
	if (rc == SHERD_OK)
		rc = sherd_rows_writer_flush(w, err);
	if (rc == SHERD_OK)
		rc = sherd_rows_writer_append(w, SHERD_F32, values, STEP, err);
	if (rc == SHERD_OK)
		return sherd_rows_writer_commit(w, err);
	sherd_rows_writer_abort(w);
	return rc;
}

static int work(sherd_store *s, sherd_error *err)
{
	int rc = grow(s, err);
	return rc < 0 ? rc : sherd_rows_index(s, "i", NULL, 0, NULL, err);
}

static uint64_t rows_in(sherd_store *s, const char *folder)
{
	sherd_rows *set;
	sherd_report *report;
	assert_ok(sherd_rows_open_folder(&set, s, folder, NULL, err));
	uint64_t rows = sherd_rows_total(set);
	sherd_rows_close(set);
	assert_ok(sherd_verify(&report, s, folder, NULL, err));
	assert_int_equal(sherd_report_errors(report), 0);
	sherd_report_close(report);
	return rows;
}

/* What was committed is there; what failed is not, or is as far as it was flushed; then it works, and nothing is left.
 */
static void check(sherd_store *s, int rc)
{
	uint64_t rows = rows_in(s, "d");
	sherd_report *report;
	assert_true(rows == BEFORE || rows == BEFORE + STEP || rows == BEFORE + 2 * STEP);
	assert_true(rc < 0 || rows == BEFORE + 2 * STEP);
	assert_int_equal(rows_in(s, "i"), 1);
	assert_ok(grow(s, err));
	assert_int_equal(rows_in(s, "d"), rows + 2 * STEP);
	assert_ok(sherd_verify(&report, s, "d", NULL, err));
	assert_int_equal(sherd_report_warnings(report), 0);
	sherd_report_close(report);
}

TEST(every_allocation_may_fail)
{
	bool hit = true;
	for (long n = 1; hit; n++) {
		sherd_store *s;
		sherd_error e = {0};
		assert_ok(sherd_store_open_memory(&s, err));
		begin(s);
		fail_malloc_at(n);
		int rc = work(s, &e);
		hit = fail_malloc_hit();
		fail_malloc_at(0);
		assert_true(rc == SHERD_OK || (hit && rc == SHERD_ENOMEM && e.code == rc));
		check(s, rc);
		sherd_store_close(s);
	}
}

TEST(every_operation_of_the_store_may_fail)
{
	bool hit = true;
	for (long n = 1; hit; n++) {
		sherd_store *inner;
		sherd_error e = {0};
		assert_ok(sherd_store_open_memory(&inner, err));
		begin(inner);
		sherd_store *s = fail_store_over(inner);
		fail_store_at(s, n);
		int rc = work(s, &e);
		hit = fail_store_hit(s);
		fail_store_at(s, 0);
		assert_true(rc == SHERD_OK || (hit && rc == SHERD_EIO && e.object[0]));
		check(s, rc);
		sherd_store_close(s);
	}
}

TEST(every_system_call_may_fail)
{
	bool hit = true;
	for (long n = 1; hit; n++) {
		char *folder = scratch_make();
		sherd_store *s;
		fail_sys sys;
		fail_sys_init(&sys);
		assert_ok(shd_store_open_local_sys(&s, folder, NULL, &sys.sys, err));
		begin(s);
		fail_sys_at(&sys, n, NULL, n % 2 ? EIO : ENOSPC);
		int rc = work(s, NULL);
		hit = atomic_load(&sys.hit);
		fail_sys_at(&sys, 0, NULL, 0);
		assert_true(rc == SHERD_OK || hit);
		check(s, rc);
		sherd_store_close(s);
		scratch_remove(folder);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(every_operation_of_the_store_may_fail),
		cmocka_unit_test(every_system_call_may_fail),
	};
	return cmocka_run_group_tests_name("fault/rows_writer", tests, NULL, NULL);
}

/* A pack with the nth allocation, operation or system call failing, for every n. */
#include "support/test.h"

#include "base/error.h"
#include "format/tensor/safetensors.h"
#include "store/local/local.h"
#include "support/fail_malloc.h"
#include "support/fail_store.h"
#include "support/fail_sys.h"
#include "support/scratch.h"

#include <sherd/rows.h>
#include <sherd/verify.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

static const char residual[] =
	"{\"format\":\"residual_shard_bf16\",\"format_version\":1,\"dtype\":\"bfloat16\",\"byte_order\":\"little\","
	"\"d_model\":2,\"total_tokens\":3,\"shards\":[{\"file\":\"b\",\"rows\":2,\"bytes\":8},"
	"{\"file\":\"a\",\"rows\":1,\"bytes\":4}]}";

static int fill(sherd_store *s)
{
	static const uint64_t shape[] = {3, 2};
	static const double values[6] = {1, 2, 3, 4, 5, 6};
	const sherd_tensor tensor = {"t", SHERD_F64, 2, shape, 48};
	SHD_AUTO_BUF file = {0};
	size_t order[1];
	TRY(shd_safetensors_encode(&tensor, 1, NULL, 0, &file, order, NULL));
	shd_buf_append(&file, values, sizeof(values));
	TRY(sherd_store_put(s, "t", SHERD_WRITE_NEW, file.data, file.len, NULL));
	TRY(sherd_store_put(s, "r/manifest.json", SHERD_WRITE_NEW, residual, strlen(residual), NULL));
	TRY(sherd_store_put(s, "r/b", SHERD_WRITE_NEW, "01234567", 8, NULL));
	TRY(sherd_store_put(s, "r/a", SHERD_WRITE_NEW, "0123", 4, NULL));
	TRY(sherd_store_put(s, "t1/rows.packing", SHERD_WRITE_NEW, "dead", 4, NULL));
	return sherd_store_put(s, "t1/part-00000.shard", SHERD_WRITE_NEW, "dead", 4, NULL);
}

static const sherd_rows_pack_options options = {.rows_per_shard = 2, .time_ns = 1};

static int pack_tensor(sherd_store *s, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	TRY(sherd_bundle_open(&bundle, s, "t", NULL, err));
	return sherd_rows_pack_bundle(s, "t1", bundle, NULL, 0, SHERD_DTYPE_NONE, &options, err);
}

static int pack_foreign(sherd_store *s, sherd_error *err)
{
	return sherd_rows_pack_bf16(s, "t2", s, "r", &options, err);
}

static int verify(sherd_store *s, const char *folder, size_t *errors, sherd_error *err)
{
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	TRY(sherd_verify(&r, s, folder, NULL, err));
	*errors = sherd_report_errors(r);
	return SHERD_OK;
}

static int verify_all(sherd_store *s, sherd_error *err)
{
	size_t errors[3];
	TRY(verify(s, "t1", &errors[0], err));
	TRY(verify(s, "t2", &errors[1], err));
	TRY(verify(s, "r", &errors[2], err));
	assert_int_equal(errors[0] + errors[1] + errors[2], 0);
	return SHERD_OK;
}

/* What failed is not there, or is not finished and says so; what succeeded is whole. Then it works. */
static void check_after(sherd_store *s, const char *folder, int rc, int (*again)(sherd_store *, sherd_error *))
{
	sherd_rows *set = NULL;
	size_t errors = 1;
	int opened = sherd_rows_open_folder(&set, s, folder, NULL, NULL);
	if (rc < 0) {
		assert_true(opened == SHERD_EINCOMPLETE || opened == SHERD_ECORRUPT);
		sherd_format format;
		if (opened == SHERD_ECORRUPT) /* empty: nothing is left in it */
			assert_int_equal(sherd_detect(&format, s, folder, NULL), SHERD_ENOTFOUND);
		assert_ok(again(s, err));
	} else {
		sherd_rows_close(set);
		assert_int_equal(opened, SHERD_OK);
		assert_int_equal(again(s, NULL), SHERD_EEXIST);
	}
	assert_ok(verify(s, folder, &errors, err));
	assert_int_equal(errors, 0);
}

/* Both packs; *failed tells which did not succeed. */
static int pack_both(sherd_store *s, int rc[2], sherd_error *err)
{
	rc[0] = pack_tensor(s, err);
	rc[1] = rc[0] < 0 ? SHERD_ENOTFOUND : pack_foreign(s, err);
	return rc[0] < 0 ? rc[0] : rc[1];
}

static void check_both(sherd_store *s, const int rc[2])
{
	check_after(s, "t1", rc[0], pack_tensor);
	check_after(s, "t2", rc[1], pack_foreign);
	assert_ok(verify_all(s, err));
}

TEST(every_allocation_of_packing_may_fail)
{
	bool hit = true;
	long n = 1;
	for (; hit; n++) {
		sherd_store *s;
		sherd_error e = {0};
		int rc[2];
		assert_ok(sherd_store_open_memory(&s, err));
		assert_int_equal(fill(s), SHERD_OK);
		fail_malloc_at(n);
		int all = pack_both(s, rc, &e);
		hit = fail_malloc_hit();
		fail_malloc_at(0);
		if (all < 0) {
			assert_true(hit);
			assert_int_equal(all, SHERD_ENOMEM);
			assert_int_equal(e.code, all);
		}
		check_both(s, rc);
		sherd_store_close(s);
	}
	assert_true(n > 60);
}

TEST(every_operation_of_the_store_may_fail)
{
	bool hit = true;
	long n = 1;
	for (; hit; n++) {
		sherd_store *inner;
		sherd_error e = {0};
		int rc[2];
		assert_ok(sherd_store_open_memory(&inner, err));
		assert_int_equal(fill(inner), SHERD_OK);
		sherd_store *s = fail_store_over(inner);
		fail_store_at(s, n);
		int all = pack_both(s, rc, &e);
		hit = fail_store_hit(s);
		fail_store_at(s, 0);
		if (all < 0) {
			assert_true(hit);
			assert_int_equal(all, SHERD_EIO);
			assert_string_equal(e.reason, "injected");
			assert_true(e.object[0] != 0);
		}
		check_both(s, rc);
		sherd_store_close(s);
	}
	assert_true(n > 50);
}

static void each_call(int os_errno, unsigned refuse)
{
	bool hit = true;
	for (long n = 1; hit; n++) {
		char *folder = scratch_make();
		sherd_store *s;
		sherd_error e = {0};
		fail_sys sys;
		int rc[2];
		fail_sys_init(&sys);
		sys.refuse = refuse;
		assert_ok(shd_store_open_local_sys(&s, folder, NULL, &sys.sys, err));
		assert_int_equal(fill(s), SHERD_OK);
		fail_sys_at(&sys, n, NULL, os_errno);
		int all = pack_both(s, rc, &e);
		hit = atomic_load(&sys.hit);
		fail_sys_at(&sys, 0, NULL, 0);
		assert_true(all == SHERD_OK || hit);
		check_both(s, rc);
		sherd_store_close(s);
		scratch_remove(folder);
	}
}

TEST(every_system_call_may_fail)
{
	each_call(EIO, 0);
	each_call(ENOSPC, FAIL_SYS_NO_TMPFILE);
}

TEST(every_allocation_and_operation_of_verifying_may_fail)
{
	sherd_store *inner;
	assert_ok(sherd_store_open_memory(&inner, err));
	assert_int_equal(fill(inner), SHERD_OK);
	assert_ok(pack_tensor(inner, err));
	assert_ok(pack_foreign(inner, err));
	sherd_store *s = fail_store_over(inner);
	bool hit = true;
	for (long n = 1; hit; n++) {
		sherd_error e = {0};
		fail_malloc_at(n);
		int rc = verify_all(s, &e);
		hit = fail_malloc_hit();
		fail_malloc_at(0);
		assert_int_equal(rc, hit ? SHERD_ENOMEM : SHERD_OK);
		assert_int_equal(e.code, rc);
	}
	hit = true;
	for (long n = 1; hit; n++) {
		fail_store_at(s, n);
		int rc = verify_all(s, NULL);
		hit = fail_store_hit(s);
		fail_store_at(s, 0);
		assert_int_equal(rc, hit ? SHERD_EIO : SHERD_OK);
	}
	sherd_store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_of_packing_may_fail),
		cmocka_unit_test(every_operation_of_the_store_may_fail),
		cmocka_unit_test(every_system_call_may_fail),
		cmocka_unit_test(every_allocation_and_operation_of_verifying_may_fail),
	};
	return cmocka_run_group_tests_name("fault/rows_pack", tests, NULL, NULL);
}

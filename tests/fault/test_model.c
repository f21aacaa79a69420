/* Fault: every allocation and every operation of the store fails once while models are opened, read and verified. */
#include "support/fail_malloc.h"
#include "support/fail_store.h"
#include "support/nd4j_make.h"
#include "support/samediff_make.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/convert.h>
#include <sherd/model.h>
#include <sherd/verify.h>

SHERD_AUTO_DEFINE(sherd_model, sherd_model_close)
SHERD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHERD_AUTO_DEFINE(sherd_report, sherd_report_close)

static sherd_store *store;

static int fill_store(void **state)
{
	(void)state;
	sherd_store *inner;
	SHERD_AUTO_BUF full = {0}, hollow = {0}, array = {0};
	TRY(sherd_store_open_memory(&inner, NULL));
	store = fail_store_over(inner);
	samediff_make_full(&full);
	samediff_make_hollow(&hollow, "w");
	nd4j_put_shape(&array, 1, (const int64_t[]){1}, 'c', 8192);
	nd4j_put_part(&array, "FLOAT", 1, (const float[]){1}, 4);
	TRY(sherd_store_put(store, "full.fb", SHERD_WRITE_NEW, full.data, full.len, NULL));
	TRY(sherd_store_put(store, "h.fb", SHERD_WRITE_NEW, hollow.data, hollow.len, NULL));
	return sherd_store_put(store, "h_external/w.bin", SHERD_WRITE_NEW, array.data, array.len, NULL);
}

static int drop_store(void **state)
{
	(void)state;
	sherd_store_close(store);
	return 0;
}

static int use(const char *key, sherd_error *err)
{
	SHERD_AUTO(sherd_model, sherd_model_close) m = NULL;
	SHERD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	uint8_t bytes[64];
	TRY(sherd_model_open(&m, store, key, NULL, err));
	TRY(sherd_bundle_of_model(&b, m, err));
	for (size_t i = 0; i < sherd_bundle_count(b); i++)
		TRY(sherd_bundle_read(b, i, 0, bytes, (size_t)sherd_bundle_tensor(b, i)->bytes, err));
	return SHERD_OK;
}

static int use_all(sherd_error *err)
{
	SHERD_AUTO(sherd_bundle, sherd_bundle_close) array = NULL;
	TRY(use("full.fb", err));
	TRY(use("h.fb", err));
	TRY(sherd_bundle_open(&array, store, "h_external/w.bin", NULL, err));
	return sherd_convert_check(array, SHERD_FORMAT_NPY, err);
}

static int verify(sherd_error *err)
{
	SHERD_AUTO(sherd_report, sherd_report_close) r = NULL;
	TRY(sherd_verify(&r, store, "full.fb", NULL, err));
	assert_int_equal(sherd_report_errors(r), 0);
	return SHERD_OK;
}

TEST(every_allocation_of_reading_may_fail)
{
	assert_true(fail_malloc_each(use_all) > 20);
}

TEST(every_allocation_of_verifying_may_fail)
{
	assert_true(fail_malloc_each(verify) > 10);
}

TEST(every_operation_of_reading_may_fail)
{
	assert_true(fail_store_each(store, use_all) > 19);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_of_reading_may_fail),
		cmocka_unit_test(every_allocation_of_verifying_may_fail),
		cmocka_unit_test(every_operation_of_reading_may_fail),
	};
	return cmocka_run_group_tests_name("model", tests, fill_store, drop_store);
}

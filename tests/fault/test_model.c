/* Fault: every allocation and every operation of the store fails once while models are opened, read, verified, made
 * and saved. */
#include "support/fail_malloc.h"
#include "support/fail_store.h"
#include "support/inside_make.h"
#include "support/nd4j_make.h"
#include "support/samediff_make.h"
#include "support/samediff_old_make.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/convert.h>
#include <sherd/model.h>
#include <sherd/verify.h>

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_model, sherd_model_close)
SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

static sherd_store *store;

static int fill_store(void **state)
{
	(void)state;
	sherd_store *inner;
	inside_sample inside;
	SHD_AUTO_BUF full = {0}, hollow = {0}, array = {0}, old = {0};
	TRY(sherd_store_open_memory(&inner, NULL));
	store = fail_store_over(inner);
	inside_make(&inside);
	inside_save(&inside, store, "inside.sdc");
	samediff_make_full(&full);
	samediff_make_hollow(&hollow, "w");
	nd4j_put_shape(&array, 1, (const int64_t[]){1}, 'c', 8192);
	nd4j_put_part(&array, "FLOAT", 1, (const float[]){1}, 4);
	TRY(sherd_store_put(store, "full.fb", SHERD_WRITE_NEW, full.data, full.len, NULL));
	samediff_make_old(&old, SAMEDIFF_BETA2);
	TRY(sherd_store_put(store, "old.fb", SHERD_WRITE_NEW, old.data, old.len, NULL));
	TRY(sherd_store_put(store, "missing.fb", SHERD_WRITE_NEW, hollow.data, hollow.len, NULL));
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
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	uint8_t bytes[64];
	TRY(sherd_model_open(&m, store, key, NULL, err));
	TRY(sherd_bundle_of_model(&b, m, err));
	for (size_t i = 0; i < sherd_bundle_count(b); i++)
		TRY(sherd_bundle_read(b, i, 0, bytes, (size_t)sherd_bundle_tensor(b, i)->bytes, err));
	return SHERD_OK;
}

static int use_all(sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) array = NULL;
	TRY(use("full.fb", err));
	TRY(use("h.fb", err));
	TRY(use("old.fb", err));
	TRY(use("missing.fb", err));
	TRY(sherd_bundle_open(&array, store, "h_external/w.bin", NULL, err));
	return sherd_convert_check(array, SHERD_FORMAT_NPY, err);
}

static int verify_one(const char *key, sherd_error *err)
{
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	TRY(sherd_verify(&r, store, key, NULL, err));
	assert_int_equal(sherd_report_errors(r), 0);
	return SHERD_OK;
}

static int verify(sherd_error *err)
{
	TRY(verify_one("full.fb", err));
	return verify_one("inside.sdc", err);
}

static const sherd_model_save_options over = {.format = SHERD_FORMAT_SAMEDIFF_FLATBUFFERS, .replace = true};

static int save(sherd_error *err)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	TRY(sherd_model_open(&m, store, "full.fb", NULL, err));
	return sherd_model_save(m, store, "saved.fb", &over, err);
}

static int read_zeros(void *arg, size_t array, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	(void)arg;
	(void)array;
	(void)offset;
	(void)err;
	memset(buf, 0, len);
	return SHERD_OK;
}

/* With an array in an order that has to be made, and a graph inside. */
static int make(sherd_error *err)
{
	static const uint64_t shape[] = {3, 2};
	static const uint8_t fortran[] = {1, 1};
	static const sherd_tensor arrays[] = {{.dtype = SHERD_F32, .ndim = 2, .shape = shape},
	                                      {.dtype = SHERD_F32, .ndim = 2, .shape = shape}};
	static const sherd_pair pair = {"creation.time", "1"};
	sherd_model_variable w = {.name = "w", .dtype = SHERD_F32, .array = 0}, v = w;
	v.array = 1;
	const sherd_model_graph inner = {.variable_count = 1, .variables = &v};
	const sherd_model_subgraph inside = {"inner", &inner};
	sherd_model_graph graph = {.variable_count = 1,
	                           .variables = &w,
	                           .subgraph_count = 1,
	                           .subgraphs = &inside,
	                           .fortran = {2, fortran}};
	sherd_model_parts parts = {.graph = &graph,
	                           .arrays = arrays,
	                           .array_count = 2,
	                           .pairs = &pair,
	                           .pair_count = 1,
	                           .read = read_zeros};
	SHD_AUTO(sherd_model, sherd_model_close) nested = NULL;
	SHD_AUTO(sherd_model, sherd_model_close) plain = NULL;
	TRY(sherd_model_make(&nested, &parts, err));
	graph.subgraph_count = 0;
	graph.fortran.count = 1;
	parts.array_count = 1;
	TRY(sherd_model_make(&plain, &parts, err));
	return sherd_model_save(plain, store, "made.fb", &over, err);
}

TEST(every_allocation_of_reading_may_fail)
{
	assert_true(fail_malloc_each(use_all) > 20);
}

TEST(every_allocation_of_verifying_may_fail)
{
	assert_true(fail_malloc_each(verify) > 10);
}

TEST(every_allocation_of_saving_may_fail)
{
	assert_true(fail_malloc_each(save) > 20);
}

TEST(every_allocation_of_making_may_fail)
{
	assert_true(fail_malloc_each(make) > 20);
}

/* What is there is the old file or the new one, whole. */
TEST(every_operation_of_saving_may_fail)
{
	long nth = 0;
	bool hit;
	char *data;
	size_t len;
	assert_ok(sherd_store_put(store, "saved.fb", SHERD_WRITE_REPLACE, "old", 3, err));
	do {
		sherd_error e = {0};
		fail_store_at(store, ++nth);
		int rc = save(&e);
		hit = fail_store_hit(store);
		fail_store_at(store, 0);
		assert_int_equal(rc, hit ? SHERD_EIO : SHERD_OK);
		assert_ok(sherd_store_get(&data, &len, store, "saved.fb", 1 << 20, err));
		assert_int_equal(len == 3, hit);
		sherd_free(data);
	} while (hit);
	assert_true(nth > 20);
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
		cmocka_unit_test(every_allocation_of_saving_may_fail),
		cmocka_unit_test(every_allocation_of_making_may_fail),
		cmocka_unit_test(every_operation_of_saving_may_fail),
		cmocka_unit_test(every_operation_of_reading_may_fail),
	};
	return cmocka_run_group_tests_name("model", tests, fill_store, drop_store);
}

/* Fault: every allocation and every operation of the store fails once while containers are saved, opened, read and
 * verified. What stood there stays whole. */
#include "support/container_make.h"
#include "support/fail_malloc.h"
#include "support/fail_store.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/verify.h>

#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_model, sherd_model_close)
SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)
SHD_AUTO_DEFINE(sherd_model_writer, sherd_model_writer_abort)

static sherd_store *store;

static const sherd_model_save_options one = {.compress = SHERD_COMPRESS_DEFLATE, .level = 2, .replace = true};
static const sherd_model_save_options set = {.shards = 2, .replace = true};
static const sherd_model_save_options other = {.shards = 3, .replace = true};

static int fill_store(void **state)
{
	(void)state;
	sherd_store *inner;
	TRY(sherd_store_open_memory(&inner, NULL));
	store = fail_store_over(inner);
	container_write(store, "one", false, &one, 0);
	container_write(store, "set", false, &set, 0);
	return 0;
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
	uint8_t bytes[256];
	TRY(sherd_model_open(&m, store, key, NULL, err));
	TRY(sherd_bundle_of_model(&b, m, err));
	for (size_t i = 0; i < sherd_bundle_count(b); i++)
		TRY(sherd_bundle_read(b, i, 1, bytes, (size_t)sherd_bundle_tensor(b, i)->bytes - 1, err));
	return SHERD_OK;
}

static int use_one(sherd_error *err)
{
	return use("one", err);
}

static int use_set(sherd_error *err)
{
	return use("set", err);
}

static int salvage(const char *key, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	SHD_AUTO(sherd_report, sherd_report_close) lost = NULL;
	TRY(sherd_bundle_salvage(&b, &lost, store, key, NULL, err));
	assert_int_equal(sherd_report_errors(lost), 0);
	assert_int_equal(sherd_bundle_count(b), CONTAINER_ARRAYS);
	return SHERD_OK;
}

static int salvage_one(sherd_error *err)
{
	return salvage("one", err);
}

static int salvage_set(sherd_error *err)
{
	return salvage("set", err);
}

static int verify(const char *key, sherd_error *err)
{
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	TRY(sherd_verify(&r, store, key, NULL, err));
	assert_int_equal(sherd_report_errors(r), 0);
	return SHERD_OK;
}

static int verify_one(sherd_error *err)
{
	return verify("one", err);
}

static int verify_set(sherd_error *err)
{
	return verify("set", err);
}

static int save(const char *key, const sherd_model_save_options *options, sherd_error *err)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	TRY(sherd_model_open(&m, store, key, NULL, err));
	return sherd_model_save(m, store, key, options, err);
}

static int save_one(sherd_error *err)
{
	return save("one", &one, err);
}

static int save_set(sherd_error *err)
{
	return save("set", &set, err);
}

/* Into another number of shards, and back. */
static int save_other(sherd_error *err)
{
	TRY(save("set", &other, err));
	return save("set", &set, err);
}

/* Into one file, and back. */
static int save_file(sherd_error *err)
{
	TRY(save("set", &one, err));
	return save("set", &set, err);
}

static int stream(sherd_error *err)
{
	SHD_AUTO(sherd_model_writer, sherd_model_writer_abort) w = NULL;
	const sherd_model_parts *p = container_parts(false);
	uint8_t bytes[256];
	TRY(sherd_model_writer_open(&w, store, "one", p, &one, err));
	for (size_t i = 0; i < p->array_count; i++) {
		TRY(container_read(NULL, i, 0, bytes, (size_t)p->arrays[i].bytes, err));
		TRY(sherd_model_writer_append(w, i, bytes, (size_t)p->arrays[i].bytes, err));
	}
	return sherd_model_writer_commit(TAKE(w), err);
}

typedef int call(sherd_error *err);

/* After each failure both are whole; of a save, only what tidies up afterwards may fail silently. */
static void check_run(int rc, bool hit, bool saves, int code, const sherd_error *got)
{
	if (rc != (hit ? code : SHERD_OK) && !(saves && rc == SHERD_OK))
		fail_msg("%d: %s", rc, got->message);
	assert_int_equal(got->code, rc);
	assert_int_equal(container_verify(store, "one", NULL), 0);
	assert_int_equal(container_verify(store, "set", NULL), 0);
	assert_ok(use_one(err));
	assert_ok(use_set(err));
}

static void fail_each_allocation(call *c, bool saves)
{
	bool hit = true;
	for (long nth = 1; hit; nth++) {
		sherd_error err = {0};
		fail_malloc_at(nth);
		int rc = c(&err);
		hit = fail_malloc_hit();
		fail_malloc_at(0);
		check_run(rc, hit, saves, SHERD_ENOMEM, &err);
	}
}

static void fail_each_operation(call *c, bool saves)
{
	bool hit = true;
	for (long nth = 1; hit; nth++) {
		sherd_error err = {0};
		fail_store_at(store, nth);
		int rc = c(&err);
		hit = fail_store_hit(store);
		fail_store_at(store, 0);
		check_run(rc, hit, saves, SHERD_EIO, &err);
	}
}

static call *const reads[] = {use_one, use_set, verify_one, verify_set, salvage_one, salvage_set};
static call *const writes[] = {save_one, stream, save_set, save_other, save_file};

TEST(every_allocation_of_reading_may_fail)
{
	for (size_t i = 0; i < COUNT_OF(reads); i++)
		fail_each_allocation(reads[i], false);
}

TEST(every_operation_of_reading_may_fail)
{
	for (size_t i = 0; i < COUNT_OF(reads); i++)
		fail_each_operation(reads[i], false);
}

TEST(every_allocation_of_saving_may_fail)
{
	for (size_t i = 0; i < COUNT_OF(writes); i++)
		fail_each_allocation(writes[i], true);
}

TEST(every_operation_of_saving_may_fail)
{
	for (size_t i = 0; i < COUNT_OF(writes); i++)
		fail_each_operation(writes[i], true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_of_reading_may_fail),
		cmocka_unit_test(every_operation_of_reading_may_fail),
		cmocka_unit_test(every_allocation_of_saving_may_fail),
		cmocka_unit_test(every_operation_of_saving_may_fail),
	};
	return cmocka_run_group_tests_name("container", tests, fill_store, drop_store);
}

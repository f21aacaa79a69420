/* Fault: every allocation and every operation of the store fails once while SDNB models are saved, opened, read and
 * verified. What could not be saved is not there. */
#include "support/ckpt_place.h"
#include "support/fail_malloc.h"
#include "support/fail_store.h"
#include "support/sdnb_make.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/verify.h>

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_model, sherd_model_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

static sherd_store *store;
static sherd_model *sample;

static void put_archive(void)
{
	char *data;
	size_t len;
	SHD_AUTO_BUF packed = {0};
	assert_ok(sherd_model_save(sample, store, "plain", &(sherd_model_save_options){.format = SHERD_FORMAT_SDNB},
	                           err));
	assert_ok(sherd_store_get(&data, &len, store, "plain", 1 << 30, err));
	sdnb_put_deflated(&packed, "model", (const uint8_t *)data, len);
	assert_ok(sherd_store_put(store, "deflated.sdz", SHERD_WRITE_NEW, packed.data, packed.len, err));
	sherd_free(data);
}

static int fill_store(void **state)
{
	(void)state;
	sherd_store *inner;
	TRY(sherd_store_open_memory(&inner, NULL));
	store = fail_store_over(inner);
	sample = sdnb_sample(1, true);
	assert_ok(sherd_model_save(sample, store, "set",
	                           &(sherd_model_save_options){.format = SHERD_FORMAT_SDNB, .shards = 3}, err));
	put_archive();
	return 0;
}

static int drop_store(void **state)
{
	(void)state;
	sherd_model_close(sample);
	sherd_store_close(store);
	return 0;
}

static int save_as(sherd_format format, uint32_t shards, sherd_error *err)
{
	const sherd_model_save_options o = {.format = format, .shards = shards};
	return sherd_model_save(sample, store, "new", &o, err);
}

static int save_file(sherd_error *err)
{
	return save_as(SHERD_FORMAT_SDNB, 1, err);
}

static int save_set(sherd_error *err)
{
	return save_as(SHERD_FORMAT_SDNB, 3, err);
}

static int save_archive(sherd_error *err)
{
	return save_as(SHERD_FORMAT_SDZ, 3, err);
}

static int use(const char *key, sherd_error *err)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	sherd_bundle *b = NULL;
	TRY(sherd_model_open(&m, store, key, NULL, err));
	TRY(sherd_bundle_of_model(&b, m, err));
	int rc = SHERD_OK;
	for (size_t i = 0; rc == SHERD_OK && i < sherd_bundle_count(b); i++) {
		uint8_t bytes[512];
		rc = sherd_bundle_read(b, i, 0, bytes, (size_t)sherd_bundle_tensor(b, i)->bytes, err);
	}
	sherd_bundle_close(b);
	return rc;
}

static int read_set(sherd_error *err)
{
	return use("set", err);
}

static int read_archive(sherd_error *err)
{
	return use("deflated.sdz", err);
}

static int verify_archive(sherd_error *err)
{
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	TRY(sherd_verify(&r, store, "deflated.sdz", NULL, err));
	assert_int_equal(sherd_report_errors(r), 0);
	return SHERD_OK;
}

static void remove_new(void)
{
	static const char *const names[] = {"new", "new.shard0-of-3.sdnb", "new.shard1-of-3.sdnb",
	                                    "new.shard2-of-3.sdnb", "new.sdnb.saving"};
	for (size_t i = 0; i < COUNT_OF(names); i++)
		assert_ok(sherd_store_remove(store, names[i], err));
}

typedef int call(sherd_error *err);

/* Calls it with the nth allocation failing, for every n. */
static void fail_each_allocation(call *fn)
{
	bool hit;
	long nth = 0;
	size_t before = object_count(store, "");
	do {
		sherd_error err = {0};
		fail_malloc_at(++nth);
		int rc = fn(&err);
		hit = fail_malloc_hit();
		fail_malloc_at(0);
		if (rc != (hit ? SHERD_ENOMEM : SHERD_OK))
			fail_msg("allocation %ld fails, and the call returns %d: %s", nth, rc, err.message);
		assert_int_equal(err.code, rc);
		if (rc < 0)
			assert_int_equal(object_count(store, ""), before);
	} while (hit);
	assert_true(nth > 10);
	remove_new();
}

/* The same with every operation of the store. Files of arrays whose removal was made to fail may stay, with the claim
 * that tells of them; a claim may stay behind a set that is whole. */
static void fail_each_operation(call *fn)
{
	bool hit;
	long nth = 0;
	do {
		sherd_error err = {0};
		fail_store_at(store, ++nth);
		int rc = fn(&err);
		hit = fail_store_hit(store);
		fail_store_at(store, 0);
		bool tidying = rc == SHERD_OK && hit && fn == save_set && use("new", &err) == SHERD_OK;
		if (tidying)
			remove_new();
		else if (rc != (hit ? SHERD_EIO : SHERD_OK))
			fail_msg("operation %ld fails, and the call returns %d: %s", nth, rc, err.message);
		assert_int_equal(err.code, rc);
	} while (hit);
	assert_true(nth > 3);
	remove_new();
}

static call *const calls[] = {save_file, save_set, save_archive, read_set, read_archive, verify_archive};

TEST(every_allocation_may_fail)
{
	for (size_t i = 0; i < COUNT_OF(calls); i++)
		fail_each_allocation(calls[i]);
}

TEST(every_operation_of_the_store_may_fail)
{
	for (size_t i = 0; i < COUNT_OF(calls); i++)
		fail_each_operation(calls[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(every_operation_of_the_store_may_fail),
	};
	return cmocka_run_group_tests_name("model_sdnb", tests, fill_store, drop_store);
}

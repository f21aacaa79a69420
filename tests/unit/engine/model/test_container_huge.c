/* An array of 5 GiB, more than any FlatBuffers file holds: saved, read, split, joined and verified in little memory. */
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/model.h>
#include <sherd/verify.h>

#include <string.h>
#include <sys/resource.h>

SHD_AUTO_DEFINE(sherd_model, sherd_model_close)
SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

#define BYTES ((uint64_t)5 << 30)
#define MOST_MEMORY_KIB (512 << 10) /* a sanitizer's own is in it; plainly it is a fifth of that */

/* Zeros, but for the place itself at every 64 MiB. */
static int read_huge(void *arg, size_t array, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	const uint64_t step = 64 << 20;
	(void)arg, (void)array, (void)err;
	memset(buf, 0, len);
	for (uint64_t at = (offset + step - 1) / step * step; at + 8 <= offset + len; at += step)
		memcpy((uint8_t *)buf + (at - offset), &at, 8);
	return SHERD_OK;
}

static void make(sherd_model **out)
{
	static const int64_t dims[] = {BYTES};
	static const sherd_model_variable v = {.name = "huge",
	                                       .kind = SHERD_VARIABLE_CONSTANT,
	                                       .dtype = SHERD_U8,
	                                       .has_id = true,
	                                       .id = {1, 0},
	                                       .shape = {1, dims}};
	static const sherd_model_graph graph = {.variable_count = 1, .variables = &v};
	const sherd_tensor array = {.dtype = SHERD_U8, .ndim = 1, .shape = (const uint64_t[]){BYTES}};
	const sherd_model_parts parts = {.graph = &graph, .arrays = &array, .array_count = 1, .read = read_huge};
	assert_ok(sherd_model_make(out, &parts, err));
}

static void check(sherd_store *store, const char *key)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	static const uint64_t places[] = {0, 64 << 20, (uint64_t)4 << 30, BYTES - (64 << 20)};
	assert_ok(sherd_bundle_open(&b, store, key, NULL, err));
	assert_int_equal(sherd_bundle_tensor(b, 0)->bytes, BYTES);
	for (size_t i = 0; i < COUNT_OF(places); i++) {
		uint64_t got = 1;
		assert_ok(sherd_bundle_read(b, 0, places[i], &got, sizeof(got), err));
		assert_int_equal(got, places[i]);
	}
	uint8_t last = 1;
	assert_ok(sherd_bundle_read(b, 0, BYTES - 1, &last, 1, err));
	assert_int_equal(last, 0);
}

static void save(sherd_store *store, const sherd_model *m, const char *key, uint32_t shards)
{
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	const sherd_model_save_options packed = {.compress = SHERD_COMPRESS_DEFLATE, .shards = shards};
	assert_ok(sherd_model_save(m, store, key, &packed, err));
	check(store, key);
	assert_ok(sherd_verify(&r, store, key, NULL, err));
	assert_int_equal(sherd_report_errors(r), 0);
}

TEST(an_array_of_5_gib_goes_through_in_little_memory)
{
	SHD_AUTO(sherd_model, sherd_model_close) made = NULL;
	SHD_AUTO(sherd_model, sherd_model_close) one = NULL;
	SHD_AUTO(sherd_model, sherd_model_close) set = NULL;
	sherd_store *store = NULL;
	char *folder = scratch_make();
	struct rusage usage;
	make(&made);
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	save(store, made, "huge.sdc", 1);
	assert_ok(sherd_model_open(&one, store, "huge.sdc", NULL, err));
	save(store, one, "split", 2);
	assert_ok(sherd_model_open(&set, store, "split", NULL, err));
	save(store, set, "joined.sdc", 1);
	sherd_model_close(TAKE(set));
	sherd_model_close(TAKE(one));
	sherd_store_close(store);
	scratch_remove(folder);
	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	assert_true(usage.ru_maxrss < MOST_MEMORY_KIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(an_array_of_5_gib_goes_through_in_little_memory)};
	return cmocka_run_group_tests_name("container_huge", tests, NULL, NULL);
}

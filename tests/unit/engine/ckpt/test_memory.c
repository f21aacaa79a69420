/* Memory stays bounded whatever the size of a set: saving, verifying, resharding and converting it. */
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/ckpt.h>
#include <sherd/convert.h>
#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sanitizers keep what was freed, and shadows of what is touched. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MOST_MIB UINT64_MAX
#define TENSOR_MIB 4
#else
#define MOST_MIB 48
#define TENSOR_MIB 64
#endif

#define MIB (UINT64_C(1) << 20)
enum { SHARDS = 3, WORKERS = 2 };

SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)
SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

static sherd_store *store;
static sherd_pool *pool;
static char *folder;

/* Greatest resident size of the process since the last reset. */
static uint64_t peak(void)
{
	char line[256];
	unsigned long long kib = 0;
	FILE *status = fopen("/proc/self/status", "r");
	assert_non_null(status);
	while (fgets(line, sizeof(line), status))
		if (strncmp(line, "VmHWM:", 6) == 0)
			kib = strtoull(line + 6, NULL, 10);
	(void)fclose(status);
	assert_true(kib > 0);
	return kib << 10;
}

static uint64_t begin(void)
{
	FILE *refs = fopen("/proc/self/clear_refs", "w");
	if (refs) {
		(void)fputs("5", refs);
		(void)fclose(refs);
	}
	return peak();
}

static void end(uint64_t before, const char *what)
{
	uint64_t mib = (peak() - before) / MIB;
	if (mib > MOST_MIB)
		fail_msg("%s took %llu MiB for tensors of %u MiB each", what, (unsigned long long)mib, TENSOR_MIB);
}

/* Nobody holds these bytes. */
static int make_bytes(void *arg, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	(void)err;
	memset(buf, (int)(offset >> 20) + *(const int *)arg, len);
	return SHERD_OK;
}

static int make_set(void **state)
{
	static int seeds[SHARDS] = {1, 2, 3};
	static const char *const names[SHARDS] = {"a", "b", "c"};
	static const uint64_t shape[2] = {TENSOR_MIB * 16, MIB / 16};
	sherd_ckpt_item items[SHARDS];
	sherd_ckpt_shard_items shards[SHARDS];
	(void)state;
	folder = scratch_make();
	for (size_t i = 0; i < SHARDS; i++) {
		items[i] = (sherd_ckpt_item){
			.tensor = {names[i], SHERD_U8, 2, shape, 0}, .read = make_bytes, .arg = &seeds[i]};
		shards[i] = (sherd_ckpt_shard_items){&items[i], 1};
	}
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	assert_ok(sherd_pool_open(&pool, WORKERS, err));
	uint64_t before = begin();
	assert_ok(sherd_ckpt_save(store, "m", shards, &(sherd_ckpt_save_options){.world = SHARDS, .pool = pool}, err));
	end(before, "saving");
	return 0;
}

static int remove_set(void **state)
{
	(void)state;
	sherd_pool_close(pool);
	sherd_store_close(store);
	scratch_remove(folder);
	return 0;
}

TEST(resharding_takes_no_more_for_more)
{
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	for (int cut = 0; cut < 2; cut++) {
		sherd_ckpt_save_options o = {.world = 5, .pool = pool, .replace = true};
		uint64_t before = begin();
		sherd_ckpt_close(TAKE(c));
		assert_ok(sherd_ckpt_open(&c, store, "m", NULL, err));
		assert_ok(sherd_ckpt_reshard(c, store, "n", cut, &o, err));
		end(before, cut ? "cutting" : "resharding");
	}
}

TEST(verifying_takes_no_more_for_more)
{
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	uint64_t before = begin();
	assert_ok(sherd_verify(&r, store, "m", &(sherd_verify_options){.pool = pool}, err));
	end(before, "verifying");
	assert_int_equal(sherd_report_errors(r), 0);
	assert_true(sherd_report_checked_bytes(r) > SHARDS * TENSOR_MIB * MIB);
}

TEST(converting_takes_no_more_for_more)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	sherd_convert_options o = {.pool = pool};
	uint64_t before = begin();
	assert_ok(sherd_bundle_open(&b, store, "m", NULL, err));
	assert_ok(sherd_convert(b, store, "m.safetensors", SHERD_FORMAT_SAFETENSORS, &o, err));
	end(before, "converting");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resharding_takes_no_more_for_more),
		cmocka_unit_test(verifying_takes_no_more_for_more),
		cmocka_unit_test(converting_takes_no_more_for_more),
	};
	return cmocka_run_group_tests_name("ckpt_memory", tests, make_set, remove_set);
}

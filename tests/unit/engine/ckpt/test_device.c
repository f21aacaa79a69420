/* Loading into a device: memory that can only be reached by the function that copies into it. */
#include "support/ckpt_place.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/ckpt.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)
#define CKPT SHD_AUTO(sherd_ckpt, sherd_ckpt_close)

enum { ROWS = 300, COLUMNS = 5000, BYTES = ROWS * COLUMNS };

/* Addresses that end the process when they are followed, and what lies there. */
typedef struct device {
	uint8_t *at;
	uint8_t *holds;
	atomic_size_t calls;
	size_t fails_at; /* the call that does; 0: none */
} device;

static void device_open(device *d)
{
	*d = (device){.holds = calloc(1, BYTES)};
	d->at = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(d->holds && d->at != MAP_FAILED);
}

static void device_close(device *d)
{
	(void)munmap(d->at, BYTES);
	free(d->holds);
}

static int copy_in(void *arg, void *dst, const void *src, size_t len, sherd_error *err)
{
	device *d = arg;
	size_t at = (size_t)((uint8_t *)dst - d->at), call = atomic_fetch_add(&d->calls, 1) + 1;
	if (d->fails_at == call)
		return shd_fail(err, SHERD_EIO, "io", "the device is on fire");
	assert_true(len && at <= BYTES && len <= BYTES - at);
	memcpy(d->holds + at, src, len);
	return SHERD_OK;
}

/* A matrix that is whole, and one whose columns are cut in two. */
static uint8_t *save(sherd_store *store, const char *prefix, sherd_digest digest)
{
	static const uint64_t shape[] = {ROWS, COLUMNS}, half[] = {ROWS, COLUMNS / 2}, left[] = {0, 0},
			      right[] = {0, COLUMNS / 2};
	uint8_t *bytes = malloc(BYTES), *halves = malloc(BYTES);
	assert_true(bytes && halves);
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 251);
	for (size_t row = 0; row < ROWS; row++)
		for (size_t h = 0; h < 2; h++)
			memcpy(halves + h * BYTES / 2 + row * (COLUMNS / 2), bytes + row * COLUMNS + h * (COLUMNS / 2),
			       COLUMNS / 2);
	const sherd_ckpt_item items[2][2] = {
		{{.tensor = {"cut", SHERD_U8, 2, half}, .global_shape = shape, .global_offset = left, .data = halves},
	         {.tensor = {"whole", SHERD_U8, 2, shape}, .data = bytes}},
		{{.tensor = {"cut", SHERD_U8, 2, half},
	          .global_shape = shape,
	          .global_offset = right,
	          .data = halves + BYTES / 2}}};
	const sherd_ckpt_shard_items shards[] = {{items[0], 2}, {items[1], 1}};
	assert_ok(
		sherd_ckpt_save(store, prefix, shards, &(sherd_ckpt_save_options){.world = 2, .digest = digest}, err));
	free(halves);
	return bytes;
}

static void assert_all_arrive(sherd_store *store, const char *prefix, sherd_digest digest)
{
	sherd_pool *pool;
	device d;
	CKPT c = NULL;
	uint8_t *bytes = save(store, prefix, digest);
	assert_ok(sherd_pool_open(&pool, 2, err));
	assert_ok(sherd_ckpt_open(&c, store, prefix, NULL, err));
	static const char *const names[] = {"whole", "cut"};
	for (int check = SHERD_CHECK_CRC; check <= SHERD_CHECK_DIGEST; check++)
		for (int i = 0; i < 4; i++) {
			static const uint64_t at[] = {17, 2400}, shape[] = {100, 200};
			device_open(&d);
			const sherd_memory memory = {SHERD_MEMORY_DEVICE, copy_in, &d};
			sherd_ckpt_want want = {
				.tensor = sherd_ckpt_find(c, names[i % 2]), .buf = d.at, .memory = &memory};
			const sherd_ckpt_load_options o = {.check = (sherd_ckpt_check)check,
			                                   .pool = i % 2 ? pool : NULL};
			if (i >= 2) {
				want.at = at;
				want.shape = shape;
			}
			assert_ok(sherd_ckpt_load(c, &want, 1, &o, err));
			assert_true(atomic_load(&d.calls) > 0);
			if (i < 2)
				assert_memory_equal(d.holds, bytes, BYTES);
			for (size_t row = 0; i >= 2 && row < shape[0]; row++)
				assert_memory_equal(d.holds + row * shape[1], bytes + (at[0] + row) * COLUMNS + at[1],
				                    shape[1]);
			device_close(&d);
		}
	sherd_pool_close(pool);
	free(bytes);
}

TEST(tensors_and_slices_arrive_in_a_device_whatever_is_checked)
{
	assert_all_arrive(STORE, "c", SHERD_DIGEST_SHA256);
	assert_all_arrive(STORE, "d", SHERD_DIGEST_BLAKE3);
}

TEST(a_host_and_a_device_are_filled_by_one_load)
{
	device d;
	CKPT c = NULL;
	uint8_t *bytes = save(STORE, "c", SHERD_DIGEST_SHA256), *got = calloc(1, BYTES);
	assert_ok(sherd_ckpt_open(&c, STORE, "c", NULL, err));
	device_open(&d);
	const sherd_memory memory = {SHERD_MEMORY_DEVICE, copy_in, &d}, host = {.kind = SHERD_MEMORY_HOST};
	const sherd_ckpt_want wants[] = {{.tensor = 0, .buf = got, .memory = &host},
	                                 {.tensor = 1, .buf = d.at, .memory = &memory}};
	assert_ok(sherd_ckpt_load(c, wants, 2, NULL, err));
	assert_memory_equal(got, bytes, BYTES);
	assert_memory_equal(d.holds, bytes, BYTES);
	device_close(&d);
	free(got);
	free(bytes);
}

/* Which of the destinations it was is told, and no object is blamed. */
static void assert_failure_is_told(sherd_store *store, const char *prefix, sherd_digest digest)
{
	CKPT c = NULL;
	uint8_t *bytes = save(store, prefix, digest), *got = calloc(1, BYTES);
	assert_ok(sherd_ckpt_open(&c, store, prefix, NULL, err));
	for (int check = SHERD_CHECK_CRC; check <= SHERD_CHECK_DIGEST; check++)
		for (size_t tensor = 0; tensor < 2; tensor++) {
			device d;
			sherd_error e = {0};
			device_open(&d);
			d.fails_at = 1;
			const sherd_memory memory = {SHERD_MEMORY_DEVICE, copy_in, &d};
			const sherd_ckpt_want wants[] = {{.tensor = 1 - tensor, .buf = got},
			                                 {.tensor = tensor, .buf = d.at, .memory = &memory}};
			const sherd_ckpt_load_options o = {.check = (sherd_ckpt_check)check};
			assert_int_equal(sherd_ckpt_load(c, wants, 2, &o, &e), SHERD_EIO);
			assert_string_equal(e.message, "the device is on fire");
			assert_string_equal(e.object, "");
			assert_int_equal(e.index, 1);
			device_close(&d);
		}
	free(got);
	free(bytes);
}

TEST(what_a_device_fails_with_is_what_the_load_fails_with)
{
	assert_failure_is_told(STORE, "c", SHERD_DIGEST_SHA256);
	assert_failure_is_told(STORE, "d", SHERD_DIGEST_BLAKE3);
}

TEST(a_device_without_a_way_in_is_refused)
{
	CKPT c = NULL;
	uint8_t *bytes = save(STORE, "c", SHERD_DIGEST_SHA256), got[1];
	const sherd_memory none = {.kind = SHERD_MEMORY_DEVICE}, odd = {(sherd_memory_kind)7, copy_in, NULL};
	assert_ok(sherd_ckpt_open(&c, STORE, "c", NULL, err));
	const sherd_ckpt_want wants[] = {{.tensor = 0, .buf = got, .memory = &none},
	                                 {.tensor = 0, .buf = got, .memory = &odd}};
	for (size_t i = 0; i < COUNT_OF(wants); i++)
		assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_load(c, &wants[i], 1, NULL, err));
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_ON_BOTH(tensors_and_slices_arrive_in_a_device_whatever_is_checked),
		CASE_ON_BOTH(a_host_and_a_device_are_filled_by_one_load),
		CASE_ON_BOTH(what_a_device_fails_with_is_what_the_load_fails_with),
		CASE_ON_BOTH(a_device_without_a_way_in_is_refused),
	};
	return cmocka_run_group_tests_name("ckpt_device", tests, NULL, NULL);
}

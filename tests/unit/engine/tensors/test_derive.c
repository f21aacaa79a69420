/* One bundle made of several: chosen, renamed, cast, with the pairs of all. */
#include "support/memory_store.h"
#include "support/test.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/pool.h"
#include "codec/floats.h"
#include "format/tensor/gguf.h"
#include "format/tensor/safetensors.h"

#include <sherd/convert.h>

#include <math.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)

enum { COUNT = 700000 };

/* A file with one vector of floats. */
static sherd_bundle *floats_of(const char *key, const char *name, const float *values, uint64_t count,
                               const sherd_pair *pair)
{
	SHD_AUTO_BUF file = {0};
	const sherd_tensor t = {name, SHERD_F32, 1, &count, count * 4, NULL};
	size_t order;
	sherd_bundle *b;
	assert_ok(shd_safetensors_encode(&t, 1, pair, pair ? 1 : 0, &file, &order, err));
	shd_buf_append(&file, values, (size_t)count * 4);
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, file.data, file.len, err));
	assert_ok(sherd_bundle_open(&b, store, key, NULL, err));
	return b;
}

static float values[COUNT];

/* Every 1000th value is too large for F16, and every 1001st infinite from the beginning. */
static void fill_values(void)
{
	for (size_t i = 0; i < COUNT; i++)
		values[i] = i % 1001 == 1000 ? INFINITY : i % 1000 == 999 ? -1e9f : (float)(i % 4096) / 8;
}

static sherd_bundle *cast_of(const sherd_bundle *from, sherd_dtype dtype)
{
	sherd_bundle *b;
	const sherd_derive_options o = {.dtype = dtype};
	assert_ok(sherd_bundle_derive(&b, &from, 1, &o, NULL, err));
	return b;
}

TEST(a_cast_tensor_is_read_from_any_byte_to_any_other)
{
	static uint16_t want[COUNT];
	static uint8_t got[2 * COUNT + 1];
	fill_values();
	SHD_AUTO(sherd_bundle, sherd_bundle_close) from = floats_of("a", "w", values, COUNT, NULL);
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = cast_of(from, SHERD_F16);
	const sherd_tensor *t = sherd_bundle_tensor(b, 0);
	assert_int_equal(t->dtype, SHERD_F16);
	assert_int_equal(t->bytes, 2 * COUNT);
	shd_floats_convert(SHERD_F32, values, SHERD_F16, want, COUNT);
	static const size_t cases[][2] = {{0, 2 * COUNT}, {1, 5}, {3, 1}, {0, 1}, {2 * COUNT - 1, 1}, {777, 1200001}};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		memset(got, 0xee, sizeof(got));
		assert_ok(sherd_bundle_read(b, 0, cases[i][0], got + i % 2, cases[i][1], err));
		assert_memory_equal(got + i % 2, (const uint8_t *)want + cases[i][0], cases[i][1]);
	}
}

static int read_chunk(void *arg, size_t index, sherd_error *err)
{
	static const size_t chunk = 50001;
	uint8_t buf[50001];
	size_t at = index * chunk;
	return sherd_bundle_read(arg, 0, at, buf, 2 * COUNT - at < chunk ? 2 * COUNT - at : chunk, err);
}

/* By several threads, in chunks that cut elements in two, and then all of it again. */
TEST(what_became_infinite_is_counted_once)
{
	uint64_t want = 0;
	sherd_pool *pool;
	static uint8_t all[2 * COUNT];
	fill_values();
	for (size_t i = 0; i < COUNT; i++)
		want += isfinite(values[i]) && fabsf(values[i]) > 65504;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) from = floats_of("a", "w", values, COUNT, NULL);
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = cast_of(from, SHERD_F16);
	assert_int_equal(sherd_bundle_overflowed(b), 0);
	assert_ok(sherd_pool_open(&pool, 3, err));
	assert_ok(shd_pool_run(pool, (2 * COUNT + 50000) / 50001, read_chunk, b, err));
	sherd_pool_close(pool);
	assert_int_equal(sherd_bundle_overflowed(b), want);
	assert_ok(sherd_bundle_read(b, 0, 0, all, sizeof(all), err));
	assert_int_equal(sherd_bundle_overflowed(b), want);
	assert_int_equal(sherd_bundle_overflowed(from), 0);
	SHD_AUTO(sherd_bundle, sherd_bundle_close) wide = cast_of(from, SHERD_BF16);
	assert_ok(sherd_bundle_read(wide, 0, 0, all, sizeof(all), err));
	assert_int_equal(sherd_bundle_overflowed(wide), 0);
}

/* Q8_0: two blocks of 32, scales 1 and 2, values 0 to 63. */
TEST(blocks_are_decoded_from_any_byte)
{
	static const uint64_t shape[] = {2, 32};
	const sherd_tensor t = {"q", SHERD_Q8_0, 2, shape, 68, NULL};
	SHD_AUTO_BUF file = {0};
	SHD_AUTO(sherd_bundle, sherd_bundle_close) from = NULL;
	uint32_t alignment;
	float all[64], one;
	assert_ok(shd_gguf_encode(&t, 1, NULL, 0, NULL, 0, &file, &alignment, err));
	for (unsigned i = 0; i < 64; i++) {
		if (i % 32 == 0)
			shd_buf_u16(&file, i ? 0x4000 : 0x3c00);
		shd_buf_u8(&file, (uint8_t)i);
	}
	assert_ok(sherd_store_put(store, "q.gguf", SHERD_WRITE_NEW, file.data, file.len, err));
	assert_ok(sherd_bundle_open(&from, store, "q.gguf", NULL, err));
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = cast_of(from, SHERD_F32);
	assert_int_equal(sherd_bundle_tensor(b, 0)->bytes, 256);
	assert_ok(sherd_bundle_read(b, 0, 0, all, sizeof(all), err));
	for (unsigned i = 0; i < 64; i++)
		assert_true(all[i] == (float)(i < 32 ? i : 2 * i));
	assert_ok(sherd_bundle_read(b, 0, 4 * 40, &one, 4, err));
	assert_true(one == 80.0f);
	SHD_AUTO(sherd_bundle, sherd_bundle_close) half = cast_of(from, SHERD_BF16);
	assert_int_equal(sherd_bundle_tensor(half, 0)->bytes, 128);
}

TEST(sources_that_clash_are_refused_unless_one_is_preferred)
{
	static const float one = 1, two = 2;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) a = floats_of("a", "w", &one, 1, &(sherd_pair){"k", "x"});
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = floats_of("b", "w", &two, 1, &(sherd_pair){"l", "y"});
	SHD_AUTO(sherd_bundle, sherd_bundle_close) c = floats_of("c", "v", &two, 1, &(sherd_pair){"k", "z"});
	const sherd_bundle *both[] = {a, b}, *pairs[] = {a, c};
	sherd_derive_options o = {0};
	sherd_derive_result r;
	sherd_bundle *out = NULL;
	sherd_error e = {0};
	assert_int_equal(sherd_bundle_derive(&out, both, 2, &o, NULL, &e), SHERD_EEXIST);
	assert_string_equal(e.reason, "clash");
	assert_int_equal(e.index, 1);
	assert_refused(SHERD_EEXIST, "clash", sherd_bundle_derive(&out, pairs, 2, &o, NULL, err));
	for (o.prefer = SHERD_PREFER_FIRST; o.prefer <= SHERD_PREFER_LAST; o.prefer++) {
		SHD_AUTO(sherd_bundle, sherd_bundle_close) d = NULL;
		SHD_AUTO(sherd_bundle, sherd_bundle_close) f = NULL;
		const sherd_pair *p;
		float got;
		assert_ok(sherd_bundle_derive(&d, both, 2, &o, &r, err));
		assert_int_equal(r.tensors, 1);
		assert_int_equal(r.overridden, 1);
		assert_ok(sherd_bundle_read(d, 0, 0, &got, 4, err));
		assert_true(got == (o.prefer == SHERD_PREFER_FIRST ? one : two));
		assert_int_equal(sherd_bundle_pairs(&p, d), 2);
		assert_ok(sherd_bundle_derive(&f, pairs, 2, &o, &r, err));
		assert_int_equal(sherd_bundle_pairs(&p, f), 1);
		assert_string_equal(p[0].value, o.prefer == SHERD_PREFER_FIRST ? "x" : "z");
	}
	/* Of one source nobody can choose. */
	static const char *const rename[] = {"s/./n/"};
	const sherd_bundle *two_names[] = {a, c};
	const sherd_derive_options same = {.renames = rename, .rename_count = 1, .prefer = SHERD_PREFER_LAST};
	SHD_AUTO(sherd_bundle, sherd_bundle_close) merged = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) g = NULL;
	assert_ok(sherd_bundle_derive(&merged, two_names, 2, &(sherd_derive_options){.prefer = SHERD_PREFER_LAST}, NULL,
	                              err));
	const sherd_bundle *whole = merged;
	assert_refused(SHERD_EEXIST, "clash", sherd_bundle_derive(&out, &whole, 1, &same, NULL, err));
	assert_ok(sherd_bundle_derive(&g, two_names, 2, &same, &r, err));
	assert_int_equal(r.tensors, 1);
}

TEST(types_of_metadata_survive_merging)
{
	static const uint32_t seven = 7;
	static const char *const text = "llama";
	const sherd_value v[] = {{"n", SHERD_U32, false, 1, &seven, NULL}, {"arch", SHERD_UTF8, false, 1, &text, NULL}};
	const sherd_value *found;
	sherd_pair *pairs;
	size_t count;
	uint32_t alignment;
	SHD_AUTO_BUF file = {0};
	static const float one = 1;
	assert_ok(sherd_pairs_of_values(&pairs, &count, v, 2, err));
	assert_ok(shd_gguf_encode(NULL, 0, pairs, count, v, 1, &file, &alignment, err));
	sherd_free(pairs);
	assert_ok(sherd_store_put(store, "m.gguf", SHERD_WRITE_NEW, file.data, file.len, err));
	SHD_AUTO(sherd_bundle, sherd_bundle_close) a = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = floats_of("b", "w", &one, 1, &(sherd_pair){"arch", "llama"});
	SHD_AUTO(sherd_bundle, sherd_bundle_close) c = NULL;
	assert_ok(sherd_bundle_open(&a, store, "m.gguf", NULL, err));
	const sherd_bundle *from[] = {b, a};
	assert_ok(sherd_bundle_derive(&c, from, 2, NULL, NULL, err));
	assert_int_equal(sherd_bundle_values(&found, c), 1);
	assert_int_equal(found[0].type, SHERD_U32);
	assert_int_equal(*(const uint32_t *)found[0].items, 7);
}

TEST(mistakes_of_the_caller_are_told)
{
	static const float one = 1;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) a = floats_of("a", "w", &one, 1, NULL);
	const sherd_bundle *from = a;
	sherd_bundle *out;
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_bundle_derive(&out, &from, 0, NULL, NULL, err));
	assert_refused(SHERD_EINVAL, "bad-argument",
	               sherd_bundle_derive(&out, &from, 1, &(sherd_derive_options){.dtype = SHERD_I8}, NULL, err));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, memory_store_open, memory_store_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_cast_tensor_is_read_from_any_byte_to_any_other),
		CASE(what_became_infinite_is_counted_once),
		CASE(blocks_are_decoded_from_any_byte),
		CASE(sources_that_clash_are_refused_unless_one_is_preferred),
		CASE(types_of_metadata_survive_merging),
		CASE(mistakes_of_the_caller_are_told),
	};
	return cmocka_run_group_tests_name("derive", tests, NULL, NULL);
}

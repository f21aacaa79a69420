/* Bundles of the caller's tensors, and loading many tensors, or boxes of them, at once. */
#include "support/memory_store.h"
#include "support/test.h"

#include "base/error.h"
#include "base/rng.h"

#include <sherd/convert.h>

#include <string.h>

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_pool, sherd_pool_close)
#define BUNDLE SHD_AUTO(sherd_bundle, sherd_bundle_close)
#define DIMS(...) ((const uint64_t[]){__VA_ARGS__})

enum { A = 60, B = 70, C = 50 };
static uint16_t cube[A][B][C];
static uint8_t blocks[4 * 18]; /* two rows of two blocks of Q4_0 */

static const sherd_pair pairs[] = {{"who", "me"}};

static int make(sherd_bundle **out, sherd_error *err)
{
	for (size_t i = 0; i < (size_t)A * B * C; i++)
		((uint16_t *)cube)[i] = (uint16_t)(i * 7);
	for (size_t i = 0; i < sizeof(blocks); i++)
		blocks[i] = (uint8_t)i;
	const sherd_tensor tensors[] = {
		{"cube", SHERD_U16, 3, DIMS(A, B, C), 0},
		{"blocks", SHERD_Q4_0, 2, DIMS(2, 64), 0},
		{"one", SHERD_F32, 0, NULL, 0},
		{"none", SHERD_I64, 2, DIMS(0, 9), 0},
	};
	static const float one = 1.5f;
	const void *const data[] = {cube, blocks, &one, NULL};
	return sherd_bundle_make(out, &(sherd_bundle_parts){tensors, data, COUNT_OF(tensors), pairs, 1}, err);
}

static void assert_box(const sherd_bundle *b, const sherd_bundle_options *o, const uint64_t *at, const uint64_t *shape)
{
	static uint16_t got[A * B * C];
	memset(got, 0xff, sizeof(got));
	sherd_bundle_want want = {sherd_bundle_find(b, "cube"), at, shape, got};
	assert_ok(sherd_bundle_load(b, &want, 1, o, err));
	const uint16_t *next = got;
	for (uint64_t i = 0; i < shape[0]; i++)
		for (uint64_t k = 0; k < shape[1]; k++)
			for (uint64_t l = 0; l < shape[2]; l++)
				assert_int_equal(*next++, cube[at[0] + i][at[1] + k][at[2] + l]);
}

TEST(what_is_made_can_be_converted_and_read_again)
{
	BUNDLE made = NULL;
	BUNDLE read = NULL;
	const sherd_pair *found;
	assert_ok(make(&made, err));
	assert_int_equal(sherd_bundle_format(made), SHERD_FORMAT_UNKNOWN);
	assert_int_equal(sherd_bundle_pairs(&found, made), 1);
	BUNDLE some = NULL;
	const char *names[] = {"cube", "one", "none"}; /* safetensors has no place for blocks */
	assert_ok(
		sherd_bundle_select(&some, made, &(sherd_bundle_select_options){.names = names, .name_count = 3}, err));
	assert_ok(sherd_convert(some, store, "f", SHERD_FORMAT_SAFETENSORS, NULL, err));
	assert_ok(sherd_bundle_open(&read, store, "f", NULL, err));
	assert_int_equal(sherd_bundle_count(read), 3);
	assert_box(read, NULL, DIMS(0, 0, 0), DIMS(A, B, C));
}

static uint64_t random_below(uint64_t *state, uint64_t most)
{
	*state = shd_splitmix64(*state);
	return *state % most;
}

TEST(any_box_is_what_the_tensor_holds_there)
{
	BUNDLE b = NULL;
	SHD_AUTO(sherd_pool, sherd_pool_close) pool = NULL;
	uint64_t random = 11;
	assert_ok(make(&b, err));
	assert_ok(sherd_pool_open(&pool, 3, err));
	sherd_bundle_options o = {.pool = pool};
	for (int i = 0; i < 60; i++) {
		const uint64_t size[3] = {A, B, C};
		uint64_t at[3], shape[3];
		for (int d = 0; d < 3; d++) {
			at[d] = random_below(&random, size[d]);
			shape[d] =
				random_below(&random, 3) ? random_below(&random, size[d] - at[d] + 1) : size[d] - at[d];
		}
		assert_box(b, i % 2 ? &o : NULL, at, shape);
	}
}

TEST(blocks_are_taken_whole_or_refused)
{
	BUNDLE b = NULL;
	uint8_t got[sizeof(blocks)];
	assert_ok(make(&b, err));
	sherd_bundle_want want = {1, DIMS(0, 32), DIMS(2, 32), got};
	assert_ok(sherd_bundle_load(b, &want, 1, NULL, err));
	assert_memory_equal(got, blocks + 18, 18);
	assert_memory_equal(got + 18, blocks + 54, 18);
	want.at = DIMS(0, 16);
	assert_refused(SHERD_EUNSUPPORTED, "inside-block", sherd_bundle_load(b, &want, 1, NULL, err));
}

TEST(a_bad_want_is_named_by_its_index)
{
	BUNDLE b = NULL;
	float one;
	assert_ok(make(&b, err));
	sherd_bundle_want wants[] = {{2, NULL, NULL, &one}, {0, DIMS(0, 0, 1), DIMS(1, 1, C), cube}};
	assert_refused(SHERD_EINVAL, "bad-range", sherd_bundle_load(b, wants, 2, NULL, err));
	sherd_error e = {0};
	assert_true(sherd_bundle_load(b, wants, 2, NULL, &e) < 0);
	assert_int_equal(e.index, 1);
	wants[1] = (sherd_bundle_want){9, NULL, NULL, cube};
	assert_refused(SHERD_EINVAL, "out-of-range", sherd_bundle_load(b, wants, 2, NULL, err));
}

static bool never(void *arg, uint64_t done, uint64_t total)
{
	(void)arg;
	return done > total;
}

TEST(loading_can_be_cancelled)
{
	BUNDLE b = NULL;
	static uint8_t got[sizeof(cube)];
	assert_ok(make(&b, err));
	sherd_progress stop = {never, NULL};
	sherd_bundle_want want = {0, NULL, NULL, got};
	assert_refused(SHERD_ECANCELLED, "cancelled",
	               sherd_bundle_load(b, &want, 1, &(sherd_bundle_options){.progress = &stop}, err));
}

TEST(tensors_that_make_no_sense_are_refused)
{
	BUNDLE b = NULL;
	const void *const data[] = {cube, cube};
	const sherd_tensor twice[] = {{"x", SHERD_U8, 1, DIMS(3), 0}, {"x", SHERD_U8, 1, DIMS(3), 0}};
	assert_refused(SHERD_EINVAL, "duplicate-name",
	               sherd_bundle_make(&b, &(sherd_bundle_parts){twice, data, 2, NULL, 0}, err));
	const sherd_tensor wrong[] = {{"x", SHERD_F32, 1, DIMS(3), 13}};
	assert_refused(SHERD_EINVAL, "bad-length",
	               sherd_bundle_make(&b, &(sherd_bundle_parts){wrong, data, 1, NULL, 0}, err));
	const sherd_tensor large[] = {{"x", SHERD_F32, 2, DIMS(UINT64_C(1) << 40, UINT64_C(1) << 40), 0}};
	assert_refused(SHERD_EINVAL, "bad-shape",
	               sherd_bundle_make(&b, &(sherd_bundle_parts){large, data, 1, NULL, 0}, err));
	const sherd_tensor typeless[] = {{"x", SHERD_DTYPE_NONE, 0, NULL, 0}};
	assert_refused(SHERD_EINVAL, "bad-dtype",
	               sherd_bundle_make(&b, &(sherd_bundle_parts){typeless, data, 1, NULL, 0}, err));
	assert_null(b);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, memory_store_open, memory_store_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_is_made_can_be_converted_and_read_again),
		CASE(any_box_is_what_the_tensor_holds_there),
		CASE(blocks_are_taken_whole_or_refused),
		CASE(a_bad_want_is_named_by_its_index),
		CASE(loading_can_be_cancelled),
		CASE(tensors_that_make_no_sense_are_refused),
	};
	return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}

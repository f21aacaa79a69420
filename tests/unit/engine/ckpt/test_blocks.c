/* Types that keep several elements in one block: stored, cut between blocks, and never inside of one. */
#include "support/memory_store.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/ckpt.h>
#include <sherd/verify.h>

#include <stdio.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)
SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)
#define CKPT SHD_AUTO(sherd_ckpt, sherd_ckpt_close)
#define DIMS(...) ((const uint64_t[]){__VA_ARGS__})

enum { MOST = 8192 };
static uint8_t data[MOST];

/* What is saved below: matrices that are cut by rows, a vector and one whose rows end inside blocks, which are not. */
static const sherd_ckpt_item items[] = {
	{.tensor = {.name = "f4", .dtype = SHERD_F4, .ndim = 2, .shape = DIMS(5, 6)}, .data = data},
	{.tensor = {.name = "f6", .dtype = SHERD_F6_E3M2, .ndim = 3, .shape = DIMS(3, 2, 8)}, .data = data + 1},
	{.tensor = {.name = "vector", .dtype = SHERD_F4, .ndim = 1, .shape = DIMS(8)}, .data = data + 2},
	{.tensor = {.name = "lump", .dtype = SHERD_F6_E2M3, .ndim = 2, .shape = DIMS(4, 3)}, .data = data + 3},
	{.tensor = {.name = "scale", .dtype = SHERD_F8_E8M0, .ndim = 1, .shape = DIMS(5)}, .data = data + 4},
	{.tensor = {.name = "q4_0", .dtype = SHERD_Q4_0, .ndim = 2, .shape = DIMS(7, 96)}, .data = data + 5},
	{.tensor = {.name = "q6_k", .dtype = SHERD_Q6_K, .ndim = 3, .shape = DIMS(2, 3, 512)}, .data = data + 6},
	{.tensor = {.name = "mxfp4", .dtype = SHERD_MXFP4, .ndim = 2, .shape = DIMS(4, 32)}, .data = data + 7},
	{.tensor = {.name = "iq1_m", .dtype = SHERD_IQ1_M, .ndim = 1, .shape = DIMS(512)}, .data = data + 8},
};

static void fill(void)
{
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 131 + i / 256);
}

static void save(const char *prefix, uint32_t world)
{
	const sherd_ckpt_shard_items all[4] = {{items, COUNT_OF(items)}};
	sherd_ckpt_save_options o = {.world = world};
	fill();
	assert_ok(sherd_ckpt_save(store, prefix, all, &o, err));
}

/* All of it, loaded by each kind of check, and by parts of odd lengths. */
static void assert_saved(const char *prefix)
{
	CKPT c = NULL;
	uint8_t got[MOST];
	assert_ok(sherd_ckpt_open(&c, store, prefix, NULL, err));
	assert_int_equal(sherd_ckpt_count(c), COUNT_OF(items));
	for (size_t i = 0; i < COUNT_OF(items); i++) {
		size_t at = sherd_ckpt_find(c, items[i].tensor.name);
		const sherd_tensor *t = sherd_ckpt_tensor(c, at);
		assert_int_equal(t->dtype, items[i].tensor.dtype);
		assert_int_equal(t->ndim, items[i].tensor.ndim);
		assert_memory_equal(t->shape, items[i].tensor.shape, t->ndim * sizeof(*t->shape));
		for (int check = SHERD_CHECK_CRC; check <= SHERD_CHECK_DIGEST; check++) {
			const sherd_ckpt_want want = {.tensor = at, .buf = got};
			sherd_ckpt_load_options o = {.check = (sherd_ckpt_check)check};
			memset(got, 0, sizeof(got));
			assert_ok(sherd_ckpt_load(c, &want, 1, &o, err));
			assert_memory_equal(got, items[i].data, t->bytes);
		}
		for (uint64_t from = 0; from < t->bytes; from += 5) {
			size_t n = t->bytes - from < 7 ? (size_t)(t->bytes - from) : 7;
			assert_ok(sherd_ckpt_read(c, at, from, got, n, err));
			assert_memory_equal(got, (const uint8_t *)items[i].data + from, n);
		}
	}
	SHD_AUTO(sherd_report, sherd_report_close) report = NULL;
	assert_ok(sherd_verify(&report, store, prefix, NULL, err));
	assert_int_equal(sherd_report_errors(report) + sherd_report_warnings(report), 0);
}

TEST(they_are_saved_cut_resharded_verified_and_loaded)
{
	save("one", 1);
	assert_saved("one");
	for (uint32_t world = 1; world <= 4; world++)
		for (int cut = 0; cut < 2; cut++) {
			CKPT from = NULL;
			char name[16];
			sherd_ckpt_save_options o = {.world = world};
			(void)snprintf(name, sizeof(name), "w%u%d", world, cut);
			assert_ok(sherd_ckpt_open(&from, store, "one", NULL, err));
			assert_ok(sherd_ckpt_reshard(from, store, name, cut, &o, err));
			assert_saved(name);
		}
}

TEST(only_what_ends_between_blocks_is_cut)
{
	CKPT one = NULL;
	CKPT cut = NULL;
	static const size_t pieces[] = {3, 3, 1, 1, 3, 3, 2, 3, 1};
	sherd_ckpt_save_options o = {.world = 3};
	save("one", 1);
	assert_ok(sherd_ckpt_open(&one, store, "one", NULL, err));
	assert_ok(sherd_ckpt_reshard(one, store, "cut", true, &o, err));
	assert_ok(sherd_ckpt_open(&cut, store, "cut", NULL, err));
	for (size_t i = 0; i < COUNT_OF(items); i++) {
		const sherd_ckpt_piece *p;
		assert_int_equal(sherd_ckpt_pieces(&p, cut, sherd_ckpt_find(cut, items[i].tensor.name)), pieces[i]);
	}
}

/* A rank's rows of a bundle, as `--cut` gives them. */
TEST(a_rank_gets_rows_or_the_whole)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) part = NULL;
	uint8_t got[MOST];
	save("one", 1);
	assert_ok(sherd_bundle_open(&b, store, "one", NULL, err));
	assert_ok(
		sherd_bundle_select(&part, b, &(sherd_bundle_select_options){.rank = 1, .world = 2, .cut = true}, err));
	static const uint64_t bytes[] = {9, 24, 4, 9, 3, 4 * 54, 1260, 34, 112},
			      from[] = {6, 12, 0, 0, 2, 3 * 54, 1260, 34, 0};
	for (size_t i = 0; i < COUNT_OF(items); i++) {
		assert_int_equal(sherd_bundle_tensor(part, i)->bytes, bytes[i]);
		assert_ok(sherd_bundle_read(part, i, 0, got, bytes[i], err));
		assert_memory_equal(got, (const uint8_t *)items[i].data + from[i], bytes[i]);
	}
}

TEST(a_slice_begins_and_ends_between_blocks)
{
	CKPT c = NULL;
	uint8_t got[MOST];
	save("one", 1);
	assert_ok(sherd_ckpt_open(&c, store, "one", NULL, err));
	/* Elements 2 to 5 of rows 1 to 3 of [5, 6]: two of the three bytes of each row. */
	assert_ok(sherd_ckpt_read_slice(c, 0, DIMS(1, 2), DIMS(3, 4), got, err));
	for (size_t row = 0; row < 3; row++)
		assert_memory_equal(got + 2 * row, data + 3 * (row + 1) + 1, 2);
	/* Columns 32 to 63 of rows 2 and 3 of [7, 96]: the second of three blocks of each. */
	assert_ok(sherd_ckpt_read_slice(c, 5, DIMS(2, 32), DIMS(2, 32), got, err));
	for (size_t row = 0; row < 2; row++)
		assert_memory_equal(got + 18 * row, data + 5 + 54 * (row + 2) + 18, 18);
	assert_refused(SHERD_EUNSUPPORTED, "inside-block",
	               sherd_ckpt_read_slice(c, 5, DIMS(2, 16), DIMS(2, 32), got, err));
	const uint64_t *const inside[][2] = {{DIMS(0, 1), DIMS(1, 2)}, {DIMS(0, 0), DIMS(1, 3)}};
	for (size_t i = 0; i < COUNT_OF(inside); i++) {
		const sherd_ckpt_want want = {.tensor = 0, .at = inside[i][0], .shape = inside[i][1], .buf = got};
		assert_refused(SHERD_EUNSUPPORTED, "inside-block",
		               sherd_ckpt_read_slice(c, 0, inside[i][0], inside[i][1], got, err));
		assert_refused(SHERD_EUNSUPPORTED, "inside-block", sherd_ckpt_load(c, &want, 1, NULL, err));
	}
	assert_refused(SHERD_EUNSUPPORTED, "no-elements",
	               sherd_ckpt_read_slice(c, 3, DIMS(0, 0), DIMS(4, 3), got, err));
}

TEST(a_piece_that_ends_inside_a_block_is_refused)
{
	sherd_ckpt_item piece = {
		.tensor = {.name = "t", .dtype = SHERD_F4, .ndim = 1, .shape = DIMS(4)},
		.global_shape = DIMS(8),
		.global_offset = DIMS(3),
		.data = data,
	};
	const sherd_ckpt_shard_items shard = {&piece, 1};
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_save(store, "p", &shard, NULL, err));
	piece.global_shape = DIMS(9);
	piece.global_offset = DIMS(4);
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_save(store, "p", &shard, NULL, err));
	piece.global_shape = NULL;
	piece.global_offset = NULL;
	piece.tensor.shape = DIMS(3);
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_save(store, "p", &shard, NULL, err));
}

/* Columns of a matrix, as tensor parallelism cuts it. */
TEST(pieces_along_the_last_dimension_make_up_the_whole)
{
	const sherd_ckpt_item left = {.tensor = {.name = "t", .dtype = SHERD_F6_E2M3, .ndim = 2, .shape = DIMS(2, 4)},
	                              .global_shape = DIMS(2, 12),
	                              .global_offset = DIMS(0, 0),
	                              .data = data};
	const sherd_ckpt_item right = {.tensor = {.name = "t", .dtype = SHERD_F6_E2M3, .ndim = 2, .shape = DIMS(2, 8)},
	                               .global_shape = DIMS(2, 12),
	                               .global_offset = DIMS(0, 4),
	                               .data = data + 100};
	const sherd_ckpt_shard_items shards[] = {{&left, 1}, {&right, 1}};
	CKPT c = NULL;
	uint8_t got[18];
	fill();
	assert_ok(sherd_ckpt_save(store, "p", shards, &(sherd_ckpt_save_options){.world = 2}, err));
	assert_ok(sherd_ckpt_open(&c, store, "p", NULL, err));
	assert_int_equal(sherd_ckpt_tensor(c, 0)->bytes, sizeof(got));
	assert_ok(sherd_ckpt_read(c, 0, 0, got, sizeof(got), err));
	for (size_t row = 0; row < 2; row++) {
		assert_memory_equal(got + 9 * row, data + 3 * row, 3);
		assert_memory_equal(got + 9 * row + 3, data + 100 + 6 * row, 6);
	}
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, memory_store_open, memory_store_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(they_are_saved_cut_resharded_verified_and_loaded),
		CASE(only_what_ends_between_blocks_is_cut),
		CASE(a_rank_gets_rows_or_the_whole),
		CASE(a_slice_begins_and_ends_between_blocks),
		CASE(a_piece_that_ends_inside_a_block_is_refused),
		CASE(pieces_along_the_last_dimension_make_up_the_whole),
	};
	return cmocka_run_group_tests_name("ckpt_blocks", tests, NULL, NULL);
}

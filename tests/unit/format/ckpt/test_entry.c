#include "support/test.h"

#include "format/ckpt/entry.h"

#define DIMS(...) ((const uint64_t[]){__VA_ARGS__})
#define HUGE_DIM (UINT64_C(1) << 40)

TEST(shape_type_size_and_place_must_agree)
{
	const struct {
		const char *why;
		sherd_dtype dtype;
		uint32_t ndim;
		const uint64_t *shape;
		uint64_t bytes;
		const uint64_t *whole, *at;
		const char *reason; /* NULL: fine */
	} cases[] = {
		{"a scalar", SHERD_F64, 0, NULL, 8, NULL, NULL, NULL},
		{"a matrix", SHERD_F32, 2, DIMS(2, 3), 24, NULL, NULL, NULL},
		{"an empty one with huge dimensions", SHERD_F32, 3, DIMS(HUGE_DIM, 0, HUGE_DIM), 0, NULL, NULL, NULL},
		{"a byte too few", SHERD_F32, 2, DIMS(2, 3), 23, NULL, NULL, "size-mismatch"},
		{"a byte too many", SHERD_U8, 1, DIMS(2), 3, NULL, NULL, "size-mismatch"},
		{"a scalar without bytes", SHERD_U8, 0, NULL, 0, NULL, NULL, "size-mismatch"},
		{"more elements than 64 bits count", SHERD_U8, 2, DIMS(HUGE_DIM, HUGE_DIM), 0, NULL, NULL, "bad-shape"},
		{"more bytes than 64 bits count", SHERD_F64, 1, DIMS(UINT64_C(1) << 61), 0, NULL, NULL, "bad-shape"},
		{"text", SHERD_UTF8, 1, DIMS(2), 24, NULL, NULL, NULL},
		{"text with characters", SHERD_UTF8, 1, DIMS(2), 30, NULL, NULL, NULL},
		{"text of no strings", SHERD_UTF8, 1, DIMS(0), 8, NULL, NULL, NULL},
		{"text without room for its offsets", SHERD_UTF8, 1, DIMS(2), 23, NULL, NULL, "size-mismatch"},
		{"text of too many strings", SHERD_UTF8, 2, DIMS(HUGE_DIM, HUGE_DIM), 100, NULL, NULL, "size-mismatch"},
		{"text of 2^64-1 strings", SHERD_UTF8, 1, DIMS(UINT64_MAX), 100, NULL, NULL, "size-mismatch"},
		{"a first piece", SHERD_U8, 2, DIMS(1, 3), 3, DIMS(4, 3), DIMS(0, 0), NULL},
		{"a last piece", SHERD_U8, 2, DIMS(1, 3), 3, DIMS(4, 3), DIMS(3, 0), NULL},
		{"a piece behind the end", SHERD_U8, 2, DIMS(1, 3), 3, DIMS(4, 3), DIMS(4, 0), "bad-piece"},
		{"a piece wider than the whole", SHERD_U8, 1, DIMS(5), 5, DIMS(4), DIMS(0), "bad-piece"},
		{"a place that overflows", SHERD_U8, 1, DIMS(2), 2, DIMS(4), DIMS(UINT64_MAX), "bad-piece"},
		{"an empty piece at the end", SHERD_U8, 1, DIMS(0), 0, DIMS(4), DIMS(4), NULL},
		{"a piece of a whole that does not fit 64 bits", SHERD_U8, 2, DIMS(1, 1), 1, DIMS(HUGE_DIM, HUGE_DIM),
	         DIMS(0, 0), "bad-shape"},
		{"a piece of text", SHERD_UTF8, 1, DIMS(1), 16, DIMS(2), DIMS(0), "bad-piece"},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		shd_ckpt_entry e = {
			.tensor = {"t", cases[i].dtype, cases[i].ndim, cases[i].shape, cases[i].bytes},
			.global_shape = cases[i].whole,
			.global_offset = cases[i].at,
			.where = 77,
		};
		sherd_error error = {0};
		int rc = shd_ckpt_entry_check(&e, &error);
		if (rc != (cases[i].reason ? SHERD_ECORRUPT : SHERD_OK))
			fail_msg("%s: status %d", cases[i].why, rc);
		if (!cases[i].reason)
			continue;
		if (strcmp(error.reason, cases[i].reason) != 0)
			fail_msg("%s: %s", cases[i].why, error.reason);
		assert_int_equal(error.offset, 77);
	}
}

TEST(entries_lie_within_the_data_and_apart)
{
	static const struct {
		const char *why;
		struct {
			uint64_t offset, bytes;
		} parts[3];
		const char *reason;
	} cases[] = {
		{"side by side", {{0, 4}, {4, 4}, {8, 2}}, NULL},
		{"in any order", {{8, 2}, {0, 4}, {4, 4}}, NULL},
		{"with gaps", {{1, 1}, {5, 1}, {9, 1}}, NULL},
		{"empty ones anywhere", {{0, 10}, {5, 0}, {10, 0}}, NULL},
		{"one byte past the end", {{0, 1}, {1, 1}, {8, 3}}, "out-of-range"},
		{"an empty one past the end", {{0, 1}, {1, 1}, {11, 0}}, "out-of-range"},
		{"an end that overflows", {{0, 1}, {1, 1}, {UINT64_MAX, 2}}, "out-of-range"},
		{"a size that overflows", {{0, 1}, {1, 1}, {2, UINT64_MAX}}, "out-of-range"},
		{"one byte shared", {{0, 4}, {3, 2}, {8, 2}}, "overlap"},
		{"the same place twice", {{4, 4}, {0, 2}, {4, 4}}, "overlap"},
		{"one inside another", {{0, 10}, {3, 1}, {10, 0}}, "overlap"},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		shd_ckpt_entry e[3] = {0};
		shd_arena arena = {0};
		sherd_error error = {0};
		for (size_t k = 0; k < 3; k++) {
			e[k].tensor =
				(sherd_tensor){"t", SHERD_U8, 1, &cases[i].parts[k].bytes, cases[i].parts[k].bytes};
			e[k].offset = cases[i].parts[k].offset;
		}
		int rc = shd_ckpt_entries_check(e, 3, 10, &arena, &error);
		shd_arena_done(&arena);
		if (rc != (cases[i].reason ? SHERD_ECORRUPT : SHERD_OK))
			fail_msg("%s: status %d", cases[i].why, rc);
		if (cases[i].reason && strcmp(error.reason, cases[i].reason) != 0)
			fail_msg("%s: %s", cases[i].why, error.reason);
	}
}

static void place(const uint64_t *offsets, const uint64_t *bytes, uint64_t data, uint64_t out[3])
{
	shd_ckpt_entry e[3] = {0};
	for (size_t i = 0; i < 3; i++) {
		e[i].offset = offsets[i];
		e[i].tensor.bytes = bytes[i];
	}
	shd_ckpt_entries_place(e, 3, data);
	for (size_t i = 0; i < 3; i++)
		out[i] = e[i].offset;
}

TEST(offsets_that_are_all_zero_mean_listed_order_only_if_the_sizes_add_up)
{
	uint64_t got[3];
	place(DIMS(0, 0, 0), DIMS(4, 2, 3), 9, got);
	assert_memory_equal(got, DIMS(0, 4, 6), sizeof(got));
	place(DIMS(0, 0, 0), DIMS(4, 0, 5), 9, got);
	assert_memory_equal(got, DIMS(0, 4, 4), sizeof(got));
	place(DIMS(0, 0, 0), DIMS(4, 2, 3), 10, got);
	assert_memory_equal(got, DIMS(0, 0, 0), sizeof(got));
	place(DIMS(0, 4, 0), DIMS(4, 2, 3), 9, got);
	assert_memory_equal(got, DIMS(0, 4, 0), sizeof(got));
	place(DIMS(0, 0, 0), DIMS(UINT64_MAX, 2, 8), 9, got);
	assert_memory_equal(got, DIMS(0, 0, 0), sizeof(got));
}

TEST(blocks_are_counted_upward)
{
	static const uint64_t cases[][2] = {
		{0, 0}, {1, 1}, {SHD_CKPT_BLOCK, 1}, {SHD_CKPT_BLOCK + 1, 2}, {UINT64_MAX, UINT64_C(1) << 40}};
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		assert_int_equal(shd_ckpt_blocks(cases[i][0]), cases[i][1]);
}

TEST(entries_are_equal_only_if_everything_about_their_place_is)
{
	const shd_ckpt_entry a = {.tensor = {"t", SHERD_U8, 1, DIMS(2), 2},
	                          .global_shape = DIMS(4),
	                          .global_offset = DIMS(1),
	                          .offset = 5};
	shd_ckpt_entry b = a;
	b.crcs = &(uint32_t){1};
	b.extra = "\"a\": 1";
	b.where = 9;
	assert_true(shd_ckpt_entry_equal(&a, &b));
	b.tensor.name = "u";
	assert_false(shd_ckpt_entry_equal(&a, &b));
	b = a;
	b.tensor.dtype = SHERD_I8;
	assert_false(shd_ckpt_entry_equal(&a, &b));
	b = a;
	b.tensor.shape = DIMS(3);
	assert_false(shd_ckpt_entry_equal(&a, &b));
	b = a;
	b.offset = 6;
	assert_false(shd_ckpt_entry_equal(&a, &b));
	b = a;
	b.global_offset = DIMS(2);
	assert_false(shd_ckpt_entry_equal(&a, &b));
	b = a;
	b.global_shape = b.global_offset = NULL;
	assert_false(shd_ckpt_entry_equal(&a, &b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shape_type_size_and_place_must_agree),
		cmocka_unit_test(entries_lie_within_the_data_and_apart),
		cmocka_unit_test(offsets_that_are_all_zero_mean_listed_order_only_if_the_sizes_add_up),
		cmocka_unit_test(blocks_are_counted_upward),
		cmocka_unit_test(entries_are_equal_only_if_everything_about_their_place_is),
	};
	return cmocka_run_group_tests_name("ckpt_entry", tests, NULL, NULL);
}

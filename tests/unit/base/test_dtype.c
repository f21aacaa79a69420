#include "support/test.h"

#include "base/dtype.h"
#include "base/error.h"

#include <sherd/tensor.h>

#include <string.h>

static const struct {
	const char *name;
	sherd_dtype dtype;
	uint32_t elements, bytes, align;
} all[] = {
	{"BOOL", SHERD_BOOL, 1, 1, 1},
	{"U8", SHERD_U8, 1, 1, 1},
	{"I8", SHERD_I8, 1, 1, 1},
	{"U16", SHERD_U16, 1, 2, 2},
	{"I16", SHERD_I16, 1, 2, 2},
	{"U32", SHERD_U32, 1, 4, 4},
	{"I32", SHERD_I32, 1, 4, 4},
	{"U64", SHERD_U64, 1, 8, 8},
	{"I64", SHERD_I64, 1, 8, 8},
	{"F16", SHERD_F16, 1, 2, 2},
	{"BF16", SHERD_BF16, 1, 2, 2},
	{"F32", SHERD_F32, 1, 4, 4},
	{"F64", SHERD_F64, 1, 8, 8},
	{"F8_E4M3", SHERD_F8_E4M3, 1, 1, 1},
	{"F8_E5M2", SHERD_F8_E5M2, 1, 1, 1},
	{"C64", SHERD_C64, 1, 8, 4},
	{"UTF8", SHERD_UTF8, 1, 0, 8},
	{"F8_E8M0", SHERD_F8_E8M0, 1, 1, 1},
	{"F8_E4M3FNUZ", SHERD_F8_E4M3FNUZ, 1, 1, 1},
	{"F8_E5M2FNUZ", SHERD_F8_E5M2FNUZ, 1, 1, 1},
	{"F4", SHERD_F4, 2, 1, 1},
	{"F6_E2M3", SHERD_F6_E2M3, 4, 3, 1},
	{"F6_E3M2", SHERD_F6_E3M2, 4, 3, 1},
};

TEST(every_type_is_found_under_its_name)
{
	assert_int_equal(COUNT_OF(all), SHERD_DTYPE_COUNT - 1);
	for (size_t i = 0; i < COUNT_OF(all); i++) {
		const sherd_dtype_info *info = sherd_dtype_describe(all[i].dtype);
		assert_non_null(info);
		assert_int_equal(all[i].dtype, i + 1);
		assert_string_equal(info->name, all[i].name);
		assert_int_equal(info->block_elements, all[i].elements);
		assert_int_equal(info->block_bytes, all[i].bytes);
		assert_int_equal(sherd_dtype_by_name(all[i].name, strlen(all[i].name)), all[i].dtype);
		assert_int_equal(sherd_dtype_element_bytes(all[i].dtype), all[i].elements > 1 ? 0 : all[i].bytes);
		assert_int_equal(shd_dtype_align(all[i].dtype), all[i].align);
	}
}

/* ggml's types by number, as PyPI's gguf 0.19 lists them in GGML_QUANT_SIZES; 0 elements where it has none, or where
 * the type has a number of ours. Two are not from there: Q8_1, which it gives the 40 bytes of long ago and which never
 * stands in files, and Q2_0, which came after it, are as ggml's headers have them. */
static const struct {
	const char *name;
	uint32_t elements, bytes;
} ggml[] = {
	[2] = {"Q4_0", 32, 2 + 16},
	[3] = {"Q4_1", 32, 2 + 2 + 16},
	[6] = {"Q5_0", 32, 2 + 4 + 16},
	[7] = {"Q5_1", 32, 2 + 2 + 4 + 16},
	[8] = {"Q8_0", 32, 2 + 32},
	[9] = {"Q8_1", 32, 2 + 2 + 32},
	[10] = {"Q2_K", 256, 2 + 2 + 256 / 16 + 256 / 4},
	[11] = {"Q3_K", 256, 2 + 256 / 4 + 256 / 8 + 12},
	[12] = {"Q4_K", 256, 2 + 2 + 256 / 2 + 12},
	[13] = {"Q5_K", 256, 2 + 2 + 256 / 2 + 256 / 8 + 12},
	[14] = {"Q6_K", 256, 2 + 256 / 2 + 256 / 4 + 256 / 16},
	[15] = {"Q8_K", 256, 4 + 256 + 256 / 8},
	[16] = {"IQ2_XXS", 256, 2 + 256 / 4},
	[17] = {"IQ2_XS", 256, 2 + 256 / 4 + 256 / 32},
	[18] = {"IQ3_XXS", 256, 2 + 256 / 4 + 256 / 8},
	[19] = {"IQ1_S", 256, 2 + 256 / 8 + 256 / 16},
	[20] = {"IQ4_NL", 32, 2 + 16},
	[21] = {"IQ3_S", 256, 2 + 256 / 4 + 256 / 8 + 256 / 32 + 4},
	[22] = {"IQ2_S", 256, 2 + 256 / 4 + 256 / 16},
	[23] = {"IQ4_XS", 256, 2 + 2 + 256 / 2 + 256 / 64},
	[29] = {"IQ1_M", 256, 256 / 8 + 256 / 16 + 256 / 32},
	[34] = {"TQ1_0", 256, 2 + 4 * 13},
	[35] = {"TQ2_0", 256, 2 + 64},
	[39] = {"MXFP4", 32, 1 + 16},
	[40] = {"NVFP4", 64, 4 + 32},
	[41] = {"Q1_0", 128, 2 + 16},
	[42] = {"Q2_0", 64, 2 + 16},
};

TEST(blocks_have_the_number_of_ggml_and_64)
{
	assert_int_equal(COUNT_OF(ggml), SHERD_DTYPE_BLOCKS_END - SHERD_DTYPE_BLOCKS);
	for (size_t i = 0; i < COUNT_OF(ggml); i++) {
		sherd_dtype dtype = (sherd_dtype)(SHERD_DTYPE_BLOCKS + i);
		const sherd_dtype_info *info = sherd_dtype_describe(dtype);
		assert_int_equal(info != NULL, ggml[i].name != NULL);
		assert_int_equal(sherd_dtype_element_bytes(dtype), 0);
		if (!info)
			continue;
		assert_string_equal(info->name, ggml[i].name);
		assert_int_equal(info->block_elements, ggml[i].elements);
		assert_int_equal(info->block_bytes, ggml[i].bytes);
		assert_int_equal(sherd_dtype_by_name(info->name, strlen(info->name)), dtype);
	}
	assert_int_equal(SHERD_Q4_0, 66);
	assert_int_equal(SHERD_Q2_0, 106);
}

TEST(names_are_exact)
{
	static const char *const wrong[] = {"", "f32", "F3", "F322", "F8", "F8_E4M3FNU", "F6", "NONE"};
	for (size_t i = 0; i < COUNT_OF(wrong); i++)
		assert_int_equal(sherd_dtype_by_name(wrong[i], strlen(wrong[i])), SHERD_DTYPE_NONE);
	assert_int_equal(sherd_dtype_by_name("F32\0", 4), SHERD_DTYPE_NONE);
}

TEST(values_outside_the_table_name_no_type)
{
	const sherd_dtype outside[] = {SHERD_DTYPE_NONE,
	                               (sherd_dtype)SHERD_DTYPE_COUNT,
	                               (sherd_dtype)SHERD_DTYPE_BLOCKS,
	                               (sherd_dtype)SHERD_DTYPE_BLOCKS_END,
	                               (sherd_dtype)-1,
	                               (sherd_dtype)1000000};
	for (size_t i = 0; i < COUNT_OF(outside); i++) {
		assert_null(sherd_dtype_describe(outside[i]));
		assert_int_equal(sherd_dtype_element_bytes(outside[i]), 0);
		assert_int_equal(shd_dtype_align(outside[i]), 0);
		uint64_t bytes;
		assert_false(sherd_tensor_bytes(&bytes, outside[i], 0, NULL));
	}
}

TEST(the_size_of_a_tensor_follows_from_type_and_shape)
{
	uint64_t bytes;
	assert_true(sherd_tensor_bytes(&bytes, SHERD_F32, 0, NULL));
	assert_int_equal(bytes, 4);
	assert_true(sherd_tensor_bytes(&bytes, SHERD_C64, 3, (uint64_t[]){2, 3, 4}));
	assert_int_equal(bytes, 192);
	assert_true(sherd_tensor_bytes(&bytes, SHERD_U8, 1, (uint64_t[]){UINT64_MAX}));
	assert_true(bytes == UINT64_MAX);
	assert_false(sherd_tensor_bytes(&bytes, SHERD_UTF8, 1, (uint64_t[]){3}));
}

TEST(elements_that_share_bytes_come_in_whole_blocks)
{
	uint64_t bytes;
	assert_true(sherd_tensor_bytes(&bytes, SHERD_F4, 2, (uint64_t[]){3, 6}));
	assert_int_equal(bytes, 9);
	assert_true(sherd_tensor_bytes(&bytes, SHERD_F6_E3M2, 2, (uint64_t[]){2, 6}));
	assert_int_equal(bytes, 9);
	assert_false(sherd_tensor_bytes(&bytes, SHERD_F4, 1, (uint64_t[]){3}));
	assert_false(sherd_tensor_bytes(&bytes, SHERD_F6_E2M3, 1, (uint64_t[]){6}));
	assert_false(sherd_tensor_bytes(&bytes, SHERD_F4, 0, NULL));
	assert_true(sherd_tensor_bytes(&bytes, SHERD_F4, 2, (uint64_t[]){UINT64_MAX, 0}));
	assert_int_equal(bytes, 0);
}

TEST(rows_can_be_taken_alone_where_they_end_between_blocks)
{
	const struct {
		sherd_tensor t;
		bool has_rows;
	} cases[] = {
		{{"", SHERD_F32, 1, (uint64_t[]){3}, 12}, true},
		{{"", SHERD_F32, 0, NULL, 4}, false},
		{{"", SHERD_UTF8, 1, (uint64_t[]){3}, 40}, false},
		{{"", SHERD_F4, 1, (uint64_t[]){4}, 2}, false},
		{{"", SHERD_F4, 2, (uint64_t[]){3, 4}, 6}, true},
		{{"", SHERD_F4, 2, (uint64_t[]){4, 3}, 6}, false},
		{{"", SHERD_F6_E2M3, 3, (uint64_t[]){3, 5, 8}, 90}, true},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		assert_int_equal(shd_tensor_has_rows(&cases[i].t), cases[i].has_rows);
}

TEST(a_size_that_does_not_fit_is_no_size)
{
	uint64_t bytes = 77;
	assert_false(sherd_tensor_bytes(&bytes, SHERD_U16, 1, (uint64_t[]){UINT64_MAX}));
	assert_false(sherd_tensor_bytes(&bytes, SHERD_U8, 2, (uint64_t[]){UINT64_C(1) << 32, UINT64_C(1) << 32}));
	assert_false(sherd_tensor_bytes(&bytes, SHERD_F64, 1, (uint64_t[]){UINT64_C(1) << 61}));
	assert_int_equal(bytes, 77);
}

TEST(a_dimension_of_zero_makes_an_empty_tensor_whatever_the_others)
{
	uint64_t bytes;
	assert_true(sherd_tensor_bytes(&bytes, SHERD_F64, 3, (uint64_t[]){UINT64_MAX, UINT64_MAX, 0}));
	assert_int_equal(bytes, 0);
	assert_true(sherd_tensor_bytes(&bytes, SHERD_F64, 3, (uint64_t[]){0, UINT64_MAX, UINT64_MAX}));
	assert_int_equal(bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_is_found_under_its_name),
		cmocka_unit_test(blocks_have_the_number_of_ggml_and_64),
		cmocka_unit_test(names_are_exact),
		cmocka_unit_test(values_outside_the_table_name_no_type),
		cmocka_unit_test(the_size_of_a_tensor_follows_from_type_and_shape),
		cmocka_unit_test(elements_that_share_bytes_come_in_whole_blocks),
		cmocka_unit_test(rows_can_be_taken_alone_where_they_end_between_blocks),
		cmocka_unit_test(a_size_that_does_not_fit_is_no_size),
		cmocka_unit_test(a_dimension_of_zero_makes_an_empty_tensor_whatever_the_others),
	};
	return cmocka_run_group_tests_name("dtype", tests, NULL, NULL);
}

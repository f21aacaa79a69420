#include "support/test.h"

#include "base/error.h"
#include "format/ckpt/dtype.h"

static const struct {
	const char *name;
	sherd_dtype dtype;
	int number;
} all[] = {
	{"Bool", SHERD_BOOL, 11},
	{"UInt8", SHERD_U8, 7},
	{"Int8", SHERD_I8, 3},
	{"UInt16", SHERD_U16, 8},
	{"Int16", SHERD_I16, 4},
	{"UInt32", SHERD_U32, 9},
	{"Int32", SHERD_I32, 5},
	{"UInt64", SHERD_U64, 10},
	{"Int64", SHERD_I64, 6},
	{"Float16", SHERD_F16, 0},
	{"BFloat16", SHERD_BF16, 12},
	{"Float32", SHERD_F32, 1},
	{"Float64", SHERD_F64, 2},
	{"Float8E4M3", SHERD_F8_E4M3, -1},
	{"Float8E5M2", SHERD_F8_E5M2, -1},
	{"Complex64", SHERD_C64, -1},
	{"Utf8", SHERD_UTF8, -1},
	{"Float8E8M0", SHERD_F8_E8M0, -1},
	{"Float8E4M3FNUZ", SHERD_F8_E4M3FNUZ, -1},
	{"Float8E5M2FNUZ", SHERD_F8_E5M2FNUZ, -1},
	{"Float4E2M1", SHERD_F4, -1},
	{"Float6E2M3", SHERD_F6_E2M3, -1},
	{"Float6E3M2", SHERD_F6_E3M2, -1},
};

TEST(every_type_is_found_by_the_name_and_number_of_the_metadata)
{
	assert_int_equal(COUNT_OF(all), SHERD_DTYPE_COUNT - 1);
	for (size_t i = 0; i < COUNT_OF(all); i++) {
		assert_string_equal(shd_ckpt_dtype_name(all[i].dtype), all[i].name);
		assert_int_equal(shd_ckpt_dtype_by_name(shd_str_of(all[i].name)), all[i].dtype);
		assert_int_equal(shd_ckpt_dtype_number(all[i].dtype), all[i].number);
		if (all[i].number >= 0)
			assert_int_equal(shd_ckpt_dtype_by_number((uint64_t)all[i].number), all[i].dtype);
	}
}

TEST(blocks_have_their_own_names_there)
{
	for (unsigned i = SHERD_DTYPE_BLOCKS; i < SHERD_DTYPE_BLOCKS_END; i++) {
		const sherd_dtype_info *info = sherd_dtype_describe((sherd_dtype)i);
		const char *name = shd_ckpt_dtype_name((sherd_dtype)i);
		assert_int_equal(info != NULL, name != NULL);
		assert_int_equal(shd_ckpt_dtype_number((sherd_dtype)i), -1);
		if (name)
			assert_int_equal(shd_ckpt_dtype_by_name(shd_str_of(name)), i);
	}
	assert_int_equal(shd_ckpt_dtype_by_name(SHD_STR("F32")), SHERD_DTYPE_NONE);
}

TEST(what_is_not_in_the_table_names_no_type)
{
	const sherd_dtype outside[] = {SHERD_DTYPE_NONE, (sherd_dtype)SHERD_DTYPE_COUNT, (sherd_dtype)-1};
	for (size_t i = 0; i < COUNT_OF(outside); i++) {
		assert_null(shd_ckpt_dtype_name(outside[i]));
		assert_int_equal(shd_ckpt_dtype_number(outside[i]), -1);
	}
	assert_int_equal(shd_ckpt_dtype_by_name(SHD_STR("float32")), SHERD_DTYPE_NONE);
	assert_int_equal(shd_ckpt_dtype_by_name(SHD_STR("")), SHERD_DTYPE_NONE);
	assert_int_equal(shd_ckpt_dtype_by_number(13), SHERD_DTYPE_NONE);
	assert_int_equal(shd_ckpt_dtype_by_number(UINT64_MAX), SHERD_DTYPE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_is_found_by_the_name_and_number_of_the_metadata),
		cmocka_unit_test(blocks_have_their_own_names_there),
		cmocka_unit_test(what_is_not_in_the_table_names_no_type),
	};
	return cmocka_run_group_tests_name("ckpt_dtype", tests, NULL, NULL);
}

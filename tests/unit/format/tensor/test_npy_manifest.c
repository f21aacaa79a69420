#include "support/test.h"

#include "format/tensor/npy_manifest.h"

static const shd_npy_entry entries[] = {{"a/b", "a%2Fb.npy", 152, 0x01020304}, {"", "~2.npy", 0, 0xfffffffe}};
static const sherd_pair pairs[] = {{"k", "v\n"}, {"", ""}};

TEST(what_is_written_is_read)
{
	shd_arena arena = {0};
	SHD_AUTO_BUF out = {0};
	shd_npy_manifest m = {2, entries, 2, pairs}, got;
	assert_ok(shd_npy_manifest_encode(&m, &out, err));
	assert_ok(shd_npy_manifest_decode(out.data, out.len, NULL, &arena, &got, err));
	assert_int_equal(got.count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(got.arrays[i].name, entries[i].name);
		assert_string_equal(got.arrays[i].file, entries[i].file);
		assert_int_equal(got.arrays[i].bytes, entries[i].bytes);
		assert_int_equal(got.arrays[i].crc32, entries[i].crc32);
		assert_string_equal(got.pairs[i].key, pairs[i].key);
		assert_string_equal(got.pairs[i].value, pairs[i].value);
	}
	shd_arena_done(&arena);
}

TEST(each_flipped_bit_is_noticed)
{
	SHD_AUTO_BUF out = {0};
	shd_npy_manifest m = {2, entries, 2, pairs}, got;
	assert_ok(shd_npy_manifest_encode(&m, &out, err));
	for (size_t bit = 0; bit < out.len * 8; bit++) {
		shd_arena arena = {0};
		out.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_true(shd_npy_manifest_decode(out.data, out.len, NULL, &arena, &got, NULL) < 0);
		out.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		shd_arena_done(&arena);
	}
}

TEST(a_name_that_json_cannot_hold_is_refused)
{
	SHD_AUTO_BUF out = {0};
	shd_npy_manifest m = {1, &(const shd_npy_entry){"\xff", "x.npy", 1, 1}, 0, NULL};
	assert_refused(SHERD_EINVAL, "bad-utf8", shd_npy_manifest_encode(&m, &out, err));
}

static void assert_file(const char *array, const char *want)
{
	SHD_AUTO_BUF out = {0};
	shd_npy_file_name(&out, array);
	shd_buf_u8(&out, 0);
	assert_string_equal((const char *)out.data, want);
}

TEST(names_of_files_hold_plain_letters_only)
{
	char name[300] = "";
	assert_file("Layer.0_w-x", "Layer.0_w-x");
	assert_file("a/b\n%~", "a%2Fb%0A%25%7E");
	assert_file("..", "%2E.");
	assert_file("\xc3\xa4", "%C3%A4");
	assert_file("", "");
	memset(name, 'x', sizeof(name) - 1);
	name[199] = '/';
	SHD_AUTO_BUF out = {0};
	shd_npy_file_name(&out, name);
	assert_int_equal(out.len, 199);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(each_flipped_bit_is_noticed),
		cmocka_unit_test(a_name_that_json_cannot_hold_is_refused),
		cmocka_unit_test(names_of_files_hold_plain_letters_only),
	};
	return cmocka_run_group_tests_name("npy_manifest", tests, NULL, NULL);
}

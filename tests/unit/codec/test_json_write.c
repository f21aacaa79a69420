#include "codec/json.h"

#include "support/test.h"

#include <stdlib.h>

#define assert_text(buf, want)                                                   \
	do {                                                                     \
		shd_buf_u8(&(buf), 0);                                           \
		assert_false((buf).failed);                                      \
		assert_string_equal((const char *)(buf).data, (want));           \
		assert_ok(shd_json_check((buf).data, (buf).len - 1, NULL, err)); \
	} while (0)

TEST(containers_go_over_lines_or_within_one)
{
	SHD_AUTO_BUF b = {0};
	shd_json_writer w;
	shd_json_writer_init(&w, &b);
	shd_json_put_object(&w, false);
	shd_json_put_key(&w, "shape");
	shd_json_put_array(&w, true);
	shd_json_put_u64(&w, 2);
	shd_json_put_u64(&w, 3);
	shd_json_put_array_end(&w);
	shd_json_put_key(&w, "list");
	shd_json_put_array(&w, false);
	shd_json_put_object(&w, true);
	shd_json_put_key(&w, "a");
	shd_json_put_array(&w, false); /* inline, because its parent is */
	shd_json_put_null(&w);
	shd_json_put_array_end(&w);
	shd_json_put_key_str(&w, SHD_STR("b"));
	shd_json_put_bool(&w, true);
	shd_json_put_object_end(&w);
	shd_json_put_object(&w, false);
	shd_json_put_object_end(&w);
	shd_json_put_array_end(&w);
	shd_json_put_key(&w, "none");
	shd_json_put_array(&w, true);
	shd_json_put_array_end(&w);
	shd_json_put_key(&w, "raw");
	shd_json_put_raw(&w, SHD_STR("{\"x\":1}"));
	shd_json_put_object_end(&w);
	assert_text(b, "{\n"
	               "  \"shape\": [2, 3],\n"
	               "  \"list\": [\n"
	               "    {\"a\": [null], \"b\": true},\n"
	               "    {}\n"
	               "  ],\n"
	               "  \"none\": [],\n"
	               "  \"raw\": {\"x\":1}\n"
	               "}");
}

TEST(a_value_may_stand_alone)
{
	SHD_AUTO_BUF b = {0};
	shd_json_writer w;
	shd_json_writer_init(&w, &b);
	shd_json_put_bool(&w, false);
	assert_text(b, "false");
}

TEST(numbers_keep_all_their_digits)
{
	SHD_AUTO_BUF b = {0};
	shd_json_writer w;
	shd_json_writer_init(&w, &b);
	shd_json_put_array(&w, true);
	shd_json_put_u64(&w, UINT64_MAX);
	shd_json_put_i64(&w, INT64_MIN);
	shd_json_put_u128(&w, 0);
	shd_json_put_u128(&w, ~(unsigned __int128)0);
	shd_json_put_double(&w, -1.5);
	shd_json_put_array_end(&w);
	assert_text(b,
	            "[18446744073709551615, -9223372036854775808, 0, 340282366920938463463374607431768211455, -1.5]");
}

TEST(strings_escape_what_they_must_and_nothing_else)
{
	SHD_AUTO_BUF b = {0};
	shd_json_writer w;
	shd_json_writer_init(&w, &b);
	shd_json_put_array(&w, true);
	shd_json_put_string(&w, SHD_STR(""));
	shd_json_put_string(&w, SHD_STR("a\"b\\c/\b\f\n\r\t\x01\x1f\x7f\xc3\xa4\0z"));
	shd_json_put_string(&w, (shd_str){NULL, 0});
	shd_json_put_array_end(&w);
	assert_text(b, "[\"\", \"a\\\"b\\\\c/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\xc3\xa4\\u0000z\", \"\"]");
}

TEST(every_string_reads_back)
{
	char bytes[0x80];
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)i;
	for (size_t from = 0; from < sizeof(bytes); from++) {
		SHD_AUTO_BUF b = {0};
		shd_json_writer w;
		shd_json *j = NULL;
		shd_str got;
		shd_json_writer_init(&w, &b);
		shd_json_put_string(&w, (shd_str){bytes + from, sizeof(bytes) - from});
		assert_ok(shd_json_open(&j, b.data, b.len, NULL, err));
		assert_ok(shd_json_string(j, &got, err));
		assert_int_equal(got.len, sizeof(bytes) - from);
		assert_memory_equal(got.ptr, bytes + from, got.len);
		shd_json_close(j);
	}
}

TEST(levels_below_the_last_line_stay_within_it)
{
	SHD_AUTO_BUF b = {0};
	shd_json_writer w;
	shd_json_writer_init(&w, &b);
	for (int i = 0; i < 70; i++)
		shd_json_put_array(&w, false);
	for (int i = 0; i < 70; i++)
		shd_json_put_array_end(&w);
	assert_ok(shd_json_check(b.data, b.len, &(sherd_limits){.depth = 70}, err));
	size_t lines = 0;
	for (size_t i = 0; i < b.len; i++)
		lines += b.data[i] == '\n';
	assert_int_equal(lines, 2 * 63);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(containers_go_over_lines_or_within_one),
		cmocka_unit_test(a_value_may_stand_alone),
		cmocka_unit_test(numbers_keep_all_their_digits),
		cmocka_unit_test(strings_escape_what_they_must_and_nothing_else),
		cmocka_unit_test(every_string_reads_back),
		cmocka_unit_test(levels_below_the_last_line_stay_within_it),
	};
	return cmocka_run_group_tests_name("json_write", tests, NULL, NULL);
}

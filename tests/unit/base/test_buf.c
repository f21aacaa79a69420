#include "base/buf.h"

#include "support/test.h"

#include <stdlib.h>

TEST(appended_bytes_stand_in_order)
{
	SHD_AUTO_BUF b = {0};
	shd_buf_str(&b, "ab");
	shd_buf_append(&b, "c\0d", 3);
	shd_buf_append(&b, NULL, 0);
	shd_buf_u8(&b, 0xff);
	shd_buf_zero(&b, 2);
	shd_buf_printf(&b, "%s-%03d", "x", 7);
	assert_ok(shd_buf_check(&b, err));
	static const char want[] = "abc\0d\xff\0\0x-007";
	assert_int_equal(b.len, sizeof(want) - 1);
	assert_memory_equal(b.data, want, b.len);
}

TEST(integers_are_little_endian)
{
	SHD_AUTO_BUF b = {0};
	shd_buf_u16(&b, 0x0102);
	shd_buf_u32(&b, 0x03040506);
	shd_buf_u64(&b, 0x0708090a0b0c0d0eu);
	static const uint8_t want[] = {2, 1, 6, 5, 4, 3, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, 9, 8, 7};
	assert_int_equal(b.len, sizeof(want));
	assert_memory_equal(b.data, want, sizeof(want));
}

TEST(a_buffer_grows_to_any_length)
{
	SHD_AUTO_BUF b = {0};
	for (uint32_t i = 0; i < 100000; i++)
		shd_buf_u32(&b, i);
	assert_int_equal(b.len, 400000);
	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t v;
		memcpy(&v, b.data + 4 * (size_t)i, 4);
		assert_int_equal(v, i);
	}
}

TEST(the_first_failure_sticks)
{
	SHD_AUTO_BUF b = {0};
	shd_buf_str(&b, "kept");
	assert_false(shd_buf_reserve(&b, SIZE_MAX - 2));
	shd_buf_str(&b, "more");
	shd_buf_zero(&b, 1);
	shd_buf_printf(&b, "x");
	assert_int_equal(b.len, 4);
	assert_refused(SHERD_ENOMEM, "no-memory", shd_buf_check(&b, err));
	assert_null(shd_buf_take(&b));
	shd_buf_done(&b);
	shd_buf_str(&b, "new");
	assert_ok(shd_buf_check(&b, err));
}

TEST(taking_hands_out_text_and_empties_the_buffer)
{
	SHD_AUTO_BUF b = {0};
	char *empty = shd_buf_take(&b);
	assert_non_null(empty);
	assert_string_equal(empty, "");
	free(empty);
	shd_buf_str(&b, "text");
	char *text = shd_buf_take(&b);
	assert_string_equal(text, "text");
	free(text);
	assert_null(b.data);
	assert_int_equal(b.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(appended_bytes_stand_in_order),
		cmocka_unit_test(integers_are_little_endian),
		cmocka_unit_test(a_buffer_grows_to_any_length),
		cmocka_unit_test(the_first_failure_sticks),
		cmocka_unit_test(taking_hands_out_text_and_empties_the_buffer),
	};
	return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}

#include "codec/crc32.h"

#include "support/test.h"

#include <string.h>

static uint32_t bit_by_bit(const uint8_t *p, size_t len)
{
	uint32_t crc = 0xffffffffu;
	for (size_t i = 0; i < len; i++) {
		crc ^= p[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

TEST(the_check_value_of_the_polynomial_comes_out)
{
	assert_int_equal(shd_crc32(0, "123456789", 9), 0xcbf43926u);
	assert_int_equal(shd_crc32(0, "a", 1), 0xe8b7be43u);
	assert_int_equal(shd_crc32(0, "abc", 3), 0x352441c2u);
	assert_int_equal(shd_crc32(0, "", 0), 0);
	assert_int_equal(shd_crc32(0, NULL, 0), 0);
}

TEST(every_length_and_every_split_agrees_with_the_definition)
{
	uint8_t data[300];
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * i + 3 * i + 1);
	for (size_t len = 0; len <= sizeof(data); len++) {
		uint32_t want = bit_by_bit(data, len);
		assert_int_equal(shd_crc32(0, data, len), want);
		for (size_t cut = 0; cut <= len; cut++)
			assert_int_equal(shd_crc32(shd_crc32(0, data, cut), data + cut, len - cut), want);
	}
}

TEST(sums_of_two_inputs_join_to_that_of_both)
{
	uint8_t data[300];
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(7 * i * i + i + 5);
	for (size_t cut = 0; cut <= sizeof(data); cut++)
		assert_int_equal(shd_crc32_join(shd_crc32(0, data, cut), shd_crc32(0, data + cut, sizeof(data) - cut),
		                                sizeof(data) - cut),
		                 shd_crc32(0, data, sizeof(data)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_check_value_of_the_polynomial_comes_out),
		cmocka_unit_test(every_length_and_every_split_agrees_with_the_definition),
		cmocka_unit_test(sums_of_two_inputs_join_to_that_of_both),
	};
	return cmocka_run_group_tests_name("crc32", tests, NULL, NULL);
}

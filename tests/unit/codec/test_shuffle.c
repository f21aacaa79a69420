#include "codec/shuffle.h"

#include "support/test.h"

#include <string.h>

TEST(bytes_of_equal_weight_come_together)
{
	char out[11] = {0};
	shd_shuffle("abcdABCD", 8, 4, out);
	assert_string_equal(out, "aAbBcCdD");
	shd_shuffle("a1b2c3d4e5", 10, 2, out);
	assert_string_equal(out, "abcde12345");
}

TEST(bytes_behind_the_last_whole_element_stay_there)
{
	char out[11] = {0};
	shd_shuffle("abcdABCDxy", 10, 4, out);
	assert_string_equal(out, "aAbBcCdDxy");
	shd_shuffle("abc", 3, 8, out);
	assert_memory_equal(out, "abc", 3);
}

TEST(every_width_and_length_comes_back)
{
	static unsigned char in[9000], there[9000], back[9000];
	for (size_t i = 0; i < sizeof(in); i++)
		in[i] = (unsigned char)(i * i + i / 7);
	for (size_t width = 1; width <= 16; width++)
		for (size_t len = 0; len <= sizeof(in); len = len < 40 ? len + 1 : len * 2 + 3) {
			memset(back, 0, sizeof(back));
			shd_shuffle(in, len, width, there);
			shd_unshuffle(there, len, width, back);
			assert_memory_equal(back, in, len);
			for (size_t i = 0; i < len / width; i++)
				assert_int_equal(there[(width - 1) * (len / width) + i], in[i * width + width - 1]);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_of_equal_weight_come_together),
		cmocka_unit_test(bytes_behind_the_last_whole_element_stay_there),
		cmocka_unit_test(every_width_and_length_comes_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

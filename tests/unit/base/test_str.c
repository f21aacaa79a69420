#include "base/str.h"

#include "support/test.h"

TEST(the_leaf_of_a_key_is_what_stands_behind_its_last_slash)
{
	assert_string_equal(shd_str_leaf("a/b/c"), "c");
	assert_string_equal(shd_str_leaf("c"), "c");
	assert_string_equal(shd_str_leaf("a/"), "");
}

TEST(an_order_puts_a_prefix_in_front)
{
	assert_true(shd_str_compare(SHD_STR("ab"), SHD_STR("abc")) < 0);
	assert_true(shd_str_compare(SHD_STR("b"), SHD_STR("abc")) > 0);
	assert_true(shd_str_compare(SHD_STR("\xff"), SHD_STR("a")) > 0);
	assert_int_equal(shd_str_compare(SHD_STR("a"), SHD_STR("a")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_leaf_of_a_key_is_what_stands_behind_its_last_slash),
		cmocka_unit_test(an_order_puts_a_prefix_in_front),
	};
	return cmocka_run_group_tests_name("str", tests, NULL, NULL);
}

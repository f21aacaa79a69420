#include "base/cursor.h"

#include "support/test.h"

static const uint8_t raw[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

TEST(integers_are_read_little_endian_and_in_order)
{
	shd_cursor c = shd_cursor_over(raw, sizeof(raw));
	assert_int_equal(shd_cursor_u8(&c), 1);
	assert_int_equal(shd_cursor_u16(&c), 0x0302);
	assert_int_equal(shd_cursor_u32(&c), 0x07060504);
	assert_int_equal(shd_cursor_left(&c), 8);
	assert_true(shd_cursor_u64(&c) == 0x0f0e0d0c0b0a0908u);
	assert_ok(shd_cursor_end(&c, "sample", err));
}

TEST(the_first_bad_read_is_reported_and_later_ones_give_nothing)
{
	shd_cursor c = shd_cursor_over(raw, 6);
	assert_int_equal(shd_cursor_u32(&c), 0x04030201);
	assert_int_equal(shd_cursor_u32(&c), 0);
	assert_int_equal(shd_cursor_u8(&c), 0);
	assert_null(shd_cursor_bytes(&c, 0));
	assert_int_equal(shd_cursor_left(&c), 0);
	assert_fails(SHERD_ECORRUPT, 4, shd_cursor_check(&c, "sample", err));
	assert_refused(SHERD_ECORRUPT, "truncated", shd_cursor_end(&c, "sample", err));
}

TEST(a_length_from_outside_cannot_wrap_around)
{
	shd_cursor c = shd_cursor_over(raw, sizeof(raw));
	assert_ptr_equal(shd_cursor_bytes(&c, 3), raw);
	assert_null(shd_cursor_bytes(&c, UINT64_MAX - 1));
	assert_fails(SHERD_ECORRUPT, 3, shd_cursor_check(&c, "sample", err));
}

TEST(bytes_left_over_are_refused_where_they_begin)
{
	shd_cursor c = shd_cursor_over(raw, 5);
	(void)shd_cursor_u16(&c);
	assert_ok(shd_cursor_check(&c, "sample", err));
	assert_fails(SHERD_ECORRUPT, 2, shd_cursor_end(&c, "sample", err));
	assert_refused(SHERD_ECORRUPT, "trailing-bytes", shd_cursor_end(&c, "sample", err));
}

TEST(an_empty_cursor_ends_at_once)
{
	shd_cursor c = shd_cursor_over(NULL, 0);
	assert_ok(shd_cursor_end(&c, "sample", err));
	assert_int_equal(shd_cursor_u8(&c), 0);
	assert_fails(SHERD_ECORRUPT, 0, shd_cursor_check(&c, "sample", err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_are_read_little_endian_and_in_order),
		cmocka_unit_test(the_first_bad_read_is_reported_and_later_ones_give_nothing),
		cmocka_unit_test(a_length_from_outside_cannot_wrap_around),
		cmocka_unit_test(bytes_left_over_are_refused_where_they_begin),
		cmocka_unit_test(an_empty_cursor_ends_at_once),
	};
	return cmocka_run_group_tests_name("cursor", tests, NULL, NULL);
}

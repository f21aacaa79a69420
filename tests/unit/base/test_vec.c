#include "base/vec.h"

#include "support/test.h"

typedef struct pair {
	uint64_t a;
	uint8_t b;
} pair;

TEST(pushed_items_stand_in_order)
{
	SHD_AUTO_VEC SHD_VEC(pair) v = {0};
	for (uint64_t i = 0; i < 10000; i++)
		shd_vec_push(&v, (pair){.a = i, .b = (uint8_t)i});
	assert_ok(shd_vec_check(&v, err));
	assert_int_equal(v.count, 10000);
	for (size_t i = 0; i < v.count; i++) {
		assert_int_equal(v.items[i].a, i);
		assert_int_equal(v.items[i].b, (uint8_t)i);
	}
}

TEST(many_are_appended_at_once)
{
	static const uint32_t more[] = {7, 8, 9};
	SHD_AUTO_VEC SHD_VEC(uint32_t) v = {0};
	shd_vec_push(&v, 6);
	shd_vec_append(&v, more, COUNT_OF(more));
	shd_vec_append(&v, NULL, 0);
	assert_int_equal(v.count, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(v.items[i], 6 + i);
}

TEST(what_is_reserved_does_not_move)
{
	SHD_AUTO_VEC SHD_VEC(uint64_t) v = {0};
	assert_true(shd_vec_reserve(&v, 1000));
	assert_true(v.room >= 1000);
	const uint64_t *items = v.items;
	for (uint64_t i = 0; i < 1000; i++)
		shd_vec_push(&v, i);
	assert_ptr_equal(v.items, items);
}

TEST(the_first_failure_sticks_until_it_is_done)
{
	SHD_AUTO_VEC SHD_VEC(uint64_t) v = {0};
	shd_vec_push(&v, 1);
	assert_false(shd_vec_reserve(&v, SIZE_MAX / sizeof(uint64_t) + 1)); /* bytes overflow */
	shd_vec_push(&v, 2);
	assert_int_equal(v.count, 1);
	assert_refused(SHERD_ENOMEM, "no-memory", shd_vec_check(&v, err));
	assert_false(shd_vec_reserve(&v, SIZE_MAX)); /* the count overflows */
	shd_vec_done(&v);
	assert_null(v.items);
	shd_vec_push(&v, 3);
	assert_ok(shd_vec_check(&v, err));
	assert_int_equal(v.items[0], 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pushed_items_stand_in_order),
		cmocka_unit_test(many_are_appended_at_once),
		cmocka_unit_test(what_is_reserved_does_not_move),
		cmocka_unit_test(the_first_failure_sticks_until_it_is_done),
	};
	return cmocka_run_group_tests_name("vec", tests, NULL, NULL);
}

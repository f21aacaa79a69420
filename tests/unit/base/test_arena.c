#include "base/arena.h"

#include "support/test.h"

TEST(blocks_are_aligned_and_do_not_overlap)
{
	shd_arena a = {0};
	struct {
		uint8_t *p;
		size_t len;
	} got[400];
	for (size_t i = 0; i < 400; i++) {
		got[i].len = i % 50 == 49 ? 5000 * i : 1 + i * 7 % 300;
		got[i].p = shd_arena_alloc(&a, got[i].len, 1);
		assert_non_null(got[i].p);
		assert_int_equal((uintptr_t)got[i].p % 16, 0);
		memset(got[i].p, (int)(i & 0xff), got[i].len);
	}
	for (size_t i = 0; i < 400; i++)
		for (size_t k = 0; k < got[i].len; k += 1 + got[i].len / 50)
			assert_int_equal(got[i].p[k], i & 0xff);
	shd_arena_done(&a);
}

TEST(even_nothing_has_an_address_in_the_arena)
{
	shd_arena a = {0};
	uint8_t *nothing = shd_arena_alloc(&a, 0, 8), *byte = shd_arena_alloc(&a, 1, 1);
	assert_ptr_equal(nothing, byte);
	shd_arena_done(&a);
}

TEST(a_count_that_overflows_is_refused)
{
	shd_arena a = {0};
	assert_null(shd_arena_alloc(&a, SIZE_MAX / 2, 3));
	assert_null(shd_arena_alloc(&a, SIZE_MAX, 1));
	assert_null(shd_arena_alloc(&a, SIZE_MAX - 16, 1));
	assert_null(shd_arena_str(&a, (shd_str){"x", SIZE_MAX}));
	assert_non_null(shd_arena_alloc(&a, 1, 1));
	shd_arena_done(&a);
}

TEST(copies_are_the_arenas_own)
{
	shd_arena a = {0};
	char text[] = "abcdef";
	char *copy = shd_arena_str(&a, (shd_str){text, 3});
	char *empty = shd_arena_str(&a, (shd_str){NULL, 0});
	uint8_t *bytes = shd_arena_copy(&a, text, 6);
	assert_non_null(shd_arena_copy(&a, NULL, 0));
	memset(text, 'x', 6);
	assert_string_equal(copy, "abc");
	assert_string_equal(empty, "");
	assert_memory_equal(bytes, "abcdef", 6);
	shd_arena_done(&a);
}

TEST(an_arena_can_be_used_again_after_it_is_done)
{
	shd_arena a = {0};
	shd_arena_done(&a);
	assert_non_null(shd_arena_alloc(&a, 100, 100));
	shd_arena_done(&a);
	assert_null(a.head);
	assert_non_null(shd_arena_alloc(&a, 1, 1));
	shd_arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_aligned_and_do_not_overlap),
		cmocka_unit_test(even_nothing_has_an_address_in_the_arena),
		cmocka_unit_test(a_count_that_overflows_is_refused),
		cmocka_unit_test(copies_are_the_arenas_own),
		cmocka_unit_test(an_arena_can_be_used_again_after_it_is_done),
	};
	return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}

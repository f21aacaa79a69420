#include "base/large.h"

#include "support/test.h"

#include <stdlib.h>
#include <string.h>

TEST(memory_of_any_size_can_be_used_and_large_memory_begins_at_a_large_page)
{
	const size_t sizes[] = {0, 1, 4096, SHD_LARGE_PAGE - 1, SHD_LARGE_PAGE, SHD_LARGE_PAGE + 1, 9999999};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint8_t *p = shd_large_alloc(sizes[i]);
		assert_non_null(p);
		if (sizes[i])
			memset(p, 0x5a, sizes[i]);
		if (sizes[i] >= SHD_LARGE_PAGE)
			assert_int_equal((uintptr_t)p % SHD_LARGE_PAGE, 0);
		free(p);
	}
}

TEST(a_size_that_no_memory_has_is_refused)
{
	assert_null(shd_large_alloc(SIZE_MAX));
	assert_null(shd_large_alloc(SIZE_MAX - SHD_LARGE_PAGE + 1));
}

TEST(what_is_mapped_begins_at_a_large_page_and_goes_back)
{
	for (int i = 0; i < 1000; i++) {
		size_t size = SHD_LARGE_PAGE * (size_t)(1 + i % 3) - (size_t)i;
		uint8_t *p = shd_large_map(size);
		assert_non_null(p);
		assert_int_equal((uintptr_t)p % SHD_LARGE_PAGE, 0);
		p[0] = p[size - 1] = 1;
		shd_large_unmap(p, size);
	}
	shd_large_unmap(NULL, 1);
	assert_null(shd_large_map(SIZE_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_of_any_size_can_be_used_and_large_memory_begins_at_a_large_page),
		cmocka_unit_test(a_size_that_no_memory_has_is_refused),
		cmocka_unit_test(what_is_mapped_begins_at_a_large_page_and_goes_back),
	};
	return cmocka_run_group_tests_name("large", tests, NULL, NULL);
}

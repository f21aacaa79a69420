#include "base/copy.h"

#include "support/test.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 300 << 10, GUARD = 0xA5 };

/* The target holds what was copied, and nothing around it changed. */
static void check_copy(uint8_t *to, const uint8_t *from, size_t at, size_t len)
{
	memset(to, GUARD, ROOM);
	shd_copy_past(to + at, from, len);
	assert_memory_equal(to + at, from, len);
	for (size_t i = 0; i < at; i++)
		assert_int_equal(to[i], GUARD);
	for (size_t i = at + len; i < at + len + 256; i++)
		assert_int_equal(to[i], GUARD);
}

TEST(every_alignment_and_length_arrives_whole)
{
	static const size_t lengths[] = {0, 1, 63, 64, 65, 4096, (64 << 10) - 1, 64 << 10, (64 << 10) + 1, 256 << 10};
	uint8_t *to = malloc(ROOM), *from = malloc(ROOM);
	assert_non_null(to);
	assert_non_null(from);
	for (size_t i = 0; i < ROOM; i++)
		from[i] = (uint8_t)(i * 2654435761u >> 13);
	for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++)
		for (size_t at = 0; at < 64; at += 7)
			for (size_t skew = 0; skew < 16; skew += 5)
				check_copy(to, from + skew, at, lengths[l]);
	free(to);
	free(from);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_alignment_and_length_arrives_whole),
	};
	return cmocka_run_group_tests_name("copy", tests, NULL, NULL);
}

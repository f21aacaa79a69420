#include "support/test.h"

#include <sherd/ckpt.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The rule as it is stated, without a heap. */
static void plan_naively(const uint64_t *bytes, size_t n, uint32_t world, uint32_t *rank_of)
{
	uint64_t *loads = calloc(world, sizeof(*loads));
	bool *given = calloc(n ? n : 1, sizeof(*given));
	assert_non_null(loads);
	assert_non_null(given);
	for (size_t round = 0; round < n; round++) {
		size_t next = SIZE_MAX;
		for (size_t i = 0; i < n; i++)
			if (!given[i] && (next == SIZE_MAX || bytes[i] > bytes[next]))
				next = i;
		uint32_t least = 0;
		for (uint32_t r = 1; r < world; r++)
			if (loads[r] < loads[least])
				least = r;
		given[next] = true;
		rank_of[next] = least;
		loads[least] += bytes[next];
	}
	free(loads);
	free(given);
}

TEST(the_largest_goes_first_to_the_emptiest)
{
	const uint64_t bytes[] = {3, 9, 4, 4, 1};
	const uint32_t want[] = {1, 0, 1, 2, 2};
	uint32_t got[5];
	assert_ok(sherd_plan_whole(got, bytes, 5, 3, err));
	/* 9 to rank 0, 4 to 1, 4 to 2, 3 to 1 (the lower of two equals), 1 to 2 */
	assert_memory_equal(got, want, sizeof(want));
}

TEST(equals_go_to_the_lower_index_and_the_lower_rank_first)
{
	const uint64_t bytes[] = {5, 5, 5, 5, 0, 0};
	const uint32_t want[] = {0, 1, 2, 0, 1, 1};
	uint32_t got[6];
	assert_ok(sherd_plan_whole(got, bytes, 6, 3, err));
	assert_memory_equal(got, want, sizeof(want));
}

TEST(more_ranks_than_things_leave_the_last_ranks_empty)
{
	const uint64_t bytes[] = {1, 2};
	const uint32_t want[] = {1, 0};
	uint32_t got[2];
	assert_ok(sherd_plan_whole(got, bytes, 2, UINT32_MAX, err));
	assert_memory_equal(got, want, sizeof(want));
	assert_ok(sherd_plan_whole(NULL, NULL, 0, 7, err));
	assert_refused(SHERD_EINVAL, "bad-world", sherd_plan_whole(got, bytes, 2, 0, err));
}

TEST(sizes_that_overflow_a_sum_still_give_a_plan)
{
	const uint64_t bytes[] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, 1};
	const uint32_t want[] = {0, 1, 0, 0};
	uint32_t got[4];
	assert_ok(sherd_plan_whole(got, bytes, 4, 2, err));
	assert_memory_equal(got, want, sizeof(want));
}

TEST(the_plan_is_the_naive_one)
{
	uint64_t seed = 12345;
	for (int round = 0; round < 500; round++) {
		uint64_t bytes[64];
		uint32_t got[64], want[64];
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		size_t n = (seed >> 33) % 65;
		uint32_t world = 1 + (uint32_t)(seed >> 45) % 20;
		for (size_t i = 0; i < n; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			bytes[i] = (seed >> 40) % (round % 2 ? 10 : 100000);
		}
		assert_ok(sherd_plan_whole(got, bytes, n, world, err));
		plan_naively(bytes, n, world, want);
		assert_memory_equal(got, want, n * sizeof(got[0]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_goes_first_to_the_emptiest),
		cmocka_unit_test(equals_go_to_the_lower_index_and_the_lower_rank_first),
		cmocka_unit_test(more_ranks_than_things_leave_the_last_ranks_empty),
		cmocka_unit_test(sizes_that_overflow_a_sum_still_give_a_plan),
		cmocka_unit_test(the_plan_is_the_naive_one),
	};
	return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}

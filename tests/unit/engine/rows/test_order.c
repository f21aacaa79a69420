#include "support/test.h"

#include "base/error.h"
#include "engine/rows/order.h"

#include <sherd/rows.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

TEST(the_hash_is_splitmix64)
{
	static const uint64_t golden[][2] = {
		{0, 0xe220a8397b1dcdaf},
		{1, 0x910a2dec89025cc1},
		{2, 0x975835de1c9756ce},
		{3, 0x1d0b14e4db018fed},
		{1023, 0xc99070d0b823c1bf},
		{1024, 0x4426acba529f17cc},
		{1000000, 0x680d1cce9cff45e7},
		{UINT64_C(1) << 32, 0xc42c5a1aa3820138},
		{UINT64_C(1) << 63, 0x481ec0a212a9f3db},
		{UINT64_MAX, 0xe4d971771b652c20},
	};
	for (size_t i = 0; i < COUNT_OF(golden); i++)
		assert_true(sherd_rows_hash(golden[i][0]) == golden[i][1]);
}

static rows_order sampled(double fraction)
{
	rows_order o = {.total = UINT64_MAX};
	shd_rows_order_sample(&o, fraction);
	return o;
}

static uint64_t taken_of(double fraction, uint64_t n)
{
	rows_order o = sampled(fraction);
	uint64_t taken = 0;
	for (uint64_t i = 0; i < n; i++)
		taken += shd_rows_order_takes(&o, i);
	return taken;
}

static void assert_takes(double fraction, const uint64_t *ids, size_t count)
{
	rows_order o = sampled(fraction);
	size_t at = 0;
	for (uint64_t i = 0; i < 40; i++)
		if (shd_rows_order_takes(&o, i))
			assert_true(at < count && ids[at++] == i);
	assert_int_equal(at, count);
}

TEST(samples_are_those_of_the_original)
{
	static const uint64_t tenth[] = {10, 18, 21}, quarter[] = {3, 10, 18, 20, 21, 33};
	assert_true(sampled(0.1).threshold == 0x1999999999999a00);
	assert_true(sampled(0.25).threshold == 0x4000000000000000);
	assert_takes(0.1, tenth, COUNT_OF(tenth));
	assert_takes(0.25, quarter, COUNT_OF(quarter));
	assert_int_equal(taken_of(0.1, 200000), 19991);
	assert_int_equal(taken_of(0.25, 200000), 49936);
	assert_int_equal(taken_of(1.0 / 64, 200000), 3213);
}

TEST(the_ends_of_fractions)
{
	assert_int_equal(taken_of(0, 1000), 0);
	assert_int_equal(taken_of(-1, 1000), 0);
	assert_int_equal(taken_of(-(double)INFINITY, 1000), 0);
	assert_int_equal(taken_of(1, 1000), 1000);
	assert_int_equal(taken_of((double)INFINITY, 1000), 1000);
	assert_int_equal(taken_of(0x1p-1074, 1000), 0);
	assert_true(sampled(0x1.fffffffffffffp-1).threshold == UINT64_MAX - 2047);
}

TEST(smaller_fractions_give_subsets_of_larger_ones)
{
	static const double fractions[] = {0, 1e-3, 1.0 / 64, 0.1, 0.25, 0.5, 0.999, 1};
	for (size_t f = 0; f + 1 < COUNT_OF(fractions); f++) {
		rows_order small = sampled(fractions[f]), large = sampled(fractions[f + 1]);
		for (uint64_t i = 0; i < 20000; i++)
			assert_true(!shd_rows_order_takes(&small, i) || shd_rows_order_takes(&large, i));
	}
}

static void assert_bijection(uint64_t seed, uint64_t n)
{
	static bool seen[2001];
	memset(seen, 0, sizeof(seen));
	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = shd_rows_permute(seed, n, i);
		assert_true(at < n && !seen[at]);
		seen[at] = true;
	}
}

TEST(a_shuffle_is_a_bijection)
{
	for (uint64_t n = 1; n <= 2000; n++)
		assert_bijection(n * n, n);
	for (uint64_t seed = 0; seed < 500; seed++)
		assert_bijection(UINT64_MAX - seed, 1 + seed % 67);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Of places spread over a large set no two go to the same one. */
static void assert_no_collision(uint64_t seed, uint64_t n)
{
	enum { SAMPLES = 20000 };
	static uint64_t to[SAMPLES];
	uint64_t step = n / SAMPLES;
	for (uint64_t i = 0; i < SAMPLES; i++) {
		to[i] = shd_rows_permute(seed, n, i % 2 ? n - 1 - i / 2 : i / 2 * step);
		assert_true(to[i] < n);
	}
	qsort(to, SAMPLES, sizeof(to[0]), by_value);
	for (size_t i = 1; i < SAMPLES; i++)
		assert_true(to[i] != to[i - 1]);
}

TEST(large_shuffles_do_not_collide)
{
	static const uint64_t sizes[] = {1000003,
	                                 (UINT64_C(1) << 32) - 1,
	                                 (UINT64_C(1) << 32) + 1,
	                                 UINT64_C(1000000000000),
	                                 UINT64_C(1) << 63,
	                                 (UINT64_C(1) << 63) + 1,
	                                 UINT64_MAX};
	for (size_t i = 0; i < COUNT_OF(sizes); i++)
		assert_no_collision(i, sizes[i]);
}

/* Computed by another program from the definition in order.h. */
TEST(shuffles_stay_the_same_for_ever)
{
	static const uint64_t zero[] = {5, 8, 3, 1, 0, 7, 6, 2, 9, 4}, answer[] = {5, 0, 7, 9, 8, 1, 3, 2, 6, 4},
			      sixteen[] = {15, 10, 13, 0, 8, 4, 2, 7, 6, 3, 1, 12, 9, 5, 11, 14};
	for (uint64_t i = 0; i < 10; i++) {
		assert_int_equal(shd_rows_permute(0, 10, i), zero[i]);
		assert_int_equal(shd_rows_permute(42, 10, i), answer[i]);
	}
	for (uint64_t i = 0; i < 16; i++)
		assert_int_equal(shd_rows_permute(UINT64_MAX, 16, i), sixteen[i]);
	assert_int_equal(shd_rows_permute(7, 1036, 0), 68);
	assert_int_equal(shd_rows_permute(7, 1036, 1035), 99);
	assert_int_equal(shd_rows_permute(123456789, 1000000000000, 0), 732418429351);
	assert_int_equal(shd_rows_permute(123456789, 1000000000000, 999999999999), 227961788687);
	assert_true(shd_rows_permute(5, UINT64_MAX, UINT64_MAX - 1) == 0xd9cdae8c8c680b8a);
	assert_true(shd_rows_permute(5, UINT64_C(1) << 63, 1) == 0x4a81420a3d7504aa);
}

TEST(windows_keep_their_rows)
{
	static const uint64_t golden[] = {1, 3, 0, 2, 6, 7, 5, 4, 8, 9};
	rows_order small = {.total = 10, .shuffle = true, .seed = 42, .window = 4};
	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(shd_rows_order_at(&small, i), golden[i]);
	for (uint64_t window = 1; window < 120; window++) {
		rows_order o = {.total = 101, .shuffle = true, .seed = window, .window = window};
		bool seen[101] = {false};
		for (uint64_t i = 0; i < o.total; i++) {
			uint64_t row = shd_rows_order_at(&o, i);
			assert_true(row < o.total && !seen[row]);
			assert_int_equal(row / window, i / window);
			seen[row] = true;
		}
	}
}

/* Computed by another program from docs/formats/rows.md. */
TEST(epochs_are_shuffled_by_seeds_of_their_own)
{
	static const uint64_t epochs[] = {0, 1, UINT64_MAX};
	static const uint64_t golden[][10] = {
		{5, 0, 7, 9, 8, 1, 3, 2, 6, 4}, {7, 5, 1, 6, 0, 9, 2, 4, 8, 3}, {8, 2, 9, 1, 6, 3, 4, 7, 0, 5}};
	static const uint64_t within[] = {2, 3, 1, 0, 6, 7, 5, 4, 8, 9};
	for (size_t e = 0; e < COUNT_OF(epochs); e++) {
		rows_order o = {.total = 10, .shuffle = true, .seed = 42, .epoch = epochs[e]};
		for (uint64_t i = 0; i < 10; i++)
			assert_int_equal(shd_rows_order_at(&o, i), golden[e][i]);
	}
	rows_order o = {.total = 10, .shuffle = true, .seed = 42, .epoch = 1, .window = 4};
	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(shd_rows_order_at(&o, i), within[i]);
}

TEST(a_window_of_the_whole_set_is_no_window)
{
	rows_order whole = {.total = 50, .shuffle = true, .seed = 9}, large = whole, exact = whole;
	large.window = UINT64_MAX;
	exact.window = 50;
	for (uint64_t i = 0; i < 50; i++) {
		assert_int_equal(shd_rows_order_at(&large, i), shd_rows_order_at(&whole, i));
		assert_int_equal(shd_rows_order_at(&exact, i), shd_rows_order_at(&whole, i));
	}
}

/* How far rows are carried: the mean distance of a random permutation is a third of the set. */
TEST(a_shuffle_mixes)
{
	uint64_t n = 10000, moved = 0, still = 0;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t to = shd_rows_permute(3, n, i);
		moved += to > i ? to - i : i - to;
		still += to == i;
	}
	assert_in_range(moved / n, n * 3 / 10, n * 11 / 30);
	assert_in_range(still, 0, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_hash_is_splitmix64),
		cmocka_unit_test(samples_are_those_of_the_original),
		cmocka_unit_test(the_ends_of_fractions),
		cmocka_unit_test(smaller_fractions_give_subsets_of_larger_ones),
		cmocka_unit_test(a_shuffle_is_a_bijection),
		cmocka_unit_test(large_shuffles_do_not_collide),
		cmocka_unit_test(shuffles_stay_the_same_for_ever),
		cmocka_unit_test(windows_keep_their_rows),
		cmocka_unit_test(epochs_are_shuffled_by_seeds_of_their_own),
		cmocka_unit_test(a_window_of_the_whole_set_is_no_window),
		cmocka_unit_test(a_shuffle_mixes),
	};
	return cmocka_run_group_tests_name("rows order", tests, NULL, NULL);
}

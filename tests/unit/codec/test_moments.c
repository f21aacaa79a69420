#include "support/test.h"

#include "base/error.h"
#include "codec/moments.h"
#include "codec/numbers.h"
#include "codec/sketch.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 100000 };

static uint64_t random_state = 42;

static double next_random(void)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (double)(random_state >> 11) / 9007199254740992.0;
}

/* By the definition, in long double. */
static void assert_moments(const shd_moments *m, const double *values, size_t count)
{
	long double sum = 0, squares = 0;
	double min = INFINITY, max = -INFINITY;
	uint64_t finite = 0, nan = 0, inf = 0, zeros = 0;
	for (size_t i = 0; i < count; i++) {
		nan += isnan(values[i]) != 0;
		inf += isinf(values[i]) != 0;
		if (!isfinite(values[i]))
			continue;
		finite++;
		zeros += values[i] == 0;
		sum += (long double)values[i];
		min = values[i] < min ? values[i] : min;
		max = values[i] > max ? values[i] : max;
	}
	assert_int_equal(m->finite, finite);
	assert_int_equal(m->nan, nan);
	assert_int_equal(m->inf, inf);
	assert_int_equal(m->zeros, zeros);
	if (!finite)
		return;
	long double mean = sum / (long double)finite;
	for (size_t i = 0; i < count; i++)
		if (isfinite(values[i]))
			squares += ((long double)values[i] - mean) * ((long double)values[i] - mean);
	assert_true(m->min == min && m->max == max);
	assert_true(fabsl((long double)m->mean - mean) <= 1e-12L * (fabsl(mean) + (long double)(max - min)));
	assert_true(fabsl((long double)m->squares - squares) <= 1e-9L * squares + 1e-300L);
}

static void check(double (*value)(size_t), size_t count)
{
	float *singles = malloc((count + 1) * sizeof(*singles));
	double *doubles = malloc((count + 1) * sizeof(*doubles)), *exact = malloc((count + 1) * sizeof(*exact));
	assert_true(singles && doubles && exact);
	for (size_t i = 0; i < count; i++) {
		doubles[i] = value(i);
		singles[i] = (float)doubles[i];
		exact[i] = (double)singles[i];
	}
	shd_moments m;
	shd_moments_f64(&m, doubles, count);
	assert_moments(&m, doubles, count);
	shd_moments_f32(&m, singles, count);
	assert_moments(&m, exact, count);
	/* In pieces it is the same, but for the last digits. */
	shd_moments parts = {0};
	for (size_t i = 0; i < count; i += 4096) {
		shd_moments some;
		shd_moments_f32(&some, singles + i, count - i < 4096 ? count - i : 4096);
		shd_moments_merge(&parts, &some);
	}
	assert_moments(&parts, exact, count);
	free(singles);
	free(doubles);
	free(exact);
}

static double centred(size_t i)
{
	(void)i;
	return next_random() - 0.5;
}

/* Far from zero: what is lost by adding squares of the values themselves would be all. */
static double far_away(size_t i)
{
	return 1e6 + (double)(i % 7);
}

static double with_others(size_t i)
{
	return i % 1000 == 3  ? NAN
	       : i % 999 == 5 ? INFINITY
	       : i % 777 == 0 ? 0.0
	       : i % 555 == 1 ? -INFINITY
	                      : next_random();
}

static double never_finite(size_t i)
{
	return i % 2 ? NAN : -INFINITY;
}

static double extreme(size_t i)
{
	return i % 2 ? (double)FLT_MAX : -(double)FLT_MAX;
}

TEST(moments_are_those_of_the_definition)
{
	static double (*const kinds[])(size_t) = {centred, far_away, with_others, never_finite, extreme};
	static const size_t counts[] = {0, 1, 7, 8, 1023, 1024, 1025, 5000, COUNT};
	for (size_t k = 0; k < COUNT_OF(kinds); k++)
		for (size_t i = 0; i < COUNT_OF(counts); i++)
			check(kinds[k], counts[i]);
}

TEST(a_first_value_that_is_not_finite_is_no_shift)
{
	float values[2048];
	for (size_t i = 0; i < COUNT_OF(values); i++)
		values[i] = i ? (float)i : NAN;
	shd_moments m;
	shd_moments_f32(&m, values, COUNT_OF(values));
	assert_int_equal(m.nan, 1);
	assert_true(m.min == 1 && m.max == 2047 && fabs(m.mean - 1024) < 1e-9);
}

static int ascending(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;
	return (x > y) - (x < y);
}

static void assert_quantiles(float *values, size_t count)
{
	static const double shares[] = {0, 0.01, 0.25, 0.5, 0.75, 0.99, 1};
	double got[COUNT_OF(shares)];
	shd_sketch *s = malloc(sizeof(*s)), *half = malloc(sizeof(*half));
	assert_true(s && half);
	shd_sketch_init(s);
	shd_sketch_init(half);
	shd_sketch_f32(s, values, count / 3);
	shd_sketch_f32(half, values + count / 3, count - count / 3);
	shd_sketch_merge(s, half);
	qsort(values, count, sizeof(*values), ascending);
	double min = (double)values[0], max = (double)values[count - 1];
	shd_sketch_quantiles(s, shares, got, COUNT_OF(shares), min, max);
	for (size_t i = 0; i < COUNT_OF(shares); i++) {
		double want = (double)values[(size_t)(shares[i] * (double)(count - 1))];
		if (fabs(got[i] - want) > fabs(want) / 32 + 1e-37)
			fail_msg("share %g is %g, not %g", shares[i], got[i], want);
		assert_true(got[i] >= min && got[i] <= max);
	}
	uint64_t bins[16], sum = 0;
	shd_sketch_bins(s, min, max, bins, COUNT_OF(bins));
	for (size_t i = 0; i < COUNT_OF(bins); i++)
		sum += bins[i];
	assert_int_equal(sum, count);
	free(s);
	free(half);
}

TEST(quantiles_are_within_a_part_in_32)
{
	static float values[COUNT];
	for (size_t i = 0; i < COUNT; i++)
		values[i] = (float)(next_random() * next_random() - 0.1);
	assert_quantiles(values, COUNT);
	for (size_t i = 0; i < COUNT; i++)
		values[i] = (float)exp(80 * (next_random() - 0.5));
	assert_quantiles(values, COUNT);
	for (size_t i = 0; i < COUNT; i++)
		values[i] = i % 3 ? 0 : (float)i;
	assert_quantiles(values, COUNT);
	for (size_t i = 0; i < COUNT; i++)
		values[i] = 2.5f;
	assert_quantiles(values, COUNT);
	values[0] = -FLT_MAX;
	values[1] = FLT_MAX;
	assert_quantiles(values, 2);
}

TEST(a_sketch_of_nothing_has_no_quantiles)
{
	static const double half = 0.5;
	static const float others[] = {NAN, INFINITY, -INFINITY};
	double got = 0;
	shd_sketch *s = malloc(sizeof(*s));
	assert_non_null(s);
	shd_sketch_init(s);
	shd_sketch_f32(s, others, COUNT_OF(others));
	assert_int_equal(s->count, 0);
	shd_sketch_quantiles(s, &half, &got, 1, 0, 0);
	assert_true(isnan(got));
	free(s);
}

TEST(doubles_beyond_floats_count_as_the_largest)
{
	static const double values[] = {-1e300, 1, 1e300}, shares[] = {0, 1};
	double got[2];
	shd_sketch *s = malloc(sizeof(*s));
	assert_non_null(s);
	shd_sketch_init(s);
	shd_sketch_f64(s, values, COUNT_OF(values));
	assert_int_equal(s->count, 3);
	shd_sketch_quantiles(s, shares, got, 2, -1e300, 1e300);
	assert_true(got[0] < -1e38 && got[1] > 1e38);
	free(s);
}

TEST(small_floats_are_what_their_bits_say)
{
	static const struct {
		sherd_dtype dtype;
		uint8_t bits;
		double value;
	} known[] = {
		{SHERD_F8_E4M3, 0x38, 1},
		{SHERD_F8_E4M3, 0x7e, 448},
		{SHERD_F8_E4M3, 0x01, 0x1p-9},
		{SHERD_F8_E5M2, 0x3c, 1},
		{SHERD_F8_E5M2, 0x7c, INFINITY},
		{SHERD_F8_E5M2, 0xfc, -INFINITY},
		{SHERD_F8_E4M3FNUZ, 0x40, 1},
		{SHERD_F8_E5M2FNUZ, 0x40, 1},
		{SHERD_F8_E8M0, 127, 1},
		{SHERD_F8_E8M0, 0, 0x1p-127},
		{SHERD_BOOL, 1, 1},
		{SHERD_BOOL, 7, 1},
		{SHERD_U8, 200, 200},
		{SHERD_I8, 0xff, -1},
	};
	double got[4];
	for (size_t i = 0; i < COUNT_OF(known); i++) {
		sherd_number_widen(got, known[i].dtype, &known[i].bits, 1);
		assert_true(got[0] == known[i].value);
	}
	static const uint8_t nans[][2] = {{SHERD_F8_E4M3, 0x7f},
	                                  {SHERD_F8_E4M3, 0xff},
	                                  {SHERD_F8_E5M2, 0x7d},
	                                  {SHERD_F8_E4M3FNUZ, 0x80},
	                                  {SHERD_F8_E8M0, 0xff}};
	for (size_t i = 0; i < COUNT_OF(nans); i++) {
		sherd_number_widen(got, (sherd_dtype)nans[i][0], &nans[i][1], 1);
		assert_true(isnan(got[0]));
	}
	sherd_number_widen(got, SHERD_F4, (const uint8_t[]){0xf2}, 2);
	assert_true(got[0] == 1 && got[1] == -6);
	sherd_number_widen(got, SHERD_F6_E2M3, (const uint8_t[]){0x08, 0x20, 0x7c}, 4);
	assert_true(got[0] == 1 && got[1] == 0 && got[3] == 7.5);
	sherd_number_widen(got, SHERD_C64, (const float[]){1.5f, -2}, 1);
	assert_true(got[0] == 1.5 && got[1] == -2);
	sherd_number_widen(got, SHERD_U64, (const uint64_t[]){UINT64_C(1) << 53}, 1);
	assert_true(got[0] == 0x1p53);
	sherd_number_widen(got, SHERD_UTF8, "", 1);
	assert_true(isnan(got[0]));
	assert_false(sherd_number_known(SHERD_UTF8) || sherd_number_known(SHERD_OPAQUE) ||
	             sherd_number_known((sherd_dtype)9999));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moments_are_those_of_the_definition),
		cmocka_unit_test(a_first_value_that_is_not_finite_is_no_shift),
		cmocka_unit_test(quantiles_are_within_a_part_in_32),
		cmocka_unit_test(a_sketch_of_nothing_has_no_quantiles),
		cmocka_unit_test(doubles_beyond_floats_count_as_the_largest),
		cmocka_unit_test(small_floats_are_what_their_bits_say),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

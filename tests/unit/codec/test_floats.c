#include "support/test.h"

#include "codec/floats.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t bits32(float f)
{
	uint32_t u;
	memcpy(&u, &f, sizeof(u));
	return u;
}

static uint64_t bits64(double d)
{
	uint64_t u;
	memcpy(&u, &d, sizeof(u));
	return u;
}

static float float_of(uint32_t u)
{
	float f;
	memcpy(&f, &u, sizeof(f));
	return f;
}

/* Patterns of all kinds: numbers of every size, subnormal ones, infinities, NaNs with payload. */
static void fill(float *out, size_t count)
{
	uint32_t x = 12345;
	for (size_t i = 0; i < count; i++) {
		x = x * 1664525u + 1013904223u;
		out[i] = float_of(x);
	}
}

static void check_widen(const float *in, size_t count, size_t out_at)
{
	double *room = malloc((count + 16) * sizeof(double)), *out = room + out_at;
	assert_non_null(room);
	memset(room, 0x5a, (count + 16) * sizeof(double));
	shd_floats_widen(in, out, count);
	for (size_t i = 0; i < count; i++)
		if (bits64(out[i]) != bits64((double)in[i]))
			fail_msg("value %zu of %zu is wrong", i, count);
	for (size_t i = 0; i < out_at; i++)
		assert_int_equal(bits64(room[i]), UINT64_C(0x5a5a5a5a5a5a5a5a));
	assert_int_equal(bits64(out[count]), UINT64_C(0x5a5a5a5a5a5a5a5a));
	free(room);
}

TEST(every_count_at_every_alignment_is_widened_exactly)
{
	float in[80];
	fill(in, 80);
	for (size_t in_at = 0; in_at < 4; in_at++)
		for (size_t out_at = 0; out_at < 9; out_at++)
			for (size_t count = 0; count <= 70; count++)
				check_widen(in + in_at, count, out_at);
}

TEST(long_runs_are_widened_exactly)
{
	enum { MANY = 300007 };
	float *in = malloc(MANY * sizeof(float));
	assert_non_null(in);
	fill(in, MANY);
	for (size_t out_at = 0; out_at < 3; out_at++)
		check_widen(in + out_at, MANY - out_at, out_at);
	free(in);
}

TEST(doubles_are_rounded_to_the_nearest_and_ties_to_even)
{
	static const struct {
		double in;
		uint32_t out;
	} cases[] = {
		{1, 0x3f800000},
		{-0.0, 0x80000000},
		{1 + 0x1p-24, 0x3f800000},
		{1 + 0x1p-24 + 0x1p-52, 0x3f800001},
		{1 + 0x3p-24, 0x3f800002},
		{-(1 + 0x3p-24), 0xbf800002},
		{FLT_MAX, 0x7f7fffff},
		{0x1.ffffffp127, 0x7f800000},
		{0x1.fffffefffffffp127, 0x7f7fffff},
		{-DBL_MAX, 0xff800000},
		{INFINITY, 0x7f800000},
		{0x1p-149, 1},
		{0x1p-150, 0},
		{0x3p-150, 2},
		{0x1.8p-150, 1},
		{DBL_TRUE_MIN, 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t raw[9];
		float out;
		memcpy(raw + 1, &cases[i].in, 8); /* not aligned */
		shd_floats_from_f64(raw + 1, &out, 1);
		if (bits32(out) != cases[i].out)
			fail_msg("%a became %08x, not %08x", cases[i].in, bits32(out), cases[i].out);
	}
	double nan = NAN;
	float out;
	shd_floats_from_f64(&nan, &out, 1);
	assert_true(isnan(out));
}

/* The definition of IEEE 754 binary16, by arithmetic. */
static double half_value(unsigned h)
{
	int exponent = (int)(h >> 10 & 31), fraction = (int)(h & 1023);
	double v = exponent == 31 ? fraction ? NAN : INFINITY
	           : exponent     ? ldexp(1024 + fraction, exponent - 25)
	                          : ldexp(fraction, -24);
	return h & 0x8000 ? -v : v;
}

enum { ALL = 1 << 16 };

static uint8_t halves[1 + 2 * ALL]; /* every one, not aligned */
static float floats[ALL];
static double doubles[ALL];

static int make_halves(void **state)
{
	(void)state;
	for (size_t i = 0; i < ALL; i++) {
		halves[1 + 2 * i] = (uint8_t)i;
		halves[2 + 2 * i] = (uint8_t)(i >> 8);
	}
	return 0;
}

TEST(every_half_is_converted_exactly)
{
	shd_floats_convert(SHERD_F16, halves + 1, SHERD_F32, floats, ALL);
	shd_floats_convert(SHERD_F16, halves + 1, SHERD_F64, doubles, ALL);
	for (unsigned h = 0; h < ALL; h++) {
		double want = half_value(h);
		assert_true(isnan(want) ? isnan(floats[h]) : (double)floats[h] == want);
		assert_int_equal(bits32(floats[h]) >> 31, h >> 15);
		if (isnan(want)) /* the payload stays */
			assert_int_equal(bits32(floats[h]) >> 13 & 1023, h & 1023);
		assert_int_equal(bits64(doubles[h]), bits64((double)floats[h]));
	}
}

TEST(every_bfloat_is_the_upper_half_of_a_float)
{
	shd_floats_convert(SHERD_BF16, halves + 1, SHERD_F32, floats, ALL);
	shd_floats_convert(SHERD_BF16, halves + 1, SHERD_F64, doubles, ALL);
	for (unsigned h = 0; h < ALL; h++) {
		assert_int_equal(bits32(floats[h]), h << 16);
		assert_int_equal(bits64(doubles[h]), bits64((double)floats[h]));
	}
}

/* What each half-size value becomes on its way to a type and back. NaNs become quiet. */
static void check_back(sherd_dtype half, sherd_dtype by, unsigned exponent, unsigned quiet)
{
	static uint8_t back[1 + 2 * ALL];
	void *wide = by == SHERD_F32 ? (void *)floats : (void *)doubles;
	shd_floats_convert(half, halves + 1, by, wide, ALL);
	shd_floats_convert(by, wide, half, back + 1, ALL);
	for (unsigned h = 0; h < ALL; h++) {
		bool nan = (h & exponent) == exponent && (h & ~exponent & 0x7fff);
		assert_int_equal(back[1 + 2 * h] | back[2 + 2 * h] << 8, nan ? h | quiet : h);
	}
}

TEST(halves_and_bfloats_come_back_as_they_were)
{
	check_back(SHERD_F16, SHERD_F32, 0x7c00, 0x200);
	check_back(SHERD_F16, SHERD_F64, 0x7c00, 0x200);
	check_back(SHERD_BF16, SHERD_F32, 0x7f80, 0x40);
	check_back(SHERD_BF16, SHERD_F64, 0x7f80, 0x40);
}

/* The nearest of all values of a type that are not negative, the even one of two, by comparing. */
static unsigned nearest(sherd_dtype half, double v)
{
	unsigned infinity = half == SHERD_F16 ? 0x7c00 : 0x7f80, low = 0, high = infinity;
	const double *table = doubles;
	while (high - low > 1) {
		unsigned middle = low + (high - low) / 2;
		if (table[middle] <= v)
			low = middle;
		else
			high = middle;
	}
	/* The step above the largest number is as wide as the one below it. */
	double upper = high == infinity ? 2 * table[low] - table[low - 1] : table[high];
	double below = v - table[low], above = upper - v;
	return below < above || (below == above && low % 2 == 0) ? low : high;
}

static void check_narrow(sherd_dtype half, double v)
{
	/* The same value in every place of a vector, and behind it. */
	double many[11];
	float as_floats[11];
	uint16_t out[12];
	unsigned want = nearest(half, v);
	for (size_t i = 0; i < 11; i++)
		many[i] = i % 2 ? -v : v;
	memset(out, 0x5a, sizeof(out));
	shd_floats_convert(SHERD_F64, many, half, out, 11);
	for (size_t i = 0; i < 11; i++)
		if (out[i] != (want | (i % 2 ? 0x8000 : 0)))
			fail_msg("%a became %04x, not %04x", many[i], out[i], want);
	assert_int_equal(out[11], 0x5a5a);
	for (size_t i = 0; i < 11; i++)
		as_floats[i] = (float)many[i];
	want = nearest(half, fabs((double)as_floats[0]));
	shd_floats_convert(SHERD_F32, as_floats, half, out, 11);
	for (size_t i = 0; i < 11; i++)
		assert_int_equal(out[i], want | (i % 2 ? 0x8000 : 0));
}

/* The neighbours of a number that is not negative and not the largest. */
static double beside(double v, int step)
{
	uint64_t u = bits64(v) + (uint64_t)step;
	if (!bits64(v) && step < 0)
		return v;
	memcpy(&v, &u, sizeof(v));
	return v;
}

static double beside_float(double v, int step)
{
	uint32_t u = bits32((float)v);
	return u || step > 0 ? (double)float_of(u + (uint32_t)step) : v;
}

static void check_all_ties(sherd_dtype half, unsigned infinity, unsigned step)
{
	shd_floats_convert(half, halves + 1, SHERD_F64, doubles, ALL);
	for (unsigned h = 0; h < infinity; h += step) {
		double here = doubles[h], next = h + 1 == infinity ? 2 * here - doubles[h - 1] : doubles[h + 1];
		double tie = here + (next - here) / 2;
		check_narrow(half, here);
		check_narrow(half, tie);
		check_narrow(half, beside(tie, -1));
		check_narrow(half, beside(tie, 1));
		check_narrow(half, beside_float(tie, -1));
		check_narrow(half, beside_float(tie, 1));
	}
}

TEST(narrowing_rounds_to_the_nearest_and_ties_to_even_once)
{
	check_all_ties(SHERD_F16, 0x7c00, 1);
	check_all_ties(SHERD_BF16, 0x7f80, 1);
}

TEST(what_is_too_large_or_no_number_stays_so)
{
	const double in[] = {INFINITY, -INFINITY, DBL_MAX, -DBL_MAX, 65520, 65519.99, DBL_TRUE_MIN, -DBL_TRUE_MIN};
	const uint16_t f16[] = {0x7c00, 0xfc00, 0x7c00, 0xfc00, 0x7c00, 0x7bff, 0, 0x8000};
	const uint16_t bf16[] = {0x7f80, 0xff80, 0x7f80, 0xff80, 0x4780, 0x4780, 0, 0x8000};
	uint16_t out[8];
	shd_floats_convert(SHERD_F64, in, SHERD_F16, out, 8);
	assert_memory_equal(out, f16, sizeof(out));
	shd_floats_convert(SHERD_F64, in, SHERD_BF16, out, 8);
	assert_memory_equal(out, bf16, sizeof(out));
	shd_floats_convert(SHERD_BF16, bf16, SHERD_F16, out, 8);
	assert_int_equal(out[0], 0x7c00);
	assert_int_equal(out[4], 0x7c00);
	shd_floats_convert(SHERD_F16, f16, SHERD_F16, out, 8);
	assert_memory_equal(out, f16, sizeof(out));
}

TEST(infinities_of_every_type_are_counted)
{
	static const sherd_dtype dtypes[] = {SHERD_F64, SHERD_F32, SHERD_F16, SHERD_BF16};
	const double in[] = {INFINITY, -INFINITY, NAN, 1, 65504, 0};
	for (size_t i = 0; i < 4; i++) {
		double room[7];
		uint8_t *out = (uint8_t *)room;
		shd_floats_convert(SHERD_F64, in, dtypes[i], room, 6);
		assert_int_equal(shd_floats_infinite(dtypes[i], out, 6), 2);
		memmove(out + 1, out, sizeof(double) * 6);
		assert_int_equal(shd_floats_infinite(dtypes[i], out + 1, 6), 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_count_at_every_alignment_is_widened_exactly),
		cmocka_unit_test(long_runs_are_widened_exactly),
		cmocka_unit_test(doubles_are_rounded_to_the_nearest_and_ties_to_even),
		cmocka_unit_test(every_half_is_converted_exactly),
		cmocka_unit_test(every_bfloat_is_the_upper_half_of_a_float),
		cmocka_unit_test(halves_and_bfloats_come_back_as_they_were),
		cmocka_unit_test(narrowing_rounds_to_the_nearest_and_ties_to_even_once),
		cmocka_unit_test(what_is_too_large_or_no_number_stays_so),
		cmocka_unit_test(infinities_of_every_type_are_counted),
	};
	return cmocka_run_group_tests_name("floats", tests, make_halves, NULL);
}

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
	sherd_floats_widen(in, out, count);
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
		sherd_floats_from_f64(raw + 1, &out, 1);
		if (bits32(out) != cases[i].out)
			fail_msg("%a became %08x, not %08x", cases[i].in, bits32(out), cases[i].out);
	}
	double nan = NAN;
	float out;
	sherd_floats_from_f64(&nan, &out, 1);
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

TEST(every_half_is_converted_exactly)
{
	for (unsigned h = 0; h < 65536; h++) {
		const uint8_t raw[3] = {0, (uint8_t)h, (uint8_t)(h >> 8)};
		float out;
		sherd_floats_from_f16(raw + 1, &out, 1);
		double want = half_value(h);
		assert_true(isnan(want) ? isnan(out) : (double)out == want);
		assert_int_equal(bits32(out) >> 31, h >> 15);
		if (isnan(want)) /* the payload stays */
			assert_int_equal(bits32(out) >> 13 & 1023, h & 1023);
	}
}

TEST(every_bfloat_is_the_upper_half_of_a_float)
{
	for (unsigned h = 0; h < 65536; h++) {
		const uint8_t raw[3] = {0, (uint8_t)h, (uint8_t)(h >> 8)};
		float out;
		sherd_floats_from_bf16(raw + 1, &out, 1);
		assert_int_equal(bits32(out), h << 16);
	}
}

TEST(bfloats_are_widened_as_the_floats_that_they_are)
{
	enum { ALL = 1 << 16 };
	static uint8_t in[1 + 2 * ALL];
	static float narrow[ALL];
	static double want[ALL], got[ALL];
	for (size_t i = 0; i < ALL; i++) {
		in[1 + 2 * i] = (uint8_t)i;
		in[2 + 2 * i] = (uint8_t)(i >> 8);
	}
	sherd_floats_from_bf16(in + 1, narrow, ALL);
	sherd_floats_widen(narrow, want, ALL);
	for (size_t count = 0; count <= ALL; count = 3 * count + 1) {
		memset(got, 0x55, sizeof(got));
		sherd_floats_widen_bf16(in + 1, got, count);
		assert_memory_equal(got, want, count * sizeof(double));
		assert_true(count == ALL || memcmp(got + count, "UUUUUUUU", 8) == 0);
	}
	sherd_floats_widen_bf16(in + 1, got, ALL);
	assert_memory_equal(got, want, sizeof(want));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_count_at_every_alignment_is_widened_exactly),
		cmocka_unit_test(long_runs_are_widened_exactly),
		cmocka_unit_test(doubles_are_rounded_to_the_nearest_and_ties_to_even),
		cmocka_unit_test(every_half_is_converted_exactly),
		cmocka_unit_test(every_bfloat_is_the_upper_half_of_a_float),
		cmocka_unit_test(bfloats_are_widened_as_the_floats_that_they_are),
	};
	return cmocka_run_group_tests_name("floats", tests, NULL, NULL);
}

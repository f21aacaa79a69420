#include "codec/json.h"

#include "base/error.h"
#include "support/test.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

typedef enum kind { U32, U64, I64, U128, DOUBLE } kind;

typedef struct taken {
	unsigned __int128 bits; /* integers, signed ones as 64-bit two's complement */
	double real;
} taken;

static int take(const char *text, kind k, taken *out, sherd_error *err)
{
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	uint32_t u32 = 0;
	uint64_t u64 = 0;
	int64_t i64 = 0;
	TRY(shd_json_open(&j, text, strlen(text), NULL, err));
	switch (k) {
	case U32: TRY(shd_json_u32(j, &u32, err)); break;
	case U64: TRY(shd_json_u64(j, &u64, err)); break;
	case I64: TRY(shd_json_i64(j, &i64, err)); break;
	case U128: TRY(shd_json_u128(j, &out->bits, err)); break;
	case DOUBLE: TRY(shd_json_double(j, &out->real, err)); break;
	}
	if (k < U128)
		out->bits = (unsigned __int128)(u32 | u64 | (uint64_t)i64);
	return shd_json_end(j, err);
}

TEST(integers_are_exact_up_to_their_bounds)
{
	static const struct {
		const char *text;
		kind k;
		uint64_t high, low;
	} cases[] = {
		{"0", U32, 0, 0},
		{"4294967295", U32, 0, 4294967295u},
		{"-0", I64, 0, 0},
		{"18446744073709551615", U64, 0, UINT64_MAX},
		{"9007199254740993", U64, 0, 9007199254740993u},
		{"9223372036854775807", I64, 0, INT64_MAX},
		{"-9223372036854775808", I64, 0, (uint64_t)INT64_MIN},
		{"-1", I64, 0, UINT64_MAX},
		{"18446744073709551616", U128, 1, 0},
		{"340282366920938463463374607431768211455", U128, UINT64_MAX, UINT64_MAX},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		taken t = {0};
		assert_ok(take(cases[i].text, cases[i].k, &t, err));
		assert_true(t.bits == ((unsigned __int128)cases[i].high << 64 | cases[i].low));
	}
}

TEST(what_is_no_integer_in_range_is_a_bad_number)
{
	static const struct {
		const char *text;
		kind k;
	} cases[] = {
		{"4294967296", U32},
		{"-1", U32},
		{"-0", U32},
		{"1.0", U32},
		{"1e2", U32},
		{"1.5", I64},
		{"18446744073709551616", U64},
		{"-1", U64},
		{"1E0", U64},
		{"9223372036854775808", I64},
		{"-9223372036854775809", I64},
		{"0.0", I64},
		{"340282366920938463463374607431768211456", U128},
		{"-1", U128},
		{"999999999999999999999999999999999999999999999999", U128},
		{"1e400", DOUBLE},
		{"-1e400", DOUBLE},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		taken t;
		assert_refused(SHERD_ECORRUPT, "bad-number", take(cases[i].text, cases[i].k, &t, err));
	}
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	uint32_t u32;
	assert_ok(shd_json_open(&j, "  -1", 4, NULL, err));
	assert_fails(SHERD_ECORRUPT, 2, shd_json_u32(j, &u32, err));
}

static void check_doubles(void)
{
	static const struct {
		const char *text;
		double v;
	} cases[] = {
		{"0", 0},
		{"1.5", 1.5},
		{"-2.25e2", -225},
		{"1E-2", 0.01},
		{"0.1", 0.1},
		{"1e-400", 0},
		{"1.7976931348623157e308", DBL_MAX},
		{"4.9406564584124654e-324", 4.9406564584124654e-324},
		{"123456789012345678901234567890", 123456789012345678901234567890.0},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		taken t = {0};
		assert_ok(take(cases[i].text, DOUBLE, &t, err));
		assert_true(t.real == cases[i].v);
	}
	taken t = {0};
	assert_ok(take("-0.0", DOUBLE, &t, err));
	assert_true(t.real == 0 && signbit(t.real));
}

static void check_written(double v, const char *want)
{
	SHD_AUTO_BUF b = {0};
	shd_json_writer w;
	shd_json_writer_init(&w, &b);
	shd_json_put_double(&w, v);
	shd_buf_u8(&b, 0);
	assert_false(b.failed);
	if (want)
		assert_string_equal((char *)b.data, want);
	taken t = {0};
	assert_ok(take((char *)b.data, DOUBLE, &t, err));
	assert_memory_equal(&t.real, &v, sizeof(v));
}

static void check_texts(void)
{
	check_written(0, "0");
	check_written(-0.0, "-0");
	check_written(1, "1");
	check_written(0.1, "0.1");
	check_written(0.1 + 0.2, "0.30000000000000004");
	check_written(1e22, "1e+22");
	check_written(1.0 / 3, "0.3333333333333333");
	check_written(5e-324, "5e-324");
	check_written(DBL_MAX, "1.7976931348623157e+308");
	check_written(DBL_MIN, "2.2250738585072014e-308");
}

TEST(doubles_are_read_to_the_nearest)
{
	check_doubles();
}

TEST(doubles_are_written_in_the_shortest_text_that_reads_back)
{
	check_texts();
	uint64_t bits = 88172645463325252u;
	for (int i = 0; i < 20000; i++) {
		bits ^= bits << 13;
		bits ^= bits >> 7;
		bits ^= bits << 17;
		double v;
		memcpy(&v, &bits, sizeof(v));
		if (isfinite(v))
			check_written(v, NULL);
	}
}

TEST(what_no_number_can_say_is_written_as_null)
{
	SHD_AUTO_BUF b = {0};
	shd_json_writer w;
	shd_json_writer_init(&w, &b);
	shd_json_put_array(&w, true);
	shd_json_put_double(&w, (double)NAN);
	shd_json_put_double(&w, (double)INFINITY);
	shd_json_put_array_end(&w);
	assert_int_equal(b.len, 12);
	assert_memory_equal(b.data, "[null, null]", 12);
}

/* Which locales a machine has is not ours to say: each that is there and writes a comma is tried. */
TEST(the_locale_of_the_program_changes_nothing)
{
	static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ru_RU.UTF-8", "C.UTF-8", "C"};
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		if (!setlocale(LC_ALL, names[i]))
			continue;
		check_doubles();
		check_texts();
	}
	assert_non_null(setlocale(LC_ALL, "C"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_are_exact_up_to_their_bounds),
		cmocka_unit_test(what_is_no_integer_in_range_is_a_bad_number),
		cmocka_unit_test(doubles_are_read_to_the_nearest),
		cmocka_unit_test(doubles_are_written_in_the_shortest_text_that_reads_back),
		cmocka_unit_test(what_no_number_can_say_is_written_as_null),
		cmocka_unit_test(the_locale_of_the_program_changes_nothing),
	};
	return cmocka_run_group_tests_name("json_number", tests, NULL, NULL);
}

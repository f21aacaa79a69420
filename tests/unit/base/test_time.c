#include "base/time.h"

#include "support/test.h"

#define SECOND INT64_C(1000000000)

static const struct {
	const char *text;
	int64_t seconds, frac;
} instants[] = {
	{"1970-01-01T00:00:00Z", 0, 0},
	{"1970-01-01T00:00:01Z", 1, 0},
	{"1969-12-31T23:59:59Z", -1, 0},
	{"1969-12-31T23:59:59.5Z", -1, 500000000},
	{"2000-02-29T00:00:00Z", 951782400, 0},
	{"2000-03-01T00:00:00Z", 951868800, 0},
	{"1900-03-01T00:00:00Z", -2203891200, 0},
	{"2024-02-29T23:59:59.999999999Z", 1709251199, 999999999},
	{"2026-01-09T12:00:00Z", 1767960000, 0},
	{"2038-01-19T03:14:08Z", 2147483648, 0},
	{"2100-03-01T00:00:00.000000001Z", 4107542400, 1},
	{"2262-04-11T23:47:16.854775807Z", 9223372036, 854775807},
};

TEST(instants_and_their_texts_belong_together)
{
	for (size_t i = 0; i < sizeof(instants) / sizeof(instants[0]); i++) {
		int64_t want = instants[i].seconds * SECOND + instants[i].frac, got = 0;
		char text[SHD_TIME_TEXT];
		assert_true(shd_time_parse(shd_str_of(instants[i].text), &got));
		assert_true(got == want);
		shd_time_format(want, text);
		assert_string_equal(text, instants[i].text);
	}
}

TEST(the_first_and_the_last_instant_have_texts)
{
	static const struct {
		const char *text;
		int64_t ns;
	} ends[] = {
		{"1677-09-21T00:12:43.145224192Z", INT64_MIN},
		{"1677-09-21T00:12:43.145224193Z", INT64_MIN + 1},
		{"1677-09-21T00:12:44Z", INT64_C(-9223372036) * SECOND},
		{"2262-04-11T23:47:16.854775807Z", INT64_MAX},
	};
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		char text[SHD_TIME_TEXT];
		int64_t back = 1;
		shd_time_format(ends[i].ns, text);
		assert_string_equal(text, ends[i].text);
		assert_true(shd_time_parse(shd_str_of(text), &back));
		assert_true(back == ends[i].ns);
	}
	int64_t none;
	assert_false(shd_time_parse(shd_str_of("1677-09-21T00:12:43.145224191Z"), &none));
	assert_false(shd_time_parse(shd_str_of("2262-04-11T23:47:16.854775808Z"), &none));
}

TEST(every_day_of_four_centuries_reads_back)
{
	for (int64_t day = -100000; day < 100000; day += 1) {
		char text[SHD_TIME_TEXT];
		int64_t ns = day * 86400 * SECOND + day % 7 * 1234567, back = 1;
		shd_time_format(ns, text);
		assert_true(shd_time_parse(shd_str_of(text), &back));
		assert_true(back == ns);
	}
}

TEST(other_ways_to_write_an_instant_are_understood)
{
	static const struct {
		const char *text;
		int64_t seconds, frac;
	} cases[] = {
		{"2026-01-09T12:00:00.1234567Z", 1767960000, 123456700},
		{"2026-01-09T12:00:00.1234567+00:00", 1767960000, 123456700},
		{"2026-01-09T13:30:00+01:30", 1767960000, 0},
		{"2026-01-09T04:00:00.25-08:00", 1767960000, 250000000},
		{"2026-01-10T01:45:00+13:45", 1767960000, 0},
		{"2026-01-09T12:00:00.12345678987654321Z", 1767960000, 123456789},
		{"2026-01-09T12:00:00.0000000000Z", 1767960000, 0},
		{"2026-01-09T12:00:00-00:00", 1767960000, 0},
		{"2016-12-31T23:59:60Z", 1483228800, 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t got = 0;
		assert_true(shd_time_parse(shd_str_of(cases[i].text), &got));
		assert_true(got == cases[i].seconds * SECOND + cases[i].frac);
	}
}

TEST(what_is_no_instant_is_refused)
{
	static const char *const bad[] = {
		"",
		"2026",
		"2026-01-09",
		"2026-01-09T12:00Z",
		"2026-01-09T12:00:00",
		"2026-01-09 12:00:00Z",
		"2026-01-09T12:00:00ZZ",
		"2026-01-09T12:00:00Z ",
		" 2026-01-09T12:00:00Z",
		"26-01-09T12:00:00Z",
		"2026-00-09T12:00:00Z",
		"2026-13-09T12:00:00Z",
		"2026-01-00T12:00:00Z",
		"2026-01-32T12:00:00Z",
		"2026-02-29T12:00:00Z",
		"2024-02-30T12:00:00Z",
		"2100-02-29T12:00:00Z",
		"2026-04-31T12:00:00Z",
		"2026-01-09T24:00:00Z",
		"2026-01-09T12:60:00Z",
		"2026-01-09T12:00:61Z",
		"2026-01-09T12:00:00.Z",
		"2026-01-09T12:00:00,5Z",
		"2026-01-09T12:00:00+1:00",
		"2026-01-09T12:00:00+0100",
		"2026-01-09T12:00:00+24:00",
		"2026-01-09T12:00:00+01:60",
		"2026-01-09T12:00:00+01:00Z",
		"2026-1-9T12:00:00Z",
		"-026-01-09T12:00:00Z",
		"2026-01-09T1a:00:00Z",
		"2262-04-11T23:47:16.854775808Z",
		"9999-12-31T23:59:59Z",
		"1600-01-01T00:00:00Z",
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int64_t ns = 42;
		if (shd_time_parse(shd_str_of(bad[i]), &ns))
			fail_msg("accepted: %s", bad[i]);
		assert_int_equal(ns, 42);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instants_and_their_texts_belong_together),
		cmocka_unit_test(the_first_and_the_last_instant_have_texts),
		cmocka_unit_test(every_day_of_four_centuries_reads_back),
		cmocka_unit_test(other_ways_to_write_an_instant_are_understood),
		cmocka_unit_test(what_is_no_instant_is_refused),
	};
	return cmocka_run_group_tests_name("time", tests, NULL, NULL);
}

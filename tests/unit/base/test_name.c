/* Patterns of names, and their natural order. */
#include "support/test.h"

#include "base/error.h"

#include <sherd/name.h>

#include <stdlib.h>
#include <string.h>

TEST(patterns_fit_whole_names)
{
	static const struct {
		const char *name, *pattern;
		bool fits;
	} cases[] = {
		{"", "", true},
		{"", "*", true},
		{"", "?", false},
		{"a", "", false},
		{"layers.0.mlp.weight", "layers.*.weight", true},
		{"layers.0.mlp.bias", "layers.*.weight", false},
		{"a/b.c", "*", true},
		{"a.b", "a?b", true},
		{"a.b", "a?", false},
		{"abcabc", "*abc", true},
		{"abcab", "*abc", false},
		{"aXbXc", "a*X*c", true},
		{"aaa", "*a*a*a*a*", false},
		{"layers.3", "layers.[0-4]", true},
		{"layers.5", "layers.[0-4]", false},
		{"layers.5", "layers.[!0-4]", true},
		{"layers.", "layers.[!0-4]", false},
		{"a]", "a[]]", true},
		{"a-", "a[b-]", true},
		{"a*", "a\\*", true},
		{"ab", "a\\*", false},
		{"a\\", "a\\", true},
		{"gr\xc3\xbc\xc3\x9f", "gr??", true},
		{"gr\xc3\xbc", "gr[\xc3\xa0-\xc3\xbf]", true},
		{"gr\xc3\xbc", "gr[a-z]", false},
		{"\xff\xff", "??", true},
		/* A name that looks like a pattern is fitted by itself. */
		{"w[0]", "w[0]", true},
		{"w0", "w[0]", true},
		{"w[", "w[", true},
		{"w[a", "w[?", true},
		{"w[\\", "w[\\", true},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		if (sherd_name_matches(cases[i].name, cases[i].pattern) != cases[i].fits)
			fail_msg("'%s' and '%s'", cases[i].name, cases[i].pattern);
}

TEST(a_hostile_pattern_takes_no_time)
{
	char name[4096], pattern[4096];
	memset(name, 'a', sizeof(name));
	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = i % 2 ? 'a' : '*';
	name[sizeof(name) - 1] = 0;
	pattern[sizeof(pattern) - 2] = 'b';
	pattern[sizeof(pattern) - 1] = 0;
	assert_false(sherd_name_matches(name, pattern));
}

static int by_name(const void *left, const void *right)
{
	return sherd_name_compare(*(const char *const *)left, *(const char *const *)right);
}

TEST(numbers_in_names_count_as_numbers)
{
	static const char *const sorted[] = {
		"",      "a",    "a.0",      "a.00",      "a.1",   "a.2",       "a.9",
		"a.010", "a.10", "a.10.b.2", "a.10.b.11", "a.100", "a.1000000", "a.10000000000000000000000",
		"a.x",   "a1",   "b",        "\xc3\xbc",
	};
	const char *names[COUNT_OF(sorted)];
	for (size_t i = 0; i < COUNT_OF(sorted); i++)
		names[i] = sorted[COUNT_OF(sorted) - 1 - i];
	qsort(names, COUNT_OF(names), sizeof(*names), by_name);
	for (size_t i = 0; i < COUNT_OF(sorted); i++)
		assert_string_equal(names[i], sorted[i]);
	for (size_t i = 0; i < COUNT_OF(sorted); i++)
		for (size_t k = 0; k < COUNT_OF(sorted); k++) {
			int order = sherd_name_compare(sorted[i], sorted[k]);
			assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_fit_whole_names),
		cmocka_unit_test(a_hostile_pattern_takes_no_time),
		cmocka_unit_test(numbers_in_names_count_as_numbers),
	};
	return cmocka_run_group_tests_name("name", tests, NULL, NULL);
}

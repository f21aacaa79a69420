/* Every sequence of up to three bytes, and the edges of four, against the definition by code points. */
#include "codec/utf8.h"

#include "codec/json.h"
#include "support/test.h"

/* The bytes of a code point, by the definition; 0 for surrogates and what lies above. */
static size_t encode(uint32_t code, uint8_t out[4])
{
	if ((code >= 0xd800 && code < 0xe000) || code > 0x10ffff)
		return 0;
	size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
	for (size_t i = len; i-- > 1; code >>= 6)
		out[i] = (uint8_t)(0x80 | (code & 0x3f));
	out[0] = (uint8_t)(lead[len] | code);
	return len;
}

TEST(every_code_point_is_valid_and_no_part_of_it_is)
{
	for (uint32_t code = 0; code <= 0x110000; code++) {
		uint8_t raw[4];
		size_t len = encode(code, raw), bad = 99;
		if (!len)
			continue;
		assert_true(shd_utf8_valid(raw, len, &bad));
		for (size_t cut = 1; cut < len; cut++) {
			assert_false(shd_utf8_valid(raw, cut, &bad));
			assert_int_equal(bad, 0);
			assert_true(shd_utf8_cut_off(raw, cut));
		}
	}
}

/* Counts by the definition: what is not the encoding of a code point is not valid. */
TEST(there_are_no_other_sequences)
{
	size_t two = 0, three = 0, four = 0;
	for (unsigned a = 0x80; a < 0x100; a++) {
		for (unsigned b = 0; b < 0x100; b++) {
			uint8_t raw[4] = {(uint8_t)a, (uint8_t)b, 0, 0};
			two += utf8_sequence(raw, 2) == 2;
			for (unsigned c = 0; c < 0x100; c++) {
				raw[2] = (uint8_t)c;
				three += utf8_sequence(raw, 3) == 3;
				raw[3] = 0x80;
				four += utf8_sequence(raw, 4) == 4;
				raw[3] = 0xc0;
				assert_int_not_equal(utf8_sequence(raw, 4), 4);
			}
		}
	}
	assert_int_equal(two, 0x800 - 0x80);
	/* Two-byte sequences count once for each third byte only when asked for two. */
	assert_int_equal(three, 0x10000 - 0x800 - 0x800);
	assert_int_equal(four, (0x110000 - 0x10000) / 64);
}

TEST(the_first_bad_byte_is_named)
{
	static const struct {
		const char *text;
		size_t len, bad;
	} cases[] = {
		{"\x80", 1, 0},         {"abc\xff", 4, 3},           {"0123456789\xc3\xa4\xc3z", 14, 12},
		{"\xed\xa0\x80", 3, 0}, {"a\xf4\x90\x80\x80", 5, 1}, {"12345678\xe2\x82", 10, 8},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t bad = 99;
		assert_false(shd_utf8_valid(cases[i].text, cases[i].len, &bad));
		assert_int_equal(bad, cases[i].bad);
	}
	size_t bad = 99;
	assert_true(shd_utf8_valid("", 0, &bad));
	assert_true(shd_utf8_valid("\0\x7f", 2, &bad));
	assert_int_equal(bad, 99);
}

TEST(only_what_may_go_on_is_cut_off)
{
	static const char *const never[] = {"\x80",     "\xc0",     "\xc1",         "\xf5",
	                                    "\xff",     "\xe0\x80", "\xed\xa0",     "\xf0\x8f",
	                                    "\xf4\x90", "\xe2\x41", "\xf0\x90\x41", "\xc3\xa4\x80"};
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		assert_false(shd_utf8_cut_off((const uint8_t *)never[i], strlen(never[i])));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_code_point_is_valid_and_no_part_of_it_is),
		cmocka_unit_test(there_are_no_other_sequences),
		cmocka_unit_test(the_first_bad_byte_is_named),
		cmocka_unit_test(only_what_may_go_on_is_cut_off),
	};
	return cmocka_run_group_tests_name("utf8", tests, NULL, NULL);
}

/* The portable form of the inner loops, and the one that this machine uses, against one byte at a time. */
#define SHD_JSON_NO_SSE2
#include "codec/json_scan.h"

#include "codec/json.h"
#include "support/test.h"

#include <stdlib.h>

static uint64_t seed = 0x2545f4914f6cdd1du;

static uint8_t next_byte(const char *from, size_t count)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	/* Mostly the first of the choices, so that runs are long. */
	return (uint8_t)(seed >> 33 & 7 ? from[0] : from[(seed >> 40) % count]);
}

/* Texts of every short length, out of these bytes: the end is where the first stands that does not belong. */
static void check_ends(const char *bytes, size_t count, bool (*belongs)(uint8_t c),
                       const uint8_t *(*end)(const uint8_t *p, const uint8_t *end))
{
	for (size_t round = 0; round < 2000; round++) {
		size_t len = round % 67, at = 0;
		uint8_t *text = malloc(len ? len : 1);
		assert_non_null(text);
		for (size_t i = 0; i < len; i++)
			text[i] = next_byte(bytes, count);
		while (at < len && belongs(text[at]))
			at++;
		assert_ptr_equal(end(text, text + len), text + at);
		free(text);
	}
}

TEST(the_end_of_plain_text_is_found_at_every_length)
{
	static const char bytes[] = "a\"\\\x1f\x20\x7f\x80\xff\0!#[]\x01\x21";
	check_ends(bytes, sizeof(bytes) - 1, json_is_plain, json_plain_end);
}

TEST(the_end_of_white_space_is_found_at_every_length)
{
	static const char bytes[] = " \n\t\r\n\n\r\v\f!\x1f\x80\0";
	check_ends(bytes, sizeof(bytes) - 1, json_is_space, json_space_end);
}

TEST(every_byte_value_is_plain_or_not_at_every_place)
{
	for (unsigned value = 0; value < 256; value++) {
		for (size_t place = 0; place < 40; place++) {
			uint8_t text[40];
			memset(text, 'x', sizeof(text));
			text[place] = (uint8_t)value;
			bool plain = value >= 0x20 && value < 0x80 && value != '"' && value != '\\';
			assert_ptr_equal(json_plain_end(text, text + 40), text + (plain ? 40 : place));
		}
	}
}

/* The parser itself, which uses the widest loads of the machine: one odd byte among plain ones, at every place. */
TEST(the_parser_finds_an_odd_byte_at_every_place_of_a_string)
{
	for (size_t len = 1; len < 70; len++) {
		for (size_t place = 0; place < len; place++) {
			char *text = malloc(len + 2);
			assert_non_null(text);
			memset(text, 'x', len + 2);
			text[0] = text[len + 1] = '"';
			assert_ok(shd_json_check(text, len + 2, NULL, err));
			text[place + 1] = 0x1f;
			assert_fails(SHERD_ECORRUPT, place + 1, shd_json_check(text, len + 2, NULL, err));
			text[place + 1] = (char)0x80;
			assert_fails(SHERD_ECORRUPT, place + 1, shd_json_check(text, len + 2, NULL, err));
			free(text);
		}
	}
}

TEST(the_parser_skips_any_amount_of_white_space)
{
	static const char spaces[] = " \n\t\r";
	for (size_t len = 0; len < 70; len++) {
		char *text = malloc(len + 1);
		assert_non_null(text);
		for (size_t i = 0; i < len; i++)
			text[i] = spaces[(i + len) % 4];
		text[len] = '1';
		assert_ok(shd_json_check(text, len + 1, NULL, err));
		text[len] = '\f';
		assert_fails(SHERD_ECORRUPT, len, shd_json_check(text, len + 1, NULL, err));
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_end_of_plain_text_is_found_at_every_length),
		cmocka_unit_test(every_byte_value_is_plain_or_not_at_every_place),
		cmocka_unit_test(the_end_of_white_space_is_found_at_every_length),
		cmocka_unit_test(the_parser_finds_an_odd_byte_at_every_place_of_a_string),
		cmocka_unit_test(the_parser_skips_any_amount_of_white_space),
	};
	return cmocka_run_group_tests_name("json_scan", tests, NULL, NULL);
}

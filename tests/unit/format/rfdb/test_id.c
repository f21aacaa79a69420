#include "support/test.h"

#include "format/rfdb/id.h"

#include <string.h>

static void expect_id(const char *text, const char *decimal)
{
	char out[SHD_RFDB_ID_TEXT];
	shd_rfdb_id_format(shd_rfdb_id_of(shd_str_of(text)), out);
	assert_string_equal(out, decimal);
}

TEST(a_text_id_is_the_number_that_the_real_server_makes_of_it)
{
	expect_id("src/auth/login.ts->FUNCTION->login", "6347559563435358716131808680399477462");
	expect_id("src/a/x.js->FUNCTION->f1", "77911523404438917003139627285674522316");
	expect_id("src/b/y.js->FUNCTION->f1", "128832549393591943934684528952138907190");
}

TEST(digits_stand_for_themselves)
{
	expect_id("0", "0");
	expect_id("7", "7");
	expect_id("0012", "12");
	expect_id("340282366920938463463374607431768211455", "340282366920938463463374607431768211455");
}

TEST(what_is_no_number_of_128_bits_is_hashed)
{
	static const char *const texts[] = {"",
	                                    "-1",
	                                    "+1",
	                                    "1 ",
	                                    "1e3",
	                                    "0x1f",
	                                    "340282366920938463463374607431768211456",
	                                    "99999999999999999999999999999999999999999999999999"};
	shd_u128 seen[8], number;
	for (size_t i = 0; i < 8; i++) {
		assert_false(shd_rfdb_id_parse(shd_str_of(texts[i]), &number));
		seen[i] = shd_rfdb_id_of(shd_str_of(texts[i]));
		assert_true(seen[i] >> 100 != 0);
		for (size_t k = 0; k < i; k++)
			assert_true(seen[k] != seen[i]);
	}
	expect_id("", "98081761841810822994326224503485043631");
}

TEST(every_number_reads_back)
{
	shd_u128 v = 1, back;
	for (int i = 0; i < 128; i++, v <<= 1) {
		char text[SHD_RFDB_ID_TEXT];
		shd_rfdb_id_format(v, text);
		assert_true(shd_rfdb_id_parse(shd_str_of(text), &back));
		assert_true(back == v);
		shd_rfdb_id_format(v - 1, text);
		assert_true(shd_rfdb_id_parse(shd_str_of(text), &back));
		assert_true(back == v - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_id_is_the_number_that_the_real_server_makes_of_it),
		cmocka_unit_test(digits_stand_for_themselves),
		cmocka_unit_test(what_is_no_number_of_128_bits_is_hashed),
		cmocka_unit_test(every_number_reads_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

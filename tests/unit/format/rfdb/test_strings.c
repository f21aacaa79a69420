#include "support/test.h"

#include "format/rfdb/strings.h"

#include <stdio.h>

static void table_of(const shd_rfdb_intern *t, shd_buf *out)
{
	shd_buf_u32(out, t->count);
	shd_buf_u32(out, (uint32_t)t->text.len);
	shd_buf_append(out, t->entries.data, t->entries.len);
	shd_buf_append(out, t->text.data, t->text.len);
	assert_ok(shd_buf_check(out, err));
}

TEST(strings_are_numbered_by_first_use_and_kept_once)
{
	static const char *const texts[] = {"b", "", "a", "b", "", "ab", "a"};
	static const uint32_t want[] = {0, 1, 2, 0, 1, 3, 2};
	shd_rfdb_intern t = {0};
	SHD_AUTO_BUF raw = {0};
	for (size_t i = 0; i < 7; i++) {
		uint32_t index = 99;
		assert_ok(shd_rfdb_intern_add(&t, shd_str_of(texts[i]), &index, err));
		assert_int_equal(index, want[i]);
		assert_true(shd_str_is(shd_rfdb_intern_get(&t, index), texts[i]));
	}
	table_of(&t, &raw);
	assert_int_equal(raw.len, 8 + 4 * 8 + 4);
	assert_memory_equal(raw.data,
	                    "\4\0\0\0\4\0\0\0"
	                    "\0\0\0\0\1\0\0\0"
	                    "\1\0\0\0\0\0\0\0"
	                    "\1\0\0\0\1\0\0\0"
	                    "\2\0\0\0\2\0\0\0"
	                    "baab",
	                    raw.len);
	shd_rfdb_intern_done(&t);
}

TEST(many_strings_are_found_again)
{
	enum { MANY = 30000 };
	shd_rfdb_intern t = {0};
	SHD_AUTO_BUF raw = {0};
	shd_rfdb_strings s;
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < MANY; i++) {
			char text[32];
			uint32_t index;
			(void)snprintf(text, sizeof(text), "string %u", i);
			assert_ok(shd_rfdb_intern_add(&t, shd_str_of(text), &index, err));
			assert_int_equal(index, i);
		}
	table_of(&t, &raw);
	assert_ok(shd_rfdb_strings_decode(raw.data, raw.len, &s, err));
	assert_ok(shd_rfdb_strings_check(&s, err));
	assert_int_equal(s.count, MANY);
	shd_str text = {0};
	assert_true(shd_rfdb_strings_get(&s, 4711, &text));
	assert_true(shd_str_is(text, "string 4711"));
	assert_false(shd_rfdb_strings_get(&s, MANY, &text));
	shd_rfdb_intern_done(&t);
}

TEST(a_table_of_the_wrong_length_is_refused)
{
	shd_rfdb_intern t = {0};
	SHD_AUTO_BUF raw = {0};
	shd_rfdb_strings s;
	uint32_t index;
	assert_ok(shd_rfdb_intern_add(&t, SHD_STR("abc"), &index, err));
	table_of(&t, &raw);
	for (size_t len = 0; len < raw.len; len++)
		assert_refused(SHERD_ECORRUPT, "truncated", shd_rfdb_strings_decode(raw.data, len, &s, err));
	shd_put_u32(raw.data, UINT32_MAX);
	assert_refused(SHERD_ECORRUPT, "truncated", shd_rfdb_strings_decode(raw.data, raw.len, &s, err));
	shd_put_u32(raw.data, 1);
	shd_put_u32(raw.data + 4, 2);
	assert_refused(SHERD_ECORRUPT, "trailing-bytes", shd_rfdb_strings_decode(raw.data, raw.len, &s, err));
	shd_rfdb_intern_done(&t);
}

TEST(strings_outside_of_the_text_and_strings_that_are_no_text_are_refused)
{
	shd_rfdb_intern t = {0};
	SHD_AUTO_BUF raw = {0};
	shd_rfdb_strings s;
	shd_str text = {0};
	uint32_t index;
	assert_ok(shd_rfdb_intern_add(&t, SHD_STR("abc"), &index, err));
	assert_ok(shd_rfdb_intern_add(&t, SHD_STR("def"), &index, err));
	table_of(&t, &raw);
	assert_ok(shd_rfdb_strings_decode(raw.data, raw.len, &s, err));
	raw.data[8 + 16 + 4] = 0xff;
	assert_fails(SHERD_ECORRUPT, 8 + 16 + 4, shd_rfdb_strings_check(&s, err));
	raw.data[8 + 16 + 4] = 'e';
	shd_put_u32(raw.data + 16, UINT32_MAX);
	assert_false(shd_rfdb_strings_get(&s, 1, &text));
	assert_fails(SHERD_ECORRUPT, 16, shd_rfdb_strings_check(&s, err));
	shd_put_u32(raw.data + 16, 4);
	assert_false(shd_rfdb_strings_get(&s, 1, &text));
	shd_put_u32(raw.data + 20, 2);
	assert_true(shd_rfdb_strings_get(&s, 1, &text));
	assert_true(shd_str_is(text, "ef"));
	shd_rfdb_intern_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_are_numbered_by_first_use_and_kept_once),
		cmocka_unit_test(many_strings_are_found_again),
		cmocka_unit_test(a_table_of_the_wrong_length_is_refused),
		cmocka_unit_test(strings_outside_of_the_text_and_strings_that_are_no_text_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

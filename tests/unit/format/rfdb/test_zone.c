#include "support/test.h"

#include "format/rfdb/zone.h"

#include <stdio.h>
#include <stdlib.h>

static void make(sherd_buf *out)
{
	sherd_str files[] = {SHERD_STR("src/b.js"), SHERD_STR("a"), SHERD_STR("src/a.js"), SHERD_STR("")};
	sherd_str types[] = {SHERD_STR("MODULE"), SHERD_STR("FUNCTION")};
	sherd_rfdb_zone_field fields[] = {{.name = "file", .values = files, .count = 4},
	                                  {.name = "node_type", .values = types, .count = 2}};
	sherd_rfdb_zone_encode(fields, 2, out);
	assert_ok(sherd_buf_check(out, err));
}

TEST(values_are_written_sorted)
{
	static const uint8_t want[] = "\2\0\0\0"
				      "\4\0file\4\0\0\0"
				      "\0\0"
				      "\1\0a"
				      "\10\0src/a.js"
				      "\10\0src/b.js"
				      "\11\0node_type\2\0\0\0"
				      "\10\0FUNCTION"
				      "\6\0MODULE";
	SHERD_AUTO_BUF raw = {0};
	make(&raw);
	assert_int_equal(raw.len, sizeof(want) - 1);
	assert_memory_equal(raw.data, want, raw.len);
}

TEST(questions_are_answered)
{
	SHERD_AUTO_BUF raw = {0};
	make(&raw);
	sherd_rfdb_zone zone = {raw.data, raw.len};
	assert_ok(sherd_rfdb_zone_check(&zone, err));
	assert_int_equal(sherd_rfdb_zone_has(&zone, "file", SHERD_STR("src/a.js")), SHERD_RFDB_YES);
	assert_int_equal(sherd_rfdb_zone_has(&zone, "file", SHERD_STR("")), SHERD_RFDB_YES);
	assert_int_equal(sherd_rfdb_zone_has(&zone, "file", SHERD_STR("FUNCTION")), SHERD_RFDB_NO);
	assert_int_equal(sherd_rfdb_zone_has(&zone, "node_type", SHERD_STR("FUNCTION")), SHERD_RFDB_YES);
	assert_int_equal(sherd_rfdb_zone_has(&zone, "node_type", SHERD_STR("CLASS")), SHERD_RFDB_NO);
	assert_int_equal(sherd_rfdb_zone_has(&zone, "edge_type", SHERD_STR("CALLS")), SHERD_RFDB_UNKNOWN);
}

TEST(values_are_walked_through)
{
	static const char *const want[] = {"", "a", "src/a.js", "src/b.js"};
	SHERD_AUTO_BUF raw = {0};
	sherd_rfdb_zone_walk walk = {0}, none = {0};
	sherd_str value;
	make(&raw);
	sherd_rfdb_zone zone = {raw.data, raw.len};
	for (size_t i = 0; i < 4; i++) {
		assert_true(sherd_rfdb_zone_next(&zone, "file", &walk, &value));
		assert_true(sherd_str_is(value, want[i]));
	}
	assert_false(sherd_rfdb_zone_next(&zone, "file", &walk, &value));
	assert_false(sherd_rfdb_zone_next(&zone, "nothing", &none, &value));
}

TEST(a_field_with_too_many_or_too_long_values_is_left_out)
{
	enum { COUNT = SHERD_RFDB_ZONE_VALUES + 1, TEXT = 8 };
	char *text = malloc((size_t)COUNT * TEXT), *longest = calloc(1, 65536);
	sherd_str *values = malloc(COUNT * sizeof(*values)), one = {longest, 65535};
	assert_true(text && values && longest);
	for (size_t i = 0; i < COUNT; i++)
		values[i] = (sherd_str){text + i * TEXT, (size_t)snprintf(text + i * TEXT, TEXT, "%zu", i)};
	for (size_t count = COUNT - 1; count <= COUNT; count++) {
		SHERD_AUTO_BUF raw = {0};
		sherd_rfdb_zone_field fields[] = {{.name = "a", .values = values, .count = count},
		                                  {.name = "b", .values = &one, .count = 1}};
		one.len = count == COUNT ? 65536 : 65535;
		sherd_rfdb_zone_encode(fields, 2, &raw);
		sherd_rfdb_zone zone = {raw.data, raw.len};
		assert_ok(sherd_rfdb_zone_check(&zone, err));
		assert_int_equal(sherd_rfdb_zone_has(&zone, "a", SHERD_STR("77")),
		                 count == COUNT ? SHERD_RFDB_UNKNOWN : SHERD_RFDB_YES);
		assert_int_equal(sherd_rfdb_zone_has(&zone, "b", SHERD_STR("77")),
		                 count == COUNT ? SHERD_RFDB_UNKNOWN : SHERD_RFDB_NO);
	}
	free(text);
	free(values);
	free(longest);
}

TEST(damage_is_seen_and_makes_answers_unknown)
{
	SHERD_AUTO_BUF raw = {0};
	make(&raw);
	for (size_t len = 0; len < raw.len; len++) {
		sherd_rfdb_zone zone = {raw.data, len};
		assert_refused(SHERD_ECORRUPT, "truncated", sherd_rfdb_zone_check(&zone, err));
		assert_int_not_equal(sherd_rfdb_zone_has(&zone, "node_type", SHERD_STR("X")), SHERD_RFDB_NO);
	}
	sherd_rfdb_zone zone = {raw.data, raw.len};
	raw.data[4 + 6 + 4 + 2 + 2] = 'z'; /* "a" becomes "z": no longer in order */
	assert_refused(SHERD_ECORRUPT, "bad-index", sherd_rfdb_zone_check(&zone, err));
	sherd_put_u32(raw.data, UINT32_MAX);
	assert_int_equal(sherd_rfdb_zone_has(&zone, "x", SHERD_STR("")), SHERD_RFDB_UNKNOWN);
	sherd_put_u32(raw.data, 1);
	assert_refused(SHERD_ECORRUPT, "bad-index", sherd_rfdb_zone_check(&zone, err));
}

TEST(nothing_may_be_left_over)
{
	SHERD_AUTO_BUF raw = {0};
	make(&raw);
	sherd_buf_u8(&raw, 0);
	sherd_rfdb_zone zone = {raw.data, raw.len};
	assert_refused(SHERD_ECORRUPT, "trailing-bytes", sherd_rfdb_zone_check(&zone, err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_written_sorted),
		cmocka_unit_test(questions_are_answered),
		cmocka_unit_test(values_are_walked_through),
		cmocka_unit_test(a_field_with_too_many_or_too_long_values_is_left_out),
		cmocka_unit_test(damage_is_seen_and_makes_answers_unknown),
		cmocka_unit_test(nothing_may_be_left_over),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "support/test.h"

#include "format/rfdb/zone.h"

#include <stdio.h>
#include <stdlib.h>

static void make(shd_buf *out)
{
	shd_str files[] = {SHD_STR("src/b.js"), SHD_STR("a"), SHD_STR("src/a.js"), SHD_STR("")};
	shd_str types[] = {SHD_STR("MODULE"), SHD_STR("FUNCTION")};
	shd_rfdb_zone_field fields[] = {{.name = "file", .values = files, .count = 4},
	                                {.name = "node_type", .values = types, .count = 2}};
	shd_rfdb_zone_encode(fields, 2, out);
	assert_ok(shd_buf_check(out, err));
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
	SHD_AUTO_BUF raw = {0};
	make(&raw);
	assert_int_equal(raw.len, sizeof(want) - 1);
	assert_memory_equal(raw.data, want, raw.len);
}

TEST(questions_are_answered)
{
	SHD_AUTO_BUF raw = {0};
	make(&raw);
	shd_rfdb_zone zone = {raw.data, raw.len};
	assert_ok(shd_rfdb_zone_check(&zone, err));
	assert_int_equal(shd_rfdb_zone_has(&zone, "file", SHD_STR("src/a.js")), SHD_RFDB_YES);
	assert_int_equal(shd_rfdb_zone_has(&zone, "file", SHD_STR("")), SHD_RFDB_YES);
	assert_int_equal(shd_rfdb_zone_has(&zone, "file", SHD_STR("FUNCTION")), SHD_RFDB_NO);
	assert_int_equal(shd_rfdb_zone_has(&zone, "node_type", SHD_STR("FUNCTION")), SHD_RFDB_YES);
	assert_int_equal(shd_rfdb_zone_has(&zone, "node_type", SHD_STR("CLASS")), SHD_RFDB_NO);
	assert_int_equal(shd_rfdb_zone_has(&zone, "edge_type", SHD_STR("CALLS")), SHD_RFDB_UNKNOWN);
}

TEST(values_are_walked_through)
{
	static const char *const want[] = {"", "a", "src/a.js", "src/b.js"};
	SHD_AUTO_BUF raw = {0};
	shd_rfdb_zone_walk walk = {0}, none = {0};
	shd_str value;
	make(&raw);
	shd_rfdb_zone zone = {raw.data, raw.len};
	for (size_t i = 0; i < 4; i++) {
		assert_true(shd_rfdb_zone_next(&zone, "file", &walk, &value));
		assert_true(shd_str_is(value, want[i]));
	}
	assert_false(shd_rfdb_zone_next(&zone, "file", &walk, &value));
	assert_false(shd_rfdb_zone_next(&zone, "nothing", &none, &value));
}

TEST(a_field_with_too_many_or_too_long_values_is_left_out)
{
	enum { COUNT = SHD_RFDB_ZONE_VALUES + 1, TEXT = 8 };
	char *text = malloc((size_t)COUNT * TEXT), *longest = calloc(1, 65536);
	shd_str *values = malloc(COUNT * sizeof(*values)), one = {longest, 65535};
	assert_true(text && values && longest);
	for (size_t i = 0; i < COUNT; i++)
		values[i] = (shd_str){text + i * TEXT, (size_t)snprintf(text + i * TEXT, TEXT, "%zu", i)};
	for (size_t count = COUNT - 1; count <= COUNT; count++) {
		SHD_AUTO_BUF raw = {0};
		shd_rfdb_zone_field fields[] = {{.name = "a", .values = values, .count = count},
		                                {.name = "b", .values = &one, .count = 1}};
		one.len = count == COUNT ? 65536 : 65535;
		shd_rfdb_zone_encode(fields, 2, &raw);
		shd_rfdb_zone zone = {raw.data, raw.len};
		assert_ok(shd_rfdb_zone_check(&zone, err));
		assert_int_equal(shd_rfdb_zone_has(&zone, "a", SHD_STR("77")),
		                 count == COUNT ? SHD_RFDB_UNKNOWN : SHD_RFDB_YES);
		assert_int_equal(shd_rfdb_zone_has(&zone, "b", SHD_STR("77")),
		                 count == COUNT ? SHD_RFDB_UNKNOWN : SHD_RFDB_NO);
	}
	free(text);
	free(values);
	free(longest);
}

TEST(damage_is_seen_and_makes_answers_unknown)
{
	SHD_AUTO_BUF raw = {0};
	make(&raw);
	for (size_t len = 0; len < raw.len; len++) {
		shd_rfdb_zone zone = {raw.data, len};
		assert_refused(SHERD_ECORRUPT, "truncated", shd_rfdb_zone_check(&zone, err));
		assert_int_not_equal(shd_rfdb_zone_has(&zone, "node_type", SHD_STR("X")), SHD_RFDB_NO);
	}
	shd_rfdb_zone zone = {raw.data, raw.len};
	raw.data[4 + 6 + 4 + 2 + 2] = 'z'; /* "a" becomes "z": no longer in order */
	assert_refused(SHERD_ECORRUPT, "bad-index", shd_rfdb_zone_check(&zone, err));
	shd_put_u32(raw.data, UINT32_MAX);
	assert_int_equal(shd_rfdb_zone_has(&zone, "x", SHD_STR("")), SHD_RFDB_UNKNOWN);
	shd_put_u32(raw.data, 1);
	assert_refused(SHERD_ECORRUPT, "bad-index", shd_rfdb_zone_check(&zone, err));
}

TEST(nothing_may_be_left_over)
{
	SHD_AUTO_BUF raw = {0};
	make(&raw);
	shd_buf_u8(&raw, 0);
	shd_rfdb_zone zone = {raw.data, raw.len};
	assert_refused(SHERD_ECORRUPT, "trailing-bytes", shd_rfdb_zone_check(&zone, err));
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

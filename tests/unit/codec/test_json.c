/* What the pull parser accepts, refuses and hands out. */
#include "codec/json.h"

#include "base/error.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct refusal {
	const char *text;
	size_t len; /* 0: up to NUL */
	sherd_status code;
	const char *reason;
	uint64_t offset;
} refusal;

static void check_refusals(const refusal *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const refusal *c = &cases[i];
		sherd_error err = {0};
		size_t len = c->len ? c->len : strlen(c->text);
		/* A copy of exactly this size, so that a sanitizer sees reading past it. */
		char *copy = malloc(len ? len : 1);
		assert_non_null(copy);
		memcpy(copy, c->text, len);
		int rc = shd_json_check(copy, len, NULL, &err);
		free(copy);
		if (rc != (int)c->code || strcmp(err.reason, c->reason) != 0 || err.offset != c->offset)
			fail_msg("%s: status %d, %s at %lld, not %d, %s at %lld", c->text, rc,
			         err.reason ? err.reason : "", (long long)err.offset, (int)c->code, c->reason,
			         (long long)c->offset);
		assert_true(err.message[0] != 0);
	}
}

TEST(each_error_of_syntax_is_named_by_its_byte)
{
	static const refusal cases[] = {
		{"", 0, SHERD_ECORRUPT, "truncated", 0},
		{"  \n", 0, SHERD_ECORRUPT, "truncated", 3},
		{"[", 0, SHERD_ECORRUPT, "truncated", 1},
		{"[1", 0, SHERD_ECORRUPT, "truncated", 2},
		{"[1,", 0, SHERD_ECORRUPT, "truncated", 3},
		{"{\"a\"", 0, SHERD_ECORRUPT, "truncated", 4},
		{"{\"a\":", 0, SHERD_ECORRUPT, "truncated", 5},
		{"tru", 0, SHERD_ECORRUPT, "truncated", 3},
		{"\"abc", 0, SHERD_ECORRUPT, "truncated", 4},
		{"[1,]", 0, SHERD_ECORRUPT, "bad-json", 3},
		{"[,1]", 0, SHERD_ECORRUPT, "bad-json", 1},
		{"[1 2]", 0, SHERD_ECORRUPT, "bad-json", 3},
		{"[1}", 0, SHERD_ECORRUPT, "bad-json", 2},
		{"]", 0, SHERD_ECORRUPT, "bad-json", 0},
		{"{]", 0, SHERD_ECORRUPT, "bad-json", 1},
		{"{\"a\":1,}", 0, SHERD_ECORRUPT, "bad-json", 7},
		{"{\"a\" 1}", 0, SHERD_ECORRUPT, "bad-json", 5},
		{"{\"a\":1 \"b\":2}", 0, SHERD_ECORRUPT, "bad-json", 7},
		{"{a:1}", 0, SHERD_ECORRUPT, "bad-json", 1},
		{"{1:1}", 0, SHERD_ECORRUPT, "bad-json", 1},
		{"{\"a\":}", 0, SHERD_ECORRUPT, "bad-json", 5},
		{"trux", 0, SHERD_ECORRUPT, "bad-json", 3},
		{"truex", 0, SHERD_ECORRUPT, "bad-json", 4},
		{"True", 0, SHERD_ECORRUPT, "bad-json", 0},
		{"NaN", 0, SHERD_ECORRUPT, "bad-json", 0},
		{"nil", 0, SHERD_ECORRUPT, "bad-json", 1},
		{"{} {}", 0, SHERD_ECORRUPT, "bad-json", 3},
		{"1 //", 0, SHERD_ECORRUPT, "bad-json", 2},
		{"'a'", 0, SHERD_ECORRUPT, "bad-json", 0},
		{"\xef\xbb\xbf{}", 0, SHERD_ECORRUPT, "bad-json", 0},
		{"[\v1]", 0, SHERD_ECORRUPT, "bad-json", 1},
		{"[1]\0", 4, SHERD_ECORRUPT, "bad-json", 3},
		{"\0", 1, SHERD_ECORRUPT, "bad-json", 0},
		{"\"a\nb\"", 0, SHERD_ECORRUPT, "bad-json", 2},
		{"\"0123456789abcdef\x1f\"", 0, SHERD_ECORRUPT, "bad-json", 17},
		{"\"a\0b\"", 5, SHERD_ECORRUPT, "bad-json", 2},
	};
	check_refusals(cases, COUNT_OF(cases));
}

TEST(each_bad_number_is_named_by_its_byte)
{
	static const refusal cases[] = {
		{"-", 0, SHERD_ECORRUPT, "truncated", 1},
		{"1.", 0, SHERD_ECORRUPT, "truncated", 2},
		{"1e", 0, SHERD_ECORRUPT, "truncated", 2},
		{"1e+", 0, SHERD_ECORRUPT, "truncated", 3},
		{"[-]", 0, SHERD_ECORRUPT, "bad-number", 2},
		{"[-a]", 0, SHERD_ECORRUPT, "bad-number", 2},
		{"[01]", 0, SHERD_ECORRUPT, "bad-number", 2},
		{"[-012]", 0, SHERD_ECORRUPT, "bad-number", 3},
		{"[00]", 0, SHERD_ECORRUPT, "bad-number", 2},
		{"[1.]", 0, SHERD_ECORRUPT, "bad-number", 3},
		{"[1.e3]", 0, SHERD_ECORRUPT, "bad-number", 3},
		{"[1e]", 0, SHERD_ECORRUPT, "bad-number", 3},
		{"[1E-]", 0, SHERD_ECORRUPT, "bad-number", 4},
		{"[1e+-2]", 0, SHERD_ECORRUPT, "bad-number", 4},
		{"[+1]", 0, SHERD_ECORRUPT, "bad-json", 1},
		{"[.5]", 0, SHERD_ECORRUPT, "bad-json", 1},
		{"[0x10]", 0, SHERD_ECORRUPT, "bad-json", 2},
		{"[1.5.2]", 0, SHERD_ECORRUPT, "bad-json", 4},
		{"[1-2]", 0, SHERD_ECORRUPT, "bad-json", 2},
		{"[1a]", 0, SHERD_ECORRUPT, "bad-json", 2},
		{"[ 12345678901234567890123456789012345678901234567890123456789012345]", 0, SHERD_ELIMIT, "too-long",
	         2},
	};
	check_refusals(cases, COUNT_OF(cases));
}

TEST(each_bad_string_is_named_by_its_byte)
{
	static const refusal cases[] = {
		{"\"\\x\"", 0, SHERD_ECORRUPT, "bad-escape", 1},
		{"\"a\\'\"", 0, SHERD_ECORRUPT, "bad-escape", 2},
		{"\"\\u12g4\"", 0, SHERD_ECORRUPT, "bad-escape", 1},
		{"\"\\u123\"", 0, SHERD_ECORRUPT, "bad-escape", 1},
		{"\"\\U0041\"", 0, SHERD_ECORRUPT, "bad-escape", 1},
		{"\"\\", 0, SHERD_ECORRUPT, "truncated", 2},
		{"\"\\u", 0, SHERD_ECORRUPT, "truncated", 3},
		{"\"\\u00", 0, SHERD_ECORRUPT, "truncated", 5},
		{"\"\\ud83d", 0, SHERD_ECORRUPT, "truncated", 7},
		{"\"\\ud83d\\", 0, SHERD_ECORRUPT, "truncated", 8},
		{"\"\\ud83d\\ude0", 0, SHERD_ECORRUPT, "truncated", 12},
		{"\"\\ud83d\\u00zz\"", 0, SHERD_ECORRUPT, "bad-escape", 7},
		{"\"ab\\ud83d\"", 0, SHERD_ECORRUPT, "bad-utf8", 3},
		{"\"\\ud83dx\"", 0, SHERD_ECORRUPT, "bad-utf8", 1},
		{"\"\\ud83d\\n\"", 0, SHERD_ECORRUPT, "bad-utf8", 1},
		{"\"\\ude00\"", 0, SHERD_ECORRUPT, "bad-utf8", 1},
		{"\"\\ude00\\ud83d\"", 0, SHERD_ECORRUPT, "bad-utf8", 1},
		{"\"\\ud83d\\ud83d\"", 0, SHERD_ECORRUPT, "bad-utf8", 1},
		{"\"a\x80\"", 0, SHERD_ECORRUPT, "bad-utf8", 2},
		{"\"\xff\"", 0, SHERD_ECORRUPT, "bad-utf8", 1},
		{"\"\xc0\xaf\"", 0, SHERD_ECORRUPT, "bad-utf8", 1},
		{"\"\xc3\"", 0, SHERD_ECORRUPT, "bad-utf8", 1},
		{"\"\xc3\xa4\xe0\x80\x80\"", 0, SHERD_ECORRUPT, "bad-utf8", 3},
		{"\"\xed\xa0\x80\"", 0, SHERD_ECORRUPT, "bad-utf8", 1},
		{"\"\xf0\x80\x80\x80\"", 0, SHERD_ECORRUPT, "bad-utf8", 1},
		{"\"\xf4\x90\x80\x80\"", 0, SHERD_ECORRUPT, "bad-utf8", 1},
		{"\"\xf5\x80\x80\x80\"", 0, SHERD_ECORRUPT, "bad-utf8", 1},
		{"\"\xe2\x82", 0, SHERD_ECORRUPT, "truncated", 3},
		{"\"\xe2\x41", 0, SHERD_ECORRUPT, "bad-utf8", 1},
		{"{\"\x80\":1}", 0, SHERD_ECORRUPT, "bad-utf8", 2},
		{"[\x80]", 0, SHERD_ECORRUPT, "bad-json", 1},
	};
	check_refusals(cases, COUNT_OF(cases));
}

TEST(a_key_that_stands_twice_is_refused_wherever_it_is)
{
	static const refusal cases[] = {
		{"{\"a\":1,\"a\":2}", 0, SHERD_ECORRUPT, "duplicate-key", 7},
		{"{\"\":1,\"\":2}", 0, SHERD_ECORRUPT, "duplicate-key", 6},
		{"{\"a\":1,\"\\u0061\":2}", 0, SHERD_ECORRUPT, "duplicate-key", 7},
		{"{\"\\u0061\":1,\"a\":2}", 0, SHERD_ECORRUPT, "duplicate-key", 12},
		{"{\"a/b\":1, \"a\\/b\":2}", 0, SHERD_ECORRUPT, "duplicate-key", 10},
		{"{\"\\ud83d\\ude00\":1,\"\xf0\x9f\x98\x80\":2}", 0, SHERD_ECORRUPT, "duplicate-key", 18},
		{"[{\"x\":{\"b\":1,\"c\":2,\"b\":3}}]", 0, SHERD_ECORRUPT, "duplicate-key", 19},
		{"{\"a\":{\"a\":{\"a\":1}},\"a\":2}", 0, SHERD_ECORRUPT, "duplicate-key", 19},
		{"{\"model.layers.0.weight\":1,\"model.layers.1.weight\":1,\"model.layers.0.weight\":1}", 0,
	         SHERD_ECORRUPT, "duplicate-key", 53},
	};
	check_refusals(cases, COUNT_OF(cases));
	static const char *const fine[] = {"{\"a\":{\"a\":[{\"a\":1},{\"a\":1}]},\"b\":{\"a\":1}}",
	                                   "{\"abc\":1,\"abd\":1,\"ab\":1,\"a\":1,\"\":1,\"a\\u0000\":1}"};
	for (size_t i = 0; i < COUNT_OF(fine); i++)
		assert_ok(shd_json_check(fine[i], strlen(fine[i]), NULL, err));
}

/* {"<0>":0,"<1>":0,...} with one more member at the end. */
static void put_many_keys(shd_buf *b, unsigned count, const char *last)
{
	shd_buf_u8(b, '{');
	for (unsigned i = 0; i < count; i++)
		shd_buf_printf(b, "\"key %u of many\":0,", i);
	shd_buf_printf(b, "\"%s\":1}", last);
}

TEST(objects_of_any_size_find_the_second_of_two_keys)
{
	for (unsigned count = 1; count < 300; count = count < 70 ? count + 1 : count * 2) {
		for (unsigned twin = 0; twin < count; twin += 1 + count / 9) {
			SHD_AUTO_BUF good = {0}, bad = {0};
			char last[64];
			put_many_keys(&good, count, "another");
			assert_ok(shd_json_check(good.data, good.len, NULL, err));
			(void)snprintf(last, sizeof(last), "k\\u0065y %u of many", twin);
			put_many_keys(&bad, count, last);
			assert_fails(SHERD_ECORRUPT, bad.len - strlen(last) - 5,
			             shd_json_check(bad.data, bad.len, NULL, err));
		}
	}
}

TEST(a_large_object_goes_on_after_large_objects_inside_it)
{
	SHD_AUTO_BUF b = {0};
	shd_buf_u8(&b, '{');
	for (unsigned i = 0; i < 100; i++) {
		shd_buf_printf(&b, "\"outer %u\":", i);
		put_many_keys(&b, i, "outer 1");
		shd_buf_u8(&b, ',');
	}
	size_t so_far = b.len;
	shd_buf_str(&b, "\"z\":1}");
	assert_ok(shd_json_check(b.data, b.len, NULL, err));
	b.len = so_far;
	shd_buf_str(&b, "\"outer 3\":1}");
	assert_fails(SHERD_ECORRUPT, so_far, shd_json_check(b.data, b.len, NULL, err));
}

/* All keys have the same length, first and last bytes, which is all that the quick marks see. Comparing each with
 * each would take hours. */
TEST(a_million_keys_that_look_alike_take_linear_time)
{
	SHD_AUTO_BUF b = {0};
	for (unsigned i = 0; i < 1000000; i++)
		shd_buf_printf(&b, "%s\"prefix__%07u__suffix\":0", i ? "," : "{", i);
	shd_buf_u8(&b, '}');
	assert_ok(shd_json_check(b.data, b.len, NULL, err));
	b.len--;
	size_t twin = b.len + 1;
	shd_buf_str(&b, ",\"prefix__0567890__suffix\":0}");
	assert_fails(SHERD_ECORRUPT, twin, shd_json_check(b.data, b.len, NULL, err));
}

TEST(every_part_from_the_start_of_a_document_is_truncated_there)
{
	static const char text[] =
		" {\"a\": [1.5e-3, true, false, null, \"x\\n\\u00e4\\ud83d\\ude00\xc3\xa4\xe2\x82\xac\xf0\x9f"
		"\x98\x80 long enough for sixteen bytes\"], \"b\": {}, \"c\": [], \"d\": [[{\"e\": -0}]] }";
	for (size_t len = 0; len < sizeof(text) - 1; len++) {
		char *copy = malloc(len ? len : 1);
		assert_non_null(copy);
		memcpy(copy, text, len);
		sherd_error err = {0};
		assert_int_equal(shd_json_check(copy, len, NULL, &err), SHERD_ECORRUPT);
		assert_string_equal(err.reason, "truncated");
		assert_int_equal(err.offset, len);
		free(copy);
	}
	assert_ok(shd_json_check(text, sizeof(text) - 1, NULL, err));
}

TEST(depth_is_limited_at_the_bracket_that_exceeds_it)
{
	sherd_limits three = {.depth = 3};
	assert_ok(shd_json_check("[[[1],[]]]", 10, &three, err));
	assert_ok(shd_json_check("{\"a\":{\"b\":{}}}", 14, &three, err));
	assert_fails(SHERD_ELIMIT, 5, shd_json_check("[[1, [[]]]]", 11, &(sherd_limits){.depth = 2}, err));
	assert_refused(SHERD_ELIMIT, "too-deep", shd_json_check("[[[[]]]]", 8, &three, err));
	char deep[200];
	memset(deep, '[', 100);
	memset(deep + 100, ']', 100);
	assert_fails(SHERD_ELIMIT, 64, shd_json_check(deep, 200, NULL, err));
	assert_ok(shd_json_check(deep, 200, &(sherd_limits){.depth = 100}, err));
	assert_fails(SHERD_ELIMIT, 99, shd_json_check(deep, 200, &(sherd_limits){.depth = 99}, err));
}

TEST(a_million_brackets_need_no_stack)
{
	size_t half = 1000000;
	char *deep = malloc(2 * half);
	assert_non_null(deep);
	memset(deep, '[', half);
	memset(deep + half, ']', half);
	assert_ok(shd_json_check(deep, 2 * half, &(sherd_limits){.depth = 1000000}, err));
	assert_fails(SHERD_ELIMIT, 64, shd_json_check(deep, 2 * half, NULL, err));
	free(deep);
}

TEST(documents_and_numbers_longer_than_their_limits_are_refused)
{
	assert_ok(shd_json_check("[1234]", 6, &(sherd_limits){.metadata_bytes = 6, .number_bytes = 4}, err));
	assert_refused(SHERD_ELIMIT, "too-long",
	               shd_json_check("[1234]", 6, &(sherd_limits){.metadata_bytes = 5}, err));
	assert_fails(SHERD_ELIMIT, 1, shd_json_check("[1234]", 6, &(sherd_limits){.number_bytes = 3}, err));
}

static int read_sample(shd_json *j, sherd_error *err)
{
	shd_str s;
	bool truth;
	uint32_t u32;
	assert_int_equal(shd_json_peek(j, err), SHD_JSON_OBJECT);
	TRY(shd_json_object(j, err));
	assert_int_equal(shd_json_offset(j), 1);
	assert_int_equal(shd_json_key(j, &s, err), 1);
	assert_true(shd_str_is(s, "rank"));
	assert_int_equal(shd_json_offset(j), 2);
	TRY(shd_json_u32(j, &u32, err));
	assert_int_equal(u32, 7);
	assert_int_equal(shd_json_offset(j), 9);
	assert_int_equal(shd_json_key(j, &s, err), 1);
	TRY(shd_json_array(j, err));
	assert_int_equal(shd_json_item(j, err), 1);
	TRY(shd_json_bool(j, &truth, err));
	assert_true(truth);
	assert_int_equal(shd_json_item(j, err), 1);
	assert_int_equal(shd_json_peek(j, err), SHD_JSON_NULL);
	TRY(shd_json_null(j, err));
	assert_int_equal(shd_json_item(j, err), 0);
	assert_int_equal(shd_json_offset(j), 28);
	assert_int_equal(shd_json_key(j, &s, err), 1);
	TRY(shd_json_raw(j, &s, err));
	assert_int_equal(shd_json_offset(j), 36);
	assert_int_equal(s.len, 10);
	assert_memory_equal(s.ptr, "{\"x\": [1]}", 10);
	assert_int_equal(shd_json_key(j, &s, err), 0);
	return shd_json_end(j, err);
}

TEST(a_consumer_takes_values_in_order_and_knows_where_they_stood)
{
	static const char text[] = " {\"rank\":7, \"b\" :[true, null] , \"c\":{\"x\": [1]} } ";
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	assert_ok(shd_json_open(&j, text, sizeof(text) - 1, NULL, err));
	assert_ok(read_sample(j, err));
}

TEST(strings_without_escapes_point_into_the_document)
{
	static const char text[] = "[\"plain\", \"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\u00E4\\u20ac\\uD83D\\ude00.\"]";
	static const char want[] = "\"\\/\b\f\n\r\t\0\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80.";
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	shd_str s;
	assert_ok(shd_json_open(&j, text, sizeof(text) - 1, NULL, err));
	assert_ok(shd_json_array(j, err));
	assert_int_equal(shd_json_item(j, NULL), 1);
	assert_ok(shd_json_string(j, &s, err));
	assert_ptr_equal(s.ptr, text + 2);
	assert_int_equal(s.len, 5);
	assert_int_equal(shd_json_item(j, NULL), 1);
	assert_ok(shd_json_string(j, &s, err));
	assert_int_equal(s.len, sizeof(want) - 1);
	assert_memory_equal(s.ptr, want, s.len);
}

static int take_as(shd_json *j, int type, sherd_error *err)
{
	shd_str s;
	bool truth;
	switch (type) {
	case SHD_JSON_OBJECT: return shd_json_object(j, err);
	case SHD_JSON_ARRAY: return shd_json_array(j, err);
	case SHD_JSON_STRING: return shd_json_string(j, &s, err);
	case SHD_JSON_NUMBER: return shd_json_number(j, &s, err);
	case SHD_JSON_NULL: return shd_json_null(j, err);
	default: return shd_json_bool(j, &truth, err);
	}
}

TEST(a_value_of_another_type_is_refused_and_can_still_be_taken)
{
	static const char *const values[] = {
		[SHD_JSON_OBJECT] = " {}", [SHD_JSON_ARRAY] = " []",  [SHD_JSON_STRING] = " \"\"",
		[SHD_JSON_NUMBER] = " 1",  [SHD_JSON_TRUE] = " true", [SHD_JSON_FALSE] = " false",
		[SHD_JSON_NULL] = " null"};
	for (int have = SHD_JSON_OBJECT; have <= SHD_JSON_NULL; have++) {
		for (int want = SHD_JSON_OBJECT; want <= SHD_JSON_NULL; want++) {
			SHD_AUTO(shd_json, shd_json_close) j = NULL;
			bool both_truths = (have == SHD_JSON_TRUE && want == SHD_JSON_FALSE) ||
			                   (have == SHD_JSON_FALSE && want == SHD_JSON_TRUE);
			assert_ok(shd_json_open(&j, values[have], strlen(values[have]), NULL, err));
			assert_int_equal(shd_json_peek(j, NULL), have);
			if (have != want && !both_truths)
				assert_fails(SHERD_ECORRUPT, 1, take_as(j, want, err));
			assert_ok(take_as(j, have, err));
		}
	}
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	assert_ok(shd_json_open(&j, "1", 1, NULL, err));
	assert_refused(SHERD_ECORRUPT, "bad-type", shd_json_array(j, err));
}

TEST(a_call_out_of_turn_is_the_callers_mistake)
{
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	shd_str s;
	assert_ok(shd_json_open(&j, "[{\"a\":1}]", 9, NULL, err));
	assert_refused(SHERD_EINVAL, "bad-argument", shd_json_item(j, err));
	assert_refused(SHERD_EINVAL, "bad-argument", shd_json_end(j, err));
	assert_ok(shd_json_array(j, err));
	assert_refused(SHERD_EINVAL, "bad-argument", shd_json_key(j, &s, err));
	assert_refused(SHERD_EINVAL, "bad-argument", shd_json_peek(j, err));
	assert_refused(SHERD_EINVAL, "bad-argument", shd_json_skip(j, err));
	assert_int_equal(shd_json_item(j, NULL), 1);
	assert_refused(SHERD_EINVAL, "bad-argument", shd_json_item(j, err));
	assert_ok(shd_json_skip(j, err));
	assert_int_equal(shd_json_item(j, NULL), 0);
	assert_ok(shd_json_end(j, err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_error_of_syntax_is_named_by_its_byte),
		cmocka_unit_test(each_bad_number_is_named_by_its_byte),
		cmocka_unit_test(each_bad_string_is_named_by_its_byte),
		cmocka_unit_test(a_key_that_stands_twice_is_refused_wherever_it_is),
		cmocka_unit_test(objects_of_any_size_find_the_second_of_two_keys),
		cmocka_unit_test(a_large_object_goes_on_after_large_objects_inside_it),
		cmocka_unit_test(a_million_keys_that_look_alike_take_linear_time),
		cmocka_unit_test(every_part_from_the_start_of_a_document_is_truncated_there),
		cmocka_unit_test(depth_is_limited_at_the_bracket_that_exceeds_it),
		cmocka_unit_test(a_million_brackets_need_no_stack),
		cmocka_unit_test(documents_and_numbers_longer_than_their_limits_are_refused),
		cmocka_unit_test(a_consumer_takes_values_in_order_and_knows_where_they_stood),
		cmocka_unit_test(strings_without_escapes_point_into_the_document),
		cmocka_unit_test(a_value_of_another_type_is_refused_and_can_still_be_taken),
		cmocka_unit_test(a_call_out_of_turn_is_the_callers_mistake),
	};
	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}

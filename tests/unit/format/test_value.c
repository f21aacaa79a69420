#include "support/test.h"

#include "base/error.h"
#include "format/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t bytes[] = {0, 255};
static const int8_t small[] = {-128, 127};
static const uint16_t shorts[] = {65535};
static const int16_t minus_shorts[] = {-32768};
static const uint32_t words[] = {0, 4294967295u};
static const int32_t minus_words[] = {INT32_MIN};
static const uint64_t longs[] = {UINT64_MAX};
static const int64_t minus_longs[] = {INT64_MIN, INT64_MAX};
static const float floats[] = {0.1f, -INFINITY, 3e38f};
static const double doubles[] = {0.1, INFINITY, 5e-324};
static const bool truths[] = {true, false};
static const char *const texts[] = {"", "a\n\"\xc3\xa9", "-1"};

static const sherd_value values[] = {
	{"bool", SHERD_BOOL, false, 1, truths},
	{"u8", SHERD_U8, false, 1, bytes + 1},
	{"i8", SHERD_I8, false, 1, small},
	{"u16", SHERD_U16, false, 1, shorts},
	{"i16", SHERD_I16, false, 1, minus_shorts},
	{"u32", SHERD_U32, false, 1, words + 1},
	{"i32", SHERD_I32, false, 1, minus_words},
	{"u64", SHERD_U64, false, 1, longs},
	{"i64", SHERD_I64, false, 1, minus_longs},
	{"f32", SHERD_F32, false, 1, floats},
	{"f64", SHERD_F64, false, 1, doubles},
	{"inf", SHERD_F64, false, 1, doubles + 1},
	{"bools", SHERD_BOOL, true, 2, truths},
	{"u8s", SHERD_U8, true, 2, bytes},
	{"i8s", SHERD_I8, true, 2, small},
	{"u32s", SHERD_U32, true, 2, words},
	{"i64s", SHERD_I64, true, 2, minus_longs},
	{"f32s", SHERD_F32, true, 3, floats},
	{"f64s", SHERD_F64, true, 3, doubles},
	{"texts", SHERD_UTF8, true, 3, texts},
	{"none", SHERD_U32, true, 0, NULL},
	{"", SHERD_U16, false, 1, shorts},
	{"json", SHERD_DTYPE_NONE, false, 0, NULL, "{\"a\": [1, null]}"},
};

TEST(values_come_back_from_their_pairs_as_they_were)
{
	sherd_pair *pairs;
	size_t count, got_count;
	const sherd_value *got;
	shd_arena arena = {0};
	assert_ok(sherd_pairs_of_values(&pairs, &count, values, COUNT_OF(values), err));
	assert_int_equal(count, COUNT_OF(values) + 1);
	assert_string_equal(pairs[count - 1].key, SHERD_TYPES_KEY);
	assert_ok(shd_values_of_pairs(pairs, count, &arena, &got, &got_count, err));
	assert_int_equal(got_count, COUNT_OF(values));
	for (size_t i = 0; i < got_count; i++) {
		const sherd_value *v = &values[i];
		size_t size = sherd_dtype_element_bytes(v->type);
		assert_string_equal(got[i].key, v->key);
		assert_string_equal(got[i].text, pairs[i].value);
		assert_int_equal(got[i].type, v->type);
		assert_int_equal(got[i].is_array, v->is_array);
		assert_int_equal(got[i].count, v->count);
		if (size && v->count)
			assert_memory_equal(got[i].items, v->items, v->count * size);
		for (size_t k = 0; v->type == SHERD_UTF8 && k < v->count; k++)
			assert_string_equal(((const char *const *)got[i].items)[k], texts[k]);
	}
	free(pairs);
	shd_arena_done(&arena);
}

TEST(the_texts_are_those_of_the_document)
{
	sherd_pair *pairs;
	size_t count;
	static const char *const plain[] = {"plain"};
	const double nan_value = NAN;
	const sherd_value few[] = {{"a", SHERD_U32, false, 1, words + 1},
	                           {"b", SHERD_F64, true, 2, doubles},
	                           {"c", SHERD_F64, false, 1, &nan_value},
	                           {"d", SHERD_UTF8, false, 1, plain},
	                           {"e", SHERD_UTF8, true, 2, texts}};
	static const char *const want[] = {"4294967295",
	                                   "[0.1, \"inf\"]",
	                                   "nan",
	                                   "plain",
	                                   "[\"\", \"a\\n\\\"\xc3\xa9\"]",
	                                   "{\"a\": \"U32\", \"b\": \"F64[]\", \"c\": \"F64\", \"e\": \"UTF8[]\"}"};
	assert_ok(sherd_pairs_of_values(&pairs, &count, few, COUNT_OF(few), err));
	assert_int_equal(count, COUNT_OF(want));
	for (size_t i = 0; i < count; i++)
		assert_string_equal(pairs[i].value, want[i]);
	free(pairs);
	assert_ok(sherd_pairs_of_values(&pairs, &count, few + 3, 1, err)); /* a text needs no type */
	assert_int_equal(count, 1);
	free(pairs);
	assert_ok(sherd_pairs_of_values(&pairs, &count, NULL, 0, err));
	assert_int_equal(count, 0);
	free(pairs);
}

TEST(what_cannot_be_a_value_is_refused)
{
	static const char *const bad_texts[] = {"\xff"};
	const sherd_value bad[][2] = {
		{{NULL, SHERD_U8, false, 1, bytes}, {"x", SHERD_U8, false, 1, bytes}},
		{{"\xff", SHERD_U8, false, 1, bytes}, {"x", SHERD_U8, false, 1, bytes}},
		{{SHERD_TYPES_KEY, SHERD_U8, false, 1, bytes}, {"x", SHERD_U8, false, 1, bytes}},
		{{"x", SHERD_U8, false, 1, bytes}, {"x", SHERD_U8, false, 1, bytes}},
		{{"y", SHERD_U8, false, 2, bytes}, {"x", SHERD_U8, false, 1, bytes}},
		{{"y", SHERD_U8, true, 2, NULL}, {"x", SHERD_U8, false, 1, bytes}},
		{{"y", SHERD_F16, false, 1, bytes}, {"x", SHERD_U8, false, 1, bytes}},
		{{"y", SHERD_Q4_0, false, 1, bytes}, {"x", SHERD_U8, false, 1, bytes}},
		{{"y", SHERD_UTF8, true, 1, bad_texts}, {"x", SHERD_U8, false, 1, bytes}},
		{{"y", SHERD_DTYPE_NONE, false, 0, NULL, "{"}, {"x", SHERD_U8, false, 1, bytes}},
		{{"y", SHERD_DTYPE_NONE, false, 0, NULL, NULL}, {"x", SHERD_U8, false, 1, bytes}},
		{{"y", SHERD_DTYPE_NONE, true, 0, NULL, "[]"}, {"x", SHERD_U8, false, 1, bytes}},
	};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		sherd_pair *pairs;
		size_t count;
		assert_refused(SHERD_EINVAL, "bad-argument", sherd_pairs_of_values(&pairs, &count, bad[i], 2, err));
	}
}

/* Somebody may have changed a value, or the types: what does not fit is a text. */
TEST(a_text_that_is_not_of_its_type_is_a_text)
{
	static const struct {
		const char *value, *types;
		size_t count;
	} cases[] = {
		{"1", "{\"a\": \"U8\"}", 1},
		{"256", "{\"a\": \"U8\"}", 0},
		{"-129", "{\"a\": \"I8\"}", 0},
		{"-1", "{\"a\": \"U64\"}", 0},
		{"1.0", "{\"a\": \"U8\"}", 0},
		{"1 2", "{\"a\": \"U8\"}", 0},
		{"", "{\"a\": \"U8\"}", 0},
		{"1e999", "{\"a\": \"F64\"}", 0},
		{"NaN", "{\"a\": \"F64\"}", 0},
		{"[1, 2", "{\"a\": \"U8[]\"}", 0},
		{"[1, \"2\"]", "{\"a\": \"U8[]\"}", 0},
		{"[\"nan\", 1]", "{\"a\": \"F32[]\"}", 1},
		{"3.4e38", "{\"a\": \"F32\"}", 1},
		{"3.5e38", "{\"a\": \"F32\"}", 0},
		{"[1, -1e39]", "{\"a\": \"F32[]\"}", 0},
		{"\"inf\"", "{\"a\": \"F32\"}", 1},
		{"1", "{\"a\": \"U8[]\"}", 0},
		{"1", "{\"a\": \"U9\"}", 0},
		{"1", "{\"a\": \"UTF8\"}", 0},
		{"1", "{\"a\": \"JSON[]\"}", 0},
		{"[]", "{\"a\": \"JSON\"}", 1},
		{"[", "{\"a\": \"JSON\"}", 0},
		{"1", "{\"b\": \"U8\"}", 0},
		{"1", "{\"a\": \"U8\"", 0},
		{"1", "[]", 0},
		{"1", "", 0},
		{"1", "{\"a\": 1}", 0},
		{"[\"\\u0000\"]", "{\"a\": \"UTF8[]\"}", 0},
		{"[[1]]", "{\"a\": \"U8[]\"}", 0},
		{"true", "{\"a\": \"BOOL\"}", 1},
		{"True", "{\"a\": \"BOOL\"}", 0},
		{"1", "{\"a\": \"OPAQUE\"}", 0},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const sherd_pair pairs[] = {{"a", cases[i].value}, {SHERD_TYPES_KEY, cases[i].types}};
		const sherd_value *got;
		size_t count;
		shd_arena arena = {0};
		assert_ok(shd_values_of_pairs(pairs, 2, &arena, &got, &count, err));
		if (count != cases[i].count)
			fail_msg("%s as %s: %zu", cases[i].value, cases[i].types, count);
		shd_arena_done(&arena);
	}
}

TEST(json_has_types_too)
{
	static const struct {
		const char *json, *type;
	} cases[] = {{"\"a\"", NULL},
	             {"0", "U64"},
	             {"-1", "I64"},
	             {"1.5", "F64"},
	             {"1e3", "F64"},
	             {"true", "BOOL"},
	             {"null", "JSON"},
	             {"[1]", "JSON"},
	             {"{}", "JSON"},
	             {"-0.5", "F64"},
	             {"999999999999999999", "U64"},
	             {"18446744073709551616", "JSON"}};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const char *type = shd_value_type_of_json(shd_str_of(cases[i].json));
		if (cases[i].type)
			assert_string_equal(type, cases[i].type);
		else
			assert_null(type);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_come_back_from_their_pairs_as_they_were),
		cmocka_unit_test(the_texts_are_those_of_the_document),
		cmocka_unit_test(what_cannot_be_a_value_is_refused),
		cmocka_unit_test(a_text_that_is_not_of_its_type_is_a_text),
		cmocka_unit_test(json_has_types_too),
	};
	return cmocka_run_group_tests_name("value", tests, NULL, NULL);
}

#include "support/test.h"

#include "base/error.h"
#include "format/tensor/safetensors_index.h"

#include <stdio.h>
#include <string.h>

static int decode(const char *text, const sherd_limits *limits, shd_arena *arena, shd_safetensors_index *out,
                  sherd_error *err)
{
	return shd_safetensors_index_decode(text, strlen(text), limits, arena, out, err);
}

/* As the transformers library writes it. */
static const char foreign[] = "{\n"
			      "  \"metadata\": {\n"
			      "    \"format\": \"pt\",\n"
			      "    \"total_parameters\": 6,\n"
			      "    \"total_size\": 24\n"
			      "  },\n"
			      "  \"weight_map\": {\n"
			      "    \"a.bias\": \"model-00002-of-00002.safetensors\",\n"
			      "    \"a.weight\": \"model-00001-of-00002.safetensors\",\n"
			      "    \"b.weight\": \"model-00002-of-00002.safetensors\"\n"
			      "  }\n"
			      "}\n";

TEST(a_foreign_index_is_read)
{
	shd_arena arena = {0};
	shd_safetensors_index index;
	assert_ok(decode(foreign, NULL, &arena, &index, err));
	assert_int_equal(index.count, 3);
	assert_int_equal(index.file_count, 2);
	assert_string_equal(index.files[0], "model-00002-of-00002.safetensors");
	assert_string_equal(index.files[1], "model-00001-of-00002.safetensors");
	assert_string_equal(index.entries[1].name, "a.weight");
	assert_int_equal(index.entries[0].file, 0);
	assert_int_equal(index.entries[1].file, 1);
	assert_int_equal(index.entries[2].file, 0);
	assert_true(index.has_total_size);
	assert_int_equal(index.total_size, 24);
	assert_int_equal(index.pair_count, 2);
	assert_string_equal(index.pairs[0].value, "pt");
	assert_string_equal(index.pairs[1].key, "total_parameters");
	assert_string_equal(index.pairs[1].value, "6");
	assert_false(index.sealed);
	shd_arena_done(&arena);
}

TEST(unusual_but_valid_indexes_are_read)
{
	static const struct {
		const char *text;
		bool has_total;
		uint64_t total;
	} cases[] = {
		{"{\"weight_map\":{}}", false, 0},
		{"{\"weight_map\":{\"\":\"..a\"},\"metadata\":null,\"more\":[1]}", false, 0},
		{"{\"metadata\":{\"total_size\":12.00,\"x\":null,\"y\":[{}]},\"weight_map\":{\"a\":\"f\"}}", true, 12},
		{"{\"metadata\":{\"total_size\":18446744073709551615},\"weight_map\":{}}", true, UINT64_MAX},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		shd_arena arena = {0};
		shd_safetensors_index index;
		assert_ok(decode(cases[i].text, NULL, &arena, &index, err));
		assert_int_equal(index.has_total_size, cases[i].has_total);
		assert_true(index.total_size == cases[i].total);
		shd_arena_done(&arena);
	}
}

/* An @ stands before the byte that the error must name, and is not part of the text. */
TEST(a_bad_index_is_refused_with_the_byte_that_is_wrong)
{
	static const struct {
		const char *text;
		const char *reason;
	} cases[] = {
		{"@[]", "bad-type"},
		{"@{}", "missing-key"},
		{"@{\"metadata\":{}}", "missing-key"},
		{"{\"weight_map\":@[]}", "bad-type"},
		{"{\"weight_map\":{\"a\":@1}}", "bad-type"},
		{"{\"weight_map\":{\"a\":@\"\"}}", "bad-path"},
		{"{\"weight_map\":{\"a\":@\".\"}}", "bad-path"},
		{"{\"weight_map\":{\"a\":@\"..\"}}", "bad-path"},
		{"{\"weight_map\":{\"a\":@\"../f\"}}", "bad-path"},
		{"{\"weight_map\":{\"a\":@\"/f\"}}", "bad-path"},
		{"{\"weight_map\":{\"a\":@\"d\\/f\"}}", "bad-path"},
		{"{\"weight_map\":{\"a\":@\"f\\u0000\"}}", "bad-path"},
		{"{\"weight_map\":{@\"a\\u0000\":\"f\"}}", "bad-name"},
		{"{\"weight_map\":{\"a\":\"f\",@\"a\":\"g\"}}", "duplicate-key"},
		{"{\"metadata\":{\"total_size\":@-1},\"weight_map\":{}}", "bad-number"},
		{"{\"metadata\":{\"total_size\":@1.5},\"weight_map\":{}}", "bad-number"},
		{"{\"metadata\":{\"total_size\":@1e3},\"weight_map\":{}}", "bad-number"},
		{"{\"metadata\":{\"total_size\":@18446744073709551616},\"weight_map\":{}}", "bad-number"},
		{"{\"metadata\":{\"total_size\":@\"1\"},\"weight_map\":{}}", "bad-type"},
		{"{\"metadata\":@1,\"weight_map\":{}}", "bad-type"},
		{"{\"weight_map\":{}}@x", "bad-json"},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const char *mark = strchr(cases[i].text, '@');
		assert_non_null(mark);
		uint64_t at = (uint64_t)(mark - cases[i].text);
		char text[256];
		(void)snprintf(text, sizeof(text), "%.*s%s", (int)at, cases[i].text, mark + 1);
		shd_arena arena = {0};
		shd_safetensors_index index;
		sherd_error e = {0};
		int rc = decode(text, NULL, &arena, &index, &e);
		if (rc != SHERD_ECORRUPT || strcmp(e.reason, cases[i].reason) != 0 || e.offset != at)
			fail_msg("%s: %d %s at %lld: %s", cases[i].text, rc, e.reason, (long long)e.offset, e.message);
		shd_arena_done(&arena);
	}
}

TEST(every_truncation_of_an_index_is_noticed)
{
	for (size_t len = 0; len < sizeof(foreign) - 2; len++) {
		shd_arena arena = {0};
		shd_safetensors_index index;
		assert_int_equal(shd_safetensors_index_decode(foreign, len, NULL, &arena, &index, NULL),
		                 SHERD_ECORRUPT);
		shd_arena_done(&arena);
	}
}

TEST(limits_hold)
{
	shd_arena arena = {0};
	shd_safetensors_index index;
	const sherd_limits small = {.shards = 2, .name_bytes = 3};
	assert_ok(decode("{\"weight_map\":{\"a\":\"f\",\"b\":\"g\",\"c\":\"f\"}}", &small, &arena, &index, err));
	assert_refused(SHERD_ELIMIT, "too-many-shards",
	               decode("{\"weight_map\":{\"a\":\"f\",\"b\":\"g\",\"c\":\"h\"}}", &small, &arena, &index, err));
	assert_refused(SHERD_ELIMIT, "name-too-long",
	               decode("{\"weight_map\":{\"abcd\":\"f\"}}", &small, &arena, &index, err));
	assert_refused(SHERD_ELIMIT, "name-too-long",
	               decode("{\"weight_map\":{\"a\":\"abcd\"}}", &small, &arena, &index, err));
	shd_arena_done(&arena);
}

static const shd_safetensors_index sample = {
	.count = 2,
	.entries = (const shd_safetensors_index_entry[]){{"b", 0}, {"a", 1}},
	.file_count = 2,
	.files = (const char *const[]){"1.safetensors", "2.safetensors"},
	.has_total_size = true,
	.total_size = 12,
	.pair_count = 1,
	.pairs = (const sherd_pair[]){{"format", "pt"}},
};

TEST(what_we_write_is_sorted_and_sealed_and_read_again)
{
	static const char want[] = "{\n"
				   "  \"metadata\": {\n"
				   "    \"total_size\": 12,\n"
				   "    \"format\": \"pt\"\n"
				   "  },\n"
				   "  \"weight_map\": {\n"
				   "    \"a\": \"2.safetensors\",\n"
				   "    \"b\": \"1.safetensors\"\n"
				   "  },\n"
				   "  \"sha256\": \"";
	SHD_AUTO_BUF out = {0};
	shd_buf_str(&out, "before");
	assert_ok(shd_safetensors_index_encode(&sample, &out, err));
	assert_memory_equal(out.data, "before", 6);
	assert_memory_equal(out.data + 6, want, sizeof(want) - 1);
	shd_arena arena = {0};
	shd_safetensors_index index;
	assert_ok(shd_safetensors_index_decode(out.data + 6, out.len - 6, NULL, &arena, &index, err));
	assert_true(index.sealed);
	assert_int_equal(index.count, 2);
	assert_string_equal(index.entries[0].name, "a");
	assert_string_equal(index.files[index.entries[0].file], "2.safetensors");
	assert_int_equal(index.total_size, 12);
	assert_int_equal(index.pair_count, 1);
	shd_arena_done(&arena);
}

TEST(a_flipped_bit_in_a_sealed_index_is_noticed)
{
	SHD_AUTO_BUF out = {0};
	assert_ok(shd_safetensors_index_encode(&sample, &out, err));
	uint8_t *at = memmem(out.data, out.len, "2.safe", 6);
	assert_non_null(at);
	*at ^= 1;
	shd_arena arena = {0};
	shd_safetensors_index index;
	assert_refused(SHERD_ECORRUPT, "bad-checksum",
	               shd_safetensors_index_decode(out.data, out.len, NULL, &arena, &index, err));
	shd_arena_done(&arena);
}

TEST(what_an_index_cannot_say_is_refused)
{
	SHD_AUTO_BUF out = {0};
	shd_safetensors_index bad = sample;
	bad.files = (const char *const[]){"a/b", "c"};
	assert_refused(SHERD_EINVAL, "bad-path", shd_safetensors_index_encode(&bad, &out, err));
	bad = sample;
	bad.file_count = 1;
	assert_refused(SHERD_EINVAL, "bad-path", shd_safetensors_index_encode(&bad, &out, err));
	bad = sample;
	bad.entries = (const shd_safetensors_index_entry[]){{"b", 0}, {"b", 1}};
	assert_refused(SHERD_EINVAL, "duplicate-key", shd_safetensors_index_encode(&bad, &out, err));
	bad = sample;
	bad.pairs = (const sherd_pair[]){{"total_size", "1"}};
	assert_refused(SHERD_EINVAL, "duplicate-key", shd_safetensors_index_encode(&bad, &out, err));
	bad = sample;
	bad.entries = (const shd_safetensors_index_entry[]){{"b\xc0", 0}, {"a", 1}};
	assert_refused(SHERD_EINVAL, "bad-utf8", shd_safetensors_index_encode(&bad, &out, err));
	assert_int_equal(out.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_foreign_index_is_read),
		cmocka_unit_test(unusual_but_valid_indexes_are_read),
		cmocka_unit_test(a_bad_index_is_refused_with_the_byte_that_is_wrong),
		cmocka_unit_test(every_truncation_of_an_index_is_noticed),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(what_we_write_is_sorted_and_sealed_and_read_again),
		cmocka_unit_test(a_flipped_bit_in_a_sealed_index_is_noticed),
		cmocka_unit_test(what_an_index_cannot_say_is_refused),
	};
	return cmocka_run_group_tests_name("safetensors_index", tests, NULL, NULL);
}

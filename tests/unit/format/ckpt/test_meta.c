#include "support/fixtures.h"
#include "support/source_file.h"
#include "support/test.h"

#include "format/ckpt/meta.h"

#include <stdio.h>
#include <stdlib.h>

/* Documents without seal and set id, as others write them: HEAD shards TAIL. */
#define TOP(version, rest) "{\"version\": " version ", \"worldSize\": 1, \"shards\": [" rest "]}"
#define SHARD(rest) "{\"rank\": 0, \"fileSize\": 100" rest "}"
#define META(rest) TOP("\"1.0.0\"", SHARD(rest))
#define TENSOR(rest) META(", \"tensors\": [{" rest "}]")
#define W "\"name\": \"w\", \"shape\": [2], \"dataType\": \"Float32\", \"size\": 8"

static int decode(const char *text, const sherd_limits *limits, shd_arena *arena, shd_ckpt_meta *out, sherd_error *err)
{
	return shd_ckpt_meta_decode(text, strlen(text), limits, arena, out, err);
}

typedef struct judged {
	const char *why, *text;
	const char *reason; /* NULL: accepted */
	int code;           /* 0: SHERD_ECORRUPT */
} judged;

static void judge(const judged *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		shd_arena arena = {0};
		shd_ckpt_meta got;
		sherd_error e = {0};
		int want = cases[i].reason ? (cases[i].code ? cases[i].code : SHERD_ECORRUPT) : SHERD_OK;
		int rc = decode(cases[i].text, NULL, &arena, &got, &e);
		shd_arena_done(&arena);
		if (rc != want || (rc < 0 && strcmp(e.reason, cases[i].reason) != 0))
			fail_msg("%s: status %d, %s: %s", cases[i].why, rc, e.reason ? e.reason : "", e.message);
		if (rc < 0 && e.offset > strlen(cases[i].text))
			fail_msg("%s: byte %lld", cases[i].why, (long long)e.offset);
	}
}

TEST(documents_of_others_are_judged)
{
	static const judged cases[] = {
		{"the least there can be", META(""), NULL, 0},
		{"version 1", TOP("\"1\"", SHARD("")), NULL, 0},
		{"version 1.9.9", TOP("\"1.9.9\"", SHARD("")), NULL, 0},
		{"version 2", TOP("\"2.0.0\"", SHARD("")), "bad-version", SHERD_EVERSION},
		{"version 10", TOP("\"10.0\"", SHARD("")), "bad-version", SHERD_EVERSION},
		{"version empty", TOP("\"\"", SHARD("")), "bad-version", SHERD_EVERSION},
		{"version a number", TOP("1", SHARD("")), "bad-type", 0},
		{"version null", TOP("null", SHARD("")), "bad-type", 0},
		{"no version", "{\"worldSize\": 1, \"shards\": [" SHARD("") "]}", "missing-key", 0},
		{"no worldSize", "{\"version\": \"1\", \"shards\": [" SHARD("") "]}", "missing-key", 0},
		{"no shards", "{\"version\": \"1\", \"worldSize\": 1}", "missing-shards", 0},
		{"an array of none", "{\"version\": \"1\", \"worldSize\": 0, \"shards\": []}", "missing-shards", 0},
		{"shards null", "{\"version\": \"1\", \"worldSize\": 1, \"shards\": null}", "bad-type", 0},
		{"worldSize negative", "{\"version\": \"1\", \"worldSize\": -1}", "bad-number", 0},
		{"worldSize a fraction", "{\"version\": \"1\", \"worldSize\": 1.0}", "bad-number", 0},
		{"one shard of two", "{\"version\": \"1\", \"worldSize\": 2, \"shards\": [" SHARD("") "]}",
	         "missing-shards", 0},
		{"as many as shardCount says",
	         "{\"version\": \"1\", \"worldSize\": 2, \"sharding\": {\"shardCount\": 1}, \"shards\": [" SHARD(
			 "") "]}",
	         NULL, 0},
		{"fewer than shardCount says",
	         "{\"version\": \"1\", \"worldSize\": 1, \"sharding\": {\"shardCount\": 2}, \"shards\": [" SHARD(
			 "") "]}",
	         "missing-shards", 0},
		{"a rank twice", "{\"version\": \"1\", \"worldSize\": 2, \"shards\": [" SHARD("") ", " SHARD("") "]}",
	         "duplicate-rank", 0},
		{"a timestamp", TOP("\"1\", \"timestamp\": \"2026-01-09T12:00:00.1234567+01:00\"", SHARD("")), NULL, 0},
		{"a timestamp without a zone", TOP("\"1\", \"timestamp\": \"2026-01-09T12:00:00.5\"", SHARD("")), NULL,
	         0},
		{"no time", "{\"timestamp\": \"noon\", \"version\": \"1\"}", "bad-time", 0},
		{"February 30", "{\"timestamp\": \"2026-02-30T12:00:00Z\", \"version\": \"1\"}", "bad-time", 0},
		{"not an object", "[]", "bad-type", 0},
		{"nothing", "", "truncated", 0},
		{"a key twice", "{\"version\": \"1\", \"version\": \"1\"}", "duplicate-key", 0},
		{"text behind it", META("") " x", "bad-json", 0},
		{"a set id and no seal",
	         "{\"setId\": \"00112233445566778899aabbccddeeff\", \"version\": \"1\", \"worldSize\": 1, "
	         "\"shards\": [" SHARD("") "]}",
	         "bad-seal", 0},
		{"a set id in upper case", "{\"setId\": \"00112233445566778899AABBCCDDEEFF\"}", "bad-set-id", 0},
		{"a set id that is short", "{\"setId\": \"0011\"}", "bad-set-id", 0},
		{"a set id that is no text", "{\"setId\": 7}", "bad-type", 0},
	};
	judge(cases, COUNT_OF(cases));
}

TEST(shards_are_judged)
{
	static const judged cases[] = {
		{"no rank", TOP("\"1\"", "{\"fileSize\": 1}"), "missing-key", 0},
		{"no fileSize", TOP("\"1\"", "{\"rank\": 0}"), "missing-key", 0},
		{"rank negative", TOP("\"1\"", "{\"rank\": -1, \"fileSize\": 1}"), "bad-number", 0},
		{"rank beyond 32 bits", TOP("\"1\"", "{\"rank\": 4294967296, \"fileSize\": 1}"), "bad-number", 0},
		{"fileSize beyond 64 bits", TOP("\"1\"", "{\"rank\": 0, \"fileSize\": 18446744073709551616}"),
	         "bad-number", 0},
		{"not an object", TOP("\"1\"", "5"), "bad-type", 0},
		{"everything null", META(", \"filePath\": null, \"tensors\": null, \"checksum\": null"), NULL, 0},
		{"an unknown key", META(", \"later\": [1, {\"a\": 2}]"), NULL, 0},
		{"a checksum that is no text", META(", \"checksum\": 5"), "bad-type", 0},
		{"a checksum with NUL", META(", \"checksum\": \"a\\u0000\""), "bad-text", 0},
		{"a file beside", META(", \"filePath\": \"x_shard_0.shard\""), NULL, 0},
		{"a file with its folder", META(", \"filePath\": \"runs/x_shard_0.shard\""), NULL, 0},
		{"a whole path", META(", \"filePath\": \"/data/runs/x_shard_0.shard\""), NULL, 0},
		{"an empty path", META(", \"filePath\": \"\""), NULL, 0},
		{"dots within a name", META(", \"filePath\": \"a..b\""), NULL, 0},
		{"a path that climbs", META(", \"filePath\": \"../x.shard\""), "bad-path", 0},
		{"a path that climbs later", META(", \"filePath\": \"a/../../x.shard\""), "bad-path", 0},
		{"a path that is the folder above", META(", \"filePath\": \"..\""), "bad-path", 0},
		{"a path that ends there", META(", \"filePath\": \"a/..\""), "bad-path", 0},
		{"the folder itself", META(", \"filePath\": \".\""), "bad-path", 0},
		{"a folder", META(", \"filePath\": \"runs/\""), "bad-path", 0},
		{"another system's separators", META(", \"filePath\": \"..\\\\x.shard\""), "bad-path", 0},
		{"a path with NUL", META(", \"filePath\": \"x\\u0000.shard\""), "bad-text", 0},
		{"a path that is no text", META(", \"filePath\": []"), "bad-type", 0},
	};
	judge(cases, COUNT_OF(cases));
}

TEST(tensors_are_judged)
{
	static const judged cases[] = {
		{"by name", TENSOR(W), NULL, 0},
		{"by number", TENSOR("\"name\": \"w\", \"shape\": [2], \"dataType\": 1, \"size\": 8"), NULL, 0},
		{"a scalar", TENSOR("\"name\": \"w\", \"shape\": [], \"dataType\": 12, \"size\": 2"), NULL, 0},
		{"an unknown key", TENSOR(W ", \"note\": {\"offset\": 1}"), NULL, 0},
		{"a name that needs escapes",
	         TENSOR("\"name\": \"\\ud83d\\ude00\\n\\\"\", \"shape\": [], \"dataType\": \"Int8\", "
	                "\"size\": 1"),
	         NULL, 0},
		{"a name without letters", TENSOR("\"name\": \"\", \"shape\": [], \"dataType\": \"Int8\", \"size\": 1"),
	         NULL, 0},
		{"a name with NUL",
	         TENSOR("\"name\": \"a\\u0000\", \"shape\": [], \"dataType\": \"Int8\", \"size\": 1"), "bad-text", 0},
		{"a name that is null", TENSOR("\"name\": null"), "bad-type", 0},
		{"half a character", TENSOR("\"name\": \"\\ud83d\""), "bad-utf8", 0},
		{"no name", TENSOR("\"shape\": [2], \"dataType\": 1, \"size\": 8"), "missing-key", 0},
		{"no shape", TENSOR("\"name\": \"w\", \"dataType\": 1, \"size\": 8"), "missing-key", 0},
		{"no type", TENSOR("\"name\": \"w\", \"shape\": [2], \"size\": 8"), "missing-key", 0},
		{"no size", TENSOR("\"name\": \"w\", \"shape\": [2], \"dataType\": 1"), "missing-key", 0},
		{"type 13", TENSOR("\"name\": \"w\", \"shape\": [2], \"dataType\": 13, \"size\": 8"), "bad-dtype",
	         SHERD_EUNSUPPORTED},
		{"a type in lower case",
	         TENSOR("\"name\": \"w\", \"shape\": [2], \"dataType\": \"float32\", \"size\": 8"), "bad-dtype",
	         SHERD_EUNSUPPORTED},
		{"our own name of a type", TENSOR("\"dataType\": \"F32\""), "bad-dtype", SHERD_EUNSUPPORTED},
		{"a negative type", TENSOR("\"dataType\": -1"), "bad-number", 0},
		{"type null", TENSOR("\"dataType\": null"), "bad-type", 0},
		{"a shape that is no list", TENSOR("\"shape\": 2"), "bad-type", 0},
		{"a shape of texts", TENSOR("\"shape\": [\"2\"]"), "bad-type", 0},
		{"a negative dimension", TENSOR("\"shape\": [-1]"), "bad-number", 0},
		{"a dimension beyond 64 bits", TENSOR("\"shape\": [18446744073709551616]"), "bad-number", 0},
		{"a negative offset", TENSOR(W ", \"offset\": -8"), "bad-number", 0},
		{"a size that is not the shape's",
	         TENSOR("\"name\": \"w\", \"shape\": [2], \"dataType\": 1, \"size\": 9"), "size-mismatch", 0},
		{"a shape that overflows",
	         TENSOR("\"name\": \"w\", \"shape\": [4294967296, 4294967296], \"dataType\": 1, \"size\": 0"),
	         "bad-shape", 0},
		{"a piece", TENSOR(W ", \"globalShape\": [4], \"globalOffset\": [2]"), NULL, 0},
		{"a piece without place", TENSOR(W ", \"globalShape\": [4]"), "bad-piece", 0},
		{"a piece without whole", TENSOR(W ", \"globalOffset\": [2]"), "bad-piece", 0},
		{"a piece of other dimensions", TENSOR(W ", \"globalShape\": [4, 1], \"globalOffset\": [2, 0]"),
	         "bad-piece", 0},
		{"a piece that leaves the whole", TENSOR(W ", \"globalShape\": [3], \"globalOffset\": [2]"),
	         "bad-piece", 0},
		{"tensors that are no list", META(", \"tensors\": {}"), "bad-type", 0},
		{"a tensor that is no object", META(", \"tensors\": [[]]"), "bad-type", 0},
		{"a key twice", TENSOR(W ", \"size\": 8"), "duplicate-key", 0},
	};
	judge(cases, COUNT_OF(cases));
}

TEST(there_are_32_dimensions_and_no_more)
{
	for (unsigned dims = 31; dims < 35; dims++) {
		SHD_AUTO_BUF text = {0};
		shd_arena arena = {0};
		shd_ckpt_meta got;
		sherd_error e = {0};
		shd_buf_str(&text, "{\"version\": \"1\", \"worldSize\": 1, \"shards\": [{\"rank\": 0, \"fileSize\": 1, "
		                   "\"tensors\": [{\"name\": \"t\", \"dataType\": 7, \"size\": 1, \"shape\": [");
		for (unsigned d = 0; d < dims; d++)
			shd_buf_str(&text, d ? ",1" : "1");
		shd_buf_str(&text, "]}]}]}");
		int rc = shd_ckpt_meta_decode((const char *)text.data, text.len, NULL, &arena, &got, &e);
		assert_int_equal(rc, dims <= 32 ? SHERD_OK : SHERD_ELIMIT);
		if (rc < 0)
			assert_string_equal(e.reason, "too-many-dims");
		shd_arena_done(&arena);
	}
}

TEST(limits_are_kept)
{
	shd_arena arena = {0};
	shd_ckpt_meta got;
	static const char two[] =
		"{\"version\": \"1\", \"worldSize\": 2, \"shards\": [" SHARD("") ", {\"rank\": 1, \"fileSize\": 2}]}";
	assert_refused(SHERD_ELIMIT, "too-many-shards", decode(two, &(sherd_limits){.shards = 1}, &arena, &got, err));
	assert_refused(SHERD_ELIMIT, "name-too-long",
	               decode(TENSOR("\"name\": \"four\", \"shape\": [], \"dataType\": 7, \"size\": 1"),
	                      &(sherd_limits){.name_bytes = 3}, &arena, &got, err));
	assert_refused(SHERD_ELIMIT, "too-long", decode(two, &(sherd_limits){.metadata_bytes = 20}, &arena, &got, err));
	assert_refused(SHERD_ELIMIT, "too-deep",
	               decode("{\"a\": [[[[[1]]]]]}", &(sherd_limits){.depth = 4}, &arena, &got, err));
	shd_arena_done(&arena);
}

/* ---- our own documents */

static const sherd_set_id id = {{0xaa, 0xbb}};
static const uint64_t two[] = {2}, four[] = {4}, zero[] = {0};
static const sherd_pair fields[] = {{"k", "v"}};

static void make(shd_ckpt_meta *m, shd_ckpt_meta_shard shards[2], shd_ckpt_entry e[3])
{
	e[0] = (shd_ckpt_entry){.tensor = {"\xc3\xa9\n\"", SHERD_F32, 1, two, 8}, .offset = 40, .extra = "\"n\": [1]"};
	e[1] = (shd_ckpt_entry){.tensor = {"s", SHERD_BF16, 0, NULL, 2}, .offset = 104};
	e[2] = (shd_ckpt_entry){
		.tensor = {"p", SHERD_I64, 1, two, 16}, .global_shape = four, .global_offset = zero, .offset = 40};
	shards[0] = (shd_ckpt_meta_shard){.rank = 0,
	                                  .file = "a_shard_0.shard",
	                                  .file_size = 300,
	                                  .checksum = "",
	                                  .entries = e,
	                                  .count = 2,
	                                  .listed = true};
	shards[1] = (shd_ckpt_meta_shard){.rank = 1,
	                                  .file = "a_shard_1.shard",
	                                  .file_size = 400,
	                                  .checksum = "ff",
	                                  .entries = e + 2,
	                                  .count = 1,
	                                  .listed = true};
	*m = (shd_ckpt_meta){
		.version = "1.0.0",
		.timestamp = "2026-01-09T12:00:00Z",
		.world = 2,
		.has_set_id = true,
		.set_id = id,
		.about = {.has_step = true,
	                  .step = 7,
	                  .optimizer_type = "adam",
	                  .fields = fields,
	                  .field_count = 1,
	                  .extra = "\"format\": \"multishard\"",
	                  .sharding_extra = "\"mesh\": [1]",
	                  .training_extra = "\"t\": {}"},
		.shards = shards,
		.count = 2,
	};
}

static void encode(shd_buf *out)
{
	shd_ckpt_meta m;
	shd_ckpt_meta_shard shards[2];
	shd_ckpt_entry e[3];
	make(&m, shards, e);
	shd_ckpt_meta_encode(&m, false, out);
	assert_false(out->failed);
}

TEST(what_was_encoded_is_decoded_with_all_that_we_do_not_know)
{
	SHD_AUTO_BUF text = {0};
	SHD_AUTO_BUF again = {0};
	shd_arena arena = {0};
	shd_ckpt_meta m;
	encode(&text);
	assert_ok(shd_ckpt_meta_decode((const char *)text.data, text.len, NULL, &arena, &m, err));
	assert_int_equal(m.seal, SHD_SEAL_GOOD);
	assert_true(m.has_set_id);
	assert_memory_equal(&m.set_id, &id, sizeof(id));
	assert_true(m.time_ns == INT64_C(1767960000000000000));
	assert_int_equal(m.count, 2);
	assert_string_equal(m.shards[0].entries[0].tensor.name, "\xc3\xa9\n\"");
	assert_string_equal(m.shards[0].entries[0].extra, "\"n\": [1]");
	assert_int_equal(m.shards[1].entries[0].global_shape[0], 4);
	assert_string_equal(m.shards[1].checksum, "ff");
	assert_string_equal(m.about.extra, "\"format\": \"multishard\"");
	assert_string_equal(m.about.sharding_extra, "\"mesh\": [1]");
	assert_string_equal(m.about.training_extra, "\"t\": {}");
	assert_null(m.about.strategy);
	assert_null(m.about.precision);
	assert_true(m.about.has_step && !m.about.has_epoch && !m.about.has_learning_rate && !m.about.has_ddp_rank);
	shd_ckpt_meta_encode(&m, false, &again);
	assert_int_equal(again.len, text.len);
	assert_memory_equal(again.data, text.data, text.len);
	shd_arena_done(&arena);
}

static bool is_refused(const shd_buf *text, size_t len)
{
	shd_arena arena = {0};
	shd_ckpt_meta m;
	int rc = shd_ckpt_meta_decode((const char *)text->data, len, NULL, &arena, &m, NULL);
	shd_arena_done(&arena);
	return rc < 0;
}

TEST(every_flipped_bit_every_truncation_and_every_appended_byte_is_refused)
{
	SHD_AUTO_BUF text = {0};
	encode(&text);
	for (size_t bit = 0; bit < text.len * 8; bit++) {
		text.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (!is_refused(&text, text.len))
			fail_msg("bit %zu of byte %zu may flip", bit % 8, bit / 8);
		text.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	for (size_t len = 0; len < text.len; len++)
		if (!is_refused(&text, len))
			fail_msg("%zu bytes of %zu are enough", len, text.len);
	shd_buf_u8(&text, 0);
	for (unsigned byte = 0; byte < 256; byte++) {
		text.data[text.len - 1] = (uint8_t)byte;
		if (!is_refused(&text, text.len))
			fail_msg("byte %02x may follow", byte);
	}
}

TEST(ranks_of_our_own_sets_have_no_gap)
{
	SHD_AUTO_BUF text = {0};
	shd_arena arena = {0};
	shd_ckpt_meta m, got;
	shd_ckpt_meta_shard shards[2];
	shd_ckpt_entry e[3];
	make(&m, shards, e);
	shards[1].rank = 2;
	shd_ckpt_meta_encode(&m, false, &text);
	assert_refused(SHERD_ECORRUPT, "bad-rank",
	               shd_ckpt_meta_decode((const char *)text.data, text.len, NULL, &arena, &got, err));
	shd_arena_done(&arena);
}

TEST(shards_come_by_rank_and_may_leave_their_tensors_out)
{
	SHD_AUTO_BUF text = {0};
	shd_arena arena = {0};
	shd_ckpt_meta m, got;
	shd_ckpt_meta_shard shards[2];
	shd_ckpt_entry e[3];
	make(&m, shards, e);
	shards[0].rank = 1;
	shards[1].rank = 0;
	shards[1].listed = false;
	shd_ckpt_meta_encode(&m, false, &text);
	assert_ok(shd_ckpt_meta_decode((const char *)text.data, text.len, NULL, &arena, &got, err));
	assert_int_equal(got.shards[0].file_size, 400);
	assert_false(got.shards[0].listed);
	assert_true(got.shards[1].listed);
	assert_int_equal(got.shards[1].count, 2);
	shd_arena_done(&arena);
}

TEST(for_the_csharp_program_types_are_numbers)
{
	SHD_AUTO_BUF text = {0};
	shd_arena arena = {0};
	shd_ckpt_meta m, got;
	shd_ckpt_meta_shard shards[2];
	shd_ckpt_entry e[3];
	make(&m, shards, e);
	m.has_set_id = false;
	shd_ckpt_meta_encode(&m, true, &text);
	shd_buf_u8(&text, 0);
	assert_non_null(strstr((const char *)text.data, "\"dataType\": 1,"));
	assert_non_null(strstr((const char *)text.data, "\"dataType\": 12,"));
	assert_null(strstr((const char *)text.data, "setId"));
	assert_ok(shd_ckpt_meta_decode((const char *)text.data, text.len - 1, NULL, &arena, &got, err));
	assert_int_equal(got.shards[0].entries[1].tensor.dtype, SHERD_BF16);
	assert_int_equal(got.seal, SHD_SEAL_GOOD);
	shd_arena_done(&arena);
}

static void decode_fixture(const char *name, size_t shards, sherd_dtype first)
{
	char path[4096];
	shd_arena arena = {0};
	shd_ckpt_meta m;
	size_t len;
	(void)snprintf(path, sizeof(path), "%s/checkpoint/%s", fixtures_folder(), name);
	uint8_t *text = source_file_read(path, &len);
	assert_ok(shd_ckpt_meta_decode((const char *)text, len, NULL, &arena, &m, err));
	free(text);
	assert_int_equal(m.seal, SHD_SEAL_ABSENT);
	assert_false(m.has_set_id);
	assert_int_equal(m.count, shards);
	assert_int_equal(m.shards[0].entries[0].tensor.dtype, first);
	shd_arena_done(&arena);
}

TEST(files_that_we_did_not_write_are_read)
{
	(void)fixtures_folder();
	decode_fixture("four-byte-length/run.metadata.json", 1, SHERD_U8);
	decode_fixture("eight-byte-length/step-7.metadata.json", 2, SHERD_F32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(documents_of_others_are_judged),
		cmocka_unit_test(shards_are_judged),
		cmocka_unit_test(tensors_are_judged),
		cmocka_unit_test(there_are_32_dimensions_and_no_more),
		cmocka_unit_test(limits_are_kept),
		cmocka_unit_test(what_was_encoded_is_decoded_with_all_that_we_do_not_know),
		cmocka_unit_test(every_flipped_bit_every_truncation_and_every_appended_byte_is_refused),
		cmocka_unit_test(ranks_of_our_own_sets_have_no_gap),
		cmocka_unit_test(shards_come_by_rank_and_may_leave_their_tensors_out),
		cmocka_unit_test(for_the_csharp_program_types_are_numbers),
		cmocka_unit_test(files_that_we_did_not_write_are_read),
	};
	return cmocka_run_group_tests_name("ckpt_meta", tests, NULL, NULL);
}

#include "support/source_file.h"
#include "support/test.h"

#include "format/rows/manifest.h"
#include "format/rows/claim.h"

#include <stdlib.h>
#include <string.h>

static const shd_rows_entry entries[] = {
	{"part-00000.shard", 2, 32 + 24, {0xab}, NULL, 0},
	{"part-00001.shard", 1, 32 + 12, {0}, NULL, 0},
};
static const shd_rows_manifest manifest = {
	.version = 1, .dtype = SHERD_F32, .rows = 3, .width = 3, .count = 2, .shards = entries};

static const char golden[] = "{\n"
			     "  \"format\": \"sherd-rows\",\n"
			     "  \"version\": 1,\n"
			     "  \"rows\": 3,\n"
			     "  \"width\": 3,\n"
			     "  \"dtype\": \"F32\",\n"
			     "  \"shards\": [\n"
			     "    {\"file\": \"part-00000.shard\", \"rows\": 2, \"bytes\": 56, \"sha256\": "
			     "\"ab00000000000000000000000000000000000000000000000000000000000000\"},\n"
			     "    {\"file\": \"part-00001.shard\", \"rows\": 1, \"bytes\": 44, \"sha256\": "
			     "\"0000000000000000000000000000000000000000000000000000000000000000\"}\n"
			     "  ],\n"
			     "  \"sha256\": \"";

static int decode(const void *data, size_t len, sherd_error *err)
{
	shd_arena arena = {0};
	shd_rows_manifest m;
	int rc = shd_rows_manifest_decode(data, len, NULL, &arena, &m, err);
	shd_arena_done(&arena);
	return rc;
}

TEST(the_document_is_the_same_every_time)
{
	SHD_AUTO_BUF text = {0};
	shd_rows_manifest_encode(&manifest, &text);
	assert_ok(shd_buf_check(&text, err));
	assert_int_equal(text.len, strlen(golden) + SHD_SHA256_HEX + 3);
	assert_memory_equal(text.data, golden, strlen(golden));
	assert_memory_equal(text.data + text.len - 3, "\"\n}", 3);
}

TEST(what_was_written_is_read)
{
	SHD_AUTO_BUF text = {0};
	shd_arena arena = {0};
	shd_rows_manifest m;
	shd_rows_manifest_encode(&manifest, &text);
	assert_ok(shd_rows_manifest_decode(text.data, text.len, NULL, &arena, &m, err));
	assert_int_equal(m.rows, 3);
	assert_int_equal(m.width, 3);
	assert_int_equal(m.count, 2);
	for (size_t i = 0; i < m.count; i++) {
		assert_string_equal(m.shards[i].file, entries[i].file);
		assert_int_equal(m.shards[i].rows, entries[i].rows);
		assert_int_equal(m.shards[i].bytes, entries[i].bytes);
		assert_memory_equal(m.shards[i].sha256, entries[i].sha256, SHD_SHA256_BYTES);
	}
	shd_arena_done(&arena);
}

TEST(no_flipped_bit_goes_unnoticed)
{
	SHD_AUTO_BUF text = {0};
	shd_rows_manifest_encode(&manifest, &text);
	for (size_t i = 0; i < text.len; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			text.data[i] ^= (uint8_t)(1u << bit);
			assert_refused(SHERD_ECORRUPT, "bad-seal", decode(text.data, text.len, err));
			text.data[i] ^= (uint8_t)(1u << bit);
		}
	for (size_t len = 0; len < text.len; len++)
		assert_refused(SHERD_ECORRUPT, "bad-seal", decode(text.data, len, err));
}

/* The document with a changed description, sealed again. */
static int decode_changed(uint64_t rows, uint64_t width, const shd_rows_entry *list, size_t count,
                          const sherd_limits *limits, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	shd_arena arena = {0};
	shd_rows_manifest m = {
		.version = 1, .dtype = SHERD_F32, .rows = rows, .width = width, .count = count, .shards = list};
	shd_rows_manifest_encode(&m, &text);
	int rc = shd_rows_manifest_decode(text.data, text.len, limits, &arena, &m, err);
	shd_arena_done(&arena);
	return rc;
}

TEST(contradictions_are_refused_by_name)
{
	const shd_rows_entry swapped[] = {entries[1], entries[0]}, twice[] = {entries[0], entries[0]};
	const shd_rows_entry path = {"a/b.shard", 1, 44, {0}, NULL, 0},
			     wide = {"a.shard", UINT64_MAX, 44, {0}, NULL, 0};
	assert_ok(decode_changed(3, 3, entries, 2, NULL, err));
	assert_refused(SHERD_ECORRUPT, "bad-count", decode_changed(4, 3, entries, 2, NULL, err));
	assert_refused(SHERD_ECORRUPT, "size-mismatch", decode_changed(3, 4, entries, 2, NULL, err));
	assert_refused(SHERD_ECORRUPT, "bad-width", decode_changed(3, 0, entries, 2, NULL, err));
	assert_refused(SHERD_ECORRUPT, "bad-name", decode_changed(3, 3, swapped, 2, NULL, err));
	assert_refused(SHERD_ECORRUPT, "bad-name", decode_changed(4, 3, twice, 2, NULL, err));
	assert_refused(SHERD_ECORRUPT, "bad-path", decode_changed(1, 3, &path, 1, NULL, err));
	assert_refused(SHERD_ECORRUPT, "overflow", decode_changed(UINT64_MAX, 3, &wide, 1, NULL, err));
	const sherd_limits one = {.shards = 1}, small = {.metadata_bytes = 100};
	assert_refused(SHERD_ELIMIT, "too-many-shards", decode_changed(3, 3, entries, 2, &one, err));
	assert_refused(SHERD_ELIMIT, "too-long", decode_changed(3, 3, entries, 2, &small, err));
}

static const uint32_t two_crcs[] = {0xc10c8c09, 1};

TEST(version_2_has_types_and_a_crc_for_every_block)
{
	static const uint64_t rows = SHD_ROWS_BLOCK / 2 + 1;
	const shd_rows_entry list[] = {
		{"z.bf16", rows, 2 * rows, {1}, two_crcs, 2},
		{"a.bf16", 1, 2, {2}, two_crcs, 1},
	};
	const shd_rows_manifest in = {.version = 2,
	                              .dtype = SHERD_BF16,
	                              .rows = rows + 1,
	                              .width = 1,
	                              .fence = 5,
	                              .count = 2,
	                              .shards = list};
	SHD_AUTO_BUF text = {0};
	shd_arena arena = {0};
	shd_rows_manifest m;
	shd_rows_manifest_encode(&in, &text);
	assert_ok(shd_rows_manifest_decode(text.data, text.len, NULL, &arena, &m, err));
	assert_int_equal(m.version, 2);
	assert_int_equal(m.dtype, SHERD_BF16);
	assert_int_equal(m.fence, 5);
	assert_string_equal(m.shards[0].file, "z.bf16");
	assert_int_equal(m.shards[0].crc_count, 2);
	assert_memory_equal(m.shards[0].crcs, two_crcs, sizeof(two_crcs));
	assert_int_equal(m.shards[1].crc_count, 1);
	assert_int_equal(m.shards[1].crcs[0], two_crcs[0]);
	shd_arena_done(&arena);
}

TEST(shards_of_version_1_are_kept_without_crcs)
{
	shd_rows_manifest in = manifest, m;
	SHD_AUTO_BUF text = {0};
	shd_arena arena = {0};
	in.version = 2;
	shd_rows_manifest_encode(&in, &text);
	assert_null(memmem(text.data, text.len, "crc32", 5));
	assert_ok(shd_rows_manifest_decode(text.data, text.len, NULL, &arena, &m, err));
	assert_null(m.shards[0].crcs);
	shd_arena_done(&arena);
}

TEST(the_example_of_the_document_is_a_manifest)
{
	size_t len;
	uint8_t *doc = source_file_read("docs/formats/rows.md", &len);
	const char *at = memmem(doc, len, "`rows.manifest.json` is\n\n```json\n", 33);
	assert_non_null(at);
	at += 33;
	const char *end = memmem(at, len - (size_t)(at - (const char *)doc), "\n```", 4);
	shd_arena arena = {0};
	shd_rows_manifest m;
	SHD_AUTO_BUF text = {0};
	assert_ok(shd_rows_manifest_decode(at, (size_t)(end - at), NULL, &arena, &m, err));
	assert_int_equal(m.shards[0].crcs[0], two_crcs[0]);
	shd_rows_manifest_encode(&m, &text);
	assert_int_equal(text.len, end - at);
	assert_memory_equal(text.data, at, text.len);
	shd_arena_done(&arena);
	free(doc);
}

static int decode_bf16(const char *text, shd_rows_manifest *m, shd_arena *arena, sherd_error *err)
{
	return shd_rows_bf16_decode(text, strlen(text), NULL, arena, m, err);
}

#define BF16(version, dtype, order, width, total, shards)                                                      \
	"{\"format\":\"residual_shard_bf16\",\"format_version\":" version ",\"dtype\":\"" dtype                \
	"\",\"byte_order\":\"" order "\",\"d_model\":" width ",\"total_tokens\":" total ",\"shards\":[" shards \
	"],\"stats\":{\"mean\":[0.5],\"norm\":[1e-3]},\"rows_per_shard\":\"whatever\"}"
#define FILE1 "{\"file\":\"b\",\"rows\":2,\"bytes\":12}"
#define FILE2 "{\"file\":\"a\",\"rows\":1,\"bytes\":6}"

TEST(a_foreign_list_keeps_its_own_order)
{
	shd_arena arena = {0};
	shd_rows_manifest m;
	assert_ok(decode_bf16(BF16("1", "bfloat16", "little", "3", "3", FILE1 "," FILE2), &m, &arena, err));
	assert_int_equal(m.count, 2);
	assert_int_equal(m.rows, 3);
	assert_int_equal(m.width, 3);
	assert_string_equal(m.shards[0].file, "b");
	assert_string_equal(m.shards[1].file, "a");
	assert_int_equal(m.shards[1].bytes, 6);
	shd_arena_done(&arena);
}

TEST(a_foreign_list_is_refused_for_these_reasons)
{
	static const struct {
		int code;
		const char *reason, *text;
	} cases[] = {
		{SHERD_EVERSION, "bad-version", BF16("2", "bfloat16", "little", "3", "3", FILE1 "," FILE2)},
		{SHERD_EUNSUPPORTED, "bad-dtype", BF16("1", "float16", "little", "3", "3", FILE1 "," FILE2)},
		{SHERD_EUNSUPPORTED, "bad-dtype", BF16("1", "bfloat16", "big", "3", "3", FILE1 "," FILE2)},
		{SHERD_ECORRUPT, "bad-width", BF16("1", "bfloat16", "little", "0", "3", FILE1 "," FILE2)},
		{SHERD_ECORRUPT, "size-mismatch", BF16("1", "bfloat16", "little", "4", "3", FILE1 "," FILE2)},
		{SHERD_ECORRUPT, "bad-count", BF16("1", "bfloat16", "little", "3", "2", FILE1 "," FILE2)},
		{SHERD_ECORRUPT, "bad-path",
	         BF16("1", "bfloat16", "little", "3", "1", "{\"file\":\"../a\",\"rows\":1,\"bytes\":6}")},
		{SHERD_ECORRUPT, "missing-key",
	         BF16("1", "bfloat16", "little", "3", "1", "{\"file\":\"a\",\"rows\":1}")},
		{SHERD_ECORRUPT, "missing-key", "{\"format\":\"residual_shard_bf16\"}"},
		{SHERD_EUNSUPPORTED, "unknown-format", "{\"format\":\"residual_shard_f16\"}"},
		{SHERD_ECORRUPT, "bad-type", "[]"},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		shd_arena arena = {0};
		shd_rows_manifest m;
		assert_refused(cases[i].code, cases[i].reason, decode_bf16(cases[i].text, &m, &arena, err));
		shd_arena_done(&arena);
	}
}

TEST(the_claim_says_who_is_packing)
{
	SHD_AUTO_BUF text = {0};
	shd_rows_claim in = {.time_ns = 1767960000000000000, .process = 42, .host = "here"}, out;
	shd_rows_claim_encode(&in, &text);
	assert_ok(shd_buf_check(&text, err));
	assert_non_null(memmem(text.data, text.len, "2026-01-09T12:00:00Z", 20));
	assert_ok(shd_rows_claim_decode(text.data, text.len, &out, err));
	assert_int_equal(out.time_ns, in.time_ns);
	assert_int_equal(out.process, 42);
	assert_string_equal(out.host, "here");
	text.data[5] ^= 1;
	assert_refused(SHERD_ECORRUPT, "bad-seal", shd_rows_claim_decode(text.data, text.len, &out, err));
}

/* Of the three documents a text can be one at most. */
static void check_input(const char *name, const uint8_t *data, size_t len)
{
	shd_arena arena = {0};
	shd_rows_manifest m;
	shd_rows_claim claim;
	sherd_error e = {0};
	int accepted = (shd_rows_manifest_decode(data, len, NULL, &arena, &m, &e) == SHERD_OK) +
	               (shd_rows_bf16_decode(data, len, NULL, &arena, &m, NULL) == SHERD_OK) +
	               (shd_rows_claim_decode(data, len, &claim, NULL) == SHERD_OK);
	shd_arena_done(&arena);
	if (name[0] == 'y' && accepted != 1)
		fail_msg("%s: refused: %s", name, e.message);
	if (name[0] == 'n' && accepted)
		fail_msg("%s: accepted", name);
}

TEST(the_corpus_is_judged_as_its_names_say)
{
	assert_true(source_folder_each("tests/corpus/rows_manifest", check_input) > 70);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_document_is_the_same_every_time),
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(no_flipped_bit_goes_unnoticed),
		cmocka_unit_test(contradictions_are_refused_by_name),
		cmocka_unit_test(version_2_has_types_and_a_crc_for_every_block),
		cmocka_unit_test(shards_of_version_1_are_kept_without_crcs),
		cmocka_unit_test(the_example_of_the_document_is_a_manifest),
		cmocka_unit_test(a_foreign_list_keeps_its_own_order),
		cmocka_unit_test(a_foreign_list_is_refused_for_these_reasons),
		cmocka_unit_test(the_claim_says_who_is_packing),
		cmocka_unit_test(the_corpus_is_judged_as_its_names_say),
	};
	return cmocka_run_group_tests_name("rows_manifest", tests, NULL, NULL);
}

#include "support/source_file.h"
#include "support/test.h"

#include "base/buf.h"
#include "codec/sha256.h"
#include "format/rows/shard.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t golden_head[SHD_ROWS_HEAD_SIZE] = {0x47, 0x41, 0x4d, 0x53, 0x41, 0x45, 0x30, 0x31, 3, 0, 0,
                                                        0,    0,    0,    0,    0,    3,    0,    0,    0, 0, 0,
                                                        0,    0,    0,    0,    0,    0,    0,    0,    0, 0};

static void head_of(uint8_t raw[SHD_ROWS_HEAD_SIZE], uint64_t rows, uint64_t width)
{
	shd_rows_head_encode(rows, width, raw);
}

TEST(the_head_is_what_the_original_writes)
{
	uint8_t raw[SHD_ROWS_HEAD_SIZE];
	head_of(raw, 3, 3);
	assert_memory_equal(raw, golden_head, sizeof(raw));
	shd_rows_head head;
	assert_ok(shd_rows_head_decode(raw, 68, &head, err));
	assert_int_equal(head.rows, 3);
	assert_int_equal(head.width, 3);
	assert_int_equal(head.reserved, 0);
	assert_int_equal(head.row_bytes, 12);
	assert_int_equal(head.file_bytes, 68);
}

TEST(every_refusal_has_its_own_word_and_place)
{
	uint8_t raw[SHD_ROWS_HEAD_SIZE];
	shd_rows_head head;
	head_of(raw, 3, 3);
	assert_fails(SHERD_ECORRUPT, 31, shd_rows_head_decode(raw, 31, &head, err));
	assert_refused(SHERD_ECORRUPT, "truncated", shd_rows_head_decode(raw, 0, &head, err));
	assert_refused(SHERD_ECORRUPT, "truncated", shd_rows_head_decode(raw, 67, &head, err));
	raw[7] = '2';
	assert_refused(SHERD_ECORRUPT, "bad-magic", shd_rows_head_decode(raw, 68, &head, err));
	assert_fails(SHERD_ECORRUPT, 0, shd_rows_head_decode(raw, 68, &head, err));
	head_of(raw, 3, 3);
	raw[24] = 7;
	assert_refused(SHERD_EUNSUPPORTED, "bad-dtype", shd_rows_head_decode(raw, 68, &head, err));
	assert_fails(SHERD_EUNSUPPORTED, 24, shd_rows_head_decode(raw, 68, &head, err));
	head_of(raw, 3, 0);
	assert_refused(SHERD_ECORRUPT, "bad-width", shd_rows_head_decode(raw, 68, &head, err));
	assert_fails(SHERD_ECORRUPT, 16, shd_rows_head_decode(raw, 68, &head, err));
}

TEST(a_refusal_says_what_it_saw)
{
	uint8_t raw[SHD_ROWS_HEAD_SIZE];
	shd_rows_head head;
	sherd_error e;
	head_of(raw, 3, 3);
	assert_int_equal(shd_rows_head_decode(raw, 67, &head, &e), SHERD_ECORRUPT);
	assert_non_null(strstr(e.message, "68"));
	assert_non_null(strstr(e.message, "67"));
	raw[24] = 7;
	assert_int_equal(shd_rows_head_decode(raw, 68, &head, &e), SHERD_EUNSUPPORTED);
	assert_non_null(strstr(e.message, "7"));
}

TEST(hostile_counts_do_not_wrap_round)
{
	static const uint64_t cases[][2] = {
		{UINT64_MAX, 1},
		{1, UINT64_MAX},
		{UINT64_MAX, UINT64_MAX},
		{1, UINT64_C(1) << 62},
		{(UINT64_C(1) << 62) + 9, 1},
		{UINT64_C(1) << 32, UINT64_C(1) << 30},
		{(UINT64_C(1) << 62) - 1, 1},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		uint8_t raw[SHD_ROWS_HEAD_SIZE];
		shd_rows_head head;
		head_of(raw, cases[i][0], cases[i][1]);
		assert_refused(SHERD_ECORRUPT, "truncated", shd_rows_head_decode(raw, 68, &head, err));
		assert_refused(SHERD_ECORRUPT, "truncated", shd_rows_head_decode(raw, UINT64_MAX, &head, err));
	}
}

TEST(what_is_tolerated_is_told)
{
	uint8_t raw[SHD_ROWS_HEAD_SIZE];
	shd_rows_head head;
	head_of(raw, 3, 3);
	raw[31] = 0x80;
	assert_ok(shd_rows_head_decode(raw, 100, &head, err));
	assert_int_equal(head.reserved, 0x80000000u);
	assert_int_equal(head.file_bytes, 68);
	head_of(raw, 0, 1000);
	assert_ok(shd_rows_head_decode(raw, 32, &head, err));
	assert_int_equal(head.file_bytes, 32);
}

static void check_input(const char *name, const uint8_t *data, size_t len)
{
	shd_rows_head head;
	sherd_error e = {0};
	int rc = shd_rows_head_decode(data, len, &head, &e);
	if (name[0] == 'y' && rc < 0)
		fail_msg("%s: refused: %s", name, e.message);
	if (name[0] == 'n' && rc >= 0)
		fail_msg("%s: accepted", name);
	if (rc >= 0)
		assert_true(head.file_bytes <= len);
}

TEST(the_corpus_is_judged_as_its_names_say)
{
	assert_true(source_folder_each("tests/corpus/rows_shard", check_input) > 20);
}

TEST(the_example_of_the_document_is_a_shard)
{
	size_t len;
	uint8_t *bytes = source_hex_block("docs/formats/rows.md", &len), hash[SHD_SHA256_BYTES];
	char hex[SHD_SHA256_HEX + 1];
	shd_rows_head head;
	assert_int_equal(len, 68);
	assert_ok(shd_rows_head_decode(bytes, len, &head, err));
	assert_int_equal(head.rows, 3);
	assert_int_equal(head.width, 3);
	for (size_t i = 0; i < 9; i++) {
		float v;
		memcpy(&v, bytes + SHD_ROWS_HEAD_SIZE + 4 * i, sizeof(v));
		assert_true(v == (float)(i + 1));
	}
	shd_sha256_of(bytes, len, hash);
	shd_hex(hash, sizeof(hash), hex);
	assert_string_equal(hex, "6aa544422eda59a26e5e4c6f65b5479d02da8528e5c09ce71623ab256eb8ace2");
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_head_is_what_the_original_writes),
		cmocka_unit_test(every_refusal_has_its_own_word_and_place),
		cmocka_unit_test(a_refusal_says_what_it_saw),
		cmocka_unit_test(hostile_counts_do_not_wrap_round),
		cmocka_unit_test(what_is_tolerated_is_told),
		cmocka_unit_test(the_corpus_is_judged_as_its_names_say),
		cmocka_unit_test(the_example_of_the_document_is_a_shard),
	};
	return cmocka_run_group_tests_name("rows_shard", tests, NULL, NULL);
}

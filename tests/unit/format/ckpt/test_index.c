#include "support/test.h"

#include "base/cursor.h"
#include "codec/crc32.h"
#include "format/ckpt/index.h"

#include <stdlib.h>

#define NAMES "\xc3\xa9\xe2\x9c\x93\xf0\x9f\x98\x80 \"\\\n/.."

enum { FIRST_RECORD = 40, FLAGS_AT = 6 };

static const uint32_t crcs[] = {0x11111111, 0x22222222};

/* Three entries: whole and of two blocks; a piece with further members; without name, bytes or dimensions' worth. */
static void make_index(shd_ckpt_index *index, shd_ckpt_entry e[3])
{
	static const uint64_t long_shape[] = {SHD_CKPT_BLOCK + 1}, piece_shape[] = {1, 2}, whole[] = {3, 2},
			      at[] = {2, 0}, empty[] = {0};
	e[0] = (shd_ckpt_entry){
		.tensor = {"long", SHERD_U8, 1, long_shape, SHD_CKPT_BLOCK + 1}, .offset = 40, .crcs = crcs};
	e[1] = (shd_ckpt_entry){.tensor = {NAMES, SHERD_F16, 2, piece_shape, 4},
	                        .global_shape = whole,
	                        .global_offset = at,
	                        .offset = UINT64_C(1) << 40,
	                        .crcs = crcs,
	                        .extra = "\"a\": [1, {\"b\": null}]"};
	e[2] = (shd_ckpt_entry){.tensor = {"", SHERD_F64, 1, empty, 0}, .offset = 7};
	*index = (shd_ckpt_index){.set_id = {{1, 2, 3}},
	                          .rank = 1,
	                          .world = 2,
	                          .time_ns = -5,
	                          .about = SHD_STR("{}"),
	                          .entries = e,
	                          .count = 3};
}

static void encode(shd_buf *out)
{
	shd_ckpt_index index;
	shd_ckpt_entry e[3];
	make_index(&index, e);
	shd_ckpt_index_encode(&index, out);
	assert_false(out->failed);
}

/* The same, of version 2: with values of two parts. */
static void encode_with_values(shd_buf *out)
{
	static const uint8_t values[2][SHD_BLAKE3_BYTES] = {{1, 2, 3}, {4, 5, 6}};
	shd_ckpt_index index;
	shd_ckpt_entry e[3];
	make_index(&index, e);
	index.part_log = 20;
	index.values = values;
	index.value_count = 2;
	shd_ckpt_index_encode(&index, out);
	assert_false(out->failed);
}

/* Makes the trailer right again after the body was changed. */
static void reseal(uint8_t *raw, size_t len)
{
	size_t body = len - SHD_CKPT_TRAILER_SIZE;
	shd_put_u64(raw + body, body);
	shd_put_u32(raw + body + 8, shd_crc32(0, raw, body + 8));
}

TEST(what_was_encoded_is_decoded)
{
	SHD_AUTO_BUF raw = {0};
	SHD_AUTO_BUF again = {0};
	shd_arena arena = {0};
	shd_ckpt_index want, got;
	shd_ckpt_entry e[3];
	make_index(&want, e);
	encode(&raw);
	assert_ok(shd_ckpt_index_decode(raw.data, raw.len, NULL, &arena, &got, err));
	assert_memory_equal(&got.set_id, &want.set_id, sizeof(want.set_id));
	assert_int_equal(got.rank, 1);
	assert_int_equal(got.world, 2);
	assert_true(got.time_ns == -5);
	assert_true(shd_str_is(got.about, "{}"));
	assert_int_equal(got.count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(shd_ckpt_entry_equal(&got.entries[i], &e[i]));
	assert_int_equal(got.entries[0].crcs[1], crcs[1]);
	assert_string_equal(got.entries[1].extra, e[1].extra);
	assert_null(got.entries[0].extra);
	assert_null(got.entries[0].global_shape);
	shd_ckpt_index_encode(&got, &again);
	assert_int_equal(again.len, raw.len);
	assert_memory_equal(again.data, raw.data, raw.len);
	shd_arena_done(&arena);
}

TEST(values_of_parts_are_decoded)
{
	SHD_AUTO_BUF raw = {0};
	SHD_AUTO_BUF again = {0};
	shd_arena arena = {0};
	shd_ckpt_index got;
	encode_with_values(&raw);
	assert_int_equal(raw.data[raw.len - 1], '2');
	assert_ok(shd_ckpt_index_decode(raw.data, raw.len, NULL, &arena, &got, err));
	assert_int_equal(got.part_log, 20);
	assert_int_equal(got.value_count, 2);
	assert_int_equal(got.values[1][2], 6);
	shd_ckpt_index_encode(&got, &again);
	assert_int_equal(again.len, raw.len);
	assert_memory_equal(again.data, raw.data, raw.len);
	shd_arena_done(&arena);
}

/* A version that is not the body's: what is too much or too little is noticed. */
TEST(the_version_must_be_that_of_the_body)
{
	for (int version = '1'; version <= '2'; version++) {
		SHD_AUTO_BUF raw = {0};
		shd_arena arena = {0};
		shd_ckpt_index got;
		if (version == '1')
			encode_with_values(&raw);
		else
			encode(&raw);
		raw.data[raw.len - 1] = (uint8_t)version;
		assert_refused(SHERD_ECORRUPT, version == '1' ? "trailing-bytes" : "truncated",
		               shd_ckpt_index_decode(raw.data, raw.len, NULL, &arena, &got, err));
		shd_arena_done(&arena);
	}
}

TEST(parts_have_from_1_kib_to_16_mib)
{
	for (unsigned log = 0; log < 256; log++) {
		SHD_AUTO_BUF raw = {0};
		shd_arena arena = {0};
		shd_ckpt_index got;
		sherd_error e = {0};
		encode_with_values(&raw);
		size_t at = raw.len - SHD_CKPT_TRAILER_SIZE - 2 * SHD_BLAKE3_BYTES - 1;
		raw.data[at] = (uint8_t)log;
		reseal(raw.data, raw.len);
		int rc = shd_ckpt_index_decode(raw.data, raw.len, NULL, &arena, &got, &e);
		shd_arena_done(&arena);
		if (log >= 10 && log <= 24)
			assert_int_equal(rc, SHERD_OK);
		else
			assert_true(rc == SHERD_ECORRUPT && strcmp(e.reason, "bad-index") == 0 && e.offset == at);
	}
}

TEST(every_flipped_bit_is_noticed)
{
	SHD_AUTO_BUF raw = {0};
	encode_with_values(&raw);
	for (size_t bit = 0; bit < raw.len * 8; bit++) {
		shd_arena arena = {0};
		shd_ckpt_index got;
		sherd_error e = {0};
		raw.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		int rc = shd_ckpt_index_decode(raw.data, raw.len, NULL, &arena, &got, &e);
		raw.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		shd_arena_done(&arena);
		if (rc != SHERD_ECORRUPT || e.offset > raw.len)
			fail_msg("bit %zu: status %d, byte %lld", bit, rc, (long long)e.offset);
	}
}

/* Even when the checksum is made to fit, no change of one bit may do harm. */
TEST(every_flipped_bit_under_a_right_checksum_is_survived)
{
	SHD_AUTO_BUF raw = {0};
	encode_with_values(&raw);
	for (size_t bit = 0; bit < (raw.len - SHD_CKPT_TRAILER_SIZE) * 8; bit++) {
		shd_arena arena = {0};
		shd_ckpt_index got;
		sherd_error e = {0};
		raw.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		reseal(raw.data, raw.len);
		int rc = shd_ckpt_index_decode(raw.data, raw.len, NULL, &arena, &got, &e);
		if (rc < 0 && (!e.reason || e.offset > raw.len))
			fail_msg("bit %zu: %s at %lld", bit, e.reason, (long long)e.offset);
		raw.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		shd_arena_done(&arena);
	}
}

TEST(every_truncation_is_refused)
{
	SHD_AUTO_BUF raw = {0};
	encode_with_values(&raw);
	for (size_t len = 0; len < raw.len; len++) {
		shd_arena arena = {0};
		shd_ckpt_index got;
		uint8_t *exact = malloc(len ? len : 1);
		assert_non_null(exact);
		memcpy(exact, raw.data, len);
		int rc = shd_ckpt_index_decode(exact, len, NULL, &arena, &got, NULL);
		free(exact);
		shd_arena_done(&arena);
		assert_int_equal(rc, SHERD_ECORRUPT);
	}
}

/* The body cut anywhere, under a trailer that is right for what is left. */
TEST(every_body_that_ends_early_is_refused)
{
	SHD_AUTO_BUF raw = {0};
	encode(&raw);
	size_t body = raw.len - SHD_CKPT_TRAILER_SIZE;
	for (size_t len = 0; len < body; len++) {
		shd_arena arena = {0};
		shd_ckpt_index got;
		sherd_error e = {0};
		uint8_t *cut = malloc(len + SHD_CKPT_TRAILER_SIZE);
		assert_non_null(cut);
		memcpy(cut, raw.data, len);
		memcpy(cut + len, raw.data + body, SHD_CKPT_TRAILER_SIZE);
		reseal(cut, len + SHD_CKPT_TRAILER_SIZE);
		int rc = shd_ckpt_index_decode(cut, len + SHD_CKPT_TRAILER_SIZE, NULL, &arena, &got, &e);
		free(cut);
		shd_arena_done(&arena);
		assert_int_equal(rc, SHERD_ECORRUPT);
		assert_true(e.offset <= len);
	}
}

TEST(bytes_behind_the_last_record_are_refused)
{
	SHD_AUTO_BUF raw = {0};
	shd_arena arena = {0};
	shd_ckpt_index got;
	encode(&raw);
	size_t body = raw.len - SHD_CKPT_TRAILER_SIZE;
	uint8_t *longer = calloc(1, raw.len + 1);
	assert_non_null(longer);
	memcpy(longer, raw.data, body);
	memcpy(longer + body + 1, raw.data + body, SHD_CKPT_TRAILER_SIZE);
	reseal(longer, raw.len + 1);
	assert_fails(SHERD_ECORRUPT, body, shd_ckpt_index_decode(longer, raw.len + 1, NULL, &arena, &got, err));
	free(longer);
	shd_arena_done(&arena);
}

TEST(values_that_cannot_be_are_refused_at_their_byte)
{
	static const struct {
		const char *why;
		size_t at;
		uint8_t byte;
		int code;
		const char *reason;
		uint64_t offset;
	} cases[] = {
		{"rank is world", 16, 2, SHERD_ECORRUPT, "bad-rank", 16},
		{"no world", 20, 0, SHERD_ECORRUPT, "bad-rank", 16},
		{"more tensors than bytes", 35, 1, SHERD_ECORRUPT, "bad-count", 32},
		{"a description longer than all", 39, 1, SHERD_ECORRUPT, "truncated", 40},
		{"type 0", FIRST_RECORD + 2 + 4, 0, SHERD_EUNSUPPORTED, "bad-dtype", FIRST_RECORD + 6},
		{"type 62", FIRST_RECORD + 2 + 4, 62, SHERD_EUNSUPPORTED, "bad-dtype", FIRST_RECORD + 6},
		{"type 255", FIRST_RECORD + 2 + 4, 255, SHERD_EUNSUPPORTED, "bad-dtype", FIRST_RECORD + 6},
		{"33 dimensions", FIRST_RECORD + 2 + 5, 33, SHERD_ELIMIT, "too-many-dims", FIRST_RECORD + 7},
		{"an unknown flag", FIRST_RECORD + 2 + FLAGS_AT, 4, SHERD_ECORRUPT, "bad-index", FIRST_RECORD + 8},
		{"the byte that is 0", FIRST_RECORD + 2 + 7, 1, SHERD_ECORRUPT, "bad-index", FIRST_RECORD + 8},
		{"a name beyond the limit", FIRST_RECORD + 2 + 2, 2, SHERD_ELIMIT, "name-too-long", FIRST_RECORD + 2},
		{"a size that needs more checksums than there are", FIRST_RECORD + 2 + 23, 0x7f, SHERD_ECORRUPT,
	         "truncated", FIRST_RECORD + 34},
		{"a size that is not the shape's", FIRST_RECORD + 2 + 16, 2, SHERD_ECORRUPT, "size-mismatch",
	         FIRST_RECORD + 2},
		{"NUL in a name", FIRST_RECORD + 2 + 40, 0, SHERD_ECORRUPT, "bad-name", FIRST_RECORD + 2},
		{"a name that is not UTF-8", FIRST_RECORD + 2 + 40, 0xff, SHERD_ECORRUPT, "bad-utf8", FIRST_RECORD + 2},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		SHD_AUTO_BUF raw = {0};
		shd_arena arena = {0};
		shd_ckpt_index got;
		sherd_error e = {0};
		encode(&raw);
		raw.data[cases[i].at] = cases[i].byte;
		reseal(raw.data, raw.len);
		int rc = shd_ckpt_index_decode(raw.data, raw.len, NULL, &arena, &got, &e);
		shd_arena_done(&arena);
		if (rc != cases[i].code || strcmp(e.reason, cases[i].reason) != 0 || e.offset != cases[i].offset)
			fail_msg("%s: status %d, %s at %lld", cases[i].why, rc, e.reason ? e.reason : "",
			         (long long)e.offset);
	}
}

static int decode_one(const shd_ckpt_entry *entry, const sherd_limits *limits, sherd_error *err)
{
	SHD_AUTO_BUF raw = {0};
	shd_arena arena = {0};
	shd_ckpt_entry e = *entry;
	shd_ckpt_index index = {.world = 1, .entries = &e, .count = 1}, got;
	shd_ckpt_index_encode(&index, &raw);
	int rc = shd_ckpt_index_decode(raw.data, raw.len, limits, &arena, &got, err);
	if (rc == SHERD_OK && !shd_ckpt_entry_equal(&got.entries[0], entry))
		fail_msg("another entry came back");
	shd_arena_done(&arena);
	return rc;
}

TEST(there_are_32_dimensions_and_no_more)
{
	uint64_t shape[33];
	for (size_t i = 0; i < COUNT_OF(shape); i++)
		shape[i] = 1;
	shd_ckpt_entry e = {.tensor = {"t", SHERD_U8, 32, shape, 1}, .crcs = crcs};
	assert_ok(decode_one(&e, NULL, err));
	e.tensor.ndim = 33;
	assert_refused(SHERD_ELIMIT, "too-many-dims", decode_one(&e, NULL, err));
	e.tensor.ndim = 4;
	assert_refused(SHERD_ELIMIT, "too-many-dims", decode_one(&e, &(sherd_limits){.dims = 3}, err));
}

TEST(every_type_comes_back)
{
	for (int dtype = SHERD_BOOL; dtype < SHERD_DTYPE_COUNT; dtype++) {
		uint64_t bytes = 40;
		const uint64_t shape[] = {4};
		(void)sherd_tensor_bytes(&bytes, (sherd_dtype)dtype, 1, shape);
		shd_ckpt_entry e = {.tensor = {"t", (sherd_dtype)dtype, 1, shape, bytes}, .crcs = crcs};
		assert_ok(decode_one(&e, NULL, err));
	}
}

TEST(further_members_are_json_without_our_keys)
{
	static const struct {
		const char *extra, *reason;
	} cases[] = {
		{"\"x\": 1, \"y\": {\"name\": 2}", NULL},     {"", NULL},
		{"\"x\": 1}, {\"y\": 2", "bad-json"},         {"x", "bad-json"},
		{"\"x\": 1, \"x\": 2", "duplicate-key"},      {"\"name\": \"t\"", "duplicate-key"},
		{"\"x\": 1, \"offset\": 0", "duplicate-key"}, {"\"globalSh\\u0061pe\": []", "duplicate-key"},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const uint64_t shape[] = {1};
		sherd_error err = {0};
		shd_ckpt_entry e = {.tensor = {"t", SHERD_U8, 1, shape, 1}, .crcs = crcs, .extra = cases[i].extra};
		int rc = decode_one(&e, NULL, &err);
		if (rc != (cases[i].reason ? SHERD_ECORRUPT : SHERD_OK) ||
		    (cases[i].reason && strcmp(err.reason, cases[i].reason) != 0))
			fail_msg("%s: status %d, %s", cases[i].extra, rc, err.reason ? err.reason : "");
	}
}

TEST(a_trailer_is_found_refused_or_absent)
{
	static const struct {
		const char *why;
		uint64_t body;
		const char *magic;
		uint64_t data;
		int code;
		uint64_t got;
	} cases[] = {
		{"right", 77, "SHERDIX1", 97, SHERD_OK, 77},
		{"with tensors in front", 77, "SHERDIX1", 1000, SHERD_OK, 77},
		{"no trailer", 77, "SHERDIY1", 97, SHERD_OK, 0},
		{"zeros", 0, "\0\0\0\0\0\0\0", 97, SHERD_OK, 0},
		{"right, of version 2", 77, "SHERDIX2", 97, SHERD_OK, 77},
		{"a later version", 77, "SHERDIX3", 97, SHERD_EVERSION, 0},
		{"a byte more than there is", 78, "SHERDIX1", 97, SHERD_ECORRUPT, 0},
		{"a length that overflows", UINT64_MAX, "SHERDIX1", 97, SHERD_ECORRUPT, 0},
		{"no body", 0, "SHERDIX1", 97, SHERD_ECORRUPT, 0},
		{"less data than a trailer", 1, "SHERDIX1", 19, SHERD_ECORRUPT, 0},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		uint8_t raw[SHD_CKPT_TRAILER_SIZE] = {0};
		uint64_t body = 99;
		shd_put_u64(raw, cases[i].body);
		memcpy(raw + 12, cases[i].magic, 8);
		int rc = shd_ckpt_trailer_decode(raw, cases[i].data, &body, NULL);
		if (rc != cases[i].code || (rc == SHERD_OK && body != cases[i].got))
			fail_msg("%s: status %d, %llu", cases[i].why, rc, (unsigned long long)body);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_encoded_is_decoded),
		cmocka_unit_test(values_of_parts_are_decoded),
		cmocka_unit_test(the_version_must_be_that_of_the_body),
		cmocka_unit_test(parts_have_from_1_kib_to_16_mib),
		cmocka_unit_test(every_flipped_bit_is_noticed),
		cmocka_unit_test(every_flipped_bit_under_a_right_checksum_is_survived),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(every_body_that_ends_early_is_refused),
		cmocka_unit_test(bytes_behind_the_last_record_are_refused),
		cmocka_unit_test(values_that_cannot_be_are_refused_at_their_byte),
		cmocka_unit_test(there_are_32_dimensions_and_no_more),
		cmocka_unit_test(every_type_comes_back),
		cmocka_unit_test(further_members_are_json_without_our_keys),
		cmocka_unit_test(a_trailer_is_found_refused_or_absent),
	};
	return cmocka_run_group_tests_name("ckpt_index", tests, NULL, NULL);
}

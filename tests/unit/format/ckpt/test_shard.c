#include "support/source_file.h"
#include "support/test.h"

#include "base/cursor.h"
#include "codec/crc32.h"
#include "format/ckpt/index.h"
#include "format/ckpt/shard.h"

#include <stdlib.h>

TEST(the_head_is_as_the_document_says)
{
	static const uint8_t want[SHD_CKPT_HEAD_SIZE + 1] =
		"\x52\x41\x48\x53\x03\0\0\0\x40\0\0\0"
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
		"\x05\0\0\0\x08\x07\x06\x05\x04\x03\x02\x01";
	uint8_t head[SHD_CKPT_HEAD_SIZE];
	shd_ckpt_head_encode(3, 5, 0x0102030405060708,
	                     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", head);
	assert_memory_equal(head, want, sizeof(head));
	shd_ckpt_head h;
	assert_ok(shd_ckpt_head_decode(head, sizeof(head), &h, err));
	assert_int_equal(h.rank, 3);
	assert_int_equal(h.tensors, 5);
	assert_true(h.has8);
	assert_int_equal(h.data8_offset, 88);
	assert_int_equal(h.data8_size, 0x0102030405060708);
	assert_int_equal(h.data4_offset, 84);
	assert_int_equal(h.data4_size, 0x05060708);
	assert_int_equal(h.checksum.len, 64);
	assert_memory_equal(h.checksum.ptr, want + 12, 64);
}

TEST(the_csharp_head_is_as_the_document_says)
{
	static const uint8_t want[] = "\x52\x41\x48\x53\x01\0\0\0\0\0\0\0\x02\0\0\0\x11\0\0\0";
	uint8_t head[SHD_CKPT_CSHARP_HEAD_SIZE];
	shd_ckpt_head h;
	shd_ckpt_head_encode_csharp(1, 2, 17, head);
	assert_memory_equal(head, want, sizeof(head));
	assert_ok(shd_ckpt_head_decode(head, sizeof(head), &h, err));
	assert_false(h.has8);
	assert_int_equal(h.data4_offset, 20);
	assert_int_equal(h.data4_size, 17);
	assert_int_equal(h.checksum.len, 0);
}

TEST(a_head_cut_anywhere_is_refused_where_it_ends)
{
	uint8_t head[SHD_CKPT_HEAD_SIZE];
	shd_ckpt_head h;
	shd_ckpt_head_encode(0, 1, 10, NULL, head);
	for (size_t len = 0; len < sizeof(head); len++) {
		sherd_error e = {0};
		uint8_t *exact = malloc(len ? len : 1);
		assert_non_null(exact);
		memcpy(exact, head, len);
		int rc = shd_ckpt_head_decode(exact, len, &h, &e);
		free(exact);
		if (len >= sizeof(head) - 4) {
			assert_int_equal(rc, SHERD_OK);
			assert_false(h.has8);
			continue;
		}
		assert_int_equal(rc, SHERD_ECORRUPT);
		assert_string_equal(e.reason, "truncated");
		assert_true(e.offset <= len);
	}
}

TEST(fields_that_cannot_be_are_refused_at_their_byte)
{
	static const struct {
		size_t at;
		uint8_t byte;
		const char *reason;
		uint64_t offset;
	} cases[] = {
		{0, 0x53, "bad-magic", 0},    {3, 0x52, "bad-magic", 0},     {7, 0x80, "bad-rank", 4},
		{9, 0x05, "bad-checksum", 8}, {11, 0x80, "bad-checksum", 8}, {79, 0x80, "bad-count", 76},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		uint8_t head[SHD_CKPT_HEAD_SIZE];
		shd_ckpt_head h;
		sherd_error e = {0};
		shd_ckpt_head_encode(0, 1, 10, NULL, head);
		head[cases[i].at] = cases[i].byte;
		assert_int_equal(shd_ckpt_head_decode(head, sizeof(head), &h, &e), SHERD_ECORRUPT);
		assert_string_equal(e.reason, cases[i].reason);
		assert_int_equal(e.offset, cases[i].offset);
	}
}

TEST(a_checksum_text_of_others_may_have_1024_bytes_and_no_more)
{
	static uint8_t head[SHD_CKPT_HEAD_MAX + 1];
	shd_ckpt_head h;
	shd_put_u32(head, SHD_CKPT_SHARD_MAGIC);
	shd_put_u32(head + 8, SHD_CKPT_CHECKSUM_MAX);
	assert_ok(shd_ckpt_head_decode(head, SHD_CKPT_HEAD_MAX, &h, err));
	assert_int_equal(h.data8_offset, SHD_CKPT_HEAD_MAX);
	shd_put_u32(head + 8, SHD_CKPT_CHECKSUM_MAX + 1);
	assert_fails(SHERD_ECORRUPT, 8, shd_ckpt_head_decode(head, sizeof(head), &h, err));
}

/* The 233 bytes of the example, from the functions that write shards. */
static void make_example(shd_buf *out)
{
	static const uint8_t w[] = "\0\0\x80\x3f\0\0\0\x40";
	uint8_t hash[SHD_SHA256_BYTES], head[SHD_CKPT_HEAD_SIZE];
	char hex[SHD_SHA256_HEX + 1];
	uint32_t crc = shd_crc32(0, w, 8);
	shd_ckpt_entry e = {.tensor = {"w", SHERD_F32, 1, (uint64_t[]){2}, 8}, .offset = 40, .crcs = &crc};
	shd_ckpt_index index = {.world = 1, .time_ns = INT64_C(1767960000000000000), .entries = &e, .count = 1};
	SHD_AUTO_BUF data = {0};
	assert_ok(sherd_set_id_parse(&index.set_id, "00112233445566778899aabbccddeeff", err));
	shd_buf_zero(&data, 40);
	shd_buf_append(&data, w, 8);
	shd_ckpt_index_encode(&index, &data);
	shd_sha256_of(data.data, data.len, hash);
	shd_hex(hash, sizeof(hash), hex);
	shd_ckpt_head_encode(0, 1, data.len, hex, head);
	shd_buf_append(out, head, sizeof(head));
	shd_buf_append(out, data.data, data.len);
}

TEST(the_example_of_the_document_is_what_we_write)
{
	size_t len;
	uint8_t *want = source_hex_block("docs/formats/checkpoint.md", &len);
	SHD_AUTO_BUF have = {0};
	make_example(&have);
	assert_int_equal(have.len, len);
	assert_memory_equal(have.data, want, len);
	free(want);
}

TEST(the_example_of_the_document_is_what_we_read)
{
	size_t len;
	uint8_t *raw = source_hex_block("docs/formats/checkpoint.md", &len);
	shd_arena arena = {0};
	shd_ckpt_head h;
	shd_ckpt_index index;
	uint64_t body;
	assert_ok(shd_ckpt_head_decode(raw, len, &h, err));
	assert_int_equal(h.data8_offset + h.data8_size, len);
	assert_ok(shd_ckpt_trailer_decode(raw + len - SHD_CKPT_TRAILER_SIZE, h.data8_size, &body, err));
	assert_int_equal(body, 77);
	size_t size = (size_t)body + SHD_CKPT_TRAILER_SIZE;
	assert_ok(shd_ckpt_index_decode(raw + len - size, size, NULL, &arena, &index, err));
	assert_int_equal(index.count, 1);
	assert_string_equal(index.entries[0].tensor.name, "w");
	assert_int_equal(index.entries[0].offset, 40);
	shd_arena_done(&arena);
	free(raw);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_head_is_as_the_document_says),
		cmocka_unit_test(the_csharp_head_is_as_the_document_says),
		cmocka_unit_test(a_head_cut_anywhere_is_refused_where_it_ends),
		cmocka_unit_test(fields_that_cannot_be_are_refused_at_their_byte),
		cmocka_unit_test(a_checksum_text_of_others_may_have_1024_bytes_and_no_more),
		cmocka_unit_test(the_example_of_the_document_is_what_we_write),
		cmocka_unit_test(the_example_of_the_document_is_what_we_read),
	};
	return cmocka_run_group_tests_name("ckpt_shard", tests, NULL, NULL);
}

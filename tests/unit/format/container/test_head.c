#include "format/container/head.h"

#include "base/buf.h"
#include "codec/crc32.h"
#include "support/test.h"

#include <string.h>

enum { DIRECTORY = 74, CRC = 1020 };

/* Data, metadata, a section of a type that is not known, the index. */
static shd_container_head sample(void)
{
	shd_container_head h = {.set = "0123456789abcde", .count = 4};
	const shd_container_section sections[] = {
		{.type = SHD_SECTION_ARRAYS, .stored = 100, .raw = 100},
		{.type = SHD_SECTION_METADATA, .flags = 0x11, .crc = 7, .stored = 20, .raw = 50},
		{.type = 99, .flags = 0x12, .crc = 8, .stored = 3, .raw = 5},
		{.type = SHD_SECTION_ARRAYS, .flags = 0x10, .crc = 9, .stored = 8, .raw = 8},
	};
	uint64_t at = SHD_CONTAINER_FRONT;
	for (uint32_t i = 0; i < h.count; i++) {
		h.sections[i] = sections[i];
		h.sections[i].offset = at;
		at = shd_section_end(&h.sections[i]);
	}
	h.file_size = at;
	return h;
}

static int decode(const uint8_t *front, uint64_t size, sherd_error *err)
{
	shd_container_head h;
	size_t len = size < SHD_CONTAINER_FRONT ? (size_t)size : SHD_CONTAINER_FRONT;
	return shd_container_head_decode(front, len, size, &h, err);
}

TEST(a_front_comes_back)
{
	shd_container_head h = sample(), back;
	uint8_t front[SHD_CONTAINER_FRONT];
	shd_container_head_encode(&h, front);
	assert_memory_equal(front, "SAMEDIFF_MOD\1\0\0\0\0\xe2\3\0\0\0\0\0\0\x10", 26);
	assert_ok(shd_container_head_decode(front, sizeof(front), h.file_size, &back, err));
	assert_memory_equal(back.set, h.set, sizeof(h.set));
	assert_int_equal(back.count, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(back.sections[i].type, h.sections[i].type);
		assert_int_equal(back.sections[i].flags, h.sections[i].flags);
		assert_int_equal(back.sections[i].crc, h.sections[i].crc);
		assert_int_equal(back.sections[i].offset, h.sections[i].offset);
		assert_int_equal(back.sections[i].stored, h.sections[i].stored);
		assert_int_equal(back.sections[i].raw, h.sections[i].raw);
	}
	assert_ptr_equal(shd_container_index_section(&back), &back.sections[3]);
	assert_ptr_equal(shd_container_find_section(&back, SHD_SECTION_ARRAYS), &back.sections[0]);
	assert_null(shd_container_find_section(&back, SHD_SECTION_GRAPH));
}

TEST(every_bit_of_a_front_matters)
{
	shd_container_head h = sample();
	uint8_t front[SHD_CONTAINER_FRONT];
	shd_container_head_encode(&h, front);
	assert_ok(decode(front, h.file_size, err));
	for (size_t bit = 0; bit < 8 * sizeof(front); bit++) {
		front[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_true(decode(front, h.file_size, NULL) < 0);
		front[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

TEST(a_file_of_another_size_is_refused)
{
	shd_container_head h = sample();
	uint8_t front[SHD_CONTAINER_FRONT];
	shd_container_head_encode(&h, front);
	assert_refused(SHERD_ECORRUPT, "bad-magic", decode(front, 11, err));
	for (uint64_t size = 12; size < h.file_size; size++)
		assert_fails(SHERD_ECORRUPT, size, decode(front, size, err));
	assert_fails(SHERD_ECORRUPT, h.file_size, decode(front, h.file_size + 1, err));
}

static void seal(uint8_t *front)
{
	shd_put_u32(front + CRC, shd_crc32(0, front + 16, CRC - 16));
}

TEST(unknown_versions_and_features_are_refused_as_such)
{
	shd_container_head h = sample();
	uint8_t front[SHD_CONTAINER_FRONT];
	h.incompatible = 2;
	shd_container_head_encode(&h, front);
	assert_refused(SHERD_EVERSION, "unknown-feature", decode(front, h.file_size, err));
	h.incompatible = SHD_FEATURE_DIGESTS; /* which is not there */
	shd_container_head_encode(&h, front);
	assert_refused(SHERD_ECORRUPT, "no-checksum", decode(front, h.file_size, err));
	h.incompatible = 0;
	h.compatible = 1;
	shd_container_head_encode(&h, front);
	assert_ok(decode(front, h.file_size, err));
	front[12] = 2;
	memset(front + 16, 0xee, sizeof(front) - 16);
	assert_refused(SHERD_EVERSION, "bad-version", decode(front, h.file_size, err));
	front[11] = 'E';
	assert_refused(SHERD_ECORRUPT, "bad-magic", decode(front, h.file_size, err));
}

/* A change of the sample, and what must be said of it. */
typedef struct change {
	uint32_t at; /* in the front */
	uint8_t value;
	int code;
	const char *reason;
} change;

TEST(a_directory_that_cannot_be_is_refused)
{
	static const change changes[] = {
		{26 + 40, 30, SHERD_ECORRUPT, "bad-count"},
		{26 + 40, 3, SHERD_ECORRUPT, "reserved"}, /* an entry behind the last */
		{26 + 44, 1, SHERD_ECORRUPT, "reserved"},
		{1019, 1, SHERD_ECORRUPT, "reserved"},
		{DIRECTORY + 2, 1, SHERD_ECORRUPT, "reserved"},
		{DIRECTORY + 1, 0x20, SHERD_ECORRUPT, "reserved"},
		{DIRECTORY + 4, 1, SHERD_ECORRUPT, "reserved"},
		{DIRECTORY + 1, 1, SHERD_EUNSUPPORTED, "bad-codec"},
		{DIRECTORY + 24, 99, SHERD_ECORRUPT, "size-mismatch"},
		{DIRECTORY + 8, 1, SHERD_ECORRUPT, "out-of-range"},
		{DIRECTORY + 32 + 23, 0xff, SHERD_ECORRUPT, "out-of-range"},
		{DIRECTORY + 32, 0, SHERD_ECORRUPT, "duplicate-section"},
		{DIRECTORY + 64, 1, SHERD_EUNSUPPORTED, "bad-codec"}, /* zstd, some day */
		{DIRECTORY + 32 + 1, 1, SHERD_ECORRUPT, "reserved"},
		{DIRECTORY + 96, 98, SHERD_ECORRUPT, "no-index"},
	};
	for (size_t i = 0; i < COUNT_OF(changes); i++) {
		shd_container_head h = sample();
		uint8_t front[SHD_CONTAINER_FRONT];
		sherd_error err = {0};
		shd_container_head_encode(&h, front);
		front[changes[i].at] = changes[i].value;
		seal(front);
		if (decode(front, h.file_size, &err) != changes[i].code || strcmp(err.reason, changes[i].reason) != 0)
			fail_msg("change %zu: %s, %s", i, err.reason, err.message);
	}
}

TEST(metadata_without_a_crc_is_refused)
{
	shd_container_head h = sample();
	uint8_t front[SHD_CONTAINER_FRONT];
	h.sections[1].flags = 0;
	h.sections[1].crc = 0;
	h.sections[1].raw = h.sections[1].stored;
	shd_container_head_encode(&h, front);
	assert_refused(SHERD_ECORRUPT, "no-checksum", decode(front, h.file_size, err));
}

TEST(sections_that_end_before_the_file_are_refused)
{
	shd_container_head h = sample();
	uint8_t front[SHD_CONTAINER_FRONT];
	h.file_size++;
	shd_container_head_encode(&h, front);
	assert_fails(SHERD_ECORRUPT, h.file_size - 1, decode(front, h.file_size, err));
}

TEST(a_section_says_what_the_directory_says)
{
	shd_container_head h = sample();
	uint8_t head[SHD_SECTION_HEAD];
	shd_section_head_encode(&h.sections[1], head);
	assert_ok(shd_section_head_check(&h.sections[1], head, err));
	for (size_t i = 0; i < sizeof(head); i++) {
		head[i] ^= 1;
		assert_fails(SHERD_ECORRUPT, i, shd_section_head_check(&h.sections[1], head, err));
		head[i] ^= 1;
	}
	assert_int_equal(shd_section_crc_begin(&h.sections[1]), shd_crc32(0, head, sizeof(head)));
	assert_string_equal(shd_section_name(SHD_SECTION_SHARD_INFO), "SHARD_INFO");
	assert_string_equal(shd_section_name(SHD_SECTION_DIGESTS), "DIGESTS");
	assert_string_equal(shd_section_name(6), "section");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_front_comes_back),
		cmocka_unit_test(every_bit_of_a_front_matters),
		cmocka_unit_test(a_file_of_another_size_is_refused),
		cmocka_unit_test(unknown_versions_and_features_are_refused_as_such),
		cmocka_unit_test(a_directory_that_cannot_be_is_refused),
		cmocka_unit_test(metadata_without_a_crc_is_refused),
		cmocka_unit_test(sections_that_end_before_the_file_are_refused),
		cmocka_unit_test(a_section_says_what_the_directory_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

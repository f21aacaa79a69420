#include "format/container/index.h"

#include "base/cursor.h"
#include "codec/crc32.h"
#include "support/test.h"

#include <string.h>

static const uint64_t shape[] = {600000};
static const shd_container_chunk chunks[] = {
	{.offset = 1088, .stored = 1 << 20, .raw = 1 << 20, .crc = 1},
	{.offset = 1 << 21, .stored = 5000, .raw = 1 << 20, .crc = 2, .codec = 1, .filter = 1, .width = 4},
	{.offset = 1 << 22, .stored = 999, .raw = 2400000 - (2 << 20), .crc = 3, .codec = 1},
};
static const shd_container_array arrays[] = {
	{.tensor = {.name = "weights", .dtype = SHERD_F32, .ndim = 1, .shape = shape, .bytes = 2400000},
         .key = "",
         .chunk_bytes = SHD_CONTAINER_CHUNK,
         .chunk_count = 3,
         .chunks = chunks},
	{.tensor = {.name = "@updater/weights/M", .dtype = SHERD_F32, .ndim = 1, .shape = shape, .bytes = 2400000},
         .role = SHD_ROLE_UPDATER,
         .key = "M",
         .shard = 4},
	{.tensor = {.name = "nothing", .dtype = SHERD_BOOL, .ndim = 1, .shape = (uint64_t[]){0}}, .key = ""},
};

static shd_container_entry entry_at(const shd_buf *index, uint64_t i)
{
	shd_container_entry e = {0};
	uint64_t count;
	assert_ok(shd_container_index_count(index->data, index->len, &count, err));
	assert_int_equal(count, COUNT_OF(arrays));
	assert_ok(shd_container_entry_decode(index->data + SHD_CONTAINER_INDEX_HEAD + i * SHD_CONTAINER_ENTRY, i, count,
	                                     index->len, &e, err));
	return e;
}

static void assert_same(const shd_container_array *a, const shd_container_array *b)
{
	assert_int_equal(a->tensor.dtype, b->tensor.dtype);
	assert_int_equal(a->tensor.ndim, b->tensor.ndim);
	assert_memory_equal(a->tensor.shape, b->tensor.shape, a->tensor.ndim * sizeof(uint64_t));
	assert_int_equal(a->tensor.bytes, b->tensor.bytes);
	assert_int_equal(a->role, b->role);
	assert_string_equal(a->key, b->key);
	assert_int_equal(a->shard, b->shard);
	assert_int_equal(a->chunk_count, b->chunk_count);
	for (uint32_t i = 0; i < a->chunk_count; i++)
		assert_memory_equal(&a->chunks[i], &b->chunks[i], offsetof(shd_container_chunk, width) + 1);
}

TEST(records_come_back_in_the_order_of_their_hashes)
{
	SHD_AUTO_BUF index = {0};
	shd_arena arena = {0};
	uint8_t before[SHD_CONTAINER_HASH] = {0};
	size_t seen = 0;
	assert_ok(shd_container_index_encode(arrays, COUNT_OF(arrays), &index, NULL, err));
	for (uint64_t i = 0; i < COUNT_OF(arrays); i++) {
		shd_container_entry e = entry_at(&index, i);
		shd_container_array a;
		assert_true(memcmp(before, e.hash, sizeof(before)) < 0);
		memcpy(before, e.hash, sizeof(before));
		assert_ok(shd_container_record_decode(&e, index.data + e.offset, NULL, &arena, &a, err));
		for (size_t k = 0; k < COUNT_OF(arrays); k++)
			if (strcmp(arrays[k].tensor.name, a.tensor.name) == 0) {
				assert_same(&a, &arrays[k]);
				seen++;
			}
	}
	assert_int_equal(seen, COUNT_OF(arrays));
	shd_arena_done(&arena);
}

TEST(the_hash_is_the_beginning_of_sha_256)
{
	uint8_t hash[SHD_CONTAINER_HASH];
	shd_container_hash(SHD_STR("abc"), hash);
	assert_memory_equal(hash, "\xba\x78\x16\xbf\x8f\x01\xcf\xea", sizeof(hash));
}

TEST(an_index_that_is_too_short_is_refused)
{
	uint64_t count;
	assert_refused(SHERD_ECORRUPT, "bad-count",
	               shd_container_index_count((uint8_t *)"\1\0\0\0\0\0\0", 8 + 55, &count, err));
	assert_refused(SHERD_ECORRUPT, "bad-count",
	               shd_container_index_count((uint8_t *)"\0\0\0\0\0\0\0", 7, &count, err));
	assert_ok(shd_container_index_count((uint8_t *)"\1\0\0\0\0\0\0", 8 + 56, &count, err));
}

/* A change of the record of "weights", whose CRC is put right, and what must be said of it. */
static const struct {
	uint32_t at;
	uint8_t value;
	int code;
	const char *reason;
} changes[] = {
	{0, 200, SHERD_EUNSUPPORTED, "bad-dtype"},
	{0, SHERD_F64, SHERD_ECORRUPT, "size-mismatch"},
	{0, SHERD_UTF8, SHERD_ECORRUPT, "size-mismatch"},
	{1, 33, SHERD_ELIMIT, "too-many-dims"},
	{1, 2, SHERD_ECORRUPT, "bad-length"},
	{2, 4, SHERD_EUNSUPPORTED, "bad-role"},
	{3, 1, SHERD_ECORRUPT, "reserved"},
	{15, 1, SHERD_ECORRUPT, "size-mismatch"},
	{19, 1, SHERD_ELIMIT, "name-too-long"},
	{16, 6, SHERD_ECORRUPT, "bad-length"},
	{27, 0x7f, SHERD_ELIMIT, "too-large"},
	{24, 1, SHERD_ECORRUPT, "bad-chunk"},
	{28, 2, SHERD_ECORRUPT, "bad-length"},
	{40 + 8, 1, SHERD_ECORRUPT, "bad-chunk"}, /* stored */
	{40 + 20, 2, SHERD_EUNSUPPORTED, "bad-codec"},
	{40 + 20, 1, SHERD_ECORRUPT, "bad-chunk"}, /* packed, and no smaller */
	{40 + 21, 2, SHERD_EUNSUPPORTED, "bad-codec"},
	{40 + 21, 1, SHERD_ECORRUPT, "bad-chunk"}, /* shuffled by no width */
	{40 + 22, 4, SHERD_ECORRUPT, "bad-chunk"}, /* a width without shuffling */
	{40 + 23, 1, SHERD_ECORRUPT, "reserved"},
	{64 + 9, 0, SHERD_ECORRUPT, "bad-chunk"}, /* 136 bytes cannot grow to a MiB */
	{112, 0, SHERD_ECORRUPT, "bad-name"},
	{112, 0xff, SHERD_ECORRUPT, "bad-name"},
	{112, 'x', SHERD_ECORRUPT, "bad-index"},
};

TEST(a_record_that_cannot_be_is_refused)
{
	SHD_AUTO_BUF index = {0};
	shd_arena arena = {0};
	shd_container_array a;
	uint64_t which = 0;
	assert_ok(shd_container_index_encode(arrays, COUNT_OF(arrays), &index, NULL, err));
	while (entry_at(&index, which).length < 100)
		which++;
	shd_container_entry e = entry_at(&index, which);
	uint8_t *raw = index.data + e.offset;
	for (size_t i = 0; i < COUNT_OF(changes); i++) {
		sherd_error err = {0};
		uint8_t before = raw[changes[i].at];
		raw[changes[i].at] = changes[i].value;
		e.crc = shd_crc32(0, raw, e.length);
		if (shd_container_record_decode(&e, raw, NULL, &arena, &a, &err) != changes[i].code ||
		    strcmp(err.reason, changes[i].reason) != 0)
			fail_msg("change %zu: %s, %s", i, err.reason, err.message);
		raw[changes[i].at] = before;
	}
	e.crc = shd_crc32(0, raw, e.length) ^ 1;
	assert_refused(SHERD_ECORRUPT, "bad-crc", shd_container_record_decode(&e, raw, NULL, &arena, &a, err));
	shd_arena_done(&arena);
}

TEST(an_entry_that_leads_out_of_the_index_is_refused)
{
	SHD_AUTO_BUF index = {0};
	shd_container_entry e;
	assert_ok(shd_container_index_encode(arrays, COUNT_OF(arrays), &index, NULL, err));
	uint8_t *raw = index.data + SHD_CONTAINER_INDEX_HEAD;
	raw[15] = 1;
	assert_fails(SHERD_ECORRUPT, 8, shd_container_entry_decode(raw, 0, 3, index.len, &e, err));
	raw[15] = 0;
	raw[8] = 79;
	assert_fails(SHERD_ECORRUPT, 8, shd_container_entry_decode(raw, 0, 3, index.len, &e, err));
	raw[8] = 80;
	raw[18] = 1;
	assert_fails(SHERD_ECORRUPT, 8, shd_container_entry_decode(raw, 0, 3, index.len, &e, err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_back_in_the_order_of_their_hashes),
		cmocka_unit_test(the_hash_is_the_beginning_of_sha_256),
		cmocka_unit_test(an_index_that_is_too_short_is_refused),
		cmocka_unit_test(a_record_that_cannot_be_is_refused),
		cmocka_unit_test(an_entry_that_leads_out_of_the_index_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

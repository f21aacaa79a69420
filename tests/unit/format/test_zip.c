#include "support/corpus.h"
#include "support/source_file.h"
#include "support/test.h"
#include "support/zip_read.h"

#include "codec/crc32.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static shd_arena arena;

static int drop_arena(void **state)
{
	(void)state;
	shd_arena_done(&arena);
	arena = (shd_arena){0};
	return 0;
}

static int decode(const uint8_t *data, size_t len, sherd_error *err)
{
	zip_read_entry entries[4];
	size_t count = 0;
	return zip_read(data, len, &arena, entries, COUNT_OF(entries), &count, err);
}

TEST(the_corpus_is_judged_as_its_names_say)
{
	corpus_judge("tests/corpus/zip", decode, 15, 55, 2);
}

static void refuse(const char *name, sherd_status code, const char *reason)
{
	char path[128];
	zip_read_entry entries[4];
	size_t len, count;
	(void)snprintf(path, sizeof(path), "tests/corpus/zip/n_%s.zip", name);
	uint8_t *data = source_file_read(path, &len);
	assert_refused(code, reason, zip_read(data, len, &arena, entries, COUNT_OF(entries), &count, err));
	free(data);
}

TEST(refusals_tell_what_is_wrong)
{
	refuse("empty", SHERD_ECORRUPT, "truncated");
	refuse("encrypted", SHERD_EUNSUPPORTED, "encrypted");
	refuse("method_zstd", SHERD_EUNSUPPORTED, "bad-codec");
	refuse("disk", SHERD_EUNSUPPORTED, "multi-volume");
	refuse("zip64_disks", SHERD_EUNSUPPORTED, "multi-volume");
	refuse("climbing", SHERD_ECORRUPT, "bad-name");
	refuse("absolute", SHERD_ECORRUPT, "bad-name");
	refuse("duplicate", SHERD_ECORRUPT, "duplicate-name");
	refuse("overlap_inside", SHERD_ECORRUPT, "overlap");
	refuse("overlap_same", SHERD_ECORRUPT, "overlap");
	refuse("bomb", SHERD_ELIMIT, "too-large");
	refuse("too_many", SHERD_ELIMIT, "too-many-entries");
	refuse("local_name", SHERD_ECORRUPT, "bad-head");
	refuse("local_magic", SHERD_ECORRUPT, "bad-magic");
	refuse("directory_short", SHERD_ECORRUPT, "bad-offsets");
}

/* An archive of stored entries, as the engine writes it; data of large ones is left out. */
static void put_archive(shd_buf *out, shd_zip_entry *entries, size_t count)
{
	uint64_t at = 0;
	for (size_t i = 0; i < count; i++) {
		SHD_AUTO_BUF head = {0};
		entries[i].head = at;
		entries[i].stored = entries[i].size;
		shd_zip_put_local(&head, &entries[i], 64);
		assert_int_equal((at + head.len) % 64, 0);
		at += head.len + entries[i].size;
		if (entries[i].size > 1000)
			continue;
		shd_buf_append(out, head.data, head.len);
		for (uint64_t k = 0; k < entries[i].size; k++)
			shd_buf_u8(out, (uint8_t)(k + i));
	}
	shd_zip_put_directory(out, entries, count, at);
}

TEST(what_is_written_is_read)
{
	uint8_t bytes[100];
	zip_read_entry got[3];
	size_t count;
	SHD_AUTO_BUF b = {0};
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	shd_zip_entry entries[] = {{.name = "model", .size = 100, .crc = shd_crc32(0, bytes, 100)},
	                           {.name = "b", .size = 0},
	                           {.name = "c/d", .size = 98, .crc = shd_crc32(0, bytes + 2, 98)}};
	put_archive(&b, entries, 3);
	assert_ok(zip_read(b.data, b.len, &arena, got, 3, &count, err));
	assert_int_equal(count, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(got[i].entry.name, entries[i].name);
		assert_int_equal(got[i].entry.size, entries[i].size);
		assert_int_equal(got[i].entry.crc, entries[i].crc);
		assert_int_equal(got[i].data % 64, 0);
		assert_memory_equal(b.data + got[i].data, bytes + i, entries[i].size);
	}
}

/* Only heads and directory are made: the offsets in between are beyond 4 GiB. */
TEST(large_entries_take_zip64)
{
	const shd_zip_limits limits = {0};
	SHD_AUTO_BUF b = {0};
	shd_zip_end end;
	shd_zip_entry *got, entries[] = {{.name = "small", .size = 10, .crc = 1},
	                                 {.name = "edge", .size = UINT32_MAX - 1, .crc = 2},
	                                 {.name = "large", .size = UINT32_MAX, .crc = 3},
	                                 {.name = "huge", .size = 5ull << 30, .crc = 4},
	                                 {.name = "behind", .size = 20, .crc = 5}};
	enum { N = COUNT_OF(entries) };
	size_t count;
	put_archive(&b, entries, N);
	uint64_t size = entries[N - 1].head, directory = 0;
	for (size_t i = 0; i + 4 <= b.len && !directory; i++)
		directory = memcmp(b.data + i, "PK\1\2", 4) == 0 ? i : 0;
	SHD_AUTO_BUF last = {0};
	shd_zip_put_local(&last, &entries[N - 1], 64);
	size += last.len + entries[N - 1].size + (b.len - directory);
	assert_ok(shd_zip_find_end(b.data, b.len, size, &limits, &end, err));
	assert_int_equal(end.entries, N);
	assert_int_equal(end.at, size - (b.len - directory));
	assert_ok(shd_zip_decode_directory(b.data + directory, &end, &limits, &arena, &got, &count, err));
	for (size_t i = 0; i < N; i++) {
		SHD_AUTO_BUF head = {0};
		uint64_t data;
		assert_true(got[i].size == entries[i].size && got[i].stored == entries[i].size);
		assert_true(got[i].head == entries[i].head && got[i].crc == entries[i].crc);
		shd_zip_put_local(&head, &entries[i], 64);
		assert_ok(shd_zip_decode_local(head.data, &got[i], &data, err));
		assert_int_equal(data, entries[i].head + head.len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(the_corpus_is_judged_as_its_names_say, drop_arena),
		cmocka_unit_test_teardown(refusals_tell_what_is_wrong, drop_arena),
		cmocka_unit_test_teardown(what_is_written_is_read, drop_arena),
		cmocka_unit_test_teardown(large_entries_take_zip64, drop_arena),
	};
	return cmocka_run_group_tests_name("zip", tests, NULL, NULL);
}

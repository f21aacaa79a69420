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

/* What is said before the bytes of an entry whose length follows them, as it is read again. */
TEST(descriptors_are_as_wide_as_the_head_says)
{
	static const struct {
		uint16_t method;
		uint64_t size, stored;
		size_t bytes;
	} cases[] = {{SHD_ZIP_STORED, 100, 100, 16},
	             {SHD_ZIP_STORED, UINT32_MAX - 1, UINT32_MAX - 1, 16},
	             {SHD_ZIP_STORED, UINT32_MAX, UINT32_MAX, 24},
	             {SHD_ZIP_DEFLATED, 100, 102, 16},
	             {SHD_ZIP_DEFLATED, UINT32_MAX - 1, 5, 24}, /* it may have grown */
	             {SHD_ZIP_DEFLATED, 5ull << 30, 5, 24}};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		SHD_AUTO_BUF head = {0};
		SHD_AUTO_BUF after = {0};
		uint64_t data;
		shd_zip_entry e = {
			.name = "a.npy", .flags = SHD_ZIP_DESCRIPTOR, .method = cases[i].method, .size = cases[i].size};
		shd_zip_put_local(&head, &e, 64);
		e.crc = 0x12345678;
		e.stored = cases[i].stored;
		e.limit = UINT64_MAX;
		shd_zip_put_descriptor(&after, &e);
		assert_int_equal(after.len, cases[i].bytes);
		assert_memory_equal(after.data, "PK\7\10\x78\x56\x34\x12", 8);
		assert_ok(shd_zip_decode_local(head.data, &e, &data, err));
		assert_int_equal(data, head.len);
		assert_int_equal(data % 64, 0);
	}
}

/* The count of the end record has 16 bits. Nothing lies before the directory: only names and places are looked at. */
TEST(the_limit_of_entries_is_the_callers)
{
	enum { N = 70000 };
	static char names[N][8];
	shd_zip_entry *entries = calloc(N, sizeof(*entries)), *got;
	const shd_zip_limits all = {0}, few = {.entries = N - 1};
	SHD_AUTO_BUF b = {0};
	shd_zip_end end;
	size_t count;
	for (size_t i = 0; i < N; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "%zu", i);
		entries[i] = (shd_zip_entry){.name = names[i], .head = i * 40};
	}
	shd_zip_put_directory(&b, entries, N, N * 40);
	size_t tail = SHD_ZIP_TAIL;
	assert_ok(shd_zip_find_end(b.data + b.len - tail, tail, N * 40 + b.len, &all, &end, err));
	assert_int_equal(end.entries, N);
	assert_ok(shd_zip_decode_directory(b.data, &end, &all, &arena, &got, &count, err));
	assert_int_equal(count, N);
	assert_string_equal(got[N - 1].name, "69999");
	assert_refused(SHERD_ELIMIT, "too-many-entries",
	               shd_zip_find_end(b.data + b.len - tail, tail, N * 40 + b.len, &few, &end, err));
	free(entries);
}

TEST(names_that_are_no_paths_are_the_callers_choice)
{
	static const char *const names[] = {"dense/kernel:0.npy", "a\\b"};
	const shd_zip_limits any = {0}, paths = {.paths = true}, brief = {.name = 3};
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		SHD_AUTO_BUF b = {0};
		const shd_zip_entry e = {.name = names[i]};
		shd_zip_entry *got;
		size_t count;
		shd_zip_put_local(&b, &e, 1);
		shd_zip_end end = {.entries = 1, .at = b.len};
		SHD_AUTO_BUF directory = {0};
		shd_zip_put_directory(&directory, &e, 1, b.len);
		end.bytes = directory.len - 22;
		assert_ok(shd_zip_decode_directory(directory.data, &end, &any, &arena, &got, &count, err));
		assert_string_equal(got[0].name, names[i]);
		assert_refused(SHERD_ECORRUPT, "bad-name",
		               shd_zip_decode_directory(directory.data, &end, &paths, &arena, &got, &count, err));
		if (i == 0)
			assert_refused(
				SHERD_ECORRUPT, "bad-name",
				shd_zip_decode_directory(directory.data, &end, &brief, &arena, &got, &count, err));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(the_corpus_is_judged_as_its_names_say, drop_arena),
		cmocka_unit_test_teardown(refusals_tell_what_is_wrong, drop_arena),
		cmocka_unit_test_teardown(what_is_written_is_read, drop_arena),
		cmocka_unit_test_teardown(large_entries_take_zip64, drop_arena),
		cmocka_unit_test_teardown(descriptors_are_as_wide_as_the_head_says, drop_arena),
		cmocka_unit_test_teardown(the_limit_of_entries_is_the_callers, drop_arena),
		cmocka_unit_test_teardown(names_that_are_no_paths_are_the_callers_choice, drop_arena),
	};
	return cmocka_run_group_tests_name("zip", tests, NULL, NULL);
}

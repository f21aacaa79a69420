/* Archives that are written in one pass, and read again anywhere. */
#include "support/test.h"

#include "base/error.h"
#include "base/rng.h"
#include "engine/tensors/archive.h"
#include "engine/tensors/archive_out.h"

#include <stdlib.h>
#include <string.h>

enum { LONG = 3 << 20, COUNT = 4 };

static const shd_zip_limits rules = {0};
static sherd_store *store;
static uint8_t *noise, *same;

static const struct {
	const char *name;
	size_t size;
	uint8_t **bytes;
} parts[COUNT] = {{"a/noise", LONG + 7, &noise},
                  {"nothing", 0, &same},
                  {"gr\xc3\xbc\xc3\x9f"
                   "e",
                   LONG, &same},
                  {"one", 1, &noise}};

static int set_up(void **state)
{
	(void)state;
	noise = malloc(LONG + 7);
	same = calloc(1, LONG);
	if (!noise || !same)
		return -1;
	for (size_t i = 0; i < LONG + 7; i++)
		noise[i] = (uint8_t)shd_splitmix64(i);
	memset(same + LONG / 2, 7, LONG / 3);
	return sherd_store_open_memory(&store, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	free(noise);
	free(same);
	sherd_store_close(store);
	return 0;
}

static void write_archive(int level)
{
	shd_archive_out out;
	sherd_writer *w;
	assert_ok(sherd_store_write(&w, store, "a.zip", &(sherd_write_options){.mode = SHERD_WRITE_REPLACE}, err));
	assert_ok(shd_archive_out_init(&out, w, level, err));
	for (size_t i = 0; i < COUNT; i++) {
		size_t half = parts[i].size / 3;
		assert_ok(shd_archive_out_begin(&out, parts[i].name, parts[i].size, 64, err));
		assert_ok(shd_archive_out_append(&out, *parts[i].bytes, half, err));
		assert_ok(shd_archive_out_append(&out, *parts[i].bytes + half, parts[i].size - half, err));
		assert_ok(shd_archive_out_end(&out, err));
	}
	assert_ok(shd_archive_out_finish(&out, err));
	assert_ok(sherd_writer_commit(w, err));
	shd_archive_out_done(&out);
}

static void open_archive(shd_archive *a)
{
	sherd_reader *r;
	assert_ok(sherd_store_read(&r, store, "a.zip", err));
	assert_ok(shd_archive_open(a, r, &rules, NULL, err));
}

static void check_part(const shd_archive *a, size_t i, int level, uint8_t *buf)
{
	const shd_zip_entry *e = shd_archive_find(a, parts[i].name);
	sherd_reader *r;
	const void *mapped;
	assert_ptr_equal(e, &a->entries[i]);
	assert_int_equal(e->method, level ? SHD_ZIP_DEFLATED : SHD_ZIP_STORED);
	assert_ok(shd_archive_check(a, e, buf, NULL, err));
	assert_ok(shd_archive_read(a, e, &r, err));
	assert_ok(shd_archive_name(a, e, r, err));
	assert_int_equal(sherd_reader_size(r), parts[i].size);
	for (size_t back = 1; back <= parts[i].size; back = back * 9 + 1) {
		size_t at = parts[i].size - back, n = back < 1000 ? back : 1000;
		assert_ok(sherd_reader_at(r, at, buf, n, err));
		assert_memory_equal(buf, *parts[i].bytes + at, n);
	}
	if (!level && parts[i].size) {
		assert_ok(sherd_reader_map(&mapped, r, 0, parts[i].size, err));
		assert_memory_equal(mapped, *parts[i].bytes, parts[i].size);
	}
	assert_refused(SHERD_ECORRUPT, "truncated", sherd_reader_at(r, parts[i].size, buf, 1, err));
	sherd_reader_close(r);
}

TEST(what_is_written_in_one_pass_is_read_anywhere)
{
	static const int levels[] = {0, 1, 6};
	uint8_t *buf = malloc(SHD_ARCHIVE_CHUNK);
	for (size_t l = 0; l < COUNT_OF(levels); l++) {
		shd_archive a;
		write_archive(levels[l]);
		open_archive(&a);
		assert_int_equal(a.count, COUNT);
		for (size_t i = 0; i < COUNT; i++)
			check_part(&a, i, levels[l], buf);
		assert_null(shd_archive_find(&a, "grosse"));
		if (levels[l])
			assert_true(a.entries[2].stored < LONG / 50);
		assert_true(a.entries[0].stored < LONG + 7 + LONG / 256 + 64);
		shd_archive_done(&a);
	}
	free(buf);
}

/* A changed byte of an entry is found by its CRC, wherever it lies. */
TEST(every_byte_of_an_entry_is_held_against_its_crc)
{
	uint8_t *buf = malloc(SHD_ARCHIVE_CHUNK);
	for (size_t at = 0; at < LONG; at += LONG / 3) {
		shd_archive a;
		char *raw;
		size_t len;
		write_archive(0);
		assert_ok(sherd_store_get(&raw, &len, store, "a.zip", UINT64_MAX, err));
		open_archive(&a);
		uint64_t data = a.entries[0].head + SHD_ZIP_LOCAL + strlen(a.entries[0].name);
		data += 63;
		data -= data % 64;
		shd_archive_done(&a);
		raw[data + at] = (char)(raw[data + at] ^ 1);
		assert_ok(sherd_store_put(store, "a.zip", SHERD_WRITE_REPLACE, raw, len, err));
		open_archive(&a);
		assert_refused(SHERD_ECORRUPT, "bad-crc", shd_archive_check(&a, &a.entries[0], buf, NULL, err));
		assert_ok(shd_archive_check(&a, &a.entries[2], buf, NULL, err));
		shd_archive_done(&a);
		sherd_free(raw);
	}
	free(buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_in_one_pass_is_read_anywhere),
		cmocka_unit_test(every_byte_of_an_entry_is_held_against_its_crc),
	};
	return cmocka_run_group_tests_name("archive", tests, set_up, tear_down);
}

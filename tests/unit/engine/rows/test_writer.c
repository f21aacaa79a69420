/* A writer of rows: what becomes visible and when, what it refuses, what it leaves behind. */
#include "support/backends.h"
#include "support/test.h"

#include "base/error.h"
#include "codec/floats.h"
#include "engine/rows/rows.h"
#include "format/rows/claim.h"

#include <sherd/verify.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_rows, sherd_rows_close)

enum { WIDTH = 3, MOST = 64 };

static float value(uint64_t row, uint64_t column)
{
	return (float)(row * 8 + column);
}

/* Rows [first, first+count). */
static int append(sherd_rows_writer *w, uint64_t first, uint64_t count, sherd_error *err)
{
	float values[MOST * WIDTH];
	for (uint64_t i = 0; i < count; i++)
		for (uint64_t c = 0; c < WIDTH; c++)
			values[i * WIDTH + c] = value(first + i, c);
	return sherd_rows_writer_append(w, SHERD_F32, values, count, err);
}

static const sherd_rows_writer_options fresh = {.rows_per_shard = 4, .time_ns = 1};
static const sherd_rows_writer_options more = {.append = true, .rows_per_shard = 4, .time_ns = 1};

static bool append_key(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat;
	shd_buf_printf(arg, "%s ", key);
	return true;
}

static void assert_keys(sherd_store *store, const char *want)
{
	SHD_AUTO_BUF text = {0};
	assert_ok(sherd_store_list(store, "", "", append_key, &text, err));
	shd_buf_u8(&text, 0);
	assert_string_equal((const char *)text.data, want);
}

/* The set is there, whole, and has these rows. */
static void assert_rows(sherd_store *store, const char *folder, uint64_t rows)
{
	sherd_rows *set;
	sherd_rows_cursor *cursor;
	sherd_rows_batch b;
	sherd_report *report;
	uint64_t seen = 0;
	assert_ok(sherd_verify(&report, store, folder, NULL, err));
	assert_int_equal(sherd_report_errors(report), 0);
	sherd_report_close(report);
	assert_ok(sherd_rows_open_folder(&set, store, folder, NULL, err));
	assert_int_equal(sherd_rows_total(set), rows);
	assert_ok(sherd_rows_cursor_open(&cursor, set, NULL, err));
	while (sherd_rows_next(&b, cursor, NULL) > 0)
		for (size_t i = 0; i < b.rows; i++, seen++)
			for (uint64_t c = 0; c < WIDTH; c++)
				assert_true(((const double *)b.data)[i * WIDTH + c] == (double)value(seen, c));
	assert_int_equal(seen, rows);
	sherd_rows_cursor_close(cursor);
	sherd_rows_close(set);
}

static void write_set(sherd_store *store, const char *folder, uint64_t rows)
{
	sherd_rows_writer *w;
	assert_ok(sherd_rows_writer_open(&w, store, folder, WIDTH, &fresh, err));
	assert_ok(append(w, 0, rows, err));
	assert_ok(sherd_rows_writer_commit(w, err));
}

TEST(rows_come_in_any_number_and_need_not_be_counted)
{
	sherd_rows_writer *w;
	uint64_t at = 0;
	assert_ok(sherd_rows_writer_open(&w, STORE, "d", WIDTH, &fresh, err));
	for (uint64_t n = 0; n < 6; at += n++)
		assert_ok(append(w, at, n, err));
	assert_ok(sherd_rows_writer_commit(w, err));
	assert_keys(STORE, "d/part-00000.shard d/part-00001.shard d/part-00002.shard d/part-00003.shard "
	                   "d/rows.manifest.json ");
	assert_rows(STORE, "d", 15);
}

TEST(what_was_flushed_is_visible_and_the_rest_is_not)
{
	sherd_rows_writer *w;
	sherd_rows *set = NULL;
	assert_ok(sherd_rows_writer_open(&w, STORE, "d", WIDTH, &fresh, err));
	assert_ok(append(w, 0, 6, err));
	assert_refused(SHERD_EINCOMPLETE, "incomplete", sherd_rows_open_folder(&set, STORE, "d", NULL, err));
	assert_ok(sherd_rows_writer_flush(w, err));
	assert_rows(STORE, "d", 6);
	assert_ok(append(w, 6, 5, err));
	assert_rows(STORE, "d", 6);
	assert_ok(sherd_rows_writer_flush(w, err));
	assert_rows(STORE, "d", 11);
	assert_ok(sherd_rows_writer_flush(w, err));
	assert_ok(append(w, 11, 5, err));
	sherd_rows_writer_abort(w);
	assert_rows(STORE, "d", 11);
	assert_keys(STORE, "d/part-00000.shard d/part-00001.shard d/part-00002.shard d/part-00003.shard "
	                   "d/rows.manifest.json ");
}

TEST(rows_are_appended_while_somebody_reads)
{
	sherd_rows_writer *w;
	SHD_AUTO(sherd_rows, sherd_rows_close) before = NULL;
	sherd_rows_cursor *cursor;
	sherd_rows_batch b;
	uint64_t seen = 0;
	write_set(STORE, "d", 6);
	assert_ok(sherd_rows_open_folder(&before, STORE, "d", NULL, err));
	assert_ok(sherd_rows_cursor_open(&cursor, before, &(sherd_rows_stream_options){.batch_rows = 1}, err));
	assert_int_equal(sherd_rows_next(&b, cursor, NULL), 1);
	assert_ok(sherd_rows_writer_open(&w, STORE, "d", 0, &more, err));
	assert_int_equal(sherd_rows_writer_width(w), WIDTH);
	assert_int_equal(sherd_rows_writer_dtype(w), SHERD_F32);
	assert_ok(append(w, 6, 7, err));
	assert_rows(STORE, "d", 6);
	assert_ok(sherd_rows_writer_commit(w, err));
	for (seen = b.rows; sherd_rows_next(&b, cursor, NULL) > 0; seen += b.rows)
		;
	assert_int_equal(seen, 6);
	sherd_rows_cursor_close(cursor);
	assert_rows(STORE, "d", 13);
	/* It is the set that it was, and more. */
	SHD_AUTO(sherd_rows, sherd_rows_close) after = NULL;
	uint8_t then[SHD_SHA256_BYTES], now[SHD_SHA256_BYTES];
	assert_ok(sherd_rows_open_folder(&after, STORE, "d", NULL, err));
	assert_true(shd_rows_lineage(before, 6, then) && shd_rows_lineage(after, 6, now));
	assert_memory_equal(then, now, sizeof(now));
	assert_true(shd_rows_lineage(after, 13, now));
	assert_true(memcmp(then, now, sizeof(now)) != 0);
	assert_false(shd_rows_lineage(after, 5, now));
}

TEST(of_two_writers_the_second_is_refused)
{
	sherd_rows_writer *w, *second = NULL;
	write_set(STORE, "d", 6);
	assert_ok(sherd_rows_writer_open(&w, STORE, "d", WIDTH, &more, err));
	assert_ok(append(w, 6, 3, err));
	assert_refused(SHERD_ECONFLICT, "conflict", sherd_rows_writer_open(&second, STORE, "d", WIDTH, &more, err));
	assert_null(second);
	assert_ok(sherd_rows_writer_commit(w, err));
	assert_ok(sherd_rows_writer_open(&second, STORE, "d", WIDTH, &more, err));
	assert_ok(append(second, 9, 1, err));
	assert_ok(sherd_rows_writer_commit(second, err));
	assert_rows(STORE, "d", 10);
}

/* Somebody removed the claim by hand: the manifest decides. */
TEST(of_two_writers_without_a_lock_one_wins_and_the_other_is_told)
{
	sherd_rows_writer *slow, *quick;
	write_set(STORE, "d", 6);
	assert_ok(sherd_rows_writer_open(&slow, STORE, "d", WIDTH, &more, err));
	assert_ok(append(slow, 100, 5, err));
	assert_ok(sherd_store_remove(STORE, "d/rows.packing", err));
	assert_ok(sherd_rows_writer_open(&quick, STORE, "d", WIDTH, &more, err));
	assert_ok(append(quick, 6, 5, err));
	assert_ok(sherd_rows_writer_flush(quick, err));
	assert_refused(SHERD_ECONFLICT, "conflict", sherd_rows_writer_commit(slow, err));
	assert_rows(STORE, "d", 11);
	assert_ok(append(quick, 11, 2, err));
	assert_ok(sherd_rows_writer_commit(quick, err));
	assert_rows(STORE, "d", 13);
}

/* The same, and what the slow one wrote is taken for the leftovers of a dead one. */
TEST(who_was_taken_for_dead_cannot_publish_what_is_gone)
{
	NEEDS(SHERD_CAP_LOCK);
	sherd_rows_writer *slow, *next;
	write_set(STORE, "d", 4);
	assert_ok(sherd_rows_writer_open(&slow, STORE, "d", WIDTH, &more, err));
	assert_ok(append(slow, 100, 9, err));
	SHD_AUTO_BUF claim = {0};
	const shd_rows_claim dead = {.has_first = true, .first = 1, .process = 1};
	shd_rows_claim_encode(&dead, &claim);
	assert_ok(sherd_store_remove(STORE, "d/rows.packing", err));
	assert_ok(sherd_store_put(STORE, "d/rows.packing", SHERD_WRITE_NEW, claim.data, claim.len, err));
	assert_ok(sherd_rows_writer_open(&next, STORE, "d", WIDTH, &more, err));
	assert_keys(STORE, "d/part-00000.shard d/rows.manifest.json d/rows.packing ");
	sherd_rows_writer_abort(next);
	assert_refused(SHERD_ECONFLICT, "conflict", sherd_rows_writer_commit(slow, err));
	assert_keys(STORE, "d/part-00000.shard d/rows.manifest.json ");
	assert_rows(STORE, "d", 4);
}

TEST(what_a_dead_writer_left_goes_and_nothing_else)
{
	NEEDS(SHERD_CAP_LOCK);
	sherd_rows_writer *w;
	SHD_AUTO_BUF claim = {0};
	const shd_rows_claim dead = {.has_first = true, .first = 3, .process = 1};
	write_set(STORE, "d", 6); /* parts 0 and 1 */
	assert_ok(sherd_store_put(STORE, "d/part-00002.shard", SHERD_WRITE_NEW, "somebody's", 10, err));
	assert_ok(sherd_store_put(STORE, "d/part-00003.shard", SHERD_WRITE_NEW, "left", 4, err));
	assert_ok(sherd_store_put(STORE, "d/part-00004.shard", SHERD_WRITE_NEW, "left", 4, err));
	shd_rows_claim_encode(&dead, &claim);
	assert_ok(sherd_store_put(STORE, "d/rows.packing", SHERD_WRITE_NEW, claim.data, claim.len, err));
	assert_rows(STORE, "d", 6);
	assert_ok(sherd_rows_writer_open(&w, STORE, "d", WIDTH, &more, err));
	assert_ok(append(w, 6, 2, err));
	assert_ok(sherd_rows_writer_commit(w, err));
	assert_keys(STORE, "d/part-00000.shard d/part-00001.shard d/part-00002.shard d/part-00003.shard "
	                   "d/rows.manifest.json ");
	assert_rows(STORE, "d", 8);
}

TEST(a_set_of_version_1_grows_and_keeps_its_shards)
{
	static const char v1[] =
		"{\n  \"format\": \"sherd-rows\",\n  \"version\": 1,\n  \"rows\": 4,\n  \"width\": 3,\n"
		"  \"dtype\": \"F32\",\n  \"shards\": [\n    {\"file\": \"part-00000.shard\", \"rows\": 4, "
		"\"bytes\": 80, \"sha256\": \"%s\"}\n  ],\n  ";
	SHD_AUTO_BUF text = {0};
	uint8_t hash[SHD_SHA256_BYTES];
	char hex[SHD_SHA256_HEX + 1], *shard, *after;
	size_t len, after_len;
	sherd_rows_writer *w;
	write_set(STORE, "d", 4);
	assert_ok(sherd_store_get(&shard, &len, STORE, "d/part-00000.shard", 1000, err));
	shd_sha256_of(shard, len, hash);
	shd_hex(hash, sizeof(hash), hex);
	shd_buf_printf(&text, v1, hex);
	shd_sha256_of(text.data, text.len, hash);
	shd_hex(hash, sizeof(hash), hex);
	shd_buf_printf(&text, "\"sha256\": \"%s\"\n}", hex);
	assert_ok(sherd_store_put(STORE, "d/rows.manifest.json", SHERD_WRITE_REPLACE, text.data, text.len, err));
	assert_rows(STORE, "d", 4);
	assert_ok(sherd_rows_writer_open(&w, STORE, "d", WIDTH, &more, err));
	assert_ok(append(w, 4, 4, err));
	assert_ok(sherd_rows_writer_commit(w, err));
	assert_rows(STORE, "d", 8);
	assert_ok(sherd_store_get(&after, &after_len, STORE, "d/part-00000.shard", 1000, err));
	assert_int_equal(len, after_len);
	assert_memory_equal(shard, after, len);
	sherd_free(shard);
	sherd_free(after);
	SHD_AUTO(sherd_rows, sherd_rows_close) set = NULL;
	assert_ok(sherd_rows_open_folder(&set, STORE, "d", NULL, err));
	assert_null(set->entries[0].crcs);
	assert_int_equal(set->entries[1].crc_count, 1);
}

TEST(halves_stay_halves)
{
	static const sherd_dtype dtypes[] = {SHERD_F16, SHERD_BF16};
	for (size_t i = 0; i < 2; i++) {
		const char *folder = i ? "b" : "h";
		const sherd_rows_writer_options options = {.dtype = dtypes[i], .rows_per_shard = 4};
		const double doubles[2 * WIDTH] = {72, 73, 74, 80, 81, 82};
		uint16_t halves[2 * WIDTH];
		sherd_rows_writer *w;
		SHD_AUTO(sherd_rows, sherd_rows_close) set = NULL;
		assert_ok(sherd_rows_writer_open(&w, STORE, folder, WIDTH, &options, err));
		assert_ok(append(w, 0, 9, err));
		assert_ok(sherd_rows_writer_append(w, SHERD_F64, doubles, 1, err));
		shd_floats_convert(SHERD_F64, doubles + WIDTH, dtypes[i], halves, WIDTH);
		assert_ok(sherd_rows_writer_append(w, dtypes[i], halves, 1, err));
		assert_ok(sherd_rows_writer_commit(w, err));
		assert_rows(STORE, folder, 11);
		assert_ok(sherd_rows_open_folder(&set, STORE, folder, NULL, err));
		assert_int_equal(sherd_rows_dtype(set), dtypes[i]);
		assert_int_equal(sherd_rows_format(set), SHERD_FORMAT_ROWS);
		assert_int_equal(sherd_rows_shard_at(set, 0)->bytes, 2 * 4 * WIDTH);
		/* What is appended is stored as the set is. */
		assert_ok(sherd_rows_writer_open(&w, STORE, folder, 0, &more, err));
		assert_ok(append(w, 11, 2, err));
		assert_ok(sherd_rows_writer_commit(w, err));
		assert_rows(STORE, folder, 13);
	}
}

TEST(what_becomes_infinite_is_counted)
{
	const sherd_rows_writer_options halves = {.dtype = SHERD_F16};
	const float large[2 * WIDTH] = {1e6F, -1e6F, 65504, (float)INFINITY, (float)NAN, 65520};
	const double larger[WIDTH] = {1e300, 1, -INFINITY};
	sherd_rows_writer *w;
	assert_ok(sherd_rows_writer_open(&w, STORE, "h", WIDTH, &halves, err));
	assert_ok(sherd_rows_writer_append(w, SHERD_F32, large, 2, err));
	assert_int_equal(sherd_rows_writer_overflowed(w), 3);
	assert_ok(sherd_rows_writer_commit(w, err));
	assert_ok(sherd_rows_writer_open(&w, STORE, "h", 0, &more, err));
	assert_ok(sherd_rows_writer_append(w, SHERD_F64, larger, 1, err));
	assert_int_equal(sherd_rows_writer_overflowed(w), 1);
	assert_ok(sherd_rows_writer_commit(w, err));
	assert_ok(sherd_rows_writer_open(&w, STORE, "f", WIDTH, &fresh, err));
	assert_ok(sherd_rows_writer_append(w, SHERD_F32, large, 2, err));
	assert_int_equal(sherd_rows_writer_overflowed(w), 0);
	assert_ok(sherd_rows_writer_append(w, SHERD_F64, larger, 1, err));
	assert_int_equal(sherd_rows_writer_overflowed(w), 1);
	assert_ok(sherd_rows_writer_commit(w, err));
}

TEST(what_does_not_fit_is_refused_by_name)
{
	sherd_rows_writer *w = NULL;
	const sherd_rows_writer_options f16 = {.append = true, .dtype = SHERD_F16}, f64 = {.dtype = SHERD_F64};
	const sherd_rows_writer_options huge = {.rows_per_shard = UINT64_MAX};
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_rows_writer_open(&w, STORE, "d", WIDTH, &more, err));
	assert_refused(SHERD_EINVAL, "bad-width", sherd_rows_writer_open(&w, STORE, "d", 0, &fresh, err));
	assert_refused(SHERD_EINVAL, "bad-dtype", sherd_rows_writer_open(&w, STORE, "d", 1, &f64, err));
	assert_refused(SHERD_EINVAL, "overflow", sherd_rows_writer_open(&w, STORE, "d", WIDTH, &huge, err));
	assert_keys(STORE, "");
	write_set(STORE, "d", 4);
	assert_refused(SHERD_EEXIST, "exists", sherd_rows_writer_open(&w, STORE, "d", WIDTH, &fresh, err));
	assert_refused(SHERD_EINVAL, "width-mismatch", sherd_rows_writer_open(&w, STORE, "d", 5, &more, err));
	assert_refused(SHERD_EINVAL, "bad-dtype", sherd_rows_writer_open(&w, STORE, "d", 0, &f16, err));
	assert_ok(sherd_store_put(STORE, "o", SHERD_WRITE_NEW, "x", 1, err));
	assert_refused(SHERD_EEXIST, "not-a-folder", sherd_rows_writer_open(&w, STORE, "o", WIDTH, &fresh, err));
	assert_refused(SHERD_EEXIST, "not-a-folder", sherd_rows_writer_open(&w, STORE, "o/p", WIDTH, &fresh, err));
	assert_ok(sherd_store_remove(STORE, "d/rows.manifest.json", err));
	assert_refused(SHERD_EUNSUPPORTED, "no-manifest", sherd_rows_writer_open(&w, STORE, "d", WIDTH, &more, err));
	assert_null(w);
	assert_keys(STORE, "d/part-00000.shard o ");
}

/* How many entries a folder of the system has; -1: there is none. */
static int entries_in(const char *folder, const char *name)
{
	char path[512];
	int count = -2;
	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	DIR *dir = opendir(path);
	while (dir && readdir(dir))
		count++;
	if (dir)
		(void)closedir(dir);
	return dir ? count : -1;
}

TEST(nothing_is_left_of_a_set_that_was_given_up)
{
	const fixture *f = *state;
	sherd_rows_writer *w;
	assert_ok(sherd_rows_writer_open(&w, STORE, "a/b/c", WIDTH, &fresh, err));
	assert_ok(append(w, 0, 10, err));
	sherd_rows_writer_abort(w);
	assert_keys(STORE, "");
	if (f->backend->local)
		assert_int_equal(entries_in(f->folder, ""), 0);
	assert_ok(sherd_rows_writer_open(&w, STORE, "a/b/c", WIDTH, &fresh, err));
	assert_refused(SHERD_EINVAL, "empty", sherd_rows_writer_commit(w, err));
	if (f->backend->local)
		assert_int_equal(entries_in(f->folder, ""), 0);
	/* A folder that was there stays. */
	assert_ok(sherd_store_put(STORE, "a/notes", SHERD_WRITE_NEW, "x", 1, err));
	assert_ok(sherd_rows_writer_open(&w, STORE, "a/b", WIDTH, &fresh, err));
	sherd_rows_writer_abort(w);
	assert_keys(STORE, "a/notes ");
	if (f->backend->local)
		assert_int_equal(entries_in(f->folder, "a"), 1);
}

static bool stop_at(void *arg, uint64_t done, uint64_t total)
{
	(void)total;
	return done < *(const uint64_t *)arg;
}

TEST(an_append_that_is_cancelled_leaves_the_set_as_it_was)
{
	uint64_t at = 5 * WIDTH * sizeof(float);
	const sherd_progress progress = {stop_at, &at};
	const sherd_rows_writer_options options = {.append = true, .rows_per_shard = 2, .progress = &progress};
	sherd_rows_writer *w;
	int rc = SHERD_OK;
	write_set(STORE, "d", 4);
	assert_ok(sherd_rows_writer_open(&w, STORE, "d", WIDTH, &options, err));
	for (uint64_t i = 0; i < 8 && rc == SHERD_OK; i++)
		rc = append(w, 4 + i, 1, NULL);
	assert_int_equal(rc, SHERD_ECANCELLED);
	assert_refused(SHERD_ECANCELLED, "cancelled", sherd_rows_writer_flush(w, err));
	assert_refused(SHERD_ECANCELLED, "cancelled", sherd_rows_writer_commit(w, err));
	assert_keys(STORE, "d/part-00000.shard d/rows.manifest.json ");
	assert_rows(STORE, "d", 4);
}

/* ---- residual_shard_bf16 */

static int write_residual(sherd_store *store, const char *folder, uint64_t rows, sherd_error *err)
{
	const sherd_rows_writer_options options = {.residual = true, .rows_per_shard = 4};
	sherd_rows_writer *w;
	TRY(sherd_rows_writer_open(&w, store, folder, WIDTH, &options, err));
	assert_int_equal(append(w, 0, rows, err), SHERD_OK);
	return sherd_rows_writer_commit(w, err);
}

static void assert_residual(sherd_store *store, const char *folder, uint64_t rows)
{
	SHD_AUTO(sherd_rows, sherd_rows_close) set = NULL;
	assert_ok(sherd_rows_open_any(&set, store, folder, NULL, err));
	assert_int_equal(sherd_rows_format(set), SHERD_FORMAT_ROWS_BF16);
	assert_int_equal(sherd_rows_total(set), rows);
}

TEST(the_foreign_layout_is_written_as_it_is_read)
{
	sherd_rows_writer *w = NULL;
	const sherd_rows_writer_options f16 = {.residual = true, .dtype = SHERD_F16};
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_rows_writer_open(&w, STORE, "r", WIDTH, &f16, err));
	assert_ok(write_residual(STORE, "r", 9, err));
	assert_keys(STORE, "r/manifest.json r/part-00000.bf16 r/part-00001.bf16 r/part-00002.bf16 ");
	assert_residual(STORE, "r", 9);
	assert_refused(SHERD_EEXIST, "exists", write_residual(STORE, "r", 9, err));
	assert_refused(SHERD_EUNSUPPORTED, "unknown-format", sherd_rows_writer_open(&w, STORE, "r", 0, &more, err));
	if (!CAN(SHERD_CAP_LOCK))
		return; /* nobody is known to be dead */
	/* A writer that died before it removed its claim had finished. */
	SHD_AUTO_BUF claim = {0};
	const shd_rows_claim dead = {.has_first = true, .process = 1};
	shd_rows_claim_encode(&dead, &claim);
	assert_ok(sherd_store_put(STORE, "r/rows.packing", SHERD_WRITE_NEW, claim.data, claim.len, err));
	assert_residual(STORE, "r", 9);
	assert_refused(SHERD_EEXIST, "exists", write_residual(STORE, "r", 9, err));
	assert_keys(STORE, "r/manifest.json r/part-00000.bf16 r/part-00001.bf16 r/part-00002.bf16 ");
	assert_residual(STORE, "r", 9);
	/* One that died before its manifest left nothing of worth. */
	assert_ok(sherd_store_remove(STORE, "r/manifest.json", err));
	assert_ok(sherd_store_put(STORE, "r/rows.packing", SHERD_WRITE_NEW, claim.data, claim.len, err));
	assert_ok(write_residual(STORE, "r", 2, err));
	assert_residual(STORE, "r", 2);
}

/* ---- indexing */

TEST(shards_without_a_manifest_get_one)
{
	const double six[] = {0, 1, 2, 8, 9, 10};
	const char *names[] = {"z.shard", "a.shard"}, *twice[] = {"a.shard", "a.shard"}, *no[] = {"b/c.shard"};
	const sherd_rows_index_options again = {.replace = true};
	sherd_rows_writer *w;
	assert_ok(sherd_rows_write_shard(STORE, "d/z.shard", six, 2, WIDTH, NULL, NULL, err));
	assert_ok(sherd_rows_write_shard(STORE, "d/a.shard", (const double[]){16, 17, 18}, 1, WIDTH, NULL, NULL, err));
	assert_ok(sherd_store_put(STORE, "d/ck_shard_0.shard", SHERD_WRITE_NEW, "RAHS0000", 8, err));
	assert_refused(SHERD_EINVAL, "bad-path", sherd_rows_index(STORE, "d", no, 1, NULL, err));
	assert_refused(SHERD_ECORRUPT, "duplicate-name", sherd_rows_index(STORE, "d", twice, 2, NULL, err));
	assert_ok(sherd_rows_index(STORE, "d", names, 2, NULL, err));
	assert_rows(STORE, "d", 3);
	assert_refused(SHERD_EEXIST, "exists", sherd_rows_index(STORE, "d", NULL, 0, NULL, err));
	assert_ok(sherd_rows_writer_open(&w, STORE, "d", 0, &more, err));
	assert_ok(append(w, 3, 2, err));
	assert_refused(SHERD_ECONFLICT, "conflict", sherd_rows_index(STORE, "d", NULL, 0, &again, err));
	assert_ok(sherd_rows_writer_commit(w, err));
	assert_rows(STORE, "d", 5);
	/* A damaged manifest can be replaced. */
	assert_ok(sherd_store_put(STORE, "d/rows.manifest.json", SHERD_WRITE_REPLACE, "{", 1, err));
	const char *all[] = {"z.shard", "a.shard", "part-00000.shard"};
	assert_ok(sherd_rows_index(STORE, "d", all, 3, &again, err));
	assert_rows(STORE, "d", 5);
}

TEST(a_list_that_can_be_read_stays_when_it_is_indexed_anew)
{
	const sherd_rows_index_options again = {.replace = true};
	const char *order[] = {"z.shard", "a.shard"}, *all[] = {"z.shard", "a.shard", "b.shard"};
	const double values[] = {0, 1, 2, 8, 9, 10, 16, 17, 18};
	assert_ok(sherd_rows_write_shard(STORE, "d/z.shard", values, 1, WIDTH, NULL, NULL, err));
	assert_ok(sherd_rows_write_shard(STORE, "d/a.shard", values + WIDTH, 1, WIDTH, NULL, NULL, err));
	assert_ok(sherd_rows_index(STORE, "d", order, 2, NULL, err));
	assert_ok(sherd_rows_write_shard(STORE, "d/b.shard", values + 2 * WIDTH, 1, WIDTH, NULL, NULL, err));
	assert_ok(sherd_rows_index(STORE, "d", NULL, 0, &again, err));
	assert_rows(STORE, "d", 2);
	assert_ok(sherd_rows_index(STORE, "d", all, 3, &again, err));
	assert_rows(STORE, "d", 3);
	assert_ok(sherd_store_remove(STORE, "d/a.shard", err));
	assert_refused(SHERD_ENOTFOUND, "missing-shard", sherd_rows_index(STORE, "d", NULL, 0, &again, err));
	assert_ok(sherd_rows_index(STORE, "d", order, 1, &again, err));
	assert_rows(STORE, "d", 1);
}

/* Parts 0 and 1 are a set; part 2 and the claim are of a writer that died. */
static void leave_dead(sherd_store *store, const char *manifest)
{
	SHD_AUTO_BUF claim = {0};
	const shd_rows_claim dead = {.has_first = true, .first = 2, .process = 1};
	write_set(store, "d", 6);
	assert_ok(sherd_rows_write_shard(store, "d/part-00002.shard", (const double[]){48, 49, 50}, 1, WIDTH, NULL,
	                                 NULL, err));
	shd_rows_claim_encode(&dead, &claim);
	assert_ok(sherd_store_put(store, "d/rows.packing", SHERD_WRITE_NEW, claim.data, claim.len, err));
	if (manifest)
		assert_ok(sherd_store_put(store, "d/rows.manifest.json", SHERD_WRITE_REPLACE, manifest,
		                          strlen(manifest), err));
}

static void grow_by_two(sherd_store *store, uint64_t before)
{
	sherd_rows_writer *w;
	assert_ok(sherd_rows_writer_open(&w, store, "d", 0, &more, err));
	assert_ok(append(w, before, 2, err));
	assert_ok(sherd_rows_writer_commit(w, err));
	assert_rows(store, "d", before + 2);
}

TEST(a_damaged_manifest_under_a_dead_writers_claim_is_replaced)
{
	NEEDS(SHERD_CAP_LOCK);
	const sherd_rows_index_options again = {.replace = true};
	const char *published[] = {"part-00000.shard", "part-00001.shard"};
	sherd_rows_writer *w;
	leave_dead(STORE, "{");
	assert_refused(SHERD_ECORRUPT, "bad-seal", sherd_rows_writer_open(&w, STORE, "d", 0, &more, err));
	/* Nobody can tell whether part 2 was published: nothing is listed, and nothing goes, by itself. */
	sherd_error said;
	assert_int_equal(sherd_rows_index(STORE, "d", NULL, 0, &again, &said), SHERD_ECONFLICT);
	assert_string_equal(said.object, "d/part-00002.shard");
	assert_ok(sherd_rows_index(STORE, "d", published, 2, &again, err));
	assert_keys(STORE, "d/part-00000.shard d/part-00001.shard d/part-00002.shard d/rows.manifest.json ");
	assert_rows(STORE, "d", 6);
	grow_by_two(STORE, 6);
	assert_keys(STORE, "d/part-00000.shard d/part-00001.shard d/part-00002.shard d/part-00003.shard "
	                   "d/rows.manifest.json ");
}

TEST(a_dead_writers_part_can_be_listed_by_its_name)
{
	NEEDS(SHERD_CAP_LOCK);
	const sherd_rows_index_options again = {.replace = true};
	const char *all[] = {"part-00000.shard", "part-00001.shard", "part-00002.shard"};
	leave_dead(STORE, "{");
	assert_ok(sherd_rows_index(STORE, "d", all, 3, &again, err));
	assert_rows(STORE, "d", 7);
	grow_by_two(STORE, 7);
}

TEST(a_dead_writers_claim_does_not_keep_a_list_from_being_indexed_anew)
{
	NEEDS(SHERD_CAP_LOCK);
	const sherd_rows_index_options again = {.replace = true};
	leave_dead(STORE, NULL);
	assert_refused(SHERD_ECONFLICT, "conflict", sherd_rows_index(STORE, "d", NULL, 0, NULL, err));
	assert_ok(sherd_rows_index(STORE, "d", NULL, 0, &again, err));
	assert_rows(STORE, "d", 6);
	grow_by_two(STORE, 6);
	assert_keys(STORE, "d/part-00000.shard d/part-00001.shard d/part-00002.shard d/rows.manifest.json ");
}

TEST(what_cannot_be_listed_is_refused)
{
	assert_refused(SHERD_ECORRUPT, "empty", sherd_rows_index(STORE, "d", NULL, 0, NULL, err));
	assert_ok(sherd_rows_write_shard(STORE, "d/a.shard", (const double[]){1, 2}, 1, 2, NULL, NULL, err));
	assert_ok(sherd_rows_write_shard(STORE, "d/b.shard", (const double[]){1, 2}, 2, 1, NULL, NULL, err));
	assert_refused(SHERD_ECORRUPT, "width-mismatch", sherd_rows_index(STORE, "d", NULL, 0, NULL, err));
	char *data;
	size_t len;
	assert_ok(sherd_store_get(&data, &len, STORE, "d/a.shard", 1000, err));
	assert_ok(sherd_store_put(STORE, "d/b.shard", SHERD_WRITE_REPLACE, data, len - 1, err));
	assert_refused(SHERD_ECORRUPT, "truncated", sherd_rows_index(STORE, "d", NULL, 0, NULL, err));
	assert_ok(sherd_store_put(STORE, "d/b.shard", SHERD_WRITE_REPLACE, data, len + 1, err));
	assert_refused(SHERD_ECORRUPT, "trailing-bytes", sherd_rows_index(STORE, "d", NULL, 0, NULL, err));
	sherd_free(data);
	assert_keys(STORE, "d/a.shard d/b.shard ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BACKEND_TEST(rows_come_in_any_number_and_need_not_be_counted),
		BACKEND_TEST(what_was_flushed_is_visible_and_the_rest_is_not),
		BACKEND_TEST(rows_are_appended_while_somebody_reads),
		BACKEND_TEST(of_two_writers_the_second_is_refused),
		BACKEND_TEST(of_two_writers_without_a_lock_one_wins_and_the_other_is_told),
		BACKEND_TEST(who_was_taken_for_dead_cannot_publish_what_is_gone),
		BACKEND_TEST(what_a_dead_writer_left_goes_and_nothing_else),
		BACKEND_TEST(a_set_of_version_1_grows_and_keeps_its_shards),
		BACKEND_TEST(halves_stay_halves),
		BACKEND_TEST(what_becomes_infinite_is_counted),
		BACKEND_TEST(what_does_not_fit_is_refused_by_name),
		BACKEND_TEST(nothing_is_left_of_a_set_that_was_given_up),
		BACKEND_TEST(an_append_that_is_cancelled_leaves_the_set_as_it_was),
		BACKEND_TEST(the_foreign_layout_is_written_as_it_is_read),
		BACKEND_TEST(shards_without_a_manifest_get_one),
		BACKEND_TEST(a_list_that_can_be_read_stays_when_it_is_indexed_anew),
		BACKEND_TEST(a_damaged_manifest_under_a_dead_writers_claim_is_replaced),
		BACKEND_TEST(a_dead_writers_part_can_be_listed_by_its_name),
		BACKEND_TEST(a_dead_writers_claim_does_not_keep_a_list_from_being_indexed_anew),
		BACKEND_TEST(what_cannot_be_listed_is_refused),
	};
	return run_for_backends(tests, COUNT_OF(tests));
}

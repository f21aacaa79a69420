/* Packing: what is written, what is refused, what is left behind. */
#include "support/backends.h"
#include "support/test.h"

#include "base/error.h"
#include "codec/sha256.h"
#include "format/tensor/npy.h"
#include "format/rows/manifest.h"
#include "format/rows/shard.h"
#include "format/tensor/safetensors.h"

#include <sherd/rows.h>

#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 3 };

static float value(uint64_t row, uint64_t column)
{
	return (float)(row * 10 + column) / 4;
}

typedef struct feed {
	uint64_t width, next;
	uint64_t fail_at; /* this row cannot be read; 0: none */
} feed;

static int feed_rows(void *arg, uint64_t first, size_t count, float *out, sherd_error *err)
{
	feed *f = arg;
	assert_int_equal(first, f->next);
	f->next = first + count;
	if (f->fail_at && f->fail_at < f->next)
		return shd_fail(err, SHERD_EIO, "io", "no more");
	for (size_t i = 0; i < count; i++)
		for (uint64_t c = 0; c < f->width; c++)
			out[i * f->width + c] = value(first + i, c);
	return SHERD_OK;
}

static int pack(sherd_store *store, const char *folder, uint64_t rows, uint64_t per_shard, sherd_error *err)
{
	feed f = {.width = WIDTH};
	const sherd_rows_pack_options options = {.rows_per_shard = per_shard, .time_ns = 1};
	return sherd_rows_pack(store, folder, rows, WIDTH, feed_rows, &f, &options, err);
}

/* ---- looking at what is there */

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
	assert_ok(shd_buf_check(&text, err));
	assert_string_equal((const char *)text.data, want);
}

static void put(sherd_store *store, const char *key, const void *data, size_t len)
{
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, data, len, err));
}

/* Compares all rows of a folder with the function; NULL: value(). */
static void assert_rows(sherd_store *store, const char *folder, uint64_t rows, uint64_t width,
                        float (*want)(uint64_t, uint64_t))
{
	sherd_rows *set;
	sherd_rows_cursor *cursor;
	sherd_rows_batch b;
	sherd_error e;
	uint64_t seen = 0;
	int rc;
	assert_ok(sherd_rows_open_folder(&set, store, folder, NULL, err));
	assert_int_equal(sherd_rows_total(set), rows);
	assert_int_equal(sherd_rows_width(set), width);
	assert_true(sherd_rows_has_manifest(set));
	assert_ok(sherd_rows_cursor_open(&cursor, set, &(sherd_rows_stream_options){.dtype = SHERD_F32}, err));
	while ((rc = sherd_rows_next(&b, cursor, &e)) > 0)
		for (size_t i = 0; i < b.rows; i++, seen++)
			for (uint64_t c = 0; c < width; c++) {
				float w = want ? want(seen, c) : value(seen, c);
				assert_memory_equal((const float *)b.data + i * width + c, &w, sizeof(w));
			}
	assert_int_equal(rc, 0);
	assert_int_equal(seen, rows);
	sherd_rows_cursor_close(cursor);
	sherd_rows_close(set);
}

/* ---- sets */

TEST(a_set_is_shards_and_a_manifest_and_no_claim)
{
	assert_ok(pack(STORE, "a/b", 10, 4, err));
	assert_keys(STORE, "a/b/part-00000.shard a/b/part-00001.shard a/b/part-00002.shard a/b/rows.manifest.json ");
	assert_rows(STORE, "a/b", 10, WIDTH, NULL);
	sherd_stat stat;
	assert_ok(sherd_store_stat(&stat, STORE, "a/b/part-00002.shard", err));
	assert_int_equal(stat.size, 32 + 2 * 12);
}

TEST(a_set_may_lie_at_the_root_and_end_with_a_full_shard)
{
	assert_ok(pack(STORE, "", 8, 4, err));
	assert_keys(STORE, "part-00000.shard part-00001.shard rows.manifest.json ");
	assert_rows(STORE, "", 8, WIDTH, NULL);
}

TEST(the_manifest_tells_rows_sizes_and_hashes)
{
	shd_arena arena = {0};
	shd_rows_manifest m;
	char *text, *shard;
	size_t len;
	assert_ok(pack(STORE, "d", 10, 4, err));
	assert_ok(sherd_store_get(&text, &len, STORE, "d/rows.manifest.json", 1 << 20, err));
	assert_ok(shd_rows_manifest_decode(text, len, NULL, &arena, &m, err));
	sherd_free(text);
	assert_int_equal(m.rows, 10);
	assert_int_equal(m.width, WIDTH);
	assert_int_equal(m.count, 3);
	for (size_t i = 0; i < m.count; i++) {
		char key[64];
		uint8_t hash[SHD_SHA256_BYTES];
		(void)snprintf(key, sizeof(key), "d/%s", m.shards[i].file);
		assert_ok(sherd_store_get(&shard, &len, STORE, key, 1 << 20, err));
		assert_int_equal(len, m.shards[i].bytes);
		shd_sha256_of(shard, len, hash);
		assert_memory_equal(hash, m.shards[i].sha256, sizeof(hash));
		sherd_free(shard);
	}
	shd_arena_done(&arena);
}

TEST(the_same_rows_give_the_same_bytes)
{
	char *a, *b;
	size_t a_len, b_len;
	assert_ok(pack(STORE, "a", 10, 4, err));
	assert_ok(pack(STORE, "b", 10, 4, err));
	assert_ok(sherd_store_get(&a, &a_len, STORE, "a/rows.manifest.json", 1 << 20, err));
	assert_ok(sherd_store_get(&b, &b_len, STORE, "b/rows.manifest.json", 1 << 20, err));
	assert_int_equal(a_len, b_len);
	assert_memory_equal(a, b, a_len);
	sherd_free(a);
	sherd_free(b);
}

TEST(rows_larger_than_a_chunk_and_chunks_of_many_rows_are_packed)
{
	feed wide = {.width = 300000}, many = {.width = 1};
	const sherd_rows_pack_options options = {.rows_per_shard = 2};
	assert_ok(sherd_rows_pack(STORE, "wide", 3, wide.width, feed_rows, &wide, &options, err));
	assert_rows(STORE, "wide", 3, wide.width, NULL);
	assert_ok(sherd_rows_pack(STORE, "many", 300001, 1, feed_rows, &many, NULL, err));
	assert_rows(STORE, "many", 300001, 1, NULL);
}

TEST(what_cannot_be_packed_is_refused_before_anything_is_written)
{
	feed f = {.width = WIDTH};
	assert_refused(SHERD_EINVAL, "empty", pack(STORE, "d", 0, 4, err));
	assert_refused(SHERD_EINVAL, "bad-width", sherd_rows_pack(STORE, "d", 1, 0, feed_rows, &f, NULL, err));
	assert_refused(SHERD_EINVAL, "overflow", sherd_rows_pack(STORE, "d", UINT64_MAX, 2, feed_rows, &f, NULL, err));
	assert_refused(SHERD_EINVAL, "overflow", sherd_rows_pack(STORE, "d", 1, UINT64_MAX, feed_rows, &f, NULL, err));
	assert_refused(SHERD_EINVAL, "too-many-shards", pack(STORE, "d", 100001, 1, err));
	assert_refused(SHERD_EINVAL, "bad-key", pack(STORE, "../d", 1, 1, err));
	assert_keys(STORE, "");
}

/* ---- folders that are not empty */

TEST(a_folder_with_shards_or_a_manifest_is_left_alone)
{
	put(STORE, "a/other.shard", "x", 1);
	put(STORE, "b/rows.manifest.json", "x", 1);
	put(STORE, "c/run_shard_0.shard", "RAHS", 4);
	put(STORE, "d/deep/x.shard", "x", 1);
	put(STORE, "d/notes.txt", "x", 1);
	assert_refused(SHERD_EEXIST, "exists", pack(STORE, "a", 10, 4, err));
	assert_refused(SHERD_EEXIST, "exists", pack(STORE, "b", 10, 4, err));
	assert_refused(SHERD_EEXIST, "exists", pack(STORE, "c", 10, 4, err));
	assert_keys(STORE, "a/other.shard b/rows.manifest.json c/run_shard_0.shard d/deep/x.shard d/notes.txt ");
	assert_ok(pack(STORE, "d", 10, 10, err));
	assert_rows(STORE, "d", 10, WIDTH, NULL);
	assert_refused(SHERD_EEXIST, "exists", pack(STORE, "d", 10, 4, err));
}

TEST(what_a_dead_pack_left_is_removed_and_packing_starts_over)
{
	NEEDS(SHERD_CAP_LOCK);
	put(STORE, "d/rows.packing", "whatever", 8);
	put(STORE, "d/part-00000.shard", "old", 3);
	put(STORE, "d/part-00017.shard", "old", 3);
	sherd_error e = {0};
	assert_int_equal(pack(STORE, "d", 10, 10, &e), SHERD_OK);
	assert_int_equal(e.code, SHERD_OK);
	assert_keys(STORE, "d/part-00000.shard d/rows.manifest.json ");
	assert_rows(STORE, "d", 10, WIDTH, NULL);
}

TEST(a_dead_claim_gives_no_right_to_what_no_pack_wrote)
{
	NEEDS(SHERD_CAP_LOCK);
	put(STORE, "d/rows.packing", "", 0);
	put(STORE, "d/part-00000.shard", "old", 3);
	put(STORE, "d/part-0.shard", "mine", 4);
	put(STORE, "d/part-000000.shard", "mine", 4);
	assert_refused(SHERD_EEXIST, "exists", pack(STORE, "d", 10, 10, err));
	assert_keys(STORE, "d/part-0.shard d/part-000000.shard ");
}

TEST(a_dead_claim_beside_a_manifest_is_all_that_goes)
{
	NEEDS(SHERD_CAP_LOCK);
	assert_ok(pack(STORE, "d", 10, 10, err));
	put(STORE, "d/rows.packing", "", 0);
	assert_rows(STORE, "d", 10, WIDTH, NULL);
	assert_refused(SHERD_EEXIST, "exists", pack(STORE, "d", 10, 10, err));
	assert_keys(STORE, "d/part-00000.shard d/rows.manifest.json ");
	assert_rows(STORE, "d", 10, WIDTH, NULL);
}

typedef struct intruder {
	feed feed;
	sherd_store *store;
} intruder;

/* While one pack is at work: another one is refused, and readers see that the set is not whole. */
static void intrude(sherd_store *store)
{
	sherd_rows *set;
	sherd_error e;
	assert_int_equal(pack(store, "d", 10, 4, &e), SHERD_ECONFLICT);
	assert_string_equal(e.reason, "conflict");
	assert_string_equal(e.object, "d/rows.packing");
	assert_refused(SHERD_EINCOMPLETE, "incomplete", sherd_rows_open_folder(&set, store, "d", NULL, err));
}

static int feed_and_intrude(void *arg, uint64_t first, size_t count, float *out, sherd_error *err)
{
	intruder *i = arg;
	intrude(i->store);
	return feed_rows(&i->feed, first, count, out, err);
}

TEST(of_two_packs_at_once_the_second_is_refused)
{
	intruder i = {.feed.width = WIDTH, .store = STORE};
	const sherd_rows_pack_options options = {.rows_per_shard = 4};
	assert_ok(sherd_rows_pack(STORE, "d", 10, WIDTH, feed_and_intrude, &i, &options, err));
	assert_rows(STORE, "d", 10, WIDTH, NULL);
}

/* ---- what ends early */

TEST(a_source_that_fails_leaves_nothing)
{
	for (uint64_t row = 1; row <= 9; row += 4) {
		feed f = {.width = WIDTH, .fail_at = row};
		const sherd_rows_pack_options options = {.rows_per_shard = 4};
		assert_refused(SHERD_EIO, "io", sherd_rows_pack(STORE, "d", 10, WIDTH, feed_rows, &f, &options, err));
		assert_keys(STORE, "");
	}
	assert_ok(pack(STORE, "d", 10, 4, err));
}

typedef struct stopper {
	uint64_t stop_at, last, total;
} stopper;

static bool watch(void *arg, uint64_t done, uint64_t total)
{
	stopper *s = arg;
	s->last = done;
	s->total = total;
	return !s->stop_at || done < s->stop_at;
}

TEST(progress_counts_to_the_end_and_can_cancel)
{
	stopper s = {0};
	feed f = {.width = WIDTH};
	const sherd_progress progress = {watch, &s};
	const sherd_rows_pack_options options = {.rows_per_shard = 4, .progress = &progress};
	for (s.stop_at = 1; s.stop_at <= 120; s.stop_at += 40) {
		f.next = 0;
		assert_refused(SHERD_ECANCELLED, "cancelled",
		               sherd_rows_pack(STORE, "d", 10, WIDTH, feed_rows, &f, &options, err));
		assert_keys(STORE, "");
	}
	s.stop_at = f.next = 0;
	assert_ok(sherd_rows_pack(STORE, "d", 10, WIDTH, feed_rows, &f, &options, err));
	assert_int_equal(s.last, 120);
	assert_int_equal(s.total, 120);
}

/* ---- one shard */

TEST(a_shard_from_doubles_has_the_bytes_of_the_original)
{
	static const double values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	uint8_t hash[SHD_SHA256_BYTES];
	char hex[SHD_SHA256_HEX + 1], *bytes;
	size_t len;
	assert_ok(sherd_rows_write_shard(STORE, "g.shard", values, 3, 3, NULL, NULL, err));
	assert_ok(sherd_store_get(&bytes, &len, STORE, "g.shard", 1000, err));
	shd_sha256_of(bytes, len, hash);
	shd_hex(hash, sizeof(hash), hex);
	assert_string_equal(hex, "6aa544422eda59a26e5e4c6f65b5479d02da8528e5c09ce71623ab256eb8ace2");
	sherd_free(bytes);
	assert_refused(SHERD_EEXIST, "exists", sherd_rows_write_shard(STORE, "g.shard", values, 3, 3, NULL, NULL, err));
	assert_refused(SHERD_EINVAL, "bad-width",
	               sherd_rows_write_shard(STORE, "h.shard", values, 3, 0, NULL, NULL, err));
	assert_ok(sherd_rows_write_shard(STORE, "z.shard", NULL, 0, 5, NULL, NULL, err));
	static const double large[] = {1e300, INFINITY, -1e300, 3};
	uint64_t overflowed = 9;
	assert_ok(sherd_rows_write_shard(STORE, "l.shard", large, 2, 2, NULL, &overflowed, err));
	assert_int_equal(overflowed, 2);
	assert_ok(sherd_rows_write_shard(STORE, "m.shard", large + 1, 1, 1, NULL, &overflowed, err));
	assert_int_equal(overflowed, 0);
	sherd_stat stat;
	assert_ok(sherd_store_stat(&stat, STORE, "z.shard", err));
	assert_int_equal(stat.size, 32);
}

TEST(a_long_shard_from_doubles_is_written_whole)
{
	enum { MANY = 600001 };
	double *values = malloc(MANY * sizeof(double));
	assert_non_null(values);
	for (size_t i = 0; i < MANY; i++)
		values[i] = (double)i / 3;
	assert_ok(sherd_rows_write_shard(STORE, "a.shard", values, MANY, 1, NULL, NULL, err));
	char *bytes;
	size_t len;
	assert_ok(sherd_store_get(&bytes, &len, STORE, "a.shard", 1 << 24, err));
	assert_int_equal(len, 32 + 4 * MANY);
	for (size_t i = 0; i < MANY; i++) {
		float want = (float)values[i];
		assert_memory_equal(bytes + 32 + 4 * i, &want, 4);
	}
	sherd_free(bytes);
	free(values);
}

/* ---- tensors */

static const uint64_t shape_2x3[] = {2, 3}, shape_3x3[] = {3, 3}, shape_0x3[] = {0, 3}, shape_2x2[] = {2, 2},
		      shape_6[] = {6}, shape_2x0[] = {2, 0};

static void put_safetensors(sherd_store *store, const char *key, const sherd_tensor *tensors, size_t count,
                            const void *data, size_t len)
{
	SHD_AUTO_BUF file = {0};
	size_t order[8];
	assert_ok(shd_safetensors_encode(tensors, count, NULL, 0, &file, order, err));
	for (size_t i = 0; i < count; i++)
		assert_int_equal(order[i], i);
	shd_buf_append(&file, data, len);
	put(store, key, file.data, file.len);
}

static int pack_tensors(sherd_store *store, const char *key, const char *const *names, size_t count, sherd_dtype as,
                        const char *folder, sherd_error *err)
{
	sherd_bundle *bundle;
	TRY(sherd_bundle_open(&bundle, store, key, NULL, err));
	int rc = sherd_rows_pack_bundle(store, folder, bundle, names, count, as,
	                                &(sherd_rows_pack_options){.rows_per_shard = 4}, err);
	sherd_bundle_close(bundle);
	return rc;
}

/* Small numbers that every type holds. */
static float count_up(uint64_t row, uint64_t column)
{
	return (float)(row * 3 + column);
}

/* F64 2x3, F32 3x3, BF16 2x3, F16 2x3: in the order that the format stores them, 9 rows that count up from 0. */
static void put_mixture(sherd_store *store)
{
	const sherd_tensor tensors[] = {
		{"d", SHERD_F64, 2, shape_2x3, 48},
		{"s", SHERD_F32, 2, shape_3x3, 36},
		{"b", SHERD_BF16, 2, shape_2x3, 12},
		{"h", SHERD_F16, 2, shape_2x3, 12},
	};
	static const uint16_t halves[] = {0x4d40, 0x4d80, 0x4dc0, 0x4e00, 0x4e40, 0x4e80};
	SHD_AUTO_BUF data = {0};
	for (unsigned i = 0; i < 6; i++)
		shd_buf_append(&data, &(double){i}, 8);
	for (unsigned i = 6; i < 15; i++)
		shd_buf_append(&data, &(float){(float)i}, 4);
	for (unsigned i = 15; i < 21; i++) {
		uint32_t bits;
		memcpy(&bits, &(float){(float)i}, 4);
		shd_buf_u16(&data, (uint16_t)(bits >> 16));
	}
	shd_buf_append(&data, halves, sizeof(halves));
	put_safetensors(store, "m.safetensors", tensors, 4, data.data, data.len);
}

TEST(tensors_of_every_type_become_rows_in_stored_order)
{
	put_mixture(STORE);
	assert_ok(pack_tensors(STORE, "m.safetensors", NULL, 0, SHERD_DTYPE_NONE, "all", err));
	assert_rows(STORE, "all", 9, 3, count_up);
}

static float from_fifteen(uint64_t row, uint64_t column)
{
	return count_up(row + (row < 2 ? 0 : 3), column);
}

TEST(tensors_are_chosen_by_name)
{
	static const char *const names[] = {"b", "d"}, *const absent[] = {"d", "x"};
	put_mixture(STORE);
	assert_ok(pack_tensors(STORE, "m.safetensors", names, 2, SHERD_DTYPE_NONE, "some", err));
	assert_rows(STORE, "some", 4, 3, from_fifteen);
	assert_refused(SHERD_ENOTFOUND, "not-found",
	               pack_tensors(STORE, "m.safetensors", absent, 2, SHERD_DTYPE_NONE, "none", err));
	assert_refused(SHERD_ECORRUPT, "empty",
	               pack_tensors(STORE, "m.safetensors", absent, 0, SHERD_DTYPE_NONE, "none", err));
	assert_refused(SHERD_EINVAL, "bad-argument",
	               pack_tensors(STORE, "m.safetensors", NULL, 0, SHERD_F16, "none", err));
}

TEST(u16_is_taken_as_bf16_only_when_asked)
{
	const sherd_tensor tensor = {"u", SHERD_U16, 2, shape_2x3, 12};
	uint16_t data[6];
	for (unsigned i = 0; i < 6; i++) {
		uint32_t bits;
		memcpy(&bits, &(float){(float)i}, 4);
		data[i] = (uint16_t)(bits >> 16);
	}
	put_safetensors(STORE, "u", &tensor, 1, data, sizeof(data));
	assert_refused(SHERD_EUNSUPPORTED, "bad-dtype", pack_tensors(STORE, "u", NULL, 0, SHERD_DTYPE_NONE, "d", err));
	assert_ok(pack_tensors(STORE, "u", NULL, 0, SHERD_BF16, "d", err));
	assert_rows(STORE, "d", 2, 3, count_up);
}

TEST(tensors_that_are_no_rows_are_refused_by_name)
{
	static const uint8_t zeros[64];
	const struct {
		const char *reason;
		sherd_tensor tensors[2];
		size_t count, bytes;
	} cases[] = {
		{"bad-shape", {{"a", SHERD_F32, 1, shape_6, 24}}, 1, 24},
		{"bad-dtype", {{"a", SHERD_I32, 2, shape_2x3, 24}}, 1, 24},
		{"bad-width", {{"a", SHERD_F32, 2, shape_2x0, 0}}, 1, 0},
		{"width-mismatch", {{"a", SHERD_F32, 2, shape_2x2, 16}, {"b", SHERD_F32, 2, shape_2x3, 24}}, 2, 40},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		put_safetensors(STORE, "f", cases[i].tensors, cases[i].count, zeros, cases[i].bytes);
		assert_refused(SHERD_EUNSUPPORTED, cases[i].reason,
		               pack_tensors(STORE, "f", NULL, 0, SHERD_DTYPE_NONE, "d", err));
	}
	const sherd_tensor narrow = {"a", SHERD_F32, 2, shape_2x2, 16}, wide = {"a", SHERD_F32, 2, shape_2x3, 24};
	sherd_bundle *two[2];
	put_safetensors(STORE, "f", &narrow, 1, zeros, 16);
	assert_ok(sherd_bundle_open(&two[0], STORE, "f", NULL, err));
	put_safetensors(STORE, "f", &wide, 1, zeros, 24);
	assert_ok(sherd_bundle_open(&two[1], STORE, "f", NULL, err));
	const sherd_rows_source sources[] = {{.bundle = two[0]}, {.bundle = two[1]}};
	sherd_error e = {0};
	assert_int_equal(sherd_rows_pack_sources(STORE, "d", sources, 2, NULL, &e), SHERD_EUNSUPPORTED);
	assert_int_equal(e.index, 1);
	assert_int_equal(sherd_rows_pack_bundle(STORE, "d", two[1], (const char *[]){"z"}, 1, 0, NULL, &e),
	                 SHERD_ENOTFOUND);
	assert_true(e.index == SHERD_NO_INDEX);
	sherd_bundle_close(two[0]);
	sherd_bundle_close(two[1]);
	const sherd_tensor empty = {"e", SHERD_F32, 2, shape_0x3, 0};
	put_safetensors(STORE, "f", &empty, 1, NULL, 0);
	assert_refused(SHERD_ECORRUPT, "empty", pack_tensors(STORE, "f", NULL, 0, SHERD_DTYPE_NONE, "d", err));
	assert_keys(STORE, "f ");
}

TEST(an_array_in_fortran_order_is_packed_row_by_row)
{
	const sherd_tensor t = {"a", SHERD_F64, 2, shape_2x3, 48};
	static const double columns[] = {0, 3, 1, 4, 2, 5};
	SHD_AUTO_BUF file = {0};
	assert_ok(shd_npy_encode(&t, &file, err));
	memcpy(memmem(file.data, file.len, "False", 5), "True ", 5);
	shd_buf_append(&file, columns, sizeof(columns));
	put(STORE, "a.npy", file.data, file.len);
	assert_ok(pack_tensors(STORE, "a.npy", NULL, 0, SHERD_DTYPE_NONE, "d", err));
	assert_rows(STORE, "d", 2, 3, count_up);
}

/* ---- residual_shard_bf16 */

static void put_bf16(sherd_store *store, const char *key, unsigned first, unsigned count)
{
	SHD_AUTO_BUF data = {0};
	for (unsigned i = first; i < first + count; i++) {
		uint32_t bits;
		memcpy(&bits, &(float){(float)i}, 4);
		shd_buf_u16(&data, (uint16_t)(bits >> 16));
	}
	put(store, key, data.data, data.len);
}

/* The first file of the list has the later name, and one in the middle is empty. */
static const char residual[] =
	"{\"format\":\"residual_shard_bf16\",\"format_version\":1,\"dtype\":\"bfloat16\",\"byte_order\":\"little\","
	"\"d_model\":3,\"rows_per_shard\":5,\"total_tokens\":8,\"shards\":["
	"{\"file\":\"shard_00009.bf16\",\"rows\":5,\"bytes\":30},{\"file\":\"e.bf16\",\"rows\":0,\"bytes\":0},"
	"{\"file\":\"shard_00001.bf16\",\"rows\":3,\"bytes\":18}],\"stats\":{\"mean\":[0,0,0],\"norm\":[1,1,1]}}";

static void put_residual(sherd_store *store)
{
	put(store, "r/manifest.json", residual, strlen(residual));
	put_bf16(store, "r/shard_00009.bf16", 0, 15);
	put_bf16(store, "r/e.bf16", 0, 0);
	put_bf16(store, "r/shard_00001.bf16", 15, 9);
}

static int pack_residual(sherd_store *store, const char *folder, sherd_error *err)
{
	return sherd_rows_pack_bf16(store, folder, store, "r", &(sherd_rows_pack_options){.rows_per_shard = 3}, err);
}

TEST(a_foreign_folder_is_packed_in_the_order_of_its_list)
{
	put_residual(STORE);
	assert_ok(pack_residual(STORE, "d", err));
	assert_rows(STORE, "d", 8, 3, count_up);
}

TEST(a_foreign_folder_with_wrong_files_is_refused_before_anything_is_written)
{
	put_residual(STORE);
	put_bf16(STORE, "r/shard_00001.bf16", 15, 8);
	assert_refused(SHERD_ECORRUPT, "truncated", pack_residual(STORE, "d", err));
	put_bf16(STORE, "r/shard_00001.bf16", 15, 10);
	assert_refused(SHERD_ECORRUPT, "size-mismatch", pack_residual(STORE, "d", err));
	assert_ok(sherd_store_remove(STORE, "r/shard_00001.bf16", err));
	assert_refused(SHERD_EINCOMPLETE, "missing-shard", pack_residual(STORE, "d", err));
	assert_ok(sherd_store_remove(STORE, "r/manifest.json", err));
	assert_refused(SHERD_ENOTFOUND, "not-found", pack_residual(STORE, "d", err));
	assert_keys(STORE, "r/e.bf16 r/shard_00009.bf16 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BACKEND_TEST(a_set_is_shards_and_a_manifest_and_no_claim),
		BACKEND_TEST(a_set_may_lie_at_the_root_and_end_with_a_full_shard),
		BACKEND_TEST(the_manifest_tells_rows_sizes_and_hashes),
		BACKEND_TEST(the_same_rows_give_the_same_bytes),
		BACKEND_TEST(rows_larger_than_a_chunk_and_chunks_of_many_rows_are_packed),
		BACKEND_TEST(what_cannot_be_packed_is_refused_before_anything_is_written),
		BACKEND_TEST(a_folder_with_shards_or_a_manifest_is_left_alone),
		BACKEND_TEST(what_a_dead_pack_left_is_removed_and_packing_starts_over),
		BACKEND_TEST(a_dead_claim_gives_no_right_to_what_no_pack_wrote),
		BACKEND_TEST(a_dead_claim_beside_a_manifest_is_all_that_goes),
		BACKEND_TEST(of_two_packs_at_once_the_second_is_refused),
		BACKEND_TEST(a_source_that_fails_leaves_nothing),
		BACKEND_TEST(progress_counts_to_the_end_and_can_cancel),
		BACKEND_TEST(a_shard_from_doubles_has_the_bytes_of_the_original),
		BACKEND_TEST(a_long_shard_from_doubles_is_written_whole),
		BACKEND_TEST(tensors_of_every_type_become_rows_in_stored_order),
		BACKEND_TEST(tensors_are_chosen_by_name),
		BACKEND_TEST(u16_is_taken_as_bf16_only_when_asked),
		BACKEND_TEST(tensors_that_are_no_rows_are_refused_by_name),
		BACKEND_TEST(an_array_in_fortran_order_is_packed_row_by_row),
		BACKEND_TEST(a_foreign_folder_is_packed_in_the_order_of_its_list),
		BACKEND_TEST(a_foreign_folder_with_wrong_files_is_refused_before_anything_is_written),
	};
	return run_for_backends(tests, COUNT_OF(tests));
}

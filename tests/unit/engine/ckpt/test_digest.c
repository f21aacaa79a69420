/* Shards with BLAKE3: the same bytes whatever the workers, the values of parts, and slices that are checked alone. */
#include "support/ckpt_place.h"
#include "support/fail_store.h"
#include "support/source_file.h"
#include "support/test.h"

#include "base/cursor.h"
#include "base/error.h"
#include "codec/blake3.h"
#include "codec/crc32.h"
#include "engine/ckpt/shard.h"
#include "engine/ckpt/sums.h"

#include <sherd/ckpt.h>
#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)
SHD_AUTO_DEFINE(sherd_pool, sherd_pool_close)

/* Tensors in one part, over the borders of parts, of no bytes, and padding between them. */
enum { MIB = 1 << 20, LONG = 3 * MIB + 5, ROWS = 1100, COLUMNS = 700, TENSORS = 6, HEAD = 95 };

static const sherd_set_id set_id = {{7, 7, 7}};
static uint8_t long_bytes[LONG], grid[ROWS * COLUMNS];

static void fill_bytes(void)
{
	uint32_t x = 1;
	for (size_t i = 0; i < sizeof(long_bytes); i++)
		long_bytes[i] = (uint8_t)((x = x * 1664525u + 1013904223u) >> 24);
	for (size_t i = 0; i < sizeof(grid); i++)
		grid[i] = (uint8_t)((x = x * 1664525u + 1013904223u) >> 24);
}

typedef struct reading {
	const uint8_t *bytes;
	uint64_t next;
} reading;

static int read_item(void *arg, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	reading *r = arg;
	if (offset < r->next)
		return shd_fail(err, SHERD_EINVAL, "wrong", "read out of order");
	memcpy(buf, r->bytes + offset, len);
	r->next = offset + len;
	return SHERD_OK;
}

/* In memory, or read piece by piece. */
static int save(sherd_store *store, const char *prefix, sherd_digest digest, bool streamed, sherd_pool *pool,
                sherd_error *err)
{
	static const uint64_t long_shape[] = {LONG}, grid_shape[] = {ROWS, COLUMNS}, few[] = {3}, none[] = {0};
	sherd_ckpt_item items[TENSORS] = {
		{.tensor = {"first", SHERD_U8, 1, few, 0}, .data = "abc"},
		{.tensor = {"none", SHERD_F32, 1, none, 0}},
		{.tensor = {"long", SHERD_U8, 1, long_shape, 0}, .data = long_bytes},
		{.tensor = {"small", SHERD_U8, 1, few, 0}, .data = "def"},
		{.tensor = {"grid", SHERD_U8, 2, grid_shape, 0}, .data = grid},
		{.tensor = {"last", SHERD_F32, 1, none, 0}},
	};
	reading readings[TENSORS];
	for (size_t i = 0; streamed && i < TENSORS; i++) {
		readings[i] = (reading){items[i].data, 0};
		items[i].data = NULL;
		items[i].read = read_item;
		items[i].arg = &readings[i];
	}
	sherd_ckpt_shard_items shard = {items, TENSORS};
	sherd_ckpt_save_options o = {.set_id = &set_id, .digest = digest, .pool = pool, .replace = true};
	return sherd_ckpt_save(store, prefix, &shard, &o, err);
}

static char *key_of(sherd_store *store, const char *prefix)
{
	static char key[64];
	sherd_stat stat;
	(void)snprintf(key, sizeof(key), "%s_shard_0.shard", prefix);
	if (sherd_store_stat(&stat, store, key, NULL) < 0) {
		char id[SHERD_SET_ID_TEXT];
		sherd_set_id_format(id, &set_id);
		(void)snprintf(key, sizeof(key), "%s_shard_0.%s.shard", prefix, id);
	}
	return key;
}

TEST(the_bytes_are_the_same_whatever_the_workers)
{
	static const unsigned workers[] = {0, 2, 3};
	size_t want_len;
	assert_ok(save(STORE, "a", SHERD_DIGEST_BLAKE3, false, NULL, err));
	char *want = object_get(STORE, key_of(STORE, "a"), &want_len);
	for (size_t i = 0; i < 2 * COUNT_OF(workers); i++) {
		SHD_AUTO(sherd_pool, sherd_pool_close) pool = NULL;
		char prefix[24];
		size_t len;
		if (workers[i / 2])
			assert_ok(sherd_pool_open(&pool, workers[i / 2], err));
		(void)snprintf(prefix, sizeof(prefix), "b%zu", i);
		assert_ok(save(STORE, prefix, SHERD_DIGEST_BLAKE3, i % 2, pool, err));
		char *got = object_get(STORE, key_of(STORE, prefix), &len);
		if (len != want_len || memcmp(got, want, len) != 0)
			fail_msg("%u workers, %s: other bytes", workers[i / 2], i % 2 ? "streamed" : "from memory");
		sherd_free(got);
		assert_ok(sherd_ckpt_remove(STORE, prefix, NULL, NULL, err));
	}
	sherd_free(want);
}

TEST(the_digest_is_blake3_of_all_data_and_values_are_those_of_its_parts)
{
	size_t len;
	uint8_t hash[SHD_BLAKE3_BYTES], value[SHD_BLAKE3_BYTES];
	char hex[2 * SHD_BLAKE3_BYTES + 1];
	shd_arena arena = {0};
	shd_ckpt_index index;
	ckpt_shard shard;
	bool found;
	assert_ok(save(STORE, "a", SHERD_DIGEST_BLAKE3, false, NULL, err));
	uint8_t *raw = (uint8_t *)object_get(STORE, key_of(STORE, "a"), &len);
	assert_ok(shd_ckpt_shard_open(&shard, STORE, key_of(STORE, "a"), len, err));
	assert_ok(shd_ckpt_shard_index(&shard, NULL, &arena, &index, &found, err));
	shd_blake3_of(raw + HEAD, len - HEAD, hash);
	shd_hex(hash, sizeof(hash), hex);
	assert_memory_equal(shard.checksum, "blake3:", 7);
	assert_string_equal(shard.checksum + 7, hex);
	assert_int_equal(index.part_log, 20);
	assert_int_equal(index.value_count, (LONG + sizeof(grid)) / MIB);
	for (size_t i = 0; i < index.value_count; i++) {
		shd_blake3_part(raw + HEAD + i * MIB, MIB, i * MIB, value);
		assert_memory_equal(value, index.values[i], sizeof(value));
	}
	/* CRCs of blocks that lie in several parts. */
	assert_int_equal(index.entries[2].crcs[0], shd_crc32(0, long_bytes, LONG));
	assert_int_equal(index.entries[4].crcs[0], shd_crc32(0, grid, sizeof(grid)));
	shd_ckpt_shard_done(&shard);
	shd_arena_done(&arena);
	sherd_free(raw);
}

static int load(sherd_store *store, const char *name, const uint64_t *at, const uint64_t *shape, void *buf,
                sherd_pool *pool, sherd_error *err)
{
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	TRY(sherd_ckpt_open(&c, store, "a", NULL, err));
	sherd_ckpt_want want = {.tensor = sherd_ckpt_find(c, name), .at = at, .shape = shape, .buf = buf};
	return sherd_ckpt_load(c, &want, 1, &(sherd_ckpt_load_options){.check = SHERD_CHECK_DIGEST, .pool = pool}, err);
}

/* The second block of a tensor begins within a part, and goes on in others. */
TEST(sums_of_blocks_that_lie_in_many_parts_are_those_of_their_bytes)
{
	enum { BYTES = SHD_CKPT_BLOCK + 3 * MIB + 1, GAP = 40, BEHIND = 7 };
	shd_arena arena = {0};
	ckpt_sums sums;
	uint8_t *raw = calloc(1, GAP + BYTES + BEHIND);
	for (size_t i = 0; i < BYTES + BEHIND; i++)
		raw[GAP + i] = (uint8_t)(i * i >> 9);
	assert_ok(shd_ckpt_sums_init(&sums, GAP + BYTES + BEHIND, 20, 2, &arena, err));
	assert_ok(shd_ckpt_sums_add_span(&sums, GAP, BYTES, &arena, err));
	assert_ok(shd_ckpt_sums_add_span(&sums, GAP + BYTES, BEHIND, &arena, err));
	for (size_t part = sums.parts; part-- > 0;)
		shd_ckpt_sums_crcs(&sums, part, raw + (part << 20));
	shd_ckpt_sums_join(&sums);
	assert_int_equal(sums.spans[0].crcs[0], shd_crc32(0, raw + GAP, SHD_CKPT_BLOCK));
	assert_int_equal(sums.spans[0].crcs[1], shd_crc32(0, raw + GAP + SHD_CKPT_BLOCK, BYTES - SHD_CKPT_BLOCK));
	assert_int_equal(sums.spans[1].crcs[0], shd_crc32(0, raw + GAP + BYTES, BEHIND));
	shd_arena_done(&arena);
	free(raw);
}

TEST(a_slice_is_checked_by_reading_its_parts_alone)
{
	static uint8_t got[LONG];
	static const uint64_t at[] = {MIB + 17}, shape[] = {3 * MIB / 2}, column[] = {700, 300}, box[] = {400, 7};
	SHD_AUTO(sherd_pool, sherd_pool_close) pool = NULL;
	sherd_store *inner;
	assert_ok(sherd_pool_open(&pool, 3, err));
	assert_ok(sherd_store_open_memory(&inner, err));
	sherd_store *store = fail_store_over(inner);
	assert_ok(save(store, "a", SHERD_DIGEST_BLAKE3, false, NULL, err));
	uint64_t before = fail_store_read_bytes(store);
	assert_ok(load(store, "long", at, shape, got, pool, err));
	assert_memory_equal(got, long_bytes + at[0], shape[0]);
	/* Two parts, and the last one with the index. */
	assert_true(fail_store_read_bytes(store) - before < 3 * MIB);
	assert_ok(load(store, "grid", column, box, got, pool, err));
	for (size_t r = 0; r < box[0]; r++)
		assert_memory_equal(got + r * box[1], grid + (column[0] + r) * COLUMNS + column[1], box[1]);
	assert_ok(load(store, "long", NULL, NULL, got, pool, err));
	assert_memory_equal(got, long_bytes, LONG);
	assert_ok(load(store, "none", NULL, NULL, got, pool, err));
	sherd_store_close(store);
}

static void flip(sherd_store *store, uint64_t at)
{
	size_t len;
	char *key = key_of(store, "a"), *data = object_get(store, key, &len);
	data[at] ^= 1;
	object_put(store, key, data, len);
	sherd_free(data);
}

static size_t count_reasons(sherd_store *store, const char *key, const char *reason, sherd_pool *pool)
{
	sherd_report *r = NULL;
	size_t count = 0;
	assert_ok(sherd_verify(&r, store, key, &(sherd_verify_options){.pool = pool}, err));
	for (size_t i = 0; i < sherd_report_errors(r); i++)
		count += !*reason || strcmp(sherd_report_error(r, i)->reason, reason) == 0;
	sherd_report_close(r);
	return count;
}

TEST(damage_is_found_in_its_part_and_keeps_nothing_else_from_being_read)
{
	static uint8_t got[LONG];
	static const uint64_t hit[] = {2 * MIB}, near[] = {MIB}, some[] = {100};
	SHD_AUTO(sherd_pool, sherd_pool_close) pool = NULL;
	assert_ok(sherd_pool_open(&pool, 2, err));
	assert_ok(save(STORE, "a", SHERD_DIGEST_BLAKE3, false, NULL, err));
	assert_int_equal(count_reasons(STORE, "a", "", pool), 0);
	assert_int_equal(count_reasons(STORE, key_of(STORE, "a"), "", NULL), 0);
	flip(STORE, 192 + 2 * MIB + 50);
	assert_refused(SHERD_ECORRUPT, "bad-part", load(STORE, "long", hit, some, got, pool, err));
	assert_refused(SHERD_ECORRUPT, "bad-part", load(STORE, "long", NULL, NULL, got, NULL, err));
	assert_ok(load(STORE, "long", near, some, got, pool, err));
	assert_ok(load(STORE, "grid", NULL, NULL, got, pool, err));
	for (int by_pool = 0; by_pool < 2; by_pool++) {
		sherd_pool *p = by_pool ? pool : NULL;
		assert_int_equal(count_reasons(STORE, "a", "bad-part", p), 1);
		assert_int_equal(count_reasons(STORE, "a", "bad-crc", p), 1);
		assert_int_equal(count_reasons(STORE, "a", "bad-checksum", p), 1);
		assert_int_equal(count_reasons(STORE, "a", "", p), 3);
	}
	/* Padding belongs to no tensor, but to a part. */
	flip(STORE, 192 + 2 * MIB + 50);
	flip(STORE, 100);
	assert_int_equal(count_reasons(STORE, "a", "bad-part", NULL), 1);
	assert_int_equal(count_reasons(STORE, "a", "", NULL), 2);
}

/* Writes CRC and, if it is to fit too, the digest anew, in the head; the metadata has the old one. */
static void mend(uint8_t *raw, size_t len, bool digest)
{
	uint8_t *trailer = raw + len - SHD_CKPT_TRAILER_SIZE, hash[SHD_BLAKE3_BYTES];
	uint64_t body = shd_get_u64(trailer);
	char hex[2 * SHD_BLAKE3_BYTES + 1];
	shd_put_u32(trailer + 8, shd_crc32(0, trailer - body, body + 8));
	shd_blake3_of(raw + HEAD, len - HEAD, hash);
	shd_hex(hash, sizeof(hash), hex);
	if (digest)
		memcpy(raw + 12 + 7, hex, 64);
}

static int load_alone(sherd_store *store, const char *key, sherd_error *err)
{
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	uint8_t got[3];
	TRY(sherd_ckpt_open_shard(&c, store, key, NULL, err));
	sherd_ckpt_want want = {.tensor = sherd_ckpt_find(c, "first"), .buf = got};
	return sherd_ckpt_load(c, &want, 1, &(sherd_ckpt_load_options){.check = SHERD_CHECK_DIGEST}, err);
}

/* Values that do not make the digest vouch for nothing, however well everything else fits. */
TEST(values_of_parts_must_make_the_digest)
{
	size_t len;
	assert_ok(save(STORE, "a", SHERD_DIGEST_BLAKE3, false, NULL, err));
	uint8_t *raw = (uint8_t *)object_get(STORE, key_of(STORE, "a"), &len);
	size_t end = len - SHD_CKPT_TRAILER_SIZE, values = 3 * SHD_BLAKE3_BYTES;
	for (int digest = 0; digest < 2; digest++) {
		for (size_t back = 1; back <= values; back += 37) {
			raw[end - back] ^= 4;
			mend(raw, len, digest);
			object_put(STORE, "x_shard_0.shard", raw, len);
			assert_refused(SHERD_ECORRUPT, "bad-checksum", load_alone(STORE, "x_shard_0.shard", err));
			raw[end - back] ^= 4;
		}
		assert_int_equal(count_reasons(STORE, "x_shard_0.shard", "bad-part", NULL), 1);
		assert_int_equal(count_reasons(STORE, "x_shard_0.shard", "bad-checksum", NULL), !digest);
	}
	/* Another size of parts: then there are not as many values as it needs. */
	raw[end - values - 1] = 21;
	mend(raw, len, true);
	object_put(STORE, "x_shard_0.shard", raw, len);
	assert_refused(SHERD_ECORRUPT, "bad-index", load_alone(STORE, "x_shard_0.shard", err));
	raw[end - values - 1] = 20;
	mend(raw, len, true);
	object_put(STORE, "x_shard_0.shard", raw, len);
	assert_ok(load_alone(STORE, "x_shard_0.shard", err));
	sherd_free(raw);
}

TEST(a_head_that_says_another_digest_is_refused)
{
	static const char *const words[] = {"blake2:", "BLAKE3:", "sha256:", "blake3;"};
	size_t len;
	assert_ok(save(STORE, "a", SHERD_DIGEST_BLAKE3, false, NULL, err));
	uint8_t *raw = (uint8_t *)object_get(STORE, key_of(STORE, "a"), &len);
	for (size_t i = 0; i < COUNT_OF(words); i++) {
		memcpy(raw + 12, words[i], 7);
		object_put(STORE, "x_shard_0.shard", raw, len);
		assert_refused(SHERD_ECORRUPT, "bad-checksum", load_alone(STORE, "x_shard_0.shard", err));
		assert_int_equal(count_reasons(STORE, "x_shard_0.shard", "bad-checksum", NULL), 1);
	}
	sherd_free(raw);
}

TEST(values_of_parts_without_blake3_in_the_head_are_refused)
{
	assert_ok(save(STORE, "a", SHERD_DIGEST_BLAKE3, false, NULL, err));
	object_rehead(STORE, key_of(STORE, "a"), SHERD_DIGEST_BLAKE3, "x_shard_0.shard", SHERD_DIGEST_SHA256, TENSORS);
	assert_refused(SHERD_ECORRUPT, "bad-index", load_alone(STORE, "x_shard_0.shard", err));
	assert_int_equal(count_reasons(STORE, "x_shard_0.shard", "bad-index", NULL), 1);
}

/* BLAKE3 in the head of a shard whose index is of version 1, or that has none and a length of 4 bytes. */
TEST(a_shard_without_values_is_checked_whole)
{
	uint8_t head[SHD_CKPT_HEAD_ROOM], hash[SHD_BLAKE3_BYTES];
	char text[SHD_CKPT_DIGEST_TEXT];
	size_t len;
	assert_ok(save(STORE, "a", SHERD_DIGEST_SHA256, false, NULL, err));
	uint8_t *raw = (uint8_t *)object_get(STORE, key_of(STORE, "a"), &len), *anew = malloc(len + 7);
	shd_blake3_of(raw + SHD_CKPT_HEAD_SIZE, len - SHD_CKPT_HEAD_SIZE, hash);
	shd_ckpt_digest_text(SHERD_DIGEST_BLAKE3, hash, text);
	shd_ckpt_head_encode(0, TENSORS, len - SHD_CKPT_HEAD_SIZE, text, head);
	memcpy(anew, head, sizeof(head));
	memcpy(anew + sizeof(head), raw + SHD_CKPT_HEAD_SIZE, len - SHD_CKPT_HEAD_SIZE);
	object_put(STORE, "x_shard_0.shard", anew, len + 7);
	assert_ok(load_alone(STORE, "x_shard_0.shard", err));
	assert_int_equal(count_reasons(STORE, "x_shard_0.shard", "", NULL), 0);
	anew[3 * MIB] ^= 1;
	object_put(STORE, "x_shard_0.shard", anew, len + 7);
	assert_refused(SHERD_ECORRUPT, "bad-checksum", load_alone(STORE, "x_shard_0.shard", err));
	assert_int_equal(count_reasons(STORE, "x_shard_0.shard", "bad-checksum", NULL), 1);
	/* Three bytes, after the head and a length of 4 bytes. */
	shd_blake3_of("abc", 3, hash);
	shd_ckpt_digest_text(SHERD_DIGEST_BLAKE3, hash, text);
	shd_ckpt_head_encode(0, 1, 3, text, head);
	memcpy(anew, head, sizeof(head) - 4);
	memcpy(anew + sizeof(head) - 4, "abc", 3);
	object_put(STORE, "x_shard_0.shard", anew, sizeof(head) - 4 + 3);
	assert_int_equal(count_reasons(STORE, "x_shard_0.shard", "", NULL), 0);
	anew[sizeof(head) - 4] ^= 1;
	object_put(STORE, "x_shard_0.shard", anew, sizeof(head) - 4 + 3);
	assert_true(count_reasons(STORE, "x_shard_0.shard", "", NULL) > 0);
	free(anew);
	sherd_free(raw);
}

TEST(values_that_failed_once_are_not_looked_at_again)
{
	size_t len;
	uint8_t got[3];
	sherd_store *inner;
	sherd_ckpt *c = NULL;
	assert_ok(sherd_store_open_memory(&inner, err));
	sherd_store *store = fail_store_over(inner);
	assert_ok(save(store, "a", SHERD_DIGEST_BLAKE3, false, NULL, err));
	uint8_t *raw = (uint8_t *)object_get(store, key_of(store, "a"), &len);
	raw[len - SHD_CKPT_TRAILER_SIZE - 1] ^= 4;
	mend(raw, len, false);
	object_put(store, "x_shard_0.shard", raw, len);
	assert_ok(sherd_ckpt_open_shard(&c, store, "x_shard_0.shard", NULL, err));
	const sherd_ckpt_want want = {.tensor = sherd_ckpt_find(c, "first"), .buf = got};
	const sherd_ckpt_load_options o = {.check = SHERD_CHECK_DIGEST};
	uint64_t before = 0;
	for (int turn = 0; turn < 2; turn++) {
		sherd_error e = {0};
		before = fail_store_read_bytes(store);
		assert_int_equal(sherd_ckpt_load(c, &want, 1, &o, &e), SHERD_ECORRUPT);
		assert_string_equal(e.reason, "bad-checksum");
		assert_string_equal(e.object, "x_shard_0.shard");
		assert_non_null(strstr(e.message, "values of parts"));
	}
	assert_int_equal(fail_store_read_bytes(store), before);
	/* The tensor's own checksum is as good as before. */
	assert_ok(sherd_ckpt_load(c, &want, 1, NULL, err));
	sherd_ckpt_close(c);
	sherd_free(raw);
	sherd_store_close(store);
}

static bool stop_in_the_middle(void *arg, uint64_t done, uint64_t total)
{
	(void)arg;
	assert_true(done <= total);
	return done < total / 2;
}

TEST(a_save_that_fails_or_is_cancelled_leaves_nothing)
{
	static const uint64_t shape[] = {LONG};
	const sherd_ckpt_item item = {.tensor = {"long", SHERD_U8, 1, shape, 0}, .data = long_bytes};
	const sherd_progress progress = {.update = stop_in_the_middle};
	SHD_AUTO(sherd_pool, sherd_pool_close) pool = NULL;
	sherd_store *inner;
	bool hit;
	long nth = 0;
	assert_ok(sherd_pool_open(&pool, 2, err));
	assert_ok(sherd_store_open_memory(&inner, err));
	sherd_store *store = fail_store_over(inner);
	sherd_ckpt_save_options o = {.digest = SHERD_DIGEST_BLAKE3, .pool = pool, .progress = &progress};
	sherd_ckpt_shard_items shard = {&item, 1};
	assert_refused(SHERD_ECANCELLED, "cancelled", sherd_ckpt_save(store, "a", &shard, &o, err));
	assert_keys(store, "");
	do {
		fail_store_at(store, nth += 4);
		int rc = save(store, "a", SHERD_DIGEST_BLAKE3, nth % 2, pool, NULL);
		hit = fail_store_hit(store);
		fail_store_at(store, 0);
		if (rc < 0 && sherd_ckpt_remove(store, "a", NULL, NULL, NULL) < 0)
			assert_keys(store, "");
		else if (rc == SHERD_OK)
			assert_ok(sherd_ckpt_remove(store, "a", NULL, NULL, err));
	} while (hit);
	assert_true(nth > 20);
	sherd_store_close(store);
}

static void note_total(sherd_store *store, const char *prefix, sherd_digest digest, sherd_set_id *out)
{
	static const uint64_t few[] = {3};
	const sherd_ckpt_item item = {.tensor = {"t", SHERD_U8, 1, few, 0}, .data = "abc"};
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	sherd_bundle *bundle;
	sherd_ckpt_shard_items shard = {&item, 1};
	assert_ok(sherd_ckpt_save(store, prefix, &shard, NULL, err));
	assert_ok(sherd_ckpt_open(&c, store, prefix, NULL, err));
	assert_ok(sherd_bundle_of_ckpt(&bundle, c, err));
	assert_ok(sherd_set_id_derive(out, store, "new", bundle, false, &(sherd_ckpt_save_options){.digest = digest},
	                              err));
	sherd_bundle_close(bundle);
}

TEST(other_bytes_have_another_derived_id)
{
	sherd_set_id a, b;
	note_total(STORE, "a", SHERD_DIGEST_SHA256, &a);
	note_total(STORE, "b", SHERD_DIGEST_BLAKE3, &b);
	assert_true(memcmp(&a, &b, sizeof(a)) != 0);
}

static int save_rank(sherd_store *store, uint32_t rank, sherd_digest digest, sherd_ckpt_save_result *result,
                     sherd_error *err)
{
	static const uint64_t few[] = {3};
	static const char *const names[] = {"zero", "one"};
	const sherd_ckpt_item item = {.tensor = {names[rank], SHERD_U8, 1, few, 0}, .data = "abc"};
	sherd_ckpt_save_options o = {.world = 2, .set_id = &set_id, .digest = digest, .time_ns = rank};
	return sherd_ckpt_save_rank(store, "r", rank, &item, 1, &o, result, err);
}

TEST(ranks_may_choose_different_digests)
{
	sherd_ckpt_save_result result;
	assert_ok(save_rank(STORE, 0, SHERD_DIGEST_BLAKE3, &result, err));
	assert_ok(save_rank(STORE, 1, SHERD_DIGEST_SHA256, &result, err));
	assert_true(result.committed);
	assert_int_equal(count_reasons(STORE, "r", "", NULL), 0);
	/* One that comes again leaves the digest that is there. */
	assert_ok(save_rank(STORE, 0, SHERD_DIGEST_SHA256, &result, err));
	assert_true(result.repeated);
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	assert_ok(sherd_ckpt_open(&c, STORE, "r", NULL, err));
	assert_memory_equal(sherd_ckpt_shard_at(c, 0)->checksum, "blake3:", 7);
	assert_int_equal(strlen(sherd_ckpt_shard_at(c, 1)->checksum), 64);
}

TEST(a_damaged_shard_is_written_anew_with_the_digest_it_had)
{
	static const uint64_t places[] = {13, 30, 95 + 3, 128};
	size_t len, now_len;
	sherd_ckpt_save_result result;
	assert_ok(save_rank(STORE, 0, SHERD_DIGEST_BLAKE3, &result, err));
	assert_ok(save_rank(STORE, 1, SHERD_DIGEST_BLAKE3, &result, err));
	char *whole = object_get(STORE, "r_shard_0.shard", &len);
	for (size_t i = 0; i < COUNT_OF(places); i++) {
		whole[places[i]] ^= 1;
		object_put(STORE, "r_shard_0.shard", whole, len);
		whole[places[i]] ^= 1;
		assert_true(count_reasons(STORE, "r", "", NULL) > 0);
		assert_ok(save_rank(STORE, 0, SHERD_DIGEST_SHA256, &result, err));
		assert_true(result.rewritten);
		char *now = object_get(STORE, "r_shard_0.shard", &now_len);
		assert_int_equal(now_len, len);
		assert_memory_equal(now, whole, len);
		sherd_free(now);
	}
	sherd_free(whole);
}

TEST(a_damaged_shard_that_nobody_can_write_anew_is_left_alone)
{
	size_t len, now_len;
	sherd_ckpt_save_result result;
	assert_ok(save_rank(STORE, 0, SHERD_DIGEST_SHA256, &result, err));
	object_rehead(STORE, "r_shard_0.shard", SHERD_DIGEST_SHA256, "r_shard_0.shard", SHERD_DIGEST_BLAKE3, 1);
	char *there = object_get(STORE, "r_shard_0.shard", &len);
	there[96] ^= 1;
	object_put(STORE, "r_shard_0.shard", there, len);
	assert_refused(SHERD_ECORRUPT, "bad-checksum", save_rank(STORE, 0, SHERD_DIGEST_BLAKE3, &result, err));
	char *now = object_get(STORE, "r_shard_0.shard", &now_len);
	assert_int_equal(now_len, len);
	assert_memory_equal(now, there, len);
	sherd_free(now);
	sherd_free(there);
}

TEST(sets_with_blake3_are_repaired_resharded_and_replaced)
{
	size_t len, now_len;
	assert_ok(save(STORE, "a", SHERD_DIGEST_BLAKE3, false, NULL, err));
	char *meta = object_get(STORE, "a.metadata.json", &len);
	assert_ok(sherd_store_remove(STORE, "a.metadata.json", err));
	assert_ok(sherd_ckpt_repair(STORE, "a", NULL, NULL, err));
	char *now = object_get(STORE, "a.metadata.json", &now_len);
	assert_int_equal(now_len, len);
	assert_memory_equal(now, meta, len);
	sherd_free(now);
	sherd_free(meta);
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	assert_ok(sherd_ckpt_open(&c, STORE, "a", NULL, err));
	sherd_ckpt_save_options o = {.world = 3, .digest = SHERD_DIGEST_BLAKE3};
	assert_ok(sherd_ckpt_reshard(c, STORE, "b", true, &o, err));
	assert_int_equal(count_reasons(STORE, "b", "", NULL), 0);
	o.replace = true;
	o.digest = SHERD_DIGEST_SHA256;
	assert_ok(sherd_ckpt_reshard(c, STORE, "b", false, &o, err));
	assert_int_equal(count_reasons(STORE, "b", "", NULL), 0);
}

TEST(damage_keeps_a_set_with_blake3_from_being_repaired)
{
	assert_ok(save(STORE, "a", SHERD_DIGEST_BLAKE3, false, NULL, err));
	flip(STORE, 100); /* padding: only the digest tells */
	assert_ok(sherd_store_remove(STORE, "a.metadata.json", err));
	assert_refused(SHERD_ECORRUPT, "bad-part", sherd_ckpt_repair(STORE, "a", NULL, NULL, err));
}

/* Line by line, as it stands there. */
TEST(the_example_of_the_document_is_what_we_write)
{
	static const uint64_t two[] = {2};
	static const uint8_t w[] = "\0\0\x80\x3f\0\0\0\x40";
	const sherd_ckpt_item item = {.tensor = {"w", SHERD_F32, 1, two, 0}, .data = w};
	const sherd_ckpt_shard_items shard = {&item, 1};
	sherd_set_id id;
	size_t len, doc_len;
	assert_ok(sherd_set_id_parse(&id, "00112233445566778899aabbccddeeff", err));
	sherd_ckpt_save_options o = {
		.set_id = &id, .time_ns = INT64_C(1767960000000000000), .digest = SHERD_DIGEST_BLAKE3};
	assert_ok(sherd_ckpt_save(STORE, "tiny", &shard, &o, err));
	uint8_t *raw = (uint8_t *)object_get(STORE, "tiny_shard_0.shard", &len);
	uint8_t *doc = source_file_read("docs/formats/checkpoint.md", &doc_len);
	for (size_t at = 0; at < len; at += 16) {
		char line[80];
		int used = snprintf(line, sizeof(line), "\n%08zx ", at);
		for (size_t i = at; i < at + 16 && i < len; i++)
			used += snprintf(line + used, sizeof(line) - (size_t)used, " %02x", raw[i]);
		if (!memmem(doc, doc_len, line, (size_t)used))
			fail_msg("not in the document: %s", line + 1);
	}
	free(doc);
	sherd_free(raw);
}

TEST(what_has_no_place_for_blake3_is_refused)
{
	static const uint64_t few[] = {3};
	const sherd_ckpt_item item = {.tensor = {"t", SHERD_U8, 1, few, 0}, .data = "abc"};
	const sherd_ckpt_shard_items shard = {&item, 1};
	sherd_ckpt_save_options o = {.layout = SHERD_CKPT_LAYOUT_CSHARP, .digest = SHERD_DIGEST_BLAKE3};
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_save(STORE, "a", &shard, &o, err));
	o = (sherd_ckpt_save_options){.digest = (sherd_digest)2};
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_save(STORE, "a", &shard, &o, err));
	assert_keys(STORE, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_IN_MEMORY(the_bytes_are_the_same_whatever_the_workers),
		CASE_IN_MEMORY(the_digest_is_blake3_of_all_data_and_values_are_those_of_its_parts),
		CASE_IN_MEMORY(sums_of_blocks_that_lie_in_many_parts_are_those_of_their_bytes),
		CASE_IN_MEMORY(a_slice_is_checked_by_reading_its_parts_alone),
		CASE_ON_BOTH(damage_is_found_in_its_part_and_keeps_nothing_else_from_being_read),
		CASE_IN_MEMORY(values_of_parts_must_make_the_digest),
		CASE_IN_MEMORY(a_head_that_says_another_digest_is_refused),
		CASE_IN_MEMORY(a_shard_without_values_is_checked_whole),
		CASE_IN_MEMORY(values_that_failed_once_are_not_looked_at_again),
		CASE_IN_MEMORY(values_of_parts_without_blake3_in_the_head_are_refused),
		CASE_IN_MEMORY(a_damaged_shard_that_nobody_can_write_anew_is_left_alone),
		CASE_IN_MEMORY(a_save_that_fails_or_is_cancelled_leaves_nothing),
		CASE_IN_MEMORY(other_bytes_have_another_derived_id),
		CASE_ON_BOTH(ranks_may_choose_different_digests),
		CASE_IN_MEMORY(a_damaged_shard_is_written_anew_with_the_digest_it_had),
		CASE_ON_BOTH(sets_with_blake3_are_repaired_resharded_and_replaced),
		CASE_IN_MEMORY(damage_keeps_a_set_with_blake3_from_being_repaired),
		CASE_IN_MEMORY(the_example_of_the_document_is_what_we_write),
		CASE_IN_MEMORY(what_has_no_place_for_blake3_is_refused),
	};
	fill_bytes();
	return cmocka_run_group_tests_name("ckpt_digest", tests, NULL, NULL);
}

#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/test.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(ckpt_sample, ckpt_sample_free)
SHD_AUTO_DEFINE(sherd_pool, sherd_pool_close)
SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)
SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)

#define SAMPLE SHD_AUTO(ckpt_sample, ckpt_sample_free)
#define CKPT SHD_AUTO(sherd_ckpt, sherd_ckpt_close)

enum { ROOM = 4096 };

static size_t find(const sherd_ckpt *c, const ckpt_sample *s, size_t tensor)
{
	size_t at = sherd_ckpt_find(c, s->tensors[tensor].name);
	assert_true(at != SHERD_NO_TENSOR);
	return at;
}

TEST(every_range_of_every_tensor_is_right)
{
	SAMPLE s = ckpt_sample_full(11, 4);
	CKPT c = NULL;
	uint8_t got[ROOM];
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_ckpt_open(&c, STORE, "m", NULL, err));
	for (size_t i = 0; i < s->count; i++) {
		size_t t = find(c, s, i), bytes = (size_t)s->tensors[i].bytes;
		for (size_t from = 0; from <= bytes; from++)
			for (size_t len = 0; from + len <= bytes; len++) {
				memset(got, 0xa5, len + 1);
				assert_ok(sherd_ckpt_read(c, t, from, got, len, err));
				assert_memory_equal(got, s->bytes[i] + from, len);
				assert_int_equal(got[len], 0xa5);
			}
	}
}

static void random_box(ckpt_sample *s, const sherd_tensor *t, uint64_t *at, uint64_t *shape, bool allow_empty)
{
	for (uint32_t d = 0; d < t->ndim; d++) {
		at[d] = ckpt_sample_random(s, t->shape[d] + allow_empty);
		shape[d] = ckpt_sample_random(s, t->shape[d] - at[d] + allow_empty);
		shape[d] += !allow_empty;
		if (shape[d] > t->shape[d] - at[d])
			shape[d] = t->shape[d] - at[d];
	}
}

static uint64_t box_bytes(const sherd_tensor *t, const uint64_t *shape)
{
	uint64_t n = 0;
	assert_true(sherd_tensor_bytes(&n, t->dtype, t->ndim, shape));
	return n;
}

TEST(random_slices_are_those_of_a_naive_copy)
{
	static const sherd_ckpt_check checks[] = {SHERD_CHECK_CRC, SHERD_CHECK_NONE, SHERD_CHECK_DIGEST};
	for (uint64_t seed = 20; seed < 24; seed++) {
		SAMPLE s = ckpt_sample_full(seed, 1 + (uint32_t)(seed % 5));
		CKPT c = NULL;
		char prefix[16];
		(void)snprintf(prefix, sizeof(prefix), "m%u", (unsigned)seed);
		assert_ok(ckpt_sample_save(s, STORE, prefix, err));
		assert_ok(sherd_ckpt_open(&c, STORE, prefix, NULL, err));
		for (size_t round = 0; round < 1500; round++) {
			size_t i = (size_t)ckpt_sample_random(s, s->count);
			const sherd_tensor *t = &s->tensors[i];
			uint64_t at[SHERD_MAX_DIMS] = {0}, shape[SHERD_MAX_DIMS] = {0};
			uint8_t got[ROOM], want[ROOM];
			if (t->dtype == SHERD_UTF8)
				continue;
			random_box(s, t, at, shape, round % 4 == 0 || !t->bytes);
			size_t n = (size_t)box_bytes(t, shape);
			ckpt_sample_slice(s, i, at, shape, want);
			memset(got, 0xa5, n + 1);
			assert_ok(sherd_ckpt_read_slice(c, find(c, s, i), at, shape, got, err));
			assert_memory_equal(got, want, n);
			assert_int_equal(got[n], 0xa5);
			sherd_ckpt_want w = {find(c, s, i), at, shape, got};
			memset(got, 0xa5, n + 1);
			assert_ok(
				sherd_ckpt_load(c, &w, 1, &(sherd_ckpt_load_options){.check = checks[round % 3]}, err));
			assert_memory_equal(got, want, n);
			assert_int_equal(got[n], 0xa5);
		}
	}
}

TEST(loads_do_not_depend_on_workers_or_checks)
{
	SAMPLE s = ckpt_sample_full(31, 4);
	CKPT c = NULL;
	uint8_t *got[64];
	sherd_ckpt_want wants[64];
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_ckpt_open(&c, STORE, "m", NULL, err));
	for (size_t i = 0; i < s->count; i++) {
		got[i] = malloc((size_t)s->tensors[i].bytes + 1);
		wants[i] = (sherd_ckpt_want){.tensor = find(c, s, i), .buf = got[i]};
	}
	for (unsigned workers = 1; workers <= 4; workers++)
		for (int check = SHERD_CHECK_CRC; check <= SHERD_CHECK_DIGEST; check++) {
			SHD_AUTO(sherd_pool, sherd_pool_close) pool = NULL;
			assert_ok(sherd_pool_open(&pool, workers, err));
			sherd_ckpt_load_options o = {.check = (sherd_ckpt_check)check, .pool = pool};
			for (size_t i = 0; i < s->count; i++)
				memset(got[i], 0, (size_t)s->tensors[i].bytes);
			assert_ok(sherd_ckpt_load(c, wants, s->count, &o, err));
			for (size_t i = 0; i < s->count; i++)
				assert_memory_equal(got[i], s->bytes[i], s->tensors[i].bytes);
		}
	for (size_t i = 0; i < s->count; i++)
		free(got[i]);
}

TEST(whole_tensors_are_mapped_aligned_and_others_are_not)
{
	SAMPLE s = ckpt_sample_full(41, 3);
	CKPT c = NULL;
	size_t mapped = 0;
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_ckpt_open(&c, STORE, "m", NULL, err));
	for (size_t i = 0; i < s->count; i++) {
		const sherd_ckpt_piece *pieces = NULL;
		const void *p = NULL;
		size_t t = find(c, s, i), n = sherd_ckpt_pieces(&pieces, c, t);
		int rc = sherd_ckpt_map(&p, c, t, NULL);
		if (!s->tensors[i].bytes || n > 1) {
			assert_int_equal(rc, SHERD_EUNSUPPORTED);
			continue;
		}
		assert_int_equal(rc, SHERD_OK);
		assert_memory_equal(p, s->bytes[i], s->tensors[i].bytes);
		mapped++;
	}
	assert_true(mapped > 20);
}

TEST(what_leaves_a_tensor_is_refused)
{
	SAMPLE s = ckpt_sample_full(5, 2);
	CKPT c = NULL;
	uint8_t got[ROOM];
	const void *p;
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_ckpt_open(&c, STORE, "m", NULL, err));
	size_t grid = sherd_ckpt_find(c, "grid"), text = sherd_ckpt_find(c, "type.UTF8");
	uint64_t bytes = sherd_ckpt_tensor(c, grid)->bytes, zero[3] = {0}, at[3] = {4, 0, 0}, shape[3] = {1, 1, 1};
	uint64_t huge[3] = {UINT64_MAX, 1, 1};
	sherd_ckpt_want want = {.tensor = s->count, .buf = got};
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_read(c, grid, bytes, got, 1, err));
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_read(c, grid, UINT64_MAX, got, 2, err));
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_read(c, s->count, 0, got, 0, err));
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_read_slice(c, s->count, zero, shape, got, err));
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_read_slice(c, grid, at, shape, got, err));
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_read_slice(c, grid, shape, huge, got, err));
	assert_refused(SHERD_EUNSUPPORTED, "no-elements", sherd_ckpt_read_slice(c, text, zero, zero, got, err));
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_map(&p, c, s->count, err));
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_load(c, &want, 1, NULL, err));
	const sherd_ckpt_want wants[] = {{.tensor = grid, .buf = got}, want};
	sherd_error e = {0};
	assert_int_equal(sherd_ckpt_load(c, wants, 2, NULL, &e), SHERD_EINVAL);
	assert_int_equal(e.index, 1);
	assert_int_equal(sherd_ckpt_read(c, s->count, 0, got, 0, &e), SHERD_EINVAL);
	assert_true(e.index == SHERD_NO_INDEX);
}

/* Flips one byte of the tensor's data in the stored shard. */
static void damage(sherd_store *store, const sherd_ckpt *c, const char *name)
{
	const sherd_ckpt_piece *piece = NULL;
	size_t len;
	char key[64];
	assert_int_not_equal(sherd_ckpt_pieces(&piece, c, sherd_ckpt_find(c, name)), 0);
	const sherd_ckpt_shard *shard = sherd_ckpt_shard_at(c, piece->shard);
	(void)snprintf(key, sizeof(key), "%s", shard->file);
	char *data = object_get(store, key, &len);
	data[shard->data_offset + piece->offset] ^= 1;
	object_put(store, key, data, len);
	sherd_free(data);
}

TEST(a_checked_load_notices_damage_where_it_lies)
{
	SAMPLE s = ckpt_sample_full(6, 1);
	CKPT before = NULL;
	CKPT c = NULL;
	uint8_t got[ROOM];
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_ckpt_open(&before, STORE, "m", NULL, err));
	damage(STORE, before, "deep");
	assert_ok(sherd_ckpt_open(&c, STORE, "m", NULL, err));
	sherd_ckpt_want bad = {.tensor = sherd_ckpt_find(c, "deep"), .buf = got};
	sherd_ckpt_want good = {.tensor = sherd_ckpt_find(c, "grid"), .buf = got};
	const sherd_ckpt_piece *piece = NULL;
	assert_int_equal(sherd_ckpt_pieces(&piece, c, bad.tensor), 1);
	assert_refused(SHERD_ECORRUPT, "bad-crc", sherd_ckpt_load(c, &bad, 1, NULL, err));
	assert_fails(SHERD_ECORRUPT, 88 + piece->offset, sherd_ckpt_load(c, &bad, 1, NULL, err));
	const sherd_ckpt_want both[] = {good, bad};
	sherd_error e = {0};
	assert_int_equal(sherd_ckpt_load(c, both, 2, NULL, &e), SHERD_ECORRUPT);
	assert_int_equal(e.index, 1);
	assert_ok(sherd_ckpt_load(c, &good, 1, NULL, err));
	sherd_ckpt_load_options sha = {.check = SHERD_CHECK_DIGEST}, none = {.check = SHERD_CHECK_NONE};
	assert_refused(SHERD_ECORRUPT, "bad-checksum", sherd_ckpt_load(c, &good, 1, &sha, err));
	assert_ok(sherd_ckpt_load(c, &bad, 1, &none, err));
}

static bool stop_now(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done, (void)total;
	return false;
}

TEST(a_load_can_be_cancelled)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	CKPT c = NULL;
	uint8_t got[ROOM];
	sherd_progress stop = {.update = stop_now};
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_ckpt_open(&c, STORE, "m", NULL, err));
	sherd_ckpt_want want = {.tensor = 0, .buf = got};
	assert_refused(SHERD_ECANCELLED, "cancelled",
	               sherd_ckpt_load(c, &want, 1, &(sherd_ckpt_load_options){.progress = &stop}, err));
}

typedef struct seen_progress {
	uint64_t calls, done, total;
} seen_progress;

static bool count_calls(void *arg, uint64_t done, uint64_t total)
{
	*(seen_progress *)arg = (seen_progress){((seen_progress *)arg)->calls + 1, done, total};
	return true;
}

TEST(hashing_whole_shards_is_work_that_shows_and_can_be_cancelled)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	CKPT c = NULL;
	uint8_t got[ROOM];
	seen_progress seen = {0};
	sherd_progress count = {.update = count_calls, .arg = &seen};
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_ckpt_open(&c, STORE, "m", NULL, err));
	sherd_ckpt_want want = {.tensor = 0, .buf = got};
	sherd_ckpt_load_options o = {.check = SHERD_CHECK_DIGEST, .progress = &count};
	assert_ok(sherd_ckpt_load(c, &want, 1, &o, err));
	const sherd_ckpt_piece *pieces;
	uint64_t bytes = 0;
	for (size_t i = 0, n = sherd_ckpt_pieces(&pieces, c, 0); i < n; i++) /* each in a shard of its own */
		bytes += sherd_ckpt_shard_at(c, pieces[i].shard)->data_size;
	assert_int_equal(seen.done, seen.total);
	assert_int_equal(seen.total, bytes);
	assert_true(seen.calls >= 2);
}

TEST(a_bundle_shows_the_same_tensors)
{
	SAMPLE s = ckpt_sample_full(8, 3);
	CKPT c = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) opened = NULL;
	uint8_t got[ROOM];
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_ckpt_open(&c, STORE, "m", NULL, err));
	assert_ok(sherd_bundle_of_ckpt(&b, c, err));
	assert_ok(sherd_bundle_open(&opened, STORE, "m", NULL, err));
	for (size_t i = 0; i < s->count; i++) {
		size_t n = (size_t)s->tensors[i].bytes;
		assert_ok(sherd_bundle_read(b, sherd_bundle_find(b, s->tensors[i].name), 0, got, n, err));
		assert_memory_equal(got, s->bytes[i], n);
		assert_ok(sherd_bundle_read(opened, sherd_bundle_find(opened, s->tensors[i].name), 0, got, n, err));
		assert_memory_equal(got, s->bytes[i], n);
	}
}

/* Runs that windows of reading and blocks of checksums cut. */
TEST(large_cut_tensors_are_read_whole_and_in_slices)
{
	const uint64_t whole[2] = {3000, 12000}, shape[2] = {3000, 6000}, at[2][2] = {{0, 0}, {0, 6000}};
	uint8_t *bytes = malloc(36000000), *half[2], *got = malloc(36000000);
	for (uint64_t i = 0; i < 36000000; i++)
		bytes[i] = (uint8_t)((i * 2654435761u) >> 15);
	sherd_ckpt_item items[2];
	sherd_ckpt_shard_items shards[2];
	for (int k = 0; k < 2; k++) {
		half[k] = malloc(18000000);
		for (uint64_t r = 0; r < 3000; r++)
			memcpy(half[k] + r * 6000, bytes + r * 12000 + at[k][1], 6000);
		items[k] = (sherd_ckpt_item){.tensor = {"x", SHERD_U8, 2, shape, 0},
		                             .global_shape = whole,
		                             .global_offset = at[k],
		                             .data = half[k]};
		shards[k] = (sherd_ckpt_shard_items){&items[k], 1};
	}
	CKPT c = NULL;
	assert_ok(sherd_ckpt_save(STORE, "m", shards, &(sherd_ckpt_save_options){.world = 2}, err));
	assert_ok(sherd_ckpt_open(&c, STORE, "m", NULL, err));
	for (int check = SHERD_CHECK_CRC; check <= SHERD_CHECK_NONE; check++) {
		sherd_ckpt_want want = {.buf = got};
		memset(got, 0, 36000000);
		assert_ok(sherd_ckpt_load(c, &want, 1, &(sherd_ckpt_load_options){(sherd_ckpt_check)check, NULL, NULL},
		                          err));
		assert_memory_equal(got, bytes, 36000000);
		uint64_t from[2] = {2790, 5999}, size[2] = {7, 3};
		want = (sherd_ckpt_want){.at = from, .shape = size, .buf = got};
		assert_ok(sherd_ckpt_load(c, &want, 1, &(sherd_ckpt_load_options){(sherd_ckpt_check)check, NULL, NULL},
		                          err));
		for (uint64_t r = 0; r < 7; r++)
			assert_memory_equal(got + 3 * r, bytes + (2790 + r) * 12000 + 5999, 3);
	}
	memset(got, 0, 36000000);
	assert_ok(sherd_ckpt_read(c, 0, 1234567, got, 30000001, err));
	assert_memory_equal(got, bytes + 1234567, 30000001);
	free(bytes);
	free(half[0]);
	free(half[1]);
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_IN_MEMORY(every_range_of_every_tensor_is_right),
		CASE_ON_BOTH(random_slices_are_those_of_a_naive_copy),
		CASE_ON_BOTH(loads_do_not_depend_on_workers_or_checks),
		CASE_ON_BOTH(whole_tensors_are_mapped_aligned_and_others_are_not),
		CASE_IN_MEMORY(what_leaves_a_tensor_is_refused),
		CASE_ON_BOTH(a_checked_load_notices_damage_where_it_lies),
		CASE_IN_MEMORY(a_load_can_be_cancelled),
		CASE_IN_MEMORY(hashing_whole_shards_is_work_that_shows_and_can_be_cancelled),
		CASE_ON_BOTH(a_bundle_shows_the_same_tensors),
		CASE_IN_FOLDER(large_cut_tensors_are_read_whole_and_in_slices),
	};
	return cmocka_run_group_tests_name("ckpt_read", tests, NULL, NULL);
}

#include "support/ckpt_place.h"
#include "support/fail_store.h"
#include "support/test.h"

#include <sherd/ckpt.h>

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* Loading with SHERD_CHECK_DIGEST: each touched shard is read once, and what is wanted is taken from that reading. */

enum { ROWS = 64, COLUMNS = 3000, BYTES = ROWS * COLUMNS, SHARDS = 2 };

typedef struct fixture {
	sherd_store *store;
	sherd_ckpt *ckpt;
	uint8_t *bytes;
	size_t whole, cut, other;
} fixture;

static void save(fixture *f, sherd_ckpt_layout layout)
{
	static const uint64_t shape[2] = {ROWS, COLUMNS}, half[2] = {ROWS, COLUMNS / 2};
	static const uint64_t left[2] = {0, 0}, right[2] = {0, COLUMNS / 2};
	static uint8_t halves[2][BYTES / 2];
	for (size_t i = 0; i < BYTES; i++)
		halves[i % COLUMNS >= COLUMNS / 2][i / COLUMNS * (COLUMNS / 2) + i % (COLUMNS / 2)] = f->bytes[i];
	bool cut = layout == SHERD_CKPT_LAYOUT_SHERD;
	sherd_ckpt_item items[SHARDS][2] = {
		{{.tensor = {.name = "whole", .dtype = SHERD_U8, .ndim = 2, .shape = shape}, .data = f->bytes},
	         {.tensor = {.name = "cut", .dtype = SHERD_U8, .ndim = 2, .shape = half},
	          .global_shape = shape,
	          .global_offset = left,
	          .data = halves[0]}},
		{{.tensor = {.name = "other", .dtype = SHERD_U8, .ndim = 2, .shape = shape}, .data = f->bytes},
	         {.tensor = {.name = "cut", .dtype = SHERD_U8, .ndim = 2, .shape = half},
	          .global_shape = shape,
	          .global_offset = right,
	          .data = halves[1]}},
	};
	sherd_ckpt_shard_items shards[SHARDS] = {{items[0], cut ? 2 : 1}, {items[1], cut ? 2 : 1}};
	assert_ok(sherd_ckpt_save(f->store, "c", shards, &(sherd_ckpt_save_options){.world = SHARDS, .layout = layout},
	                          err));
}

static void open_it(fixture *f)
{
	assert_ok(sherd_ckpt_open(&f->ckpt, f->store, "c", NULL, err));
	f->whole = sherd_ckpt_find(f->ckpt, "whole");
	f->other = sherd_ckpt_find(f->ckpt, "other");
	f->cut = sherd_ckpt_find(f->ckpt, "cut");
}

static int begin(void **state)
{
	fixture *f = calloc(1, sizeof(*f));
	f->bytes = malloc(BYTES);
	for (size_t i = 0; i < BYTES; i++)
		f->bytes[i] = (uint8_t)(i * 2654435761u >> 15);
	assert_ok(sherd_store_open_memory(&f->store, err));
	*state = f;
	return 0;
}

static int end(void **state)
{
	fixture *f = *state;
	sherd_ckpt_close(f->ckpt);
	sherd_store_close(f->store);
	free(f->bytes);
	free(f);
	return 0;
}

static int load(const fixture *f, const sherd_ckpt_want *wants, size_t count, unsigned workers, sherd_error *err)
{
	sherd_pool *pool = NULL;
	if (workers)
		TRY(sherd_pool_open(&pool, workers, err));
	sherd_ckpt_load_options options = {.check = SHERD_CHECK_DIGEST, .pool = pool};
	int rc = sherd_ckpt_load(f->ckpt, wants, count, &options, err);
	sherd_pool_close(pool);
	return rc;
}

TEST(whole_cut_sliced_and_repeated_tensors_arrive)
{
	static uint8_t got[6][BYTES];
	static const uint64_t at[2] = {10, 1000}, shape[2] = {7, 1500}, row[2] = {5, 0}, rows[2] = {9, COLUMNS};
	fixture *f = *state;
	save(f, SHERD_CKPT_LAYOUT_SHERD);
	open_it(f);
	const sherd_ckpt_want wants[] = {
		{.tensor = f->other, .buf = got[0]},
		{.tensor = f->whole, .buf = got[1]},
		{.tensor = f->cut, .buf = got[2]},
		{.tensor = f->whole, .at = at, .shape = shape, .buf = got[3]},
		{.tensor = f->whole, .at = row, .shape = rows, .buf = got[4]},
		{.tensor = f->whole, .buf = got[5]},
	};
	for (unsigned workers = 0; workers <= 3; workers++) {
		memset(got, 0, sizeof(got));
		assert_ok(load(f, wants, sizeof(wants) / sizeof(wants[0]), workers, err));
		assert_memory_equal(got[0], f->bytes, BYTES);
		assert_memory_equal(got[1], f->bytes, BYTES);
		assert_memory_equal(got[2], f->bytes, BYTES);
		for (size_t r = 0; r < shape[0]; r++)
			assert_memory_equal(got[3] + r * shape[1], f->bytes + (at[0] + r) * COLUMNS + at[1], shape[1]);
		assert_memory_equal(got[4], f->bytes + row[0] * COLUMNS, rows[0] * COLUMNS);
		assert_memory_equal(got[5], f->bytes, BYTES);
	}
	assert_ok(load(f, NULL, 0, 0, err));
	assert_ok(load(f, wants + 4, 1, 0, err));
}

static bool count_bytes(void *arg, uint64_t done, uint64_t total)
{
	uint64_t *seen = arg;
	assert_true(done <= total);
	seen[0] = done;
	seen[1] = total;
	return true;
}

TEST(progress_counts_all_bytes_that_are_hashed)
{
	static uint8_t got[2][BYTES];
	uint64_t seen[2] = {0};
	fixture *f = *state;
	save(f, SHERD_CKPT_LAYOUT_SHERD);
	open_it(f);
	const sherd_ckpt_want wants[] = {{.tensor = f->whole, .buf = got[0]}, {.tensor = f->cut, .buf = got[1]}};
	sherd_progress progress = {.update = count_bytes, .arg = seen};
	assert_ok(sherd_ckpt_load(f->ckpt, wants, 2,
	                          &(sherd_ckpt_load_options){.check = SHERD_CHECK_DIGEST, .progress = &progress}, err));
	uint64_t bytes = 0;
	for (size_t i = 0; i < sherd_ckpt_shards(f->ckpt); i++)
		bytes += sherd_ckpt_shard_at(f->ckpt, i)->data_size;
	assert_int_equal(seen[0], bytes);
	assert_int_equal(seen[1], bytes);
}

static void flip(sherd_store *store, const char *key, uint64_t at)
{
	char *data;
	size_t len;
	assert_ok(sherd_store_get(&data, &len, store, key, 1u << 30, err));
	data[at] ^= 1;
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, data, len, err));
	sherd_free(data);
}

TEST(a_flipped_bit_anywhere_in_a_touched_shard_is_noticed)
{
	static uint8_t got[BYTES];
	fixture *f = *state;
	save(f, SHERD_CKPT_LAYOUT_SHERD);
	open_it(f);
	const uint64_t size = sherd_ckpt_shard_at(f->ckpt, 1)->file_size;
	const uint64_t places[] = {88, 128, 128 + BYTES - 1, 128 + BYTES, size - 1};
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		sherd_ckpt_close(f->ckpt);
		flip(f->store, "c_shard_1.shard", places[i]);
		open_it(f);
		assert_refused(SHERD_ECORRUPT, "bad-checksum",
		               load(f, &(sherd_ckpt_want){.tensor = f->other, .buf = got}, 1, 0, err));
		/* The other shard is not looked at. */
		assert_ok(load(f, &(sherd_ckpt_want){.tensor = f->whole, .buf = got}, 1, 0, err));
		flip(f->store, "c_shard_1.shard", places[i]);
	}
}

TEST(shards_without_a_checksum_are_loaded_all_the_same)
{
	static uint8_t got[BYTES];
	fixture *f = *state;
	save(f, SHERD_CKPT_LAYOUT_CSHARP);
	open_it(f);
	assert_ok(load(f, &(sherd_ckpt_want){.tensor = f->other, .buf = got}, 1, 2, err));
	assert_memory_equal(got, f->bytes, BYTES);
}

enum { CUBE_A = 5, CUBE_B = 700, CUBE_C = 898, BOXES = 24, CUBE = CUBE_A * CUBE_B * CUBE_C, MIB = 1 << 20 };

static uint8_t cube[CUBE];

typedef struct some_box {
	uint64_t at[3], shape[3];
	uint8_t *got;
} some_box;

static some_box *make_boxes(sherd_ckpt_want wants[BOXES])
{
	static const uint64_t dims[] = {CUBE_A, CUBE_B, CUBE_C};
	some_box *boxes = calloc(BOXES, sizeof(*boxes));
	uint32_t x = 5;
	for (size_t i = 0; i < BOXES; i++) {
		some_box *b = &boxes[i];
		for (int d = 0; d < 3; d++) {
			b->at[d] = ((x = x * 1664525u + 1013904223u) >> 8) % dims[d];
			b->shape[d] = 1 + ((x = x * 1664525u + 1013904223u) >> 8) % (dims[d] - b->at[d]);
		}
		if (i % 4 == 0)
			b->shape[2] = 1;
		b->got = malloc(b->shape[0] * b->shape[1] * b->shape[2]);
		wants[i] = (sherd_ckpt_want){.at = b->at, .shape = b->shape, .buf = b->got};
	}
	return boxes;
}

static void check_boxes(some_box *boxes)
{
	for (size_t i = 0; i < BOXES; i++) {
		const some_box *b = &boxes[i];
		const uint8_t *got = b->got;
		for (uint64_t j = 0; j < b->shape[0]; j++)
			for (uint64_t k = 0; k < b->shape[1]; k++, got += b->shape[2])
				assert_memory_equal(got,
				                    cube + ((b->at[0] + j) * CUBE_B + b->at[1] + k) * CUBE_C + b->at[2],
				                    b->shape[2]);
		free(b->got);
	}
	free(boxes);
}

/* Many of them, one over another: no byte of the shard is read a second time. */
TEST(slices_of_many_runs_come_from_the_bytes_that_were_hashed)
{
	static const uint64_t shape[] = {CUBE_A, CUBE_B, CUBE_C};
	for (size_t i = 0; i < CUBE; i++)
		cube[i] = (uint8_t)(i * 2654435761u >> 15);
	const sherd_ckpt_item item = {.tensor = {"cube", SHERD_U8, 3, shape, 0}, .data = cube};
	const sherd_ckpt_shard_items shard = {&item, 1};
	sherd_pool *pool = NULL;
	sherd_store *inner;
	assert_ok(sherd_pool_open(&pool, 3, err));
	assert_ok(sherd_store_open_memory(&inner, err));
	sherd_store *store = fail_store_over(inner);
	for (int way = 0; way < 3; way++) {
		const sherd_digest digest = way ? SHERD_DIGEST_BLAKE3 : SHERD_DIGEST_SHA256;
		const sherd_ckpt_load_options o = {.check = SHERD_CHECK_DIGEST, .pool = pool};
		sherd_ckpt_want wants[BOXES];
		sherd_ckpt *c = NULL;
		some_box *boxes = make_boxes(wants);
		const sherd_ckpt_save_options how = {.digest = way == 1 ? digest : SHERD_DIGEST_SHA256};
		const char *prefix = way == 0 ? "a" : way == 1 ? "b" : "c";
		const char *key = way == 0 ? "a_shard_0.shard" : way == 1 ? "b_shard_0.shard" : "c_shard_0.shard";
		assert_ok(sherd_ckpt_save(store, prefix, &shard, &how, err));
		object_rehead(store, key, how.digest, "x_shard_0.shard", digest, 1);
		assert_ok(sherd_ckpt_open_shard(&c, store, "x_shard_0.shard", NULL, err));
		uint64_t before = fail_store_read_bytes(store);
		assert_ok(sherd_ckpt_load(c, wants, BOXES, &o, err));
		/* Once, and of BLAKE3 with values the last part before. */
		assert_true(fail_store_read_bytes(store) - before < CUBE + MIB);
		check_boxes(boxes);
		sherd_ckpt_close(c);
	}
	sherd_pool_close(pool);
	sherd_store_close(store);
}

static bool stop_at_once(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done, (void)total;
	return false;
}

TEST(a_load_that_is_cancelled_at_once_reads_nothing)
{
	uint8_t got[3];
	sherd_store *inner;
	sherd_ckpt *c = NULL;
	assert_ok(sherd_store_open_memory(&inner, err));
	sherd_store *store = fail_store_over(inner);
	static const uint64_t three[] = {3};
	const sherd_ckpt_item item = {.tensor = {"first", SHERD_U8, 1, three, 0}, .data = "abc"};
	const sherd_ckpt_shard_items shard = {&item, 1};
	assert_ok(sherd_ckpt_save(store, "a", &shard, &(sherd_ckpt_save_options){.digest = SHERD_DIGEST_BLAKE3}, err));
	assert_ok(sherd_ckpt_open(&c, store, "a", NULL, err));
	const sherd_ckpt_want want = {.tensor = sherd_ckpt_find(c, "first"), .buf = got};
	const sherd_progress progress = {.update = stop_at_once};
	uint64_t before = fail_store_read_bytes(store);
	assert_int_equal(sherd_ckpt_load(c, &want, 1,
	                                 &(sherd_ckpt_load_options){.check = SHERD_CHECK_DIGEST, .progress = &progress},
	                                 NULL),
	                 SHERD_ECANCELLED);
	assert_int_equal(fail_store_read_bytes(store), before);
	sherd_ckpt_close(c);
	sherd_store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(whole_cut_sliced_and_repeated_tensors_arrive, begin, end),
		cmocka_unit_test_setup_teardown(progress_counts_all_bytes_that_are_hashed, begin, end),
		cmocka_unit_test_setup_teardown(a_flipped_bit_anywhere_in_a_touched_shard_is_noticed, begin, end),
		cmocka_unit_test(slices_of_many_runs_come_from_the_bytes_that_were_hashed),
		cmocka_unit_test(a_load_that_is_cancelled_at_once_reads_nothing),
		cmocka_unit_test_setup_teardown(shards_without_a_checksum_are_loaded_all_the_same, begin, end),
	};
	return cmocka_run_group_tests_name("ckpt load hashed", tests, NULL, NULL);
}

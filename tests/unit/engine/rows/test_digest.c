#include "support/test.h"

#include "base/error.h"
#include "codec/sha256.h"

#include <sherd/rows.h>

#include <string.h>

enum { WIDTH = 3, ROWS = 50 };

static sherd_store *store;
static sherd_pool *pool;
static sherd_rows *rows;
static double values[ROWS * WIDTH];

/* Shards of 20, 0 and 30 rows. */
static int set_up(void **state)
{
	sherd_error err;
	(void)state;
	for (size_t i = 0; i < COUNT_OF(values); i++)
		values[i] = (double)i / 4 - 7;
	if (sherd_store_open_memory(&store, &err) < 0 || sherd_pool_open(&pool, 3, &err) < 0 ||
	    sherd_rows_write_shard(store, "set/a.shard", values, 20, WIDTH, NULL, NULL, &err) < 0 ||
	    sherd_rows_write_shard(store, "set/b.shard", values, 0, WIDTH, NULL, NULL, &err) < 0 ||
	    sherd_rows_write_shard(store, "set/c.shard", values + 20 * WIDTH, 30, WIDTH, NULL, NULL, &err) < 0)
		return -1;
	return sherd_rows_open_folder(&rows, store, "set", NULL, &err);
}

static int tear_down(void **state)
{
	(void)state;
	sherd_rows_close(rows);
	sherd_pool_close(pool);
	sherd_store_close(store);
	return 0;
}

static sherd_rows_cursor *cursor_over(const sherd_rows_stream_options *stream)
{
	sherd_rows_cursor *cursor = NULL;
	assert_ok(sherd_rows_cursor_open(&cursor, rows, stream, err));
	return cursor;
}

static sherd_rows_digest digest_of(const sherd_rows_stream_options *stream, bool set, sherd_pool *with,
                                   uint64_t batches)
{
	sherd_rows_digest digest = {0};
	sherd_rows_digest_options options = {.pool = with, .batches = batches};
	sherd_rows_cursor *cursor = cursor_over(stream);
	if (set)
		assert_ok(sherd_rows_digest_set(&digest, cursor, &options, err));
	else
		assert_ok(sherd_rows_digest_values(&digest, cursor, &options, err));
	sherd_rows_cursor_close(cursor);
	return digest;
}

static void add(uint8_t sum[SHERD_ROWS_DIGEST_BYTES], const uint8_t more[SHERD_ROWS_DIGEST_BYTES])
{
	int carry = 0;
	for (int i = SHERD_ROWS_DIGEST_BYTES; i-- > 0; carry >>= 8) {
		carry += sum[i] + more[i];
		sum[i] = (uint8_t)(carry & 0xFF);
	}
}

/* By the sentence in the header, for doubles. */
static void expected_set(uint8_t sum[SHERD_ROWS_DIGEST_BYTES])
{
	memset(sum, 0, SHERD_ROWS_DIGEST_BYTES);
	for (uint64_t id = 0; id < ROWS; id++) {
		uint8_t text[8 + WIDTH * 8], one[SHERD_ROWS_DIGEST_BYTES];
		for (int b = 0; b < 8; b++)
			text[b] = (uint8_t)(id >> 8 * b);
		memcpy(text + 8, values + id * WIDTH, WIDTH * 8);
		shd_sha256_of(text, sizeof(text), one);
		add(sum, one);
	}
}

TEST(the_digest_of_values_is_their_sha_256)
{
	uint8_t want[SHERD_ROWS_DIGEST_BYTES];
	shd_sha256_of(values, sizeof(values), want);
	for (uint64_t batch = 1; batch < 60; batch += 7) {
		sherd_rows_digest got = digest_of(&(sherd_rows_stream_options){.batch_rows = batch}, false, NULL, 0);
		assert_memory_equal(got.hash, want, sizeof(want));
		assert_int_equal(got.rows, ROWS);
	}
	float narrow[ROWS * WIDTH];
	for (size_t i = 0; i < COUNT_OF(values); i++)
		narrow[i] = (float)values[i];
	shd_sha256_of(narrow, sizeof(narrow), want);
	sherd_rows_digest got = digest_of(&(sherd_rows_stream_options){.dtype = SHERD_F32}, false, NULL, 0);
	assert_memory_equal(got.hash, want, sizeof(want));
	assert_int_equal(got.batches, 2);
}

TEST(the_set_digest_knows_no_order_and_no_workers)
{
	uint8_t want[SHERD_ROWS_DIGEST_BYTES];
	expected_set(want);
	for (uint64_t batch = 1; batch < 60; batch += 7) {
		sherd_rows_digest got = digest_of(&(sherd_rows_stream_options){.batch_rows = batch}, true, NULL, 0);
		assert_memory_equal(got.hash, want, sizeof(want));
		got = digest_of(&(sherd_rows_stream_options){.batch_rows = batch, .shuffle = true, .seed = batch}, true,
		                pool, 0);
		assert_memory_equal(got.hash, want, sizeof(want));
		assert_int_equal(got.rows, ROWS);
	}
}

TEST(the_set_digests_of_ranks_add_up_and_padding_is_left_out)
{
	uint8_t want[SHERD_ROWS_DIGEST_BYTES];
	expected_set(want);
	for (uint32_t world = 1; world < 9; world++) {
		uint8_t sum[SHERD_ROWS_DIGEST_BYTES] = {0};
		uint64_t delivered = 0;
		for (uint32_t rank = 0; rank < world; rank++) {
			sherd_rows_digest part = digest_of(
				&(sherd_rows_stream_options){
					.batch_rows = 4, .rank = rank, .world = world, .tail = SHERD_ROWS_TAIL_PAD},
				true, pool, 0);
			add(sum, part.hash);
			delivered += part.rows;
		}
		assert_memory_equal(sum, want, sizeof(want));
		assert_true(delivered >= ROWS);
	}
}

TEST(a_digest_goes_on_where_the_cursor_stands_and_stops_when_told)
{
	sherd_rows_cursor *cursor = cursor_over(&(sherd_rows_stream_options){.batch_rows = 10});
	sherd_rows_digest first, rest, none;
	uint8_t want[SHERD_ROWS_DIGEST_BYTES];
	assert_ok(sherd_rows_digest_values(&first, cursor, &(sherd_rows_digest_options){.batches = 3}, err));
	assert_int_equal(first.batches, 3);
	assert_int_equal(first.rows, 30);
	shd_sha256_of(values, 30 * WIDTH * 8, want);
	assert_memory_equal(first.hash, want, sizeof(want));
	assert_ok(sherd_rows_digest_values(&rest, cursor, NULL, err));
	shd_sha256_of(values + 30 * WIDTH, 20 * WIDTH * 8, want);
	assert_memory_equal(rest.hash, want, sizeof(want));
	assert_ok(sherd_rows_digest_set(&none, cursor, NULL, err));
	assert_int_equal(none.rows, 0);
	memset(want, 0, sizeof(want));
	assert_memory_equal(none.hash, want, sizeof(want));
	sherd_rows_cursor_close(cursor);
}

typedef struct watching {
	uint64_t last, total, calls, stop_after;
} watching;

static bool watch(void *arg, uint64_t done, uint64_t total)
{
	watching *w = arg;
	assert_true(done >= w->last && done <= total);
	w->last = done;
	w->total = total;
	return ++w->calls != w->stop_after;
}

TEST(progress_counts_what_was_passed_and_can_cancel)
{
	for (int set = 0; set < 2; set++) {
		watching w = {0};
		sherd_progress progress = {watch, &w};
		sherd_rows_digest_options options = {.progress = &progress};
		sherd_rows_digest digest;
		sherd_rows_stream_options stream = {.batch_rows = 5, .from = 10, .sample = true, .fraction = 0.5};
		sherd_rows_cursor *cursor = cursor_over(&stream);
		assert_ok(set ? sherd_rows_digest_set(&digest, cursor, &options, err)
		              : sherd_rows_digest_values(&digest, cursor, &options, err));
		assert_int_equal(w.total, 40 * WIDTH * 4);
		assert_true(w.calls > 1);
		sherd_rows_reset(cursor);
		w = (watching){.stop_after = 2};
		assert_refused(SHERD_ECANCELLED, "cancelled",
		               set ? sherd_rows_digest_set(&digest, cursor, &options, err)
		                   : sherd_rows_digest_values(&digest, cursor, &options, err));
		sherd_rows_cursor_close(cursor);
	}
}

/* ---- by key, and as tensors */

static void put_text(const char *key, const char *text)
{
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, text, strlen(text), err));
}

static void put_bf16(void)
{
	static const uint8_t bits[] = {0x80, 0x3f, 0x00, 0xc0, 0x00, 0x40, 0x40, 0x40};
	put_text("bf/manifest.json",
	         "{\"format\":\"residual_shard_bf16\",\"format_version\":1,\"dtype\":\"bfloat16\","
	         "\"byte_order\":\"little\",\"d_model\":2,\"rows_per_shard\":1,\"total_tokens\":2,\"shards\":["
	         "{\"file\":\"z.bf16\",\"rows\":1,\"bytes\":4},{\"file\":\"a.bf16\",\"rows\":1,\"bytes\":4}]}");
	assert_ok(sherd_store_put(store, "bf/z.bf16", SHERD_WRITE_REPLACE, bits, 4, err));
	assert_ok(sherd_store_put(store, "bf/a.bf16", SHERD_WRITE_REPLACE, bits + 4, 4, err));
}

TEST(a_set_is_opened_by_its_folder_and_a_shard_by_its_file)
{
	sherd_rows *got;
	assert_ok(sherd_rows_open_any(&got, store, "set", NULL, err));
	assert_int_equal(sherd_rows_total(got), ROWS);
	assert_int_equal(sherd_rows_dtype(got), SHERD_F32);
	sherd_rows_close(got);
	assert_ok(sherd_rows_open_any(&got, store, "set/c.shard", NULL, err));
	assert_int_equal(sherd_rows_total(got), 30);
	sherd_rows_close(got);
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_rows_open_any(&got, store, "none", NULL, err));
	static const char npy[] = "\x93NUMPY\x01";
	put_text("x.npy", npy);
	assert_refused(SHERD_EUNSUPPORTED, "unknown-format", sherd_rows_open_any(&got, store, "x.npy", NULL, err));
}

TEST(bfloat16_rows_are_delivered_in_the_order_of_their_manifest)
{
	sherd_rows *got;
	sherd_rows_cursor *cursor;
	sherd_rows_batch b;
	static const double want[2][2] = {{1, -2}, {2, 3}};
	static const uint64_t last_first[] = {1, 0};
	put_bf16();
	assert_ok(sherd_rows_open_any(&got, store, "bf", NULL, err));
	assert_int_equal(sherd_rows_total(got), 2);
	assert_int_equal(sherd_rows_width(got), 2);
	assert_int_equal(sherd_rows_dtype(got), SHERD_BF16);
	assert_string_equal(sherd_rows_shard_at(got, 0)->key, "bf/z.bf16");
	assert_int_equal(sherd_rows_shard_at(got, 1)->first, 1);
	assert_true(sherd_rows_has_manifest(got));
	for (sherd_rows_access access = SHERD_ROWS_AUTO; access <= SHERD_ROWS_DIRECT; access++) {
		float out[2][2];
		assert_ok(sherd_rows_cursor_open(&cursor, got, &(sherd_rows_stream_options){.access = access}, err));
		for (int i = 0; i < 2; i++) {
			assert_int_equal(sherd_rows_next(&b, cursor, NULL), 1);
			assert_int_equal(b.first_id, i);
			assert_memory_equal(b.data, want[i], sizeof(want[i]));
		}
		assert_int_equal(sherd_rows_next(&b, cursor, NULL), 0);
		sherd_rows_cursor_close(cursor);
		assert_ok(sherd_rows_cursor_open(
			&cursor, got, &(sherd_rows_stream_options){.access = access, .dtype = SHERD_F32}, err));
		assert_int_equal(sherd_rows_next(&b, cursor, NULL), 1);
		assert_true(((const float *)b.data)[0] == 1 && ((const float *)b.data)[1] == -2);
		assert_ok(sherd_rows_gather(cursor, last_first, 2, out, err));
		assert_true(out[0][0] == 2 && out[0][1] == 3 && out[1][0] == 1 && out[1][1] == -2);
		sherd_rows_cursor_close(cursor);
	}
	sherd_rows_close(got);
	assert_ok(sherd_store_remove(store, "bf/a.bf16", err));
	assert_refused(SHERD_EINCOMPLETE, "missing-shard", sherd_rows_open_any(&got, store, "bf", NULL, err));
}

TEST(a_set_is_one_tensor_of_a_bundle)
{
	sherd_bundle *bundle;
	float want[ROWS * WIDTH], got[ROWS * WIDTH];
	for (size_t i = 0; i < COUNT_OF(values); i++)
		want[i] = (float)values[i];
	assert_ok(sherd_bundle_open(&bundle, store, "set", NULL, err));
	assert_int_equal(sherd_bundle_format(bundle), SHERD_FORMAT_ROWS);
	const sherd_tensor *t = sherd_bundle_tensor(bundle, sherd_bundle_find(bundle, "rows"));
	assert_int_equal(t->dtype, SHERD_F32);
	assert_int_equal(t->shape[0], ROWS);
	assert_int_equal(t->shape[1], WIDTH);
	assert_int_equal(t->bytes, sizeof(want));
	for (size_t from = 0; from < sizeof(want); from += 13)
		for (size_t len = 1; len <= sizeof(want) - from; len += 101) {
			memset(got, 0xAA, sizeof(got));
			assert_ok(sherd_bundle_read(bundle, 0, from, got, len, err));
			assert_memory_equal(got, (const uint8_t *)want + from, len);
		}
	sherd_bundle_close(bundle);
	put_bf16();
	assert_ok(sherd_bundle_open(&bundle, store, "bf", NULL, err));
	assert_int_equal(sherd_bundle_format(bundle), SHERD_FORMAT_ROWS_BF16);
	assert_int_equal(sherd_bundle_tensor(bundle, 0)->dtype, SHERD_BF16);
	uint8_t bits[8];
	assert_ok(sherd_bundle_read(bundle, 0, 0, bits, sizeof(bits), err));
	static const uint8_t in_order[] = {0x80, 0x3f, 0x00, 0xc0, 0x00, 0x40, 0x40, 0x40};
	assert_memory_equal(bits, in_order, sizeof(bits));
	sherd_bundle_close(bundle);
}

TEST(a_shard_that_was_replaced_is_not_read_as_the_old_one)
{
	sherd_bundle *bundle;
	uint8_t bytes[4];
	assert_ok(sherd_rows_write_shard(store, "other/a.shard", values, 2, WIDTH, NULL, NULL, err));
	assert_ok(sherd_bundle_open(&bundle, store, "other", NULL, err));
	assert_ok(sherd_store_remove(store, "other/a.shard", err));
	assert_ok(sherd_rows_write_shard(store, "other/a.shard", values, 3, WIDTH, NULL, NULL, err));
	assert_refused(SHERD_ECONFLICT, "changed", sherd_bundle_read(bundle, 0, 0, bytes, sizeof(bytes), err));
	sherd_bundle_close(bundle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_digest_of_values_is_their_sha_256),
		cmocka_unit_test(the_set_digest_knows_no_order_and_no_workers),
		cmocka_unit_test(the_set_digests_of_ranks_add_up_and_padding_is_left_out),
		cmocka_unit_test(a_digest_goes_on_where_the_cursor_stands_and_stops_when_told),
		cmocka_unit_test(progress_counts_what_was_passed_and_can_cancel),
		cmocka_unit_test(a_set_is_opened_by_its_folder_and_a_shard_by_its_file),
		cmocka_unit_test(bfloat16_rows_are_delivered_in_the_order_of_their_manifest),
		cmocka_unit_test(a_set_is_one_tensor_of_a_bundle),
		cmocka_unit_test(a_shard_that_was_replaced_is_not_read_as_the_old_one),
	};
	return cmocka_run_group_tests_name("rows digests", tests, set_up, tear_down);
}

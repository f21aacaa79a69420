/* Every bit of every file of a small checkpoint, every length, bytes behind: verification reports each. */
#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(ckpt_sample, ckpt_sample_free)

static const char *const files[] = {"m.metadata.json", "m_shard_0.shard", "m_shard_1.shard"};

/* Pieces, a whole tensor, a replica, text of both ranks: every part of the format is there. */
static void save(sherd_store *store, sherd_digest digest)
{
	static const uint64_t four = 4, two = 2, zero = 0, one = 1;
	static const uint64_t text[] = {0, 3, 0};
	sherd_ckpt_about about = {
		.has_step = true, .step = 5, .strategy = "ddp", .fields = &(sherd_pair){"a", "b"}, .field_count = 1};
	sherd_set_id id = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
	uint8_t utf8[19];
	memcpy(utf8, text, 16);
	memcpy(utf8 + 16, "abc", 3);
	sherd_ckpt_item first[] = {
		{.tensor = {"cut", SHERD_U16, 1, &two, 0},
	         .data = "abcd",
	         .global_shape = &four,
	         .global_offset = &zero},
		{.tensor = {"text", SHERD_UTF8, 1, &one, 19}, .data = utf8, .extra = "\"more\": 1"},
		{.tensor = {"same", SHERD_BOOL, 0, NULL, 0}, .data = "\1"},
	};
	sherd_ckpt_item second[] = {
		{.tensor = {"cut", SHERD_U16, 1, &two, 0},
	         .data = "efgh",
	         .global_shape = &four,
	         .global_offset = &two},
		{.tensor = {"same", SHERD_BOOL, 0, NULL, 0}, .data = "\1"},
	};
	sherd_ckpt_shard_items shards[] = {{first, COUNT_OF(first)}, {second, COUNT_OF(second)}};
	sherd_ckpt_save_options o = {
		.world = 2, .set_id = &id, .time_ns = 1234567890123456789, .about = &about, .digest = digest};
	assert_ok(sherd_ckpt_save(store, "m", shards, &o, err));
}

static size_t errors(sherd_store *store, const char *key)
{
	sherd_report *r = NULL;
	assert_ok(sherd_verify(&r, store, key, NULL, err));
	size_t n = sherd_report_errors(r);
	sherd_report_close(r);
	return n;
}

static void assert_noticed(sherd_store *store, const char *file, const char *what, size_t at)
{
	if (!errors(store, "m"))
		fail_msg("%s: %s %zu was not noticed", file, what, at);
	/* a shard by itself, too; the metadata by its own name */
	if (!errors(store, file))
		fail_msg("%s by itself: %s %zu was not noticed", file, what, at);
}

TEST(the_set_is_small_and_good)
{
	size_t total = 0;
	save(STORE, SHERD_DIGEST_SHA256);
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		sherd_stat stat;
		assert_ok(sherd_store_stat(&stat, STORE, files[i], err));
		total += stat.size;
	}
	assert_true(total < 4096);
	assert_int_equal(errors(STORE, "m"), 0);
}

static void flip_every_bit(sherd_store *store, size_t first)
{
	for (size_t i = first; i < COUNT_OF(files); i++) {
		size_t len;
		char *data = object_get(store, files[i], &len);
		for (size_t bit = 0; bit < 8 * len; bit++) {
			data[bit / 8] ^= (char)(1 << bit % 8);
			object_put(store, files[i], data, len);
			assert_noticed(store, files[i], "bit", bit);
			data[bit / 8] ^= (char)(1 << bit % 8);
		}
		object_put(store, files[i], data, len);
		sherd_free(data);
	}
	assert_int_equal(errors(store, "m"), 0);
}

TEST(every_flipped_bit_is_noticed)
{
	save(STORE, SHERD_DIGEST_SHA256);
	flip_every_bit(STORE, 0);
}

TEST(every_flipped_bit_of_a_set_with_blake3_is_noticed)
{
	save(STORE, SHERD_DIGEST_BLAKE3);
	flip_every_bit(STORE, 1); /* the metadata has the same seal */
}

static void cut_everywhere(sherd_store *store)
{
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		size_t len;
		char *data = object_get(store, files[i], &len);
		for (size_t n = 0; n < len; n++) {
			object_put(store, files[i], data, n);
			assert_noticed(store, files[i], "length", n);
		}
		object_put(store, files[i], data, len);
		sherd_free(data);
	}
}

TEST(every_length_is_noticed)
{
	for (int digest = SHERD_DIGEST_SHA256; digest <= SHERD_DIGEST_BLAKE3; digest++) {
		save(STORE, (sherd_digest)digest);
		cut_everywhere(STORE);
		assert_ok(sherd_ckpt_remove(STORE, "m", NULL, NULL, err));
	}
}

TEST(bytes_behind_are_noticed)
{
	static const char *const tails[] = {" ", "\n", "x", "1234567", "       ", "{}"};
	save(STORE, SHERD_DIGEST_SHA256);
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		size_t len;
		char *data = object_get(STORE, files[i], &len);
		char *longer = malloc(len + 16);
		memcpy(longer, data, len);
		for (size_t t = 0; t < COUNT_OF(tails) + 2; t++) {
			/* the last two: one zero, seven zeros */
			size_t more = t < COUNT_OF(tails) ? strlen(tails[t]) : t == COUNT_OF(tails) ? 1 : 7;
			memset(longer + len, 0, 16);
			if (t < COUNT_OF(tails))
				memcpy(longer + len, tails[t], more);
			object_put(STORE, files[i], longer, len + more);
			assert_noticed(STORE, files[i], "tail", t);
		}
		object_put(STORE, files[i], data, len);
		sherd_free(data);
		free(longer);
	}
}

TEST(every_missing_file_is_noticed)
{
	save(STORE, SHERD_DIGEST_SHA256);
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		size_t len;
		char *data = object_get(STORE, files[i], &len);
		assert_ok(sherd_store_remove(STORE, files[i], err));
		assert_true(errors(STORE, "m") > 0);
		object_put(STORE, files[i], data, len);
		sherd_free(data);
	}
}

TEST(swapped_shards_are_noticed)
{
	size_t an, bn;
	save(STORE, SHERD_DIGEST_SHA256);
	char *a = object_get(STORE, files[1], &an), *b = object_get(STORE, files[2], &bn);
	object_put(STORE, files[1], b, bn);
	object_put(STORE, files[2], a, an);
	assert_true(errors(STORE, "m") >= 2);
	sherd_free(a);
	sherd_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_IN_MEMORY(the_set_is_small_and_good),
		CASE_IN_MEMORY(every_flipped_bit_is_noticed),
		CASE_IN_MEMORY(every_flipped_bit_of_a_set_with_blake3_is_noticed),
		CASE_IN_MEMORY(every_length_is_noticed),
		CASE_IN_MEMORY(bytes_behind_are_noticed),
		CASE_IN_MEMORY(every_missing_file_is_noticed),
		CASE_IN_MEMORY(swapped_shards_are_noticed),
	};
	return cmocka_run_group_tests_name("ckpt_corruption", tests, NULL, NULL);
}

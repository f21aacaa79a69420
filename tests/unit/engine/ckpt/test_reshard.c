#include "support/fixtures.h"
#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/test.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(ckpt_sample, ckpt_sample_free)
SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)
SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_pool, sherd_pool_close)

#define SAMPLE SHD_AUTO(ckpt_sample, ckpt_sample_free)
#define CKPT SHD_AUTO(sherd_ckpt, sherd_ckpt_close)

TEST(any_number_of_shards_becomes_any_other)
{
	SHD_AUTO(sherd_pool, sherd_pool_close) pool = NULL;
	assert_ok(sherd_pool_open(&pool, 3, err));
	for (uint32_t n = 1; n <= 4; n++)
		for (uint32_t m = 1; m <= 5; m++)
			for (int cut = 0; cut < 2; cut++) {
				SAMPLE s = ckpt_sample_full(n * 10 + m, n);
				CKPT from = NULL;
				CKPT to = NULL;
				char a[32], b[32];
				(void)snprintf(a, sizeof(a), "a%u-%u-%d", n, m, cut);
				(void)snprintf(b, sizeof(b), "b%u-%u-%d", n, m, cut);
				sherd_ckpt_save_options o = {.world = m, .pool = m % 2 ? pool : NULL};
				assert_ok(ckpt_sample_save(s, STORE, a, err));
				assert_ok(sherd_ckpt_open(&from, STORE, a, NULL, err));
				assert_ok(sherd_ckpt_reshard(from, STORE, b, cut, &o, err));
				assert_sample(s, STORE, b);
				assert_ok(sherd_ckpt_open(&to, STORE, b, NULL, err));
				assert_int_equal(sherd_ckpt_shards(to), m);
			}
}

TEST(what_is_said_about_the_set_survives)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	sherd_pair field = {"run", "x"};
	sherd_ckpt_about about = {
		.strategy = "ddp",
		.has_step = true,
		.step = 7,
		.optimizer_state = "{\"a\": 1}",
		.fields = &field,
		.field_count = 1,
		.extra = "\"outer\": {\"deep\": [1, 2.50, null]}",
		.sharding_extra = "\"mesh\": \"2x1\"",
		.training_extra = "\"loss\": 1e-3",
	};
	sherd_ckpt_item items[8];
	memcpy(items, s->shards[1].items, s->shards[1].count * sizeof(items[0]));
	size_t marked = s->shards[1].count - 1;
	if (items[marked].global_shape || strcmp(items[marked].tensor.name, "copy") == 0)
		marked = 1;
	items[marked].extra = "\"quantizer\": \"none\"";
	sherd_ckpt_shard_items shards[2] = {s->shards[0], {items, s->shards[1].count}};
	sherd_ckpt_save_options o = ckpt_sample_options(s, 1000);
	CKPT from = NULL;
	CKPT to = NULL;
	size_t len;
	o.about = &about;
	assert_ok(sherd_ckpt_save(STORE, "a", shards, &o, err));
	assert_ok(sherd_ckpt_open(&from, STORE, "a", NULL, err));
	sherd_ckpt_save_options again = {.world = 3, .time_ns = 2000};
	assert_ok(sherd_ckpt_reshard(from, STORE, "b", false, &again, err));
	assert_sample(s, STORE, "b");
	assert_ok(sherd_ckpt_open(&to, STORE, "b", NULL, err));
	const sherd_ckpt_about *got = &sherd_ckpt_describe(to)->about;
	assert_string_equal(got->extra, about.extra);
	assert_string_equal(got->sharding_extra, about.sharding_extra);
	assert_string_equal(got->training_extra, about.training_extra);
	assert_string_equal(got->optimizer_state, about.optimizer_state);
	assert_string_equal(got->strategy, "ddp");
	assert_int_equal(got->step, 7);
	assert_int_equal(got->field_count, 1);
	char *text = object_get(STORE, "b.metadata.json", &len);
	assert_non_null(strstr(text, "\"quantizer\": \"none\""));
	sherd_free(text);
}

/* Refused before anything is made for each of the shards: 32 GiB else. */
TEST(a_world_that_no_reader_takes_is_refused_at_once)
{
	static const uint32_t worlds[] = {UINT32_MAX, INT32_MAX, (1u << 20) + 1};
	SAMPLE s = ckpt_sample_small(1, 2);
	CKPT from = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	assert_ok(ckpt_sample_save(s, STORE, "a", err));
	assert_ok(sherd_ckpt_open(&from, STORE, "a", NULL, err));
	assert_ok(sherd_bundle_of_ckpt(&bundle, from, err));
	for (size_t i = 0; i < COUNT_OF(worlds); i++) {
		sherd_ckpt_save_options o = {.world = worlds[i]};
		sherd_ckpt_plan *plan = NULL;
		assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_reshard(from, STORE, "b", i % 2, &o, err));
		assert_refused(SHERD_EINVAL, "bad-argument",
		               sherd_ckpt_save_bundle(STORE, "b", bundle, i % 2, &o, err));
		assert_refused(SHERD_EINVAL, "bad-argument",
		               sherd_ckpt_split_bundle_rank(STORE, "b", bundle, 0, i % 2, &o, NULL, err));
		assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_plan_open(&plan, from, worlds[i], i % 2, err));
	}
	assert_int_equal(object_count(STORE, "b"), 0);
}

/* Members of foreign metadata that we do not know, too. */
TEST(unknown_members_of_foreign_metadata_survive)
{
	static const uint8_t shard[] = {0x52, 0x41, 0x48, 0x53, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 7, 8};
	static const char text[] = "{\"version\": \"1.0.0\", \"worldSize\": 1, \"format\": \"multishard\", "
				   "\"tensorInfos\": [], \"sharding\": {\"shardCount\": 1, \"zone\": 4}, "
				   "\"training\": {\"step\": 3, \"beta\": [0.9]}, \"shards\": [{\"rank\": 0, "
				   "\"fileSize\": 22, \"checksum\": \"\", \"tensors\": [{\"name\": \"t\", \"shape\": "
				   "[2], \"dataType\": 7, \"offset\": 0, \"size\": 2, \"layout\": \"row\"}]}]}";
	CKPT from = NULL;
	size_t len;
	object_put(STORE, "a_shard_0.shard", shard, sizeof(shard));
	object_put(STORE, "a.metadata.json", text, sizeof(text) - 1);
	assert_ok(sherd_ckpt_open(&from, STORE, "a", NULL, err));
	assert_ok(sherd_ckpt_reshard(from, STORE, "b", false, &(sherd_ckpt_save_options){.world = 2}, err));
	char *again = object_get(STORE, "b.metadata.json", &len);
	static const char *const members[] = {"\"format\": \"multishard\"", "\"tensorInfos\": []", "\"zone\": 4",
	                                      "\"beta\": [0.9]", "\"layout\": \"row\""};
	for (size_t i = 0; i < COUNT_OF(members); i++)
		assert_non_null(strstr(again, members[i]));
	sherd_free(again);
}

/* Every byte of every tensor counts, whatever the cuts on both sides. */
TEST(a_damaged_source_is_not_passed_on)
{
	SAMPLE s = ckpt_sample_full(1, 3);
	CKPT c = NULL;
	assert_ok(ckpt_sample_save(s, STORE, "a", err));
	assert_ok(sherd_ckpt_open(&c, STORE, "a", NULL, err));
	for (size_t i = 0; i < sherd_ckpt_count(c); i++) {
		const sherd_ckpt_piece *pieces = NULL;
		size_t n = sherd_ckpt_pieces(&pieces, c, i);
		for (size_t k = 0; k < n; k++) {
			CKPT from = NULL;
			size_t len;
			const sherd_ckpt_shard *shard = sherd_ckpt_shard_at(c, pieces[k].shard);
			if (!pieces[k].bytes)
				continue;
			char *data = object_get(STORE, shard->file, &len);
			uint64_t at = shard->data_offset + pieces[k].offset + (i * 7 + k) % pieces[k].bytes;
			data[at] ^= 1;
			object_put(STORE, shard->file, data, len);
			assert_ok(sherd_ckpt_open(&from, STORE, "a", NULL, err));
			assert_refused(SHERD_ECORRUPT, "bad-crc",
			               sherd_ckpt_reshard(from, STORE, "b", i % 2,
			                                  &(sherd_ckpt_save_options){.world = 1 + (uint32_t)i % 4},
			                                  err));
			data[at] ^= 1;
			object_put(STORE, shard->file, data, len);
			sherd_free(data);
		}
	}
	assert_keys(STORE, "a.metadata.json a_shard_0.shard a_shard_1.shard a_shard_2.shard");
	assert_sample(s, STORE, "a");
}

/* Both have an object of that name. */
TEST(an_error_says_in_which_store_its_object_lies)
{
	SAMPLE s = ckpt_sample_full(1, 3);
	CKPT from = NULL;
	sherd_store *other = NULL;
	sherd_error e = {0};
	size_t len;
	assert_ok(sherd_store_open_memory(&other, err));
	assert_ok(ckpt_sample_save(s, STORE, "a", err));
	assert_ok(ckpt_sample_save(s, other, "a", err));
	assert_ok(sherd_ckpt_open(&from, STORE, "a", NULL, err));
	assert_int_equal(sherd_ckpt_reshard(from, other, "a", false, NULL, &e), SHERD_EEXIST);
	assert_ptr_equal(e.store ? e.store : other, other);
	sherd_ckpt_close(TAKE(from));
	char *data = object_get(STORE, "a_shard_0.shard", &len);
	data[130] ^= 1;
	object_put(STORE, "a_shard_0.shard", data, len);
	sherd_free(data);
	assert_ok(sherd_ckpt_open(&from, STORE, "a", NULL, err));
	sherd_ckpt_save_options o = {.world = 2, .replace = true};
	assert_int_equal(sherd_ckpt_reshard(from, other, "a", false, &o, &e), SHERD_ECORRUPT);
	assert_string_equal(e.object, "a_shard_0.shard");
	assert_ptr_equal(e.store, STORE);
	assert_int_equal(sherd_store_remove(other, "..", &e), SHERD_EINVAL);
	assert_ptr_equal(e.store, NULL);
	sherd_stat stat;
	assert_int_equal(sherd_store_stat(&stat, other, "none", &e), SHERD_ENOTFOUND);
	assert_ptr_equal(e.store, other);
	sherd_store_close(other);
}

/* Blocks of checksums begin within rows, and rows of the new shards within blocks. */
TEST(large_tensors_are_verified_block_by_block)
{
	const uint64_t whole[2] = {5, 9u << 20}, half[2] = {5, 9u << 19}, at[2][2] = {{0, 0}, {0, 9u << 19}};
	uint8_t *bytes = malloc(5 * (9u << 20));
	sherd_ckpt_item items[3];
	sherd_ckpt_shard_items shards[2] = {{items, 2}, {items + 2, 1}};
	for (uint64_t i = 0; i < 5 * (9u << 20); i++)
		bytes[i] = (uint8_t)((i * 2654435761u) >> 11);
	for (int k = 0; k < 2; k++)
		items[2 * k] = (sherd_ckpt_item){.tensor = {"cut", SHERD_U8, 2, half, 0},
		                                 .data = bytes,
		                                 .global_shape = whole,
		                                 .global_offset = at[k]};
	items[1] = (sherd_ckpt_item){.tensor = {"whole", SHERD_U8, 2, whole, 0}, .data = bytes};
	CKPT from = NULL;
	assert_ok(sherd_ckpt_save(STORE, "a", shards, &(sherd_ckpt_save_options){.world = 2}, err));
	assert_ok(sherd_ckpt_open(&from, STORE, "a", NULL, err));
	assert_ok(sherd_ckpt_reshard(from, STORE, "b", true, &(sherd_ckpt_save_options){.world = 3}, err));
	size_t len;
	char *data = object_get(STORE, "a_shard_0.shard", &len);
	for (size_t place = len - 1000; place > (11u << 20); place -= (11u << 20)) {
		CKPT bad = NULL;
		data[place] ^= 16;
		object_put(STORE, "a_shard_0.shard", data, len);
		data[place] ^= 16;
		assert_ok(sherd_ckpt_open(&bad, STORE, "a", NULL, err));
		assert_refused(SHERD_ECORRUPT, "bad-crc",
		               sherd_ckpt_reshard(bad, STORE, "c", true, &(sherd_ckpt_save_options){.world = 3}, err));
	}
	sherd_free(data);
	free(bytes);
}

TEST(a_damaged_foreign_source_is_not_passed_on)
{
	const char *fixtures = fixtures_folder();
	static const char *const keys[] = {"step-7.metadata.json", "step-7_shard_0.shard", "step-7_shard_1.shard"};
	sherd_store *disk = NULL;
	CKPT from = NULL;
	size_t len;
	char path[4096];
	(void)snprintf(path, sizeof(path), "%s/checkpoint/eight-byte-length", fixtures);
	assert_ok(sherd_store_open_local(&disk, path, NULL, err));
	for (size_t i = 0; i < COUNT_OF(keys); i++)
		object_copy(disk, STORE, keys[i]);
	sherd_store_close(disk);
	char *data = object_get(STORE, keys[2], &len);
	data[len - 1] ^= 1;
	object_put(STORE, keys[2], data, len);
	sherd_free(data);
	assert_ok(sherd_ckpt_open(&from, STORE, "step-7", NULL, err));
	assert_refused(SHERD_ECORRUPT, "bad-checksum", sherd_ckpt_reshard(from, STORE, "b", true, NULL, err));
}

TEST(a_bundle_is_saved_whole_or_rank_by_rank_alike)
{
	SAMPLE s = ckpt_sample_full(5, 2);
	CKPT from = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	assert_ok(ckpt_sample_save(s, STORE, "a", err));
	assert_ok(sherd_ckpt_open(&from, STORE, "a", NULL, err));
	assert_ok(sherd_bundle_of_ckpt(&bundle, from, err));
	for (int cut = 0; cut < 2; cut++) {
		sherd_ckpt_save_options o = {.world = 3, .set_id = &s->set_id};
		const char *whole = cut ? "whole-cut" : "whole", *parts = cut ? "parts-cut" : "parts";
		sherd_ckpt_save_result saved = {0};
		assert_ok(sherd_ckpt_save_bundle(STORE, whole, bundle, cut, &o, err));
		for (uint32_t r = 0; r < 3; r++) {
			assert_ok(sherd_ckpt_split_bundle_rank(STORE, parts, bundle, 2 - r, cut, &o, &saved, err));
			assert_int_equal(saved.committed, r == 2);
		}
		assert_sample(s, STORE, whole);
		assert_sample(s, STORE, parts);
		for (uint32_t r = 0; r < 3; r++) {
			char a[64], b[64];
			size_t an, bn;
			(void)snprintf(a, sizeof(a), "%s_shard_%u.shard", whole, r);
			(void)snprintf(b, sizeof(b), "%s_shard_%u.shard", parts, r);
			char *x = object_get(STORE, a, &an), *y = object_get(STORE, b, &bn);
			assert_int_equal(an, bn);
			assert_memory_equal(x, y, an);
			sherd_free(x);
			sherd_free(y);
		}
	}
	assert_refused(SHERD_EINVAL, "bad-argument",
	               sherd_ckpt_split_bundle_rank(STORE, "x", bundle, 3, false,
	                                            &(sherd_ckpt_save_options){.world = 3}, NULL, err));
}

/* The layout that C# programs read carries neither set id nor pieces: whole tensors only. */
TEST(resharding_may_write_the_csharp_layout)
{
	SAMPLE s = ckpt_sample_csharp(5, 3);
	CKPT from = NULL;
	sherd_ckpt_save_options o = {.world = 2, .layout = SHERD_CKPT_LAYOUT_CSHARP};
	assert_ok(ckpt_sample_save(s, STORE, "a", err));
	assert_ok(sherd_ckpt_open(&from, STORE, "a", NULL, err));
	assert_ok(sherd_ckpt_reshard(from, STORE, "b", false, &o, err));
	assert_sample(s, STORE, "b");
	assert_refused(SHERD_EUNSUPPORTED, "cannot-hold", sherd_ckpt_reshard(from, STORE, "c", true, &o, err));
	o.replace = true;
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_reshard(from, STORE, "b", false, &o, err));
	assert_sample(s, STORE, "b");
	assert_int_equal(object_count(STORE, "c"), 0);
}

TEST(resharding_may_replace_another_set)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	SAMPLE old = ckpt_sample_small(2, 1);
	CKPT from = NULL;
	assert_ok(ckpt_sample_save(s, STORE, "a", err));
	assert_ok(ckpt_sample_save(old, STORE, "b", err));
	assert_ok(sherd_ckpt_open(&from, STORE, "a", NULL, err));
	assert_refused(SHERD_EEXIST, "exists", sherd_ckpt_reshard(from, STORE, "b", false, NULL, err));
	assert_ok(sherd_ckpt_reshard(from, STORE, "b", false, &(sherd_ckpt_save_options){.replace = true}, err));
	assert_sample(s, STORE, "b");
	/* and even its own source */
	assert_ok(sherd_ckpt_reshard(from, STORE, "a", true, &(sherd_ckpt_save_options){.replace = true, .world = 4},
	                             err));
	assert_sample(s, STORE, "a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_IN_MEMORY(any_number_of_shards_becomes_any_other),
		CASE_ON_BOTH(what_is_said_about_the_set_survives),
		CASE_IN_MEMORY(a_world_that_no_reader_takes_is_refused_at_once),
		CASE_IN_MEMORY(unknown_members_of_foreign_metadata_survive),
		CASE_IN_MEMORY(a_damaged_source_is_not_passed_on),
		CASE_ON_BOTH(an_error_says_in_which_store_its_object_lies),
		CASE_IN_MEMORY(large_tensors_are_verified_block_by_block),
		CASE_ON_BOTH(a_bundle_is_saved_whole_or_rank_by_rank_alike),
		CASE_ON_BOTH(resharding_may_write_the_csharp_layout),
		CASE_ON_BOTH(resharding_may_replace_another_set),
		CASE_IN_MEMORY(a_damaged_foreign_source_is_not_passed_on),
	};
	return cmocka_run_group_tests_name("ckpt_reshard", tests, NULL, NULL);
}

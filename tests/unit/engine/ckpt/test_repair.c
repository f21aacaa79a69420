#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/test.h"

#include "base/error.h"
#include "codec/sha256.h"
#include "engine/ckpt/claim.h"
#include "engine/ckpt/save.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(ckpt_sample, ckpt_sample_free)

#define SAMPLE SHD_AUTO(ckpt_sample, ckpt_sample_free)

static void lose_metadata(sherd_store *store)
{
	assert_ok(sherd_store_remove(store, "m.metadata.json", err));
}

TEST(lost_metadata_is_built_again_to_the_byte)
{
	SAMPLE s = ckpt_sample_full(1, 3);
	sherd_pair field = {"run", "x"};
	sherd_ckpt_about about = {
		.has_step = true, .step = 7, .fields = &field, .field_count = 1, .extra = "\"more\": [1]"};
	sherd_ckpt_save_options o = ckpt_sample_options(s, 123456789);
	sherd_set_id id;
	size_t an, bn;
	o.about = &about;
	assert_ok(sherd_ckpt_save(STORE, "m", s->shards, &o, err));
	char *a = object_get(STORE, "m.metadata.json", &an);
	lose_metadata(STORE);
	assert_ok(sherd_ckpt_repair(STORE, "m", NULL, &id, err));
	assert_memory_equal(&id, &s->set_id, sizeof(id));
	char *b = object_get(STORE, "m.metadata.json", &bn);
	assert_int_equal(an, bn);
	assert_memory_equal(a, b, an);
	assert_sample(s, STORE, "m");
	assert_keys(STORE, "m.metadata.json m_shard_0.shard m_shard_1.shard m_shard_2.shard");
	sherd_free(a);
	sherd_free(b);
}

TEST(metadata_that_can_be_read_is_not_repaired)
{
	SAMPLE s = ckpt_sample_small(1, 1);
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_refused(SHERD_EEXIST, "exists", sherd_ckpt_repair(STORE, "m", NULL, NULL, err));
	sherd_ckpt_repair_options o = {.replace = true};
	assert_refused(SHERD_EEXIST, "exists", sherd_ckpt_repair(STORE, "m", &o, NULL, err));
}

/* "Nothing to repair" would be a lie: the shard cannot be rebuilt, and is named. */
TEST(a_shard_that_is_missing_beside_good_metadata_is_named)
{
	SAMPLE s = ckpt_sample_small(1, 3);
	sherd_error e = {0};
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_store_remove(STORE, "m_shard_1.shard", err));
	assert_int_equal(sherd_ckpt_repair(STORE, "m", NULL, NULL, &e), SHERD_ECORRUPT);
	assert_string_equal(e.reason, "missing-shard");
	assert_string_equal(e.object, "m_shard_1.shard");
	lose_metadata(STORE);
	assert_int_equal(sherd_ckpt_repair(STORE, "m", NULL, NULL, &e), SHERD_EINCOMPLETE);
	assert_non_null(strstr(e.message, "1 of 3"));
	assert_non_null(strstr(e.message, "ranks 1"));
}

/* The hash of the shard is right, the checksum of a block is not: every load would fail. */
TEST(a_shard_whose_blocks_fail_is_not_published)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	sherd_ckpt *ckpt = NULL;
	const sherd_ckpt_piece *piece;
	shd_sha256 sha;
	uint8_t hash[SHD_SHA256_BYTES];
	char hex[SHD_SHA256_HEX + 1];
	size_t len;
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_ckpt_open(&ckpt, STORE, "m", NULL, err));
	assert_true(sherd_ckpt_pieces(&piece, ckpt, 0) > 0);
	const sherd_ckpt_shard *shard = sherd_ckpt_shard_at(ckpt, piece->shard);
	char key[64];
	(void)snprintf(key, sizeof(key), "%s", shard->file);
	uint64_t at = shard->data_offset + piece->offset, data = shard->data_offset;
	sherd_ckpt_close(ckpt);
	char *bytes = object_get(STORE, key, &len);
	bytes[at] ^= 1;
	shd_sha256_init(&sha);
	shd_sha256_add(&sha, bytes + data, len - data);
	shd_sha256_finish(&sha, hash);
	shd_hex(hash, sizeof(hash), hex);
	memcpy(bytes + 12, hex, SHD_SHA256_HEX);
	object_put(STORE, key, bytes, len);
	sherd_free(bytes);
	lose_metadata(STORE);
	assert_refused(SHERD_ECORRUPT, "bad-crc", sherd_ckpt_repair(STORE, "m", NULL, NULL, err));
	assert_int_equal(object_count(STORE, "m.metadata.json"), 0);
}

TEST(damaged_metadata_is_replaced_only_when_allowed)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	sherd_ckpt_repair_options o = {.replace = true};
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	object_put(STORE, "m.metadata.json", "{\"version\"", 10);
	assert_refused(SHERD_EEXIST, "exists", sherd_ckpt_repair(STORE, "m", NULL, NULL, err));
	assert_ok(sherd_ckpt_repair(STORE, "m", &o, NULL, err));
	assert_sample(s, STORE, "m");
}

TEST(a_missing_or_damaged_shard_cannot_be_repaired)
{
	SAMPLE s = ckpt_sample_small(1, 3);
	size_t len;
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_ckpt_repair(STORE, "m", NULL, NULL, err));
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	lose_metadata(STORE);
	char *data = object_get(STORE, "m_shard_1.shard", &len);
	data[90] ^= 1;
	object_put(STORE, "m_shard_1.shard", data, len);
	assert_refused(SHERD_ECORRUPT, "bad-checksum", sherd_ckpt_repair(STORE, "m", NULL, NULL, err));
	assert_ok(sherd_store_remove(STORE, "m_shard_1.shard", err));
	assert_refused(SHERD_EINCOMPLETE, "incomplete", sherd_ckpt_repair(STORE, "m", NULL, NULL, err));
	assert_keys(STORE, "m_shard_0.shard m_shard_2.shard");
	sherd_free(data);
}

TEST(a_save_that_lives_is_left_alone)
{
	SAMPLE s = ckpt_sample_small(1, 1);
	SAMPLE other = ckpt_sample_small(2, 1);
	sherd_ckpt_saver *saver = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(other, 0);
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	lose_metadata(STORE);
	o.take_over = true;
	assert_ok(sherd_ckpt_saver_open(&saver, STORE, "m", &o, err));
	assert_refused(SHERD_ECONFLICT, "conflict", sherd_ckpt_repair(STORE, "m", NULL, NULL, err));
	sherd_ckpt_saver_abort(saver);
	assert_ok(sherd_ckpt_repair(STORE, "m", NULL, NULL, err));
	assert_sample(s, STORE, "m");
}

TEST(a_dead_save_of_the_very_set_is_completed)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	sherd_ckpt_saver *saver = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	for (uint32_t r = 0; r < 2; r++) {
		assert_ok(sherd_ckpt_saver_open(&saver, STORE, "m", &o, err));
		assert_ok(sherd_ckpt_saver_shard(saver, r, s->shards[r].items, s->shards[r].count, err));
		if (r == 0)
			assert_ok(sherd_ckpt_saver_finish(saver, NULL, err));
	}
	assert_ok(sherd_ckpt_repair(STORE, "m", NULL, NULL, err));
	assert_ok(sherd_ckpt_saver_finish(saver, NULL, err));
	assert_sample(s, STORE, "m");
	assert_keys(STORE, "m.metadata.json m_shard_0.shard m_shard_1.shard");
}

TEST(of_two_complete_sets_one_must_be_chosen)
{
	SAMPLE a = ckpt_sample_small(1, 1);
	SAMPLE b = ckpt_sample_small(2, 1);
	sherd_store *aside = NULL;
	assert_ok(sherd_store_open_memory(&aside, err));
	assert_ok(ckpt_sample_save(a, STORE, "m", err));
	object_copy(STORE, aside, "m_shard_0.shard");
	assert_ok(ckpt_sample_replace(b, STORE, "m", err));
	object_copy(aside, STORE, "m_shard_0.shard");
	sherd_store_close(aside);
	lose_metadata(STORE);
	assert_refused(SHERD_ECONFLICT, "two-sets", sherd_ckpt_repair(STORE, "m", NULL, NULL, err));
	sherd_ckpt_repair_options o = {.set_id = &a->set_id};
	assert_ok(sherd_ckpt_repair(STORE, "m", &o, NULL, err));
	assert_sample(a, STORE, "m");
	lose_metadata(STORE);
	o.set_id = &b->set_id;
	assert_ok(sherd_ckpt_repair(STORE, "m", &o, NULL, err));
	assert_sample(b, STORE, "m");
}

/* A replacement died and the metadata was lost as well: the claim is of another set than the one to repair. */
TEST(a_dead_claim_of_another_set_does_not_keep_damaged_metadata_from_repair)
{
	SAMPLE s = ckpt_sample_small(1, 1);
	SAMPLE dead = ckpt_sample_small(2, 2);
	sherd_ckpt_saver *saver = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(dead, 0);
	sherd_ckpt_repair_options r = {.replace = true};
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	o.replace = true;
	assert_ok(shd_ckpt_saver_begin(&saver, STORE, "m", &o, false, NULL, err));
	assert_ok(sherd_ckpt_saver_shard(saver, 0, dead->shards[0].items, dead->shards[0].count, err));
	assert_ok(sherd_ckpt_saver_finish(saver, NULL, err));
	object_put(STORE, "m.metadata.json", "{", 1);
	assert_ok(sherd_ckpt_repair(STORE, "m", &r, NULL, err));
	assert_sample(s, STORE, "m");
}

/* What stood there before stays repairable when the repair itself dies. */
TEST(a_repair_that_died_does_not_make_its_shards_fair_game)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	ckpt_hold hold;
	shd_ckpt_claim mine = shd_ckpt_claim_of_us(&s->set_id, 2, 0);
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	lose_metadata(STORE);
	mine.repairing = true;
	assert_ok(shd_ckpt_hold(&hold, STORE, "m", &mine, NULL, NULL, err));
	shd_claim_leave(&hold.held);
	assert_ok(sherd_ckpt_prune(STORE, "", &(sherd_ckpt_prune_options){.keep = 1}, err));
	assert_keys(STORE, "m_shard_0.shard m_shard_1.shard");
	assert_ok(sherd_ckpt_repair(STORE, "m", NULL, NULL, err));
	assert_sample(s, STORE, "m");
}

static bool stop_now(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done, (void)total;
	return false;
}

TEST(a_cancelled_repair_leaves_all_as_it_was)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	sherd_progress stop = {.update = stop_now};
	sherd_ckpt_repair_options o = {.progress = &stop};
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	lose_metadata(STORE);
	assert_refused(SHERD_ECANCELLED, "cancelled", sherd_ckpt_repair(STORE, "m", &o, NULL, err));
	assert_keys(STORE, "m_shard_0.shard m_shard_1.shard");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_ON_BOTH(lost_metadata_is_built_again_to_the_byte),
		CASE_ON_BOTH(metadata_that_can_be_read_is_not_repaired),
		CASE_ON_BOTH(a_shard_that_is_missing_beside_good_metadata_is_named),
		CASE_ON_BOTH(a_shard_whose_blocks_fail_is_not_published),
		CASE_ON_BOTH(damaged_metadata_is_replaced_only_when_allowed),
		CASE_ON_BOTH(a_missing_or_damaged_shard_cannot_be_repaired),
		CASE_ON_BOTH(a_save_that_lives_is_left_alone),
		CASE_ON_BOTH(a_dead_save_of_the_very_set_is_completed),
		CASE_ON_BOTH(of_two_complete_sets_one_must_be_chosen),
		CASE_ON_BOTH(a_dead_claim_of_another_set_does_not_keep_damaged_metadata_from_repair),
		CASE_ON_BOTH(a_repair_that_died_does_not_make_its_shards_fair_game),
		CASE_ON_BOTH(a_cancelled_repair_leaves_all_as_it_was),
	};
	return cmocka_run_group_tests_name("ckpt_repair", tests, NULL, NULL);
}

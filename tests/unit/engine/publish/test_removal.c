/* Removals of checkpoints, and saves, while somebody is not as dead as it seems: nothing that it publishes lacks a
 * shard, and nothing that another made meanwhile goes. */
#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/fail_store.h"
#include "support/late_store.h"
#include "support/memory_store.h"
#include "support/test.h"

#include "base/error.h"

#include <stdlib.h>

SHD_AUTO_DEFINE(ckpt_sample, ckpt_sample_free)

static sherd_store *far;

static int far_open(void **state)
{
	int rc = memory_store_open(state);
	far = late_store_over(store);
	return rc;
}

static int far_close(void **state)
{
	sherd_store_close(far);
	return memory_store_close(state);
}

static int save(sherd_store *s, uint64_t seed, sherd_error *err)
{
	SHD_AUTO(ckpt_sample, ckpt_sample_free) sample = ckpt_sample_small(seed, 2);
	sherd_ckpt_save_options o = ckpt_sample_options(sample, 1);
	o.replace = true;
	return sherd_ckpt_save(s, "c", sample->shards, &o, err);
}

static void assert_saved(uint64_t seed)
{
	SHD_AUTO(ckpt_sample, ckpt_sample_free) sample = ckpt_sample_small(seed, 2);
	assert_null(ckpt_sample_missing(sample, store, "c"));
}

/* A save whose write of the metadata is under way from now on. */
static void save_slowly(uint64_t seed)
{
	late_store_lose(far, "c.metadata.json", LATE_LATER, 4);
	assert_refused(SHERD_EUNKNOWN, "unknown-outcome", save(far, seed, err));
}

TEST(what_is_removed_without_locks_is_no_base_for_who_began_before_there_was_anything)
{
	(void)state;
	save_slowly(1);
	late_store_set_ahead(far, 25 * 3600 * INT64_C(1000000000));
	assert_ok(save(far, 2, err));
	assert_ok(sherd_ckpt_remove(far, "c", NULL, NULL, err));
	assert_int_equal(late_store_deliver(far), 0);
	assert_keys(store, "c.metadata.json");
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_ckpt_remove(far, "c", NULL, NULL, err));
	assert_ok(save(far, 3, err));
	assert_saved(3);
}

TEST(orphans_that_are_removed_are_not_published_afterwards)
{
	(void)state;
	save_slowly(1);
	assert_ok(sherd_store_remove(store, "c.saving", err));
	assert_ok(sherd_ckpt_remove(far, "c", NULL, NULL, err));
	assert_int_equal(late_store_deliver(far), 0);
	assert_keys(store, "c.metadata.json");
}

TEST(strays_that_are_removed_are_not_published_afterwards)
{
	(void)state;
	assert_ok(save(far, 1, err));
	save_slowly(2);
	assert_int_equal(object_count(store, "c_shard_"), 4);
	assert_ok(sherd_store_remove(store, "c.saving", err));
	assert_ok(sherd_ckpt_prune(far, "", &(sherd_ckpt_prune_options){.keep = 1, .orphaned = true}, err));
	assert_int_equal(object_count(store, "c_shard_"), 2);
	assert_int_equal(late_store_deliver(far), 0);
	assert_saved(1);
}

/* Once the metadata is gone the shards have been listed. */
static void put_instead(void *arg, sherd_store *below)
{
	bool *put = arg;
	sherd_stat stat;
	if (sherd_store_stat(&stat, below, "c.metadata.json", NULL) == SHERD_OK && stat.size != 30)
		return;
	*put = true;
	object_put(below, "c_shard_0.shard", "another's", 9);
}

static bool meet_another(bool locks, long nth)
{
	sherd_store *inner = NULL;
	sherd_stat stat;
	bool put = false;
	assert_ok(sherd_store_open_memory(&inner, err));
	sherd_store *below = fail_store_over(inner), *late = late_store_over(below);
	assert_ok(save(inner, 1, err));
	fail_store_call_at(below, nth, put_instead, &put);
	(void)sherd_ckpt_remove(locks ? below : late, "c", NULL, NULL, NULL);
	bool hit = fail_store_hit(below);
	fail_store_at(below, 0);
	if (put)
		assert_ok(sherd_store_stat(&stat, inner, "c_shard_0.shard", err));
	sherd_store_close(late);
	sherd_store_close(below);
	return hit;
}

TEST(a_removal_leaves_what_has_the_name_of_a_shard_by_now)
{
	(void)state;
	bool hit = true;
	for (long nth = 1; hit; nth++) {
		hit = meet_another(true, nth);
		hit = meet_another(false, nth) || hit;
	}
}

/* ---- what else a claim and a vacant head mean where nobody can lock */

static const int64_t day_ns = 25 * 3600 * INT64_C(1000000000);

static void assert_listed(const char *state)
{
	sherd_ckpt_list *list = NULL;
	assert_ok(sherd_ckpt_list_open(&list, far, "", NULL, err));
	assert_int_equal(sherd_ckpt_list_count(list), 1);
	assert_string_equal(sherd_ckpt_state_name(sherd_ckpt_list_at(list, 0)->state), state);
	sherd_ckpt_list_close(list);
}

static int prune(sherd_error *err)
{
	return sherd_ckpt_prune(far, "", &(sherd_ckpt_prune_options){.keep = 1}, err);
}

TEST(a_save_without_locks_is_dead_after_a_day_to_who_lists_and_prunes)
{
	(void)state;
	save_slowly(1);
	assert_listed("saving");
	assert_ok(prune(err));
	assert_int_equal(object_count(store, "c_shard_"), 2);
	late_store_set_ahead(far, day_ns);
	assert_listed("dead");
	assert_ok(prune(err));
	assert_keys(store, "c.metadata.json");
	assert_int_equal(late_store_deliver(far), 0);
}

static void put_vacant(void)
{
	object_put(store, "c.metadata.json", "{\"vacant\":\"0123456789abcdef\"}\n", 30);
}

TEST(what_lies_beside_a_vacant_head_is_listed)
{
	(void)state;
	put_vacant();
	save_slowly(1);
	assert_listed("saving");
	assert_ok(sherd_store_remove(store, "c.saving", err));
	assert_listed("orphaned");
}

TEST(the_csharp_layout_replaces_a_vacant_head)
{
	(void)state;
	SHD_AUTO(ckpt_sample, ckpt_sample_free) sample = ckpt_sample_csharp(1, 2);
	const sherd_ckpt_save_options o = {.world = 2, .layout = SHERD_CKPT_LAYOUT_CSHARP};
	put_vacant();
	assert_ok(sherd_ckpt_save(far, "c", sample->shards, &o, err));
	assert_listed("committed");
}

static sherd_ckpt_saver *begin(uint64_t seed)
{
	SHD_AUTO(ckpt_sample, ckpt_sample_free) sample = ckpt_sample_small(seed, 2);
	const sherd_ckpt_save_options o = ckpt_sample_options(sample, 1);
	sherd_ckpt_saver *s = NULL;
	assert_ok(sherd_ckpt_saver_open(&s, far, "c", &o, err));
	assert_ok(sherd_ckpt_saver_shard(s, 0, sample->shards[0].items, sample->shards[0].count, err));
	return s;
}

TEST(a_first_save_that_was_cleared_is_told_so)
{
	(void)state;
	SHD_AUTO(ckpt_sample, ckpt_sample_free) sample = ckpt_sample_small(1, 2);
	sherd_ckpt_saver *s = begin(1);
	assert_ok(sherd_ckpt_saver_shard(s, 1, sample->shards[1].items, sample->shards[1].count, err));
	put_vacant();
	assert_refused(SHERD_ECONFLICT, "conflict", sherd_ckpt_saver_finish(s, NULL, err));
}

TEST(a_claim_that_may_not_be_cleared_is_not_written_anew)
{
	(void)state;
	bool committed = true;
	sherd_stat before, now;
	assert_ok(sherd_ckpt_saver_finish(begin(1), &committed, err));
	assert_false(committed);
	late_store_set_ahead(far, day_ns);
	assert_listed("waiting");
	assert_ok(sherd_store_stat(&before, store, "c.saving", err));
	assert_refused(SHERD_ECONFLICT, "waiting", save(far, 2, err));
	assert_ok(sherd_store_stat(&now, store, "c.saving", err));
	assert_string_equal(now.identity, before.identity);
}

/* The clearer has fenced, and nothing has gone yet. */
TEST(who_joins_a_claim_that_is_being_cleared_is_refused)
{
	(void)state;
	SHD_AUTO(ckpt_sample, ckpt_sample_free) sample = ckpt_sample_small(1, 2);
	const sherd_ckpt_save_options o = ckpt_sample_options(sample, 1);
	const sherd_ckpt_shard_items *mine = &sample->shards[1];
	assert_ok(sherd_ckpt_saver_finish(begin(1), NULL, err));
	put_vacant();
	assert_refused(SHERD_ECONFLICT, "conflict",
	               sherd_ckpt_save_rank(far, "c", 1, mine->items, mine->count, &o, NULL, err));
}

TEST(who_publishes_for_a_save_that_is_being_cleared_is_refused)
{
	(void)state;
	save_slowly(1);
	put_vacant();
	assert_refused(SHERD_ECONFLICT, "conflict", sherd_ckpt_commit(far, "c", NULL, err));
	assert_refused(SHERD_ECONFLICT, "conflict", sherd_ckpt_repair(far, "c", NULL, NULL, err));
	assert_listed("saving");
}

TEST(a_save_that_is_published_by_others_while_it_gives_up_has_no_hole)
{
	(void)state;
	SHD_AUTO(ckpt_sample, ckpt_sample_free) sample = ckpt_sample_small(1, 1);
	const sherd_ckpt_save_options o = ckpt_sample_options(sample, 1);
	sherd_ckpt_saver *s = NULL;
	assert_ok(sherd_ckpt_saver_open(&s, far, "c", &o, err));
	assert_ok(sherd_ckpt_saver_shard(s, 0, sample->shards[0].items, sample->shards[0].count, err));
	late_store_lose(far, "c.metadata.json", LATE_LATER, 4);
	assert_refused(SHERD_EUNKNOWN, "unknown-outcome", sherd_ckpt_commit(far, "c", NULL, err));
	sherd_ckpt_saver_abort(s);
	assert_int_equal(late_store_deliver(far), 0);
	assert_keys(store, "c.metadata.json");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			what_is_removed_without_locks_is_no_base_for_who_began_before_there_was_anything, far_open,
			far_close),
		cmocka_unit_test_setup_teardown(orphans_that_are_removed_are_not_published_afterwards, far_open,
	                                        far_close),
		cmocka_unit_test_setup_teardown(strays_that_are_removed_are_not_published_afterwards, far_open,
	                                        far_close),
		cmocka_unit_test_setup_teardown(a_save_without_locks_is_dead_after_a_day_to_who_lists_and_prunes,
	                                        far_open, far_close),
		cmocka_unit_test_setup_teardown(what_lies_beside_a_vacant_head_is_listed, far_open, far_close),
		cmocka_unit_test_setup_teardown(the_csharp_layout_replaces_a_vacant_head, far_open, far_close),
		cmocka_unit_test_setup_teardown(a_first_save_that_was_cleared_is_told_so, far_open, far_close),
		cmocka_unit_test_setup_teardown(a_claim_that_may_not_be_cleared_is_not_written_anew, far_open,
	                                        far_close),
		cmocka_unit_test_setup_teardown(who_joins_a_claim_that_is_being_cleared_is_refused, far_open,
	                                        far_close),
		cmocka_unit_test_setup_teardown(who_publishes_for_a_save_that_is_being_cleared_is_refused, far_open,
	                                        far_close),
		cmocka_unit_test_setup_teardown(a_save_that_is_published_by_others_while_it_gives_up_has_no_hole,
	                                        far_open, far_close),
		cmocka_unit_test(a_removal_leaves_what_has_the_name_of_a_shard_by_now),
	};
	return cmocka_run_group_tests_name("removal", tests, NULL, NULL);
}

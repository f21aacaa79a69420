#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/test.h"

#include "base/error.h"
#include "engine/ckpt/claim.h"
#include "engine/ckpt/save.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHERD_AUTO_DEFINE(ckpt_sample, ckpt_sample_free)

#define SAMPLE SHERD_AUTO(ckpt_sample, ckpt_sample_free)

static void save_at(sherd_store *store, const char *prefix, int64_t time_ns)
{
	SAMPLE s = ckpt_sample_small((uint64_t)time_ns, 1);
	sherd_ckpt_save_options o = ckpt_sample_options(s, time_ns);
	assert_ok(sherd_ckpt_save(store, prefix, s->shards, &o, err));
}

typedef struct heard {
	char text[256];
} heard;

static void hear(void *arg, const char *prefix, sherd_ckpt_state was)
{
	heard *h = arg;
	size_t n = strlen(h->text);
	(void)snprintf(h->text + n, sizeof(h->text) - n, "%s%s %s", n ? ", " : "", prefix, sherd_ckpt_state_name(was));
}

static void assert_pruned(sherd_store *store, size_t keep, const char *removed)
{
	heard h = {""};
	assert_ok(sherd_ckpt_prune(store, "", keep, NULL, hear, &h, err));
	assert_string_equal(h.text, removed);
}

TEST(the_newest_are_kept_and_the_older_ones_go)
{
	save_at(STORE, "a", 1);
	save_at(STORE, "b", 4);
	save_at(STORE, "c", 3);
	save_at(STORE, "d", 2);
	assert_pruned(STORE, 5, "");
	assert_pruned(STORE, 4, "");
	assert_pruned(STORE, 2, "d committed, a committed");
	assert_keys(STORE, "b.metadata.json b_shard_0.shard c.metadata.json c_shard_0.shard");
	assert_pruned(STORE, 1, "c committed");
	assert_pruned(STORE, 1, "");
	assert_keys(STORE, "b.metadata.json b_shard_0.shard");
}

TEST(keeping_none_is_refused)
{
	save_at(STORE, "a", 1);
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_prune(STORE, "", 0, NULL, NULL, NULL, err));
	assert_keys(STORE, "a.metadata.json a_shard_0.shard");
}

TEST(what_is_being_written_stays)
{
	SAMPLE s = ckpt_sample_small(7, 2);
	sherd_ckpt_saver *saver = NULL, *replacing = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	save_at(STORE, "new", 9);
	save_at(STORE, "old", 1);
	assert_ok(sherd_ckpt_saver_open(&saver, STORE, "m", &o, err));
	assert_ok(sherd_ckpt_saver_shard(saver, 0, s->shards[0].items, s->shards[0].count, err));
	o.replace = true;
	assert_ok(sherd_ckpt_saver_open(&replacing, STORE, "old", &o, err));
	assert_pruned(STORE, 1, "");
	assert_keys(STORE, "m.saving m_shard_0.shard new.metadata.json new_shard_0.shard "
	                   "old.metadata.json old.saving old_shard_0.shard");
	sherd_ckpt_saver_abort(replacing);
	assert_ok(sherd_ckpt_saver_shard(saver, 1, s->shards[1].items, s->shards[1].count, err));
	assert_ok(sherd_ckpt_saver_finish(saver, NULL, err));
	assert_sample(s, STORE, "m");
}

static void die(sherd_store *store, const char *prefix, bool replace)
{
	SAMPLE s = ckpt_sample_small(7, 2);
	sherd_ckpt_saver *saver = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	o.replace = replace;
	assert_ok(sherd_ckpt_saver_begin(&saver, store, prefix, &o, false, NULL, err));
	assert_ok(sherd_ckpt_saver_shard(saver, 0, s->shards[0].items, s->shards[0].count, err));
	assert_ok(sherd_ckpt_saver_finish(saver, NULL, err));
}

TEST(what_dead_saves_left_is_cleared)
{
	save_at(STORE, "a", 1);
	die(STORE, "dead", false);
	die(STORE, "a", true);
	assert_pruned(STORE, 3, "dead dead");
	assert_keys(STORE, "a.metadata.json a_shard_0.shard");
}

TEST(orphans_and_damaged_ones_stay)
{
	save_at(STORE, "a", 1);
	save_at(STORE, "b", 2);
	save_at(STORE, "c", 3);
	assert_ok(sherd_store_remove(STORE, "a.metadata.json", err));
	object_put(STORE, "b.metadata.json", "{", 1);
	assert_pruned(STORE, 1, "");
	assert_keys(STORE, "a_shard_0.shard b.metadata.json b_shard_0.shard c.metadata.json c_shard_0.shard");
}

/* The claim of a removal that died at once, before it touched anything. */
static void claim_removal(sherd_store *store, const char *prefix, uint64_t seed)
{
	SAMPLE s = ckpt_sample_small(seed, 1);
	ckpt_hold hold;
	sherd_ckpt_claim mine = sherd_ckpt_claim_of_us(&s->set_id, 1, 0);
	mine.removing = true;
	assert_ok(sherd_ckpt_hold(&hold, store, prefix, &mine, NULL, NULL, err));
	sherd_ckpt_release(&hold);
}

TEST(a_removal_that_died_is_finished)
{
	save_at(STORE, "new", 9);
	save_at(STORE, "old", 1);
	claim_removal(STORE, "old", 1);
	assert_ok(sherd_store_remove(STORE, "old.metadata.json", err));
	assert_pruned(STORE, 5, "old dead");
	assert_keys(STORE, "new.metadata.json new_shard_0.shard");
}

TEST(a_save_finishes_a_removal_that_died)
{
	SAMPLE s = ckpt_sample_small(3, 1);
	save_at(STORE, "old", 1);
	claim_removal(STORE, "old", 1);
	assert_ok(sherd_store_remove(STORE, "old.metadata.json", err));
	assert_ok(ckpt_sample_save(s, STORE, "old", err));
	assert_sample(s, STORE, "old");
	assert_keys(STORE, "old.metadata.json old_shard_0.shard");
}

/* It was old when the removal began; since then the newer one was lost. */
TEST(the_newest_stays_even_if_its_removal_had_begun)
{
	SAMPLE s = ckpt_sample_small(1, 1);
	save_at(STORE, "only", 1);
	claim_removal(STORE, "only", 1);
	assert_pruned(STORE, 1, "");
	assert_keys(STORE, "only.metadata.json only_shard_0.shard");
	assert_sample(s, STORE, "only");
}

TEST(the_set_of_a_removal_that_died_may_be_replaced)
{
	SAMPLE s = ckpt_sample_small(3, 1);
	save_at(STORE, "old", 1);
	claim_removal(STORE, "old", 1);
	assert_ok(ckpt_sample_replace(s, STORE, "old", err));
	assert_sample(s, STORE, "old");
}

TEST(only_this_folder_is_pruned)
{
	save_at(STORE, "a/x", 1);
	save_at(STORE, "a/y", 2);
	save_at(STORE, "b/x", 1);
	assert_ok(sherd_ckpt_prune(STORE, "a/", 1, NULL, NULL, NULL, err));
	assert_keys(STORE, "a/y.metadata.json a/y_shard_0.shard b/x.metadata.json b/x_shard_0.shard");
}

TEST(foreign_sets_are_pruned_too)
{
	SAMPLE s = ckpt_sample_csharp(1, 2);
	sherd_ckpt_save_options o = {.world = 2, .layout = SHERD_CKPT_LAYOUT_CSHARP, .time_ns = 5};
	assert_ok(sherd_ckpt_save(STORE, "old", s->shards, &o, err));
	save_at(STORE, "new", 9);
	assert_pruned(STORE, 1, "old committed");
	assert_keys(STORE, "new.metadata.json new_shard_0.shard");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_ON_BOTH(the_newest_are_kept_and_the_older_ones_go),
		CASE_ON_BOTH(keeping_none_is_refused),
		CASE_ON_BOTH(what_is_being_written_stays),
		CASE_ON_BOTH(what_dead_saves_left_is_cleared),
		CASE_ON_BOTH(orphans_and_damaged_ones_stay),
		CASE_ON_BOTH(a_removal_that_died_is_finished),
		CASE_ON_BOTH(a_save_finishes_a_removal_that_died),
		CASE_ON_BOTH(the_newest_stays_even_if_its_removal_had_begun),
		CASE_ON_BOTH(the_set_of_a_removal_that_died_may_be_replaced),
		CASE_ON_BOTH(only_this_folder_is_pruned),
		CASE_ON_BOTH(foreign_sets_are_pruned_too),
	};
	return cmocka_run_group_tests_name("ckpt_prune", tests, NULL, NULL);
}

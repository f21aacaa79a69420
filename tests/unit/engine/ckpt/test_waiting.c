/* Sets between their first and their last rank: nobody holds their claim, and yet nobody else may clear them. */
#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/test.h"

#include "base/error.h"
#include "engine/ckpt/claim.h"
#include "engine/ckpt/save.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

SHD_AUTO_DEFINE(ckpt_sample, ckpt_sample_free)
SHD_AUTO_DEFINE(sherd_ckpt_list, sherd_ckpt_list_close)

#define SAMPLE SHD_AUTO(ckpt_sample, ckpt_sample_free)
#define LIST SHD_AUTO(sherd_ckpt_list, sherd_ckpt_list_close)

#define HOUR_NS (UINT64_C(3600) * 1000000000)

/* One process of the set saves this rank and leaves. */
static bool save_rank(sherd_store *store, const ckpt_sample *s, uint32_t rank, bool replace)
{
	sherd_ckpt_saver *saver = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	bool committed = false;
	o.replace = replace;
	assert_ok(sherd_ckpt_saver_open(&saver, store, "m", &o, err));
	assert_ok(sherd_ckpt_saver_shard(saver, rank, s->shards[rank].items, s->shards[rank].count, err));
	assert_ok(sherd_ckpt_saver_finish(saver, &committed, err));
	return committed;
}

static void prune_waiting(sherd_store *store, uint64_t older_than_ns)
{
	sherd_ckpt_prune_options o = {.keep = 1, .waiting_older_than_ns = older_than_ns};
	assert_ok(sherd_ckpt_prune(store, "", &o, err));
}

static void make_old(const char *folder, const char *file, int hours)
{
	char path[4096];
	struct timespec now;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec -= (time_t)hours * 3600;
	(void)snprintf(path, sizeof(path), "%s/%s", folder, file);
	assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[2]){now, now}, 0), 0);
}

TEST(prune_leaves_a_set_that_waits_for_its_ranks)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	assert_false(save_rank(STORE, s, 0, false));
	prune_waiting(STORE, 0);
	prune_waiting(STORE, HOUR_NS);
	assert_keys(STORE, "m.saving m_shard_0.shard");
	assert_true(save_rank(STORE, s, 1, false));
	assert_sample(s, STORE, "m");
}

TEST(prune_clears_what_has_waited_long_enough)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	assert_false(save_rank(STORE, s, 0, false));
	prune_waiting(STORE, 1);
	assert_keys(STORE, "");
}

/* Its last rank died before the commit. Beside a whole one it goes as any other. */
TEST(prune_leaves_the_only_set_that_lacks_but_its_commit)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	size_t len;
	assert_false(save_rank(STORE, s, 0, false));
	char *claim = object_get(STORE, "m.saving", &len);
	assert_true(save_rank(STORE, s, 1, false));
	object_put(STORE, "m.saving", claim, len);
	sherd_free(claim);
	assert_ok(sherd_store_remove(STORE, "m.metadata.json", err));
	prune_waiting(STORE, 1);
	assert_keys(STORE, "m.saving m_shard_0.shard m_shard_1.shard");
	assert_ok(ckpt_sample_save(s, STORE, "n", err));
	prune_waiting(STORE, 1);
	assert_keys(STORE, "n.metadata.json n_shard_0.shard n_shard_1.shard");
}

TEST(the_age_counts_from_the_last_rank)
{
	SAMPLE s = ckpt_sample_small(1, 3);
	assert_false(save_rank(STORE, s, 0, false));
	make_old(FOLDER, "m.saving", 5);
	make_old(FOLDER, "m_shard_0.shard", 5);
	assert_false(save_rank(STORE, s, 1, false));
	prune_waiting(STORE, HOUR_NS);
	assert_keys(STORE, "m.saving m_shard_0.shard m_shard_1.shard");
	make_old(FOLDER, "m_shard_1.shard", 2);
	prune_waiting(STORE, 3 * HOUR_NS);
	assert_keys(STORE, "m.saving m_shard_0.shard m_shard_1.shard");
	prune_waiting(STORE, HOUR_NS);
	assert_keys(STORE, "");
}

TEST(another_set_that_meets_a_waiting_one_is_told_its_age)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	SAMPLE other = ckpt_sample_small(2, 1);
	sherd_error err = {0};
	assert_false(save_rank(STORE, s, 0, false));
	make_old(FOLDER, "m.saving", 3);
	make_old(FOLDER, "m_shard_0.shard", 3);
	assert_int_equal(ckpt_sample_save(other, STORE, "m", &err), SHERD_ECONFLICT);
	assert_string_equal(err.reason, "waiting");
	assert_non_null(strstr(err.message, "1 of 2 ranks have saved, the last one 3 h ago"));
	assert_true(save_rank(STORE, s, 1, false));
	assert_sample(s, STORE, "m");
}

TEST(taking_over_clears_a_waiting_set)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	SAMPLE other = ckpt_sample_small(2, 1);
	sherd_ckpt_save_options o = ckpt_sample_options(other, 0);
	assert_false(save_rank(STORE, s, 0, false));
	o.take_over = true;
	assert_ok(sherd_ckpt_save(STORE, "m", other->shards, &o, err));
	assert_sample(other, STORE, "m");
	assert_int_equal(object_count(STORE, "m"), 2);
}

TEST(take_over_after_clears_only_what_is_older)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	SAMPLE other = ckpt_sample_small(2, 1);
	sherd_ckpt_save_options o = ckpt_sample_options(other, 0);
	assert_false(save_rank(STORE, s, 0, false));
	o.take_over_after_ns = HOUR_NS;
	assert_refused(SHERD_ECONFLICT, "waiting", sherd_ckpt_save(STORE, "m", other->shards, &o, err));
	o.take_over_after_ns = 1;
	assert_ok(sherd_ckpt_save(STORE, "m", other->shards, &o, err));
	assert_sample(other, STORE, "m");
}

/* A rank that lives is no waiting set, however old the others' shards are. */
TEST(take_over_after_does_not_touch_a_living_save)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	SAMPLE other = ckpt_sample_small(2, 1);
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0), p = ckpt_sample_options(other, 0);
	sherd_ckpt_saver *saver = NULL;
	assert_false(save_rank(STORE, s, 0, false));
	assert_ok(sherd_ckpt_saver_open(&saver, STORE, "m", &o, err));
	p.take_over_after_ns = 1;
	assert_refused(SHERD_ECONFLICT, "conflict", sherd_ckpt_save(STORE, "m", other->shards, &p, err));
	prune_waiting(STORE, 1);
	assert_ok(sherd_ckpt_saver_shard(saver, 1, s->shards[1].items, s->shards[1].count, err));
	assert_ok(sherd_ckpt_saver_finish(saver, NULL, err));
	assert_sample(s, STORE, "m");
}

TEST(a_replacement_that_waits_keeps_the_old_set_and_is_listed)
{
	SAMPLE old = ckpt_sample_small(1, 1);
	SAMPLE new = ckpt_sample_small(2, 2);
	LIST list = NULL;
	assert_ok(ckpt_sample_save(old, STORE, "m", err));
	assert_false(save_rank(STORE, new, 0, true));
	assert_ok(sherd_ckpt_list_open(&list, STORE, "", NULL, err));
	const sherd_ckpt_listing *l = sherd_ckpt_list_at(list, 0);
	assert_int_equal(l->state, SHERD_CKPT_COMMITTED);
	assert_true(l->waiting);
	assert_non_null(strstr(l->problem, "1 of 2 ranks"));
	prune_waiting(STORE, 0);
	assert_sample(old, STORE, "m");
	assert_true(save_rank(STORE, new, 1, true));
	assert_sample(new, STORE, "m");
}

TEST(a_replacement_that_waited_too_long_is_cleared_and_the_old_set_stays)
{
	SAMPLE old = ckpt_sample_small(1, 1);
	SAMPLE new = ckpt_sample_small(2, 2);
	assert_ok(ckpt_sample_save(old, STORE, "m", err));
	assert_false(save_rank(STORE, new, 0, true));
	prune_waiting(STORE, 1);
	assert_keys(STORE, "m.metadata.json m_shard_0.shard");
	assert_sample(old, STORE, "m");
}

TEST(a_waiting_set_is_listed_with_its_age)
{
	SAMPLE s = ckpt_sample_small(1, 3);
	LIST list = NULL;
	assert_false(save_rank(STORE, s, 2, false));
	make_old(FOLDER, "m.saving", 30);
	make_old(FOLDER, "m_shard_2.shard", 30);
	assert_ok(sherd_ckpt_list_open(&list, STORE, "", NULL, err));
	assert_int_equal(sherd_ckpt_list_count(list), 1);
	const sherd_ckpt_listing *l = sherd_ckpt_list_at(list, 0);
	assert_int_equal(l->state, SHERD_CKPT_WAITING);
	assert_string_equal(sherd_ckpt_state_name(l->state), "waiting");
	assert_true(l->waiting && l->waiting_ns >= 30 * HOUR_NS && l->waiting_ns < 31 * HOUR_NS);
	assert_int_equal(l->world, 3);
	assert_string_equal(l->problem, "1 of 3 ranks have saved, the last one 30 h ago");
}

/* Before the first shard there is nothing to wait for. */
TEST(a_claim_of_ranks_without_a_shard_is_dead)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	SAMPLE other = ckpt_sample_small(2, 1);
	shd_ckpt_claim mine = shd_ckpt_claim_of_us(&s->set_id, 2, 0);
	ckpt_hold hold;
	mine.by_ranks = true;
	assert_ok(shd_ckpt_hold(&hold, STORE, "m", &mine, NULL, NULL, err));
	shd_claim_leave(&hold.held);
	assert_ok(ckpt_sample_save(other, STORE, "m", err));
	assert_sample(other, STORE, "m");
}

/* The claim is lost, by hand or by a foolish script: the set can be finished all the same. */
TEST(ranks_find_each_other_without_the_claim)
{
	SAMPLE s = ckpt_sample_small(1, 3);
	assert_false(save_rank(STORE, s, 0, false));
	assert_ok(sherd_store_remove(STORE, "m.saving", err));
	assert_false(save_rank(STORE, s, 1, false));
	assert_ok(sherd_store_remove(STORE, "m.saving", err));
	assert_true(save_rank(STORE, s, 2, false));
	assert_sample(s, STORE, "m");
	assert_keys(STORE, "m.metadata.json m_shard_0.shard m_shard_1.shard m_shard_2.shard");
}

/* A set whose claim outlived its commit waits for nobody. */
TEST(a_committed_set_does_not_wait)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	SAMPLE other = ckpt_sample_small(2, 1);
	size_t len;
	assert_false(save_rank(STORE, s, 0, false));
	char *claim = object_get(STORE, "m.saving", &len);
	assert_true(save_rank(STORE, s, 1, false));
	object_put(STORE, "m.saving", claim, len);
	sherd_free(claim);
	assert_ok(ckpt_sample_replace(other, STORE, "m", err));
	assert_sample(other, STORE, "m");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_ON_BOTH(prune_leaves_a_set_that_waits_for_its_ranks),
		CASE_ON_BOTH(prune_clears_what_has_waited_long_enough),
		CASE_ON_BOTH(prune_leaves_the_only_set_that_lacks_but_its_commit),
		CASE_IN_FOLDER(the_age_counts_from_the_last_rank),
		CASE_IN_FOLDER(another_set_that_meets_a_waiting_one_is_told_its_age),
		CASE_ON_BOTH(taking_over_clears_a_waiting_set),
		CASE_ON_BOTH(take_over_after_clears_only_what_is_older),
		CASE_ON_BOTH(take_over_after_does_not_touch_a_living_save),
		CASE_ON_BOTH(a_replacement_that_waits_keeps_the_old_set_and_is_listed),
		CASE_ON_BOTH(a_replacement_that_waited_too_long_is_cleared_and_the_old_set_stays),
		CASE_IN_FOLDER(a_waiting_set_is_listed_with_its_age),
		CASE_ON_BOTH(a_claim_of_ranks_without_a_shard_is_dead),
		CASE_ON_BOTH(ranks_find_each_other_without_the_claim),
		CASE_ON_BOTH(a_committed_set_does_not_wait),
	};
	return cmocka_run_group_tests_name("ckpt_waiting", tests, NULL, NULL);
}

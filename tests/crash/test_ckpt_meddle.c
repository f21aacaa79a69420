/* Two at one prefix, the second one between any two operations of the first. */
#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/fail_store.h"
#include "support/test.h"

#include "base/error.h"
#include "engine/ckpt/claim.h"
#include "engine/ckpt/remove.h"
#include "engine/ckpt/save.h"

#include <limits.h>
#include <stdlib.h>

SHD_AUTO_DEFINE(ckpt_sample, ckpt_sample_free)

#define SAMPLE SHD_AUTO(ckpt_sample, ckpt_sample_free)

typedef struct meeting {
	const ckpt_sample *first, *second;
	sherd_ckpt_saver *a, *b;
	int rc; /* of the second */
	bool committed;
	int patience; /* how often the second asks before it stops waiting for a lock of the first */
	sherd_progress progress;
	sherd_stat seen; /* the metadata that is to go */
} meeting;

static sherd_ckpt_saver *open_saver(sherd_store *store, const ckpt_sample *s, bool take_over, bool by_ranks)
{
	sherd_ckpt_saver *saver = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	o.take_over = take_over;
	assert_ok(shd_ckpt_saver_begin(&saver, store, "m", &o, by_ranks, NULL, err));
	return saver;
}

static void write_rank(sherd_ckpt_saver *saver, const ckpt_sample *s, uint32_t rank)
{
	assert_ok(sherd_ckpt_saver_shard(saver, rank, s->shards[rank].items, s->shards[rank].count, err));
}

/* Metadata names shards that are all there, whole, or there is none. */
static void assert_no_hole(sherd_store *store, const ckpt_sample *s, const char *what, long nth)
{
	sherd_stat stat;
	if (sherd_store_stat(&stat, store, "m.metadata.json", NULL) < 0)
		return;
	const char *missing = ckpt_sample_missing(s, store, "m");
	char *keys = object_keys(store);
	if (missing)
		fail_msg("%s, operation %ld: %s; there is: %s", what, nth, missing, keys);
	free(keys);
}

/* Calls act() on a fresh store with meddle() before its nth operation, for every n. */
static void walk(const char *what, void (*prepare)(meeting *, sherd_store *), void (*act)(meeting *, sherd_store *),
                 void (*meddle)(void *, sherd_store *), void (*check)(meeting *, sherd_store *, const char *, long),
                 meeting *m)
{
	bool hit;
	long nth = 0;
	do {
		sherd_store *inner = NULL;
		assert_ok(sherd_store_open_memory(&inner, err));
		sherd_store *store = fail_store_over(inner);
		m->a = m->b = NULL;
		m->rc = SHERD_OK;
		m->committed = false;
		m->patience = 3;
		prepare(m, store);
		fail_store_call_at(store, ++nth, meddle, m);
		act(m, store);
		hit = fail_store_hit(store);
		fail_store_call_at(store, 0, NULL, NULL);
		if (!hit)
			meddle(m, store);
		check(m, store, what, nth);
		sherd_store_close(store);
	} while (hit);
	assert_true(nth > 3);
}

static bool is_patient(void *arg, uint64_t done, uint64_t total)
{
	(void)done, (void)total;
	return ((meeting *)arg)->patience-- > 0;
}

/* ---- one rank gives up, another one of the set commits */

static void both_have_saved(meeting *m, sherd_store *store)
{
	m->a = open_saver(store, m->first, false, true);
	m->b = open_saver(store, m->first, false, true);
	write_rank(m->a, m->first, 0);
	write_rank(m->b, m->first, 1);
}

static void give_up(meeting *m, sherd_store *store)
{
	(void)store;
	sherd_ckpt_saver_abort(TAKE(m->a));
}

static void give_up_meanwhile(void *arg, sherd_store *inner)
{
	give_up(arg, inner);
}

static void commit(meeting *m, sherd_store *store)
{
	(void)store;
	m->rc = sherd_ckpt_saver_finish(TAKE(m->b), &m->committed, NULL);
}

static void commit_meanwhile(void *arg, sherd_store *inner)
{
	commit(arg, inner);
}

static void check_ranks(meeting *m, sherd_store *store, const char *what, long nth)
{
	assert_no_hole(store, m->first, what, nth);
	assert_int_equal(m->rc, SHERD_OK);
	assert_true(m->committed); /* the shard of the one who gave up stays while another one lives */
}

TEST(a_rank_that_gives_up_leaves_no_hole_in_what_another_commits)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	meeting m = {.first = s};
	walk("commit in an abort", both_have_saved, give_up, commit_meanwhile, check_ranks, &m);
	walk("abort in a commit", both_have_saved, commit, give_up_meanwhile, check_ranks, &m);
}

/* The other one comes when the one who gives up is alone: it finds its shard, or not. */
static void one_has_saved_before(meeting *m, sherd_store *store)
{
	sherd_ckpt_saver *b = open_saver(store, m->first, false, true);
	write_rank(b, m->first, 1);
	assert_ok(sherd_ckpt_saver_finish(b, NULL, err));
	m->a = open_saver(store, m->first, false, true);
	write_rank(m->a, m->first, 0);
}

static void commit_all_meanwhile(void *arg, sherd_store *inner)
{
	meeting *m = arg;
	m->progress = (sherd_progress){.update = is_patient, .arg = m};
	m->rc = sherd_ckpt_commit(inner, "m", &(sherd_ckpt_options){.progress = &m->progress}, NULL);
}

static void check_commit(meeting *m, sherd_store *store, const char *what, long nth)
{
	assert_no_hole(store, m->first, what, nth);
	assert_true(m->rc == SHERD_OK || m->rc == SHERD_EINCOMPLETE || m->rc == SHERD_ECANCELLED ||
	            m->rc == SHERD_ENOTFOUND);
	/* the shard that was there before stays, committed or waiting */
	assert_int_equal(object_count(store, "m_shard_1"), 1);
}

TEST(a_rank_that_gives_up_leaves_no_hole_in_what_commit_publishes)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	meeting m = {.first = s};
	walk("commit in an abort", one_has_saved_before, give_up, commit_all_meanwhile, check_commit, &m);
}

/* ---- the claim is taken over while its owner lets go of it */

static void one_holds(meeting *m, sherd_store *store)
{
	m->a = open_saver(store, m->first, false, false);
	write_rank(m->a, m->first, 0);
}

static void take_over_meanwhile(void *arg, sherd_store *inner)
{
	meeting *m = arg;
	sherd_ckpt_save_options o = ckpt_sample_options(m->second, 0);
	m->progress = (sherd_progress){.update = is_patient, .arg = m};
	o.take_over = true;
	o.progress = &m->progress;
	m->rc = shd_ckpt_saver_begin(&m->b, inner, "m", &o, false, NULL, NULL);
	m->patience = INT_MAX;
}

static void check_taken_over(meeting *m, sherd_store *store, const char *what, long nth)
{
	shd_ckpt_claim claim;
	bool valid = false;
	if (m->rc < 0)
		return; /* it met the lock of who looked */
	int rc = shd_ckpt_read_claim(store, "m", &claim, &valid, NULL);
	if (rc < 0 || !valid || memcmp(&claim.set_id, &m->second->set_id, sizeof(claim.set_id)) != 0)
		fail_msg("%s, operation %ld: the taker's claim is gone", what, nth);
	write_rank(m->b, m->second, 0);
	assert_ok(sherd_ckpt_saver_finish(TAKE(m->b), NULL, err));
	assert_no_hole(store, m->second, what, nth);
}

static void commit_first(meeting *m, sherd_store *store)
{
	(void)store;
	m->committed = sherd_ckpt_saver_finish(TAKE(m->a), NULL, NULL) == SHERD_OK;
}

static void check_one_of_two(meeting *m, sherd_store *store, const char *what, long nth)
{
	shd_ckpt_claim claim;
	bool valid = false;
	if (m->b && shd_ckpt_read_claim(store, "m", &claim, &valid, NULL) < 0)
		fail_msg("%s, operation %ld: the taker's claim is gone", what, nth);
	if (m->b)
		sherd_ckpt_saver_abort(TAKE(m->b));
	if (m->committed)
		assert_no_hole(store, m->first, what, nth);
}

TEST(nobody_removes_the_claim_of_who_took_over)
{
	SAMPLE victim = ckpt_sample_small(1, 1);
	SAMPLE taker = ckpt_sample_small(2, 1);
	meeting m = {.first = victim, .second = taker};
	walk("take-over in an abort", one_holds, give_up, take_over_meanwhile, check_taken_over, &m);
	walk("take-over in a commit", one_holds, commit_first, take_over_meanwhile, check_one_of_two, &m);
}

/* ---- a removal, and a save that was taken over from and lives on: it asks no claim before it publishes */

static void a_victim_lives(meeting *m, sherd_store *store)
{
	SAMPLE old = ckpt_sample_small(7, 2);
	sherd_ckpt_save_options o = ckpt_sample_options(m->first, 0);
	assert_ok(ckpt_sample_save(old, store, "m", err));
	assert_ok(sherd_store_stat(&m->seen, store, "m.metadata.json", err));
	o.replace = true;
	assert_ok(shd_ckpt_saver_begin(&m->a, store, "m", &o, false, NULL, err));
	write_rank(m->a, m->first, 0);
	write_rank(m->a, m->first, 1);
	o = ckpt_sample_options(m->second, 0);
	o.replace = o.take_over = true;
	assert_ok(shd_ckpt_saver_begin(&m->b, store, "m", &o, false, NULL, err));
	sherd_ckpt_saver_abort(TAKE(m->b));
}

static void remove_it(meeting *m, sherd_store *store)
{
	m->rc = shd_ckpt_remove_set(store, "m", m->seen.identity, NULL);
}

static void commit_the_victim(void *arg, sherd_store *inner)
{
	commit_first(arg, inner);
}

static void check_removal(meeting *m, sherd_store *store, const char *what, long nth)
{
	assert_no_hole(store, m->first, what, nth);
	if (m->committed != (object_count(store, "m.metadata.json") == 1) || m->committed == (m->rc == SHERD_OK))
		fail_msg("%s, operation %ld: the removal ended with %d, and the save %s", what, nth, m->rc,
		         m->committed ? "was committed" : "was not");
	assert_int_equal(object_count(store, "m.saving"), 0);
}

TEST(a_removal_takes_only_the_metadata_that_it_saw)
{
	SAMPLE victim = ckpt_sample_small(1, 2);
	SAMPLE taker = ckpt_sample_small(2, 2);
	meeting m = {.first = victim, .second = taker};
	walk("commit in a removal", a_victim_lives, remove_it, commit_the_victim, check_removal, &m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rank_that_gives_up_leaves_no_hole_in_what_another_commits),
		cmocka_unit_test(a_rank_that_gives_up_leaves_no_hole_in_what_commit_publishes),
		cmocka_unit_test(nobody_removes_the_claim_of_who_took_over),
		cmocka_unit_test(a_removal_takes_only_the_metadata_that_it_saw),
	};
	return cmocka_run_group_tests_name("crash/ckpt_meddle", tests, NULL, NULL);
}

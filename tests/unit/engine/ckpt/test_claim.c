/* Sentence by sentence: who may write under a prefix, what others get, and what is cleared. */
#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/test.h"

#include "base/buf.h"
#include "base/error.h"
#include "engine/ckpt/claim.h"
#include "engine/ckpt/save.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

SHD_AUTO_DEFINE(ckpt_sample, ckpt_sample_free)
SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)

#define SAMPLE SHD_AUTO(ckpt_sample, ckpt_sample_free)

static sherd_ckpt_saver *begin(sherd_store *store, const ckpt_sample *s, bool replace, bool take_over)
{
	sherd_ckpt_saver *saver = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	o.replace = replace;
	o.take_over = take_over;
	assert_ok(sherd_ckpt_saver_open(&saver, store, "m", &o, err));
	return saver;
}

static void write_shard(sherd_ckpt_saver *saver, const ckpt_sample *s, uint32_t rank)
{
	assert_ok(sherd_ckpt_saver_shard(saver, rank, s->shards[rank].items, s->shards[rank].count, err));
}

static void finish(sherd_ckpt_saver *saver, bool want_committed)
{
	bool committed = !want_committed;
	assert_ok(sherd_ckpt_saver_finish(saver, &committed, err));
	assert_int_equal(committed, want_committed);
}

/* A save that died: its claim stays, held by nobody, and so do the shards it had written. */
static void die_after(sherd_store *store, const ckpt_sample *s, uint32_t shards, bool replace)
{
	for (uint32_t r = 0; r < shards; r++) {
		sherd_ckpt_saver *saver = NULL;
		sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
		o.replace = replace;
		assert_ok(shd_ckpt_saver_begin(&saver, store, "m", &o, false, NULL, err));
		write_shard(saver, s, r);
		finish(saver, false);
	}
}

/* There is nothing but this set under "m", and it replaced another: its shards have its id in their names. */
static void assert_only_replacement(const ckpt_sample *s, sherd_store *store)
{
	SHD_AUTO_BUF keys = {0};
	char id[SHERD_SET_ID_TEXT];
	sherd_set_id_format(id, &s->set_id);
	shd_buf_str(&keys, "m.metadata.json");
	for (uint32_t r = 0; r < s->world; r++)
		shd_buf_printf(&keys, " m_shard_%u.%s.shard", r, id);
	shd_buf_u8(&keys, 0);
	assert_keys(store, (const char *)keys.data);
}

TEST(a_save_begins_with_its_claim)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	sherd_ckpt_saver *saver = begin(STORE, s, false, false);
	shd_ckpt_claim claim;
	bool valid = false;
	assert_keys(STORE, "m.saving");
	assert_ok(shd_ckpt_read_claim(STORE, "m", &claim, &valid, err));
	assert_true(valid);
	assert_memory_equal(&claim.set_id, &s->set_id, sizeof(s->set_id));
	assert_int_equal(claim.world, 2);
	assert_true(claim.process > 0);
	sherd_ckpt_saver_abort(saver);
	assert_keys(STORE, "");
}

TEST(all_ranks_of_one_save_join_its_claim)
{
	SAMPLE s = ckpt_sample_small(2, 3);
	sherd_ckpt_saver *savers[3];
	for (uint32_t r = 0; r < 3; r++)
		savers[r] = begin(STORE, s, false, false);
	assert_keys(STORE, "m.saving");
	for (uint32_t r = 3; r-- > 0;)
		write_shard(savers[r], s, r);
	finish(savers[1], true);
	/* the others find that it is done */
	finish(savers[0], true);
	finish(savers[2], true);
	assert_keys(STORE, "m.metadata.json m_shard_0.shard m_shard_1.shard m_shard_2.shard");
	assert_sample(s, STORE, "m");
}

TEST(the_last_of_several_savers_publishes)
{
	static const uint32_t order[4] = {2, 0, 3, 1};
	SAMPLE s = ckpt_sample_small(3, 4);
	sherd_ckpt *c = NULL;
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_not_equal(sherd_ckpt_open(&c, STORE, "m", NULL, NULL), SHERD_OK);
		sherd_ckpt_saver *saver = begin(STORE, s, false, false);
		write_shard(saver, s, order[i]);
		finish(saver, i == 3);
	}
	assert_sample(s, STORE, "m");
	assert_keys(STORE, "m.metadata.json m_shard_0.shard m_shard_1.shard m_shard_2.shard m_shard_3.shard");
}

TEST(the_metadata_does_not_depend_on_who_publishes)
{
	SAMPLE s = ckpt_sample_small(3, 2);
	size_t an, bn;
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	char *a = object_get(STORE, "m.metadata.json", &an);
	assert_ok(sherd_store_remove(STORE, "m.metadata.json", err));
	assert_ok(sherd_store_remove(STORE, "m_shard_0.shard", err));
	assert_ok(sherd_store_remove(STORE, "m_shard_1.shard", err));
	for (uint32_t r = 0; r < 2; r++) {
		sherd_ckpt_saver *saver = begin(STORE, s, false, false);
		write_shard(saver, s, r);
		finish(saver, r == 1);
	}
	char *b = object_get(STORE, "m.metadata.json", &bn);
	assert_int_equal(an, bn);
	assert_memory_equal(a, b, an);
	sherd_free(a);
	sherd_free(b);
}

TEST(a_saver_with_another_set_id_gets_a_conflict)
{
	SAMPLE s = ckpt_sample_small(1, 1);
	SAMPLE other = ckpt_sample_small(2, 1);
	sherd_ckpt_saver *saver = begin(STORE, s, false, false);
	assert_refused(SHERD_ECONFLICT, "conflict", ckpt_sample_save(other, STORE, "m", err));
	assert_refused(SHERD_ECONFLICT, "conflict", ckpt_sample_replace(other, STORE, "m", err));
	write_shard(saver, s, 0);
	assert_refused(SHERD_ECONFLICT, "conflict", ckpt_sample_save(other, STORE, "m", err));
	assert_keys(STORE, "m.saving m_shard_0.shard");
	finish(saver, true);
	assert_sample(s, STORE, "m");
}

TEST(a_saver_with_another_world_gets_a_conflict)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	sherd_ckpt_saver *saver = begin(STORE, s, false, false), *other = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	o.world = 3;
	assert_refused(SHERD_ECONFLICT, "conflict", sherd_ckpt_saver_open(&other, STORE, "m", &o, err));
	sherd_ckpt_saver_abort(saver);
	assert_keys(STORE, "");
}

TEST(saving_to_a_committed_prefix_is_refused)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	SAMPLE other = ckpt_sample_small(2, 2);
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_refused(SHERD_EEXIST, "exists", ckpt_sample_save(other, STORE, "m", err));
	assert_refused(SHERD_EEXIST, "exists", ckpt_sample_save(s, STORE, "m", err));
	assert_keys(STORE, "m.metadata.json m_shard_0.shard m_shard_1.shard");
	assert_sample(s, STORE, "m");
}

TEST(a_dead_claim_is_cleared_by_the_next_save)
{
	SAMPLE dead = ckpt_sample_small(1, 3);
	SAMPLE s = ckpt_sample_small(2, 1);
	die_after(STORE, dead, 2, false);
	assert_keys(STORE, "m.saving m_shard_0.shard m_shard_1.shard");
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_keys(STORE, "m.metadata.json m_shard_0.shard");
	assert_sample(s, STORE, "m");
}

TEST(a_rank_that_died_may_come_back)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	die_after(STORE, s, 1, false);
	sherd_ckpt_saver *saver = begin(STORE, s, false, false);
	write_shard(saver, s, 0); /* the same bytes again */
	assert_refused(SHERD_ECONFLICT, "conflict",
	               sherd_ckpt_saver_shard(saver, 0, s->shards[1].items, s->shards[1].count, err));
	write_shard(saver, s, 1);
	finish(saver, true);
	assert_sample(s, STORE, "m");
}

TEST(aborting_removes_what_this_saver_wrote_and_leaves_the_others)
{
	SAMPLE s = ckpt_sample_small(1, 3);
	sherd_ckpt_saver *a = begin(STORE, s, false, false);
	write_shard(a, s, 0);
	finish(a, false);
	sherd_ckpt_saver *b = begin(STORE, s, false, false);
	write_shard(b, s, 1);
	sherd_ckpt_saver_abort(b);
	assert_keys(STORE, "m.saving m_shard_0.shard");
	sherd_ckpt_saver_abort(NULL);
}

/* b may have found a's shard there, and be about to publish. */
TEST(aborting_leaves_a_shard_that_others_of_the_set_may_be_publishing)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	sherd_ckpt_saver *a = begin(STORE, s, false, false), *b = begin(STORE, s, false, false);
	write_shard(a, s, 0);
	write_shard(b, s, 1);
	sherd_ckpt_saver_abort(a);
	assert_keys(STORE, "m.saving m_shard_0.shard m_shard_1.shard");
	finish(b, true);
	assert_sample(s, STORE, "m");
	assert_keys(STORE, "m.metadata.json m_shard_0.shard m_shard_1.shard");
}

TEST(replacing_keeps_one_whole_set_at_every_moment)
{
	SAMPLE old = ckpt_sample_small(1, 2);
	SAMPLE new = ckpt_sample_small(2, 3);
	assert_ok(ckpt_sample_save(old, STORE, "m", err));
	for (uint32_t r = 0; r < 3; r++) {
		sherd_ckpt_saver *saver = begin(STORE, new, true, false);
		assert_sample(old, STORE, "m");
		write_shard(saver, new, r);
		assert_sample(old, STORE, "m");
		finish(saver, r == 2);
		assert_sample(r == 2 ? new : old, STORE, "m");
	}
	assert_only_replacement(new, STORE);
}

TEST(replacing_nothing_is_saving)
{
	SAMPLE s = ckpt_sample_small(1, 1);
	assert_ok(ckpt_sample_replace(s, STORE, "m", err));
	assert_keys(STORE, "m.metadata.json m_shard_0.shard");
}

TEST(replacing_again_and_again_leaves_only_the_last)
{
	for (uint64_t i = 0; i < 5; i++) {
		SAMPLE s = ckpt_sample_small(i, 1 + (uint32_t)(i % 3));
		assert_ok(ckpt_sample_replace(s, STORE, "m", err));
		assert_sample(s, STORE, "m");
	}
	SAMPLE last = ckpt_sample_small(9, 1);
	assert_ok(ckpt_sample_replace(last, STORE, "m", err));
	assert_only_replacement(last, STORE);
}

TEST(a_set_does_not_replace_itself)
{
	SAMPLE old = ckpt_sample_small(1, 2);
	SAMPLE new = ckpt_sample_small(2, 2);
	assert_ok(ckpt_sample_save(old, STORE, "m", err));
	sherd_ckpt_save_options o = {.world = 2, .set_id = &old->set_id, .replace = true};
	assert_refused(SHERD_EEXIST, "exists", sherd_ckpt_save(STORE, "m", new->shards, &o, err));
	assert_keys(STORE, "m.metadata.json m_shard_0.shard m_shard_1.shard");
	assert_sample(old, STORE, "m");
}

TEST(a_replacement_that_died_leaves_the_old_set_and_is_cleared)
{
	SAMPLE old = ckpt_sample_small(1, 2);
	SAMPLE dead = ckpt_sample_small(2, 2);
	SAMPLE new = ckpt_sample_small(3, 1);
	assert_ok(ckpt_sample_save(old, STORE, "m", err));
	die_after(STORE, dead, 1, true);
	assert_sample(old, STORE, "m");
	assert_ok(ckpt_sample_replace(new, STORE, "m", err));
	assert_sample(new, STORE, "m");
	assert_only_replacement(new, STORE);
}

TEST(an_aborted_replacement_leaves_the_old_set_alone)
{
	SAMPLE old = ckpt_sample_small(1, 2);
	SAMPLE new = ckpt_sample_small(2, 2);
	assert_ok(ckpt_sample_save(old, STORE, "m", err));
	sherd_ckpt_saver *saver = begin(STORE, new, true, false);
	write_shard(saver, new, 0);
	sherd_ckpt_saver_abort(saver);
	assert_keys(STORE, "m.metadata.json m_shard_0.shard m_shard_1.shard");
	assert_sample(old, STORE, "m");
}

TEST(a_set_cut_short_by_a_replacement_elsewhere_is_told)
{
	SAMPLE old = ckpt_sample_small(1, 1);
	SAMPLE first = ckpt_sample_small(2, 1);
	assert_ok(ckpt_sample_save(old, STORE, "m", err));
	sherd_ckpt_saver *saver = begin(STORE, first, true, false);
	write_shard(saver, first, 0);
	/* somebody else publishes over the same old set: only by take-over can that happen */
	SAMPLE second = ckpt_sample_small(3, 1);
	sherd_ckpt_save_options o = ckpt_sample_options(second, 0);
	o.replace = o.take_over = true;
	assert_ok(sherd_ckpt_save(STORE, "m", second->shards, &o, err));
	assert_sample(second, STORE, "m");
	assert_int_equal(sherd_ckpt_saver_finish(saver, NULL, NULL), SHERD_ECONFLICT);
	assert_sample(second, STORE, "m");
	assert_only_replacement(second, STORE);
}

TEST(taking_over_a_live_save_wins_when_it_publishes_first)
{
	SAMPLE victim = ckpt_sample_small(1, 2);
	SAMPLE s = ckpt_sample_small(2, 2);
	sherd_ckpt_saver *slow = begin(STORE, victim, false, false);
	write_shard(slow, victim, 0);
	sherd_ckpt_saver *saver = begin(STORE, s, false, true);
	write_shard(saver, s, 0);
	write_shard(saver, s, 1);
	finish(saver, true);
	assert_sample(s, STORE, "m");
	/* the victim goes on, and loses, and leaves nothing */
	write_shard(slow, victim, 1);
	assert_int_equal(sherd_ckpt_saver_finish(slow, NULL, NULL), SHERD_ECONFLICT);
	assert_sample(s, STORE, "m");
	assert_only_replacement(s, STORE);
}

TEST(taking_over_a_live_save_loses_when_the_victim_publishes_first)
{
	SAMPLE victim = ckpt_sample_small(1, 2);
	SAMPLE s = ckpt_sample_small(2, 1);
	sherd_ckpt_saver *slow = begin(STORE, victim, false, false);
	write_shard(slow, victim, 0);
	sherd_ckpt_saver *saver = begin(STORE, s, false, true);
	write_shard(saver, s, 0);
	write_shard(slow, victim, 1);
	finish(slow, true);
	assert_sample(victim, STORE, "m");
	assert_refused(SHERD_EEXIST, "exists", sherd_ckpt_saver_finish(saver, NULL, err));
	assert_sample(victim, STORE, "m");
	assert_keys(STORE, "m.metadata.json m_shard_0.shard m_shard_1.shard");
}

TEST(a_whole_save_that_is_taken_over_leaves_nothing)
{
	SAMPLE victim = ckpt_sample_small(1, 2);
	SAMPLE s = ckpt_sample_small(2, 1);
	sherd_ckpt_saver *saver = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	o.take_over = true;
	sherd_ckpt_saver *slow = begin(STORE, victim, false, false);
	write_shard(slow, victim, 0);
	assert_ok(sherd_ckpt_saver_open(&saver, STORE, "m", &o, err));
	write_shard(saver, s, 0);
	finish(saver, true);
	sherd_ckpt_saver_abort(slow);
	assert_sample(s, STORE, "m");
	assert_only_replacement(s, STORE);
}

/* The victim aborts after its plain names were given to somebody else. */
TEST(an_abort_does_not_remove_what_others_have_since_saved)
{
	SAMPLE victim = ckpt_sample_small(1, 1);
	SAMPLE s = ckpt_sample_small(2, 1);
	sherd_ckpt_saver *slow = begin(STORE, victim, false, false);
	write_shard(slow, victim, 0);
	assert_ok(sherd_store_remove(STORE, "m_shard_0.shard", err));
	assert_ok(sherd_store_remove(STORE, "m.saving", err));
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	sherd_ckpt_saver_abort(slow);
	assert_sample(s, STORE, "m");
}

typedef struct thief {
	sherd_store *store;
	bool done;
} thief;

static int read_and_steal(void *arg, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	thief *t = arg;
	(void)offset;
	memset(buf, 0, len);
	t->done = true;
	return sherd_store_remove(t->store, "m_shard_0.shard", err);
}

TEST(a_whole_save_whose_shard_was_removed_leaves_nothing)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	uint64_t n = 8;
	thief t = {.store = STORE};
	sherd_ckpt_item item = {.tensor = {"x", SHERD_U8, 1, &n, 0}, .read = read_and_steal, .arg = &t};
	sherd_ckpt_shard_items shards[2] = {{s->shards[0].items + 1, 1}, {&item, 1}};
	assert_refused(SHERD_ECONFLICT, "conflict",
	               sherd_ckpt_save(STORE, "m", shards, &(sherd_ckpt_save_options){.world = 2}, err));
	assert_true(t.done);
	assert_keys(STORE, "");
}

typedef struct looker {
	sherd_lock *lock;
	pthread_t thread;
} looker;

static void *look_a_while(void *arg)
{
	struct timespec t = {.tv_nsec = 30000000};
	(void)nanosleep(&t, NULL);
	sherd_lock_release(((looker *)arg)->lock);
	return NULL;
}

/* Whoever lists or prunes holds the exclusive lock of a claim for a moment. */
static void begin_to_look(sherd_store *store, looker *l)
{
	assert_ok(sherd_store_lock(&l->lock, store, "m.saving", SHERD_LOCK_EXCLUSIVE, err));
	assert_int_equal(pthread_create(&l->thread, NULL, look_a_while, l), 0);
}

TEST(somebody_who_looks_at_a_dead_claim_disturbs_nobody)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	SAMPLE other = ckpt_sample_small(2, 1);
	looker l;
	die_after(STORE, s, 1, false);
	begin_to_look(STORE, &l);
	sherd_ckpt_saver *saver = begin(STORE, s, false, false); /* joins */
	(void)pthread_join(l.thread, NULL);
	finish(saver, false);
	begin_to_look(STORE, &l);
	assert_ok(ckpt_sample_save(other, STORE, "m", err)); /* clears */
	(void)pthread_join(l.thread, NULL);
	assert_sample(other, STORE, "m");
}

static void assert_advice(sherd_store *store, const ckpt_sample *s, sherd_ckpt_layout layout, const char *advice)
{
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	sherd_error err = {0};
	o.layout = layout;
	/* Without tensors: the C# layout does not hold all of them. */
	sherd_ckpt_shard_items none = {0};
	o.world = 1;
	assert_int_equal(sherd_ckpt_save(store, "m", &none, &o, &err), SHERD_ECONFLICT);
	if (!strstr(err.message, advice))
		fail_msg("'%s' does not advise '%s'", err.message, advice);
}

/* Of shards that do not describe themselves nothing can be repaired; a save in their layout cannot take over. */
TEST(what_is_advised_about_orphans_can_be_done)
{
	SAMPLE s = ckpt_sample_small(2, 1);
	sherd_ckpt_shard_items none = {0};
	sherd_ckpt_save_options o = {.layout = SHERD_CKPT_LAYOUT_CSHARP};
	assert_ok(sherd_ckpt_save(STORE, "m", &none, &o, err));
	assert_ok(sherd_store_remove(STORE, "m.metadata.json", err));
	assert_advice(STORE, s, SHERD_CKPT_LAYOUT_CSHARP, "remove them, or choose another name");
	assert_advice(STORE, s, SHERD_CKPT_LAYOUT_SHERD, "remove them");
	o = ckpt_sample_options(s, 0);
	o.take_over = true;
	assert_ok(sherd_ckpt_save(STORE, "m", s->shards, &o, err));
	assert_sample(s, STORE, "m");
}

TEST(orphans_are_in_the_way_unless_taken_over)
{
	SAMPLE orphan = ckpt_sample_small(1, 2);
	SAMPLE s = ckpt_sample_small(2, 1);
	assert_ok(ckpt_sample_save(orphan, STORE, "m", err));
	assert_ok(sherd_store_remove(STORE, "m.metadata.json", err));
	assert_refused(SHERD_ECONFLICT, "orphans", ckpt_sample_save(s, STORE, "m", err));
	assert_advice(STORE, s, SHERD_CKPT_LAYOUT_SHERD, "repair them");
	assert_advice(STORE, s, SHERD_CKPT_LAYOUT_CSHARP, "repair them, or choose another name");
	assert_keys(STORE, "m_shard_0.shard m_shard_1.shard");
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	o.take_over = true;
	assert_ok(sherd_ckpt_save(STORE, "m", s->shards, &o, err));
	assert_sample(s, STORE, "m");
}

TEST(a_damaged_claim_is_dead)
{
	SAMPLE s = ckpt_sample_small(1, 1);
	object_put(STORE, "m.saving", "rubbish", 7);
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_keys(STORE, "m.metadata.json m_shard_0.shard");
}

TEST(commit_publishes_what_the_ranks_left)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_ckpt_commit(STORE, "m", NULL, err));
	die_after(STORE, s, 1, false);
	assert_refused(SHERD_EINCOMPLETE, "incomplete", sherd_ckpt_commit(STORE, "m", NULL, err));
	assert_keys(STORE, "m.saving m_shard_0.shard");
	sherd_ckpt_saver *saver = begin(STORE, s, false, false);
	write_shard(saver, s, 1);
	assert_ok(sherd_ckpt_commit(STORE, "m", NULL, err));
	assert_sample(s, STORE, "m");
	finish(saver, true);
	assert_refused(SHERD_EEXIST, "exists", sherd_ckpt_commit(STORE, "m", NULL, err));
	assert_keys(STORE, "m.metadata.json m_shard_0.shard m_shard_1.shard");
}

TEST(commit_names_the_first_missing_rank)
{
	SAMPLE s = ckpt_sample_small(1, 3);
	sherd_error err = {0};
	die_after(STORE, s, 1, false);
	assert_int_equal(sherd_ckpt_commit(STORE, "m", NULL, &err), SHERD_EINCOMPLETE);
	assert_non_null(strstr(err.message, "rank 1 of 3"));
	assert_string_equal(err.object, "m");
}

TEST(commit_publishes_a_replacement_too)
{
	SAMPLE old = ckpt_sample_small(1, 1);
	SAMPLE new = ckpt_sample_small(2, 2);
	assert_ok(ckpt_sample_save(old, STORE, "m", err));
	die_after(STORE, new, 1, true);
	sherd_ckpt_saver *saver = begin(STORE, new, true, false);
	write_shard(saver, new, 1);
	assert_ok(sherd_ckpt_commit(STORE, "m", NULL, err));
	assert_sample(new, STORE, "m");
	finish(saver, true);
	assert_only_replacement(new, STORE);
}

/* Taking over is no leave to replace: the victim published first, and stays. */
TEST(commit_replaces_only_when_the_save_was_allowed_to)
{
	SAMPLE victim = ckpt_sample_small(1, 1);
	SAMPLE taker = ckpt_sample_small(2, 2);
	sherd_ckpt_saver *first = begin(STORE, victim, false, false);
	sherd_ckpt_saver *second = begin(STORE, taker, false, true);
	write_shard(second, taker, 0);
	write_shard(second, taker, 1);
	write_shard(first, victim, 0);
	finish(first, true);
	assert_refused(SHERD_EEXIST, "exists", sherd_ckpt_commit(STORE, "m", NULL, err));
	assert_sample(victim, STORE, "m");
	assert_refused(SHERD_EEXIST, "exists", sherd_ckpt_saver_finish(second, NULL, err));
	assert_keys(STORE, "m.metadata.json m_shard_0.shard");
}

TEST(commit_leaves_a_repair_alone)
{
	SAMPLE s = ckpt_sample_small(1, 1);
	shd_ckpt_claim mine = shd_ckpt_claim_of_us(&s->set_id, 1, 0);
	ckpt_hold hold;
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_store_remove(STORE, "m.metadata.json", err));
	mine.repairing = true;
	assert_ok(shd_ckpt_hold(&hold, STORE, "m", &mine, NULL, NULL, err));
	shd_claim_leave(&hold.held);
	assert_refused(SHERD_ECONFLICT, "conflict", sherd_ckpt_commit(STORE, "m", NULL, err));
	assert_keys(STORE, "m.saving m_shard_0.shard");
}

TEST(ranks_beyond_the_world_are_refused)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	sherd_ckpt_saver *saver = begin(STORE, s, false, false);
	assert_refused(SHERD_EINVAL, "bad-argument",
	               sherd_ckpt_saver_shard(saver, 2, s->shards[0].items, s->shards[0].count, err));
	sherd_ckpt_saver_abort(saver);
}

/* Whoever may read a claim may lock it, for ever: that is in the way of saves, but not of who takes over, nor of
 * readers. */
TEST(a_stranger_who_keeps_a_claim_locked_is_passed_by_taking_over)
{
	SAMPLE old = ckpt_sample_small(1, 2);
	SAMPLE s = ckpt_sample_small(2, 2);
	sherd_lock *lock = NULL;
	sherd_ckpt *ckpt = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	assert_ok(ckpt_sample_save(old, STORE, "m", err));
	object_put(STORE, "m.saving", "{}", 2);
	assert_ok(sherd_store_lock(&lock, STORE, "m.saving", SHERD_LOCK_EXCLUSIVE, err));
	assert_ok(sherd_ckpt_open(&ckpt, STORE, "m", NULL, err));
	sherd_ckpt_close(ckpt);
	o.replace = true;
	assert_refused(SHERD_ECONFLICT, "conflict", sherd_ckpt_save(STORE, "m", s->shards, &o, err));
	assert_sample(old, STORE, "m");
	o.take_over = true;
	assert_ok(sherd_ckpt_save(STORE, "m", s->shards, &o, err));
	assert_sample(s, STORE, "m");
	sherd_lock_release(lock);
	/* also where the claim is the very set's */
	sherd_ckpt_saver *saver = begin(STORE, old, true, false);
	write_shard(saver, old, 0);
	finish(saver, false);
	assert_ok(sherd_store_lock(&lock, STORE, "m.saving", SHERD_LOCK_EXCLUSIVE, err));
	saver = begin(STORE, old, true, true);
	write_shard(saver, old, 1);
	finish(saver, true);
	assert_sample(old, STORE, "m");
	sherd_lock_release(lock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_ON_BOTH(a_save_begins_with_its_claim),
		CASE_ON_BOTH(all_ranks_of_one_save_join_its_claim),
		CASE_ON_BOTH(the_last_of_several_savers_publishes),
		CASE_ON_BOTH(the_metadata_does_not_depend_on_who_publishes),
		CASE_ON_BOTH(a_saver_with_another_set_id_gets_a_conflict),
		CASE_ON_BOTH(a_saver_with_another_world_gets_a_conflict),
		CASE_ON_BOTH(saving_to_a_committed_prefix_is_refused),
		CASE_ON_BOTH(a_dead_claim_is_cleared_by_the_next_save),
		CASE_ON_BOTH(a_rank_that_died_may_come_back),
		CASE_ON_BOTH(aborting_removes_what_this_saver_wrote_and_leaves_the_others),
		CASE_ON_BOTH(aborting_leaves_a_shard_that_others_of_the_set_may_be_publishing),
		CASE_ON_BOTH(replacing_keeps_one_whole_set_at_every_moment),
		CASE_ON_BOTH(replacing_nothing_is_saving),
		CASE_ON_BOTH(replacing_again_and_again_leaves_only_the_last),
		CASE_ON_BOTH(a_set_does_not_replace_itself),
		CASE_ON_BOTH(a_replacement_that_died_leaves_the_old_set_and_is_cleared),
		CASE_ON_BOTH(an_aborted_replacement_leaves_the_old_set_alone),
		CASE_ON_BOTH(a_set_cut_short_by_a_replacement_elsewhere_is_told),
		CASE_ON_BOTH(taking_over_a_live_save_wins_when_it_publishes_first),
		CASE_ON_BOTH(taking_over_a_live_save_loses_when_the_victim_publishes_first),
		CASE_ON_BOTH(a_whole_save_that_is_taken_over_leaves_nothing),
		CASE_ON_BOTH(an_abort_does_not_remove_what_others_have_since_saved),
		CASE_ON_BOTH(a_whole_save_whose_shard_was_removed_leaves_nothing),
		CASE_ON_BOTH(somebody_who_looks_at_a_dead_claim_disturbs_nobody),
		CASE_ON_BOTH(orphans_are_in_the_way_unless_taken_over),
		CASE_ON_BOTH(what_is_advised_about_orphans_can_be_done),
		CASE_IN_FOLDER(a_stranger_who_keeps_a_claim_locked_is_passed_by_taking_over),
		CASE_ON_BOTH(a_damaged_claim_is_dead),
		CASE_ON_BOTH(commit_publishes_what_the_ranks_left),
		CASE_ON_BOTH(commit_names_the_first_missing_rank),
		CASE_ON_BOTH(commit_publishes_a_replacement_too),
		CASE_ON_BOTH(commit_replaces_only_when_the_save_was_allowed_to),
		CASE_ON_BOTH(commit_leaves_a_repair_alone),
		CASE_ON_BOTH(ranks_beyond_the_world_are_refused),
	};
	return cmocka_run_group_tests_name("ckpt_claim", tests, NULL, NULL);
}

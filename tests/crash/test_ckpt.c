/* What a power loss leaves of checkpoints, at every point of everything that is done to them: the old set or the new
 * one, whole and verified, or for a first save nothing that is committed; and the next writer succeeds and cleans up.
 */
#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/crash_walk.h"
#include "support/fail_sys.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"
#include "engine/ckpt/save.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)
SHD_AUTO_DEFINE(sherd_ckpt_list, sherd_ckpt_list_close)

static ckpt_sample *old, *new, *later;

/* ---- what is done */

static int nothing(sherd_store *store)
{
	(void)store;
	return SHERD_OK;
}

static int save_old(sherd_store *store)
{
	return ckpt_sample_save(old, store, "m", NULL);
}

static int save_new(sherd_store *store)
{
	return ckpt_sample_save(new, store, "m", NULL);
}

static int die_in_save(sherd_store *store)
{
	sherd_ckpt_saver *saver = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(old, 0);
	TRY(shd_ckpt_saver_begin(&saver, store, "m", &o, false, NULL, NULL));
	TRY(sherd_ckpt_saver_shard(saver, 1, old->shards[1].items, old->shards[1].count, NULL));
	return sherd_ckpt_saver_finish(saver, NULL, NULL);
}

static int replace(sherd_store *store)
{
	return ckpt_sample_replace(new, store, "m", NULL);
}

static int replace_by_tree(sherd_store *store)
{
	sherd_ckpt_save_options o = ckpt_sample_options(new, 0);
	o.digest = SHERD_DIGEST_BLAKE3;
	o.replace = true;
	return sherd_ckpt_save(store, "m", new->shards, &o, NULL);
}

/* The victim lives while it is taken over, and gives up afterwards. */
static int take_over(sherd_store *store)
{
	sherd_ckpt_saver *victim = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(old, 0), t = ckpt_sample_options(new, 0);
	t.take_over = true;
	TRY(sherd_ckpt_saver_open(&victim, store, "m", &o, NULL));
	TRY(sherd_ckpt_saver_shard(victim, 0, old->shards[0].items, old->shards[0].count, NULL));
	int rc = sherd_ckpt_save(store, "m", new->shards, &t, NULL);
	sherd_ckpt_saver_abort(victim);
	return rc;
}

static int abort_save(sherd_store *store)
{
	sherd_ckpt_saver *saver = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(new, 0);
	TRY(sherd_ckpt_saver_open(&saver, store, "m", &o, NULL));
	TRY(sherd_ckpt_saver_shard(saver, 0, new->shards[0].items, new->shards[0].count, NULL));
	sherd_ckpt_saver_abort(saver);
	return SHERD_OK;
}

static int save_by_ranks(sherd_store *store)
{
	sherd_ckpt_save_options o = ckpt_sample_options(new, 0);
	for (uint32_t r = 0; r < 2; r++) {
		sherd_ckpt_saver *saver = NULL;
		TRY(sherd_ckpt_saver_open(&saver, store, "m", &o, NULL));
		TRY(sherd_ckpt_saver_shard(saver, r, new->shards[r].items, new->shards[r].count, NULL));
		if (r == 1)
			TRY(sherd_ckpt_commit(store, "m", NULL, NULL));
		TRY(sherd_ckpt_saver_finish(saver, NULL, NULL));
	}
	return SHERD_OK;
}

static int old_beside_newer(sherd_store *store)
{
	sherd_ckpt_save_options o = ckpt_sample_options(later, 1000);
	TRY(save_old(store));
	return sherd_ckpt_save(store, "n", later->shards, &o, NULL);
}

static int prune(sherd_store *store)
{
	return sherd_ckpt_prune(store, "", &(sherd_ckpt_prune_options){.keep = 1}, NULL);
}

static int lose_metadata(sherd_store *store)
{
	TRY(save_new(store));
	return sherd_store_remove(store, "m.metadata.json", NULL);
}

static int remove_set(sherd_store *store)
{
	return sherd_ckpt_remove(store, "m", NULL, NULL, NULL);
}

static int repair(sherd_store *store)
{
	return sherd_ckpt_repair(store, "m", NULL, NULL, NULL);
}

typedef struct scenario {
	const char *name;
	int (*before)(sherd_store *store);
	int (*act)(sherd_store *store);
	ckpt_content from, to;
} scenario;

static const scenario scenarios[] = {
	{"save", nothing, save_new, CONTENT_NONE, CONTENT_NEW},
	{"save over a dead claim", die_in_save, save_new, CONTENT_NONE, CONTENT_NEW},
	{"replace", save_old, replace, CONTENT_OLD, CONTENT_NEW},
	{"replace by one with BLAKE3", save_old, replace_by_tree, CONTENT_OLD, CONTENT_NEW},
	{"take over", nothing, take_over, CONTENT_NONE, CONTENT_NEW},
	{"abort", nothing, abort_save, CONTENT_NONE, CONTENT_NONE},
	{"save by ranks and commit", nothing, save_by_ranks, CONTENT_NONE, CONTENT_NEW},
	{"prune", old_beside_newer, prune, CONTENT_OLD, CONTENT_NONE},
	{"remove", save_old, remove_set, CONTENT_OLD, CONTENT_NONE},
	{"remove orphans", lose_metadata, remove_set, CONTENT_NONE, CONTENT_NONE},
	{"repair", lose_metadata, repair, CONTENT_NONE, CONTENT_NEW},
};

/* ---- what may be left */

typedef struct checked {
	const scenario *scenario;
	bool saw[CONTENT_OTHER + 1];
} checked;

/* A take-over that died leaves its victim's shards to nobody: whether the victim lives cannot be told, so they are only
 * cleared by somebody who takes over again and has published. So it is with orphans whose removal has not begun. */
static int save_next(sherd_store *store, bool may_be_orphans, sherd_error *err)
{
	sherd_ckpt_save_options o = ckpt_sample_options(later, 0);
	o.replace = true;
	o.take_over_after_ns = 1; /* what ranks left waits for the others */
	int rc = sherd_ckpt_save(store, "m", later->shards, &o, err);
	o.take_over = may_be_orphans && rc == SHERD_ECONFLICT && strcmp(err->reason, "orphans") == 0;
	return o.take_over ? sherd_ckpt_save(store, "m", later->shards, &o, err) : rc;
}

/* The next writer: replaces whatever is there; of the loss nothing is left then. */
static void check_next_writer(crash_walk *w, sherd_store *store)
{
	const scenario *s = ((const checked *)w->arg)->scenario;
	char want[256], id[SHERD_SET_ID_TEXT];
	sherd_error e = {0};
	ckpt_content now = ckpt_sample_content(store, "m", old, new);
	bool repairs = s->act == repair && now == CONTENT_NONE;
	int rc = repairs ? sherd_ckpt_repair(store, "m", NULL, NULL, &e) : SHERD_OK;
	if (rc < 0)
		crash_walk_complain(w, "repair again: %s", e.message);
	if (sherd_ckpt_prune(store, "", &(sherd_ckpt_prune_options){.keep = 9}, &e) < 0)
		crash_walk_complain(w, "prune: %s: %s", e.object, e.message);
	if (ckpt_sample_content(store, "m", old, new) != (repairs ? CONTENT_NEW : now))
		crash_walk_complain(w, "prune removed what was committed");
	if (save_next(store, s->act == take_over || s->before == lose_metadata, &e) < 0)
		crash_walk_complain(w, "next save: %s: %s", e.object, e.message);
	const char *missing = ckpt_sample_missing(later, store, "m");
	if (missing)
		crash_walk_complain(w, "after the next save: %s", missing);
	(void)sherd_store_remove(store, "n.metadata.json", NULL);
	(void)sherd_store_remove(store, "n_shard_0.shard", NULL);
	char *keys = object_keys(store);
	sherd_set_id_format(id, &later->set_id);
	(void)snprintf(want, sizeof(want), "m.metadata.json m_shard_0.%s.shard", id);
	if (strcmp(keys, want) != 0 && strcmp(keys, "m.metadata.json m_shard_0.shard") != 0)
		crash_walk_complain(w, "the next save left: %s", keys);
	free(keys);
	size_t temporary = scratch_temporaries(w->folder);
	if (temporary)
		crash_walk_complain(w, "%zu temporary files stay", temporary);
}

static void check_state(crash_walk *w, sherd_store *store)
{
	checked *c = w->arg;
	const scenario *s = c->scenario;
	SHD_AUTO(sherd_ckpt_list, sherd_ckpt_list_close) list = NULL;
	sherd_error e = {0};
	ckpt_content got = ckpt_sample_content(store, "m", old, new);
	c->saw[got] = true;
	if (got != s->to && (w->finished || got != s->from))
		crash_walk_complain(w, "content %d", got);
	if (s->act == prune) {
		const char *missing = ckpt_sample_missing(later, store, "n");
		if (missing)
			crash_walk_complain(w, "the newest: %s", missing);
	}
	if (sherd_ckpt_list_open(&list, store, "", NULL, &e) < 0)
		crash_walk_complain(w, "list: %s", e.message);
	for (size_t i = 0; list && i < sherd_ckpt_list_count(list); i++)
		if (sherd_ckpt_list_at(list, i)->state == SHERD_CKPT_SAVING)
			crash_walk_complain(w, "a save without a saver passes for living");
	check_next_writer(w, store);
}

static void prepare(crash_walk *w, sherd_store *store)
{
	const scenario *s = ((const checked *)w->arg)->scenario;
	assert_int_equal(s->before(store), SHERD_OK);
	assert_int_equal(ckpt_sample_content(store, "m", old, new), s->from);
}

static void act(crash_walk *w, sherd_store *store)
{
	assert_int_equal(((const checked *)w->arg)->scenario->act(store), SHERD_OK);
}

static crash_walk walk(checked *c)
{
	return (crash_walk){.name = c->scenario->name, .arg = c, .before = prepare, .act = act, .check = check_state};
}

static void walk_all(unsigned refuse)
{
	size_t states = 0;
	for (size_t i = 0; i < COUNT_OF(scenarios); i++) {
		checked c = {.scenario = &scenarios[i]};
		crash_walk w = walk(&c);
		w.refuse = refuse;
		crash_walk_assert(&w);
		assert_true(c.saw[scenarios[i].from]);
		assert_true(c.saw[scenarios[i].to]);
		states += w.states;
	}
	print_message("%zu states\n", states);
}

TEST(every_state_shows_the_old_set_or_the_new_one_whole)
{
	walk_all(0);
}

TEST(so_it_is_without_nameless_files)
{
	walk_all(FAIL_SYS_NO_TMPFILE);
}

TEST(so_it_is_without_links)
{
	walk_all(FAIL_SYS_NO_LINK);
}

/* The test would notice: without syncs, promises are broken. */
TEST(a_disk_that_is_not_synced_is_caught)
{
	checked c = {.scenario = &scenarios[0]};
	crash_walk w = walk(&c);
	crash_walk_assert_caught(&w, true, false);
	crash_walk_assert_caught(&w, false, true);
}

static int make_samples(void **state)
{
	(void)state;
	scratch_in_memory();
	old = ckpt_sample_small(1, 2);
	new = ckpt_sample_small(2, 2);
	later = ckpt_sample_small(3, 1);
	return 0;
}

static int free_samples(void **state)
{
	(void)state;
	ckpt_sample_free(old);
	ckpt_sample_free(new);
	ckpt_sample_free(later);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_state_shows_the_old_set_or_the_new_one_whole),
		cmocka_unit_test(so_it_is_without_nameless_files),
		cmocka_unit_test(so_it_is_without_links),
		cmocka_unit_test(a_disk_that_is_not_synced_is_caught),
	};
	return cmocka_run_group_tests_name("crash/ckpt", tests, make_samples, free_samples);
}

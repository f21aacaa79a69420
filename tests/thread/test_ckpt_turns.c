/* Two who use one prefix in every order of their steps, with locks and on a store that cannot lock. Whoever is told
 * that it worked has not lost anything to the other but what that was asked to remove, and metadata names no shard that
 * is not there.
 *
 * Every order where SHD_KILLS asks for much (make crash), else every 13th. */
#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/environment.h"
#include "support/test.h"
#include "support/turn_store.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)
SHD_AUTO_DEFINE(sherd_store, sherd_store_close)

static sherd_store *base;
static ckpt_sample *old, *newest, *left, *right, *ranks, *hand;

/* ---- what they do */

static int save(sherd_store *store, const ckpt_sample *s, bool take_over, sherd_error *err)
{
	sherd_ckpt_save_options o = ckpt_sample_options(s, 9);
	o.replace = true;
	o.take_over = take_over;
	return sherd_ckpt_save(store, "m", s->shards, &o, err);
}

static int save_left(sherd_store *store, void *arg, sherd_error *err)
{
	(void)arg;
	return save(store, left, false, err);
}

static int take_over(sherd_store *store, void *arg, sherd_error *err)
{
	(void)arg;
	return save(store, right, true, err);
}

/* As those have to who cannot lock, when they take a save for dead. */
static int save_by_hand(sherd_store *store, void *arg, sherd_error *err)
{
	(void)arg;
	TRY(sherd_store_remove(store, "m.saving", err));
	return save(store, hand, false, err);
}

static int save_rank(sherd_store *store, uint32_t rank, sherd_error *err)
{
	sherd_ckpt_save_options o = ckpt_sample_options(ranks, 9);
	o.replace = true;
	return sherd_ckpt_save_rank(store, "m", rank, ranks->shards[rank].items, ranks->shards[rank].count, &o, NULL,
	                            err);
}

static int save_rank_0(sherd_store *store, void *arg, sherd_error *err)
{
	(void)arg;
	return save_rank(store, 0, err);
}

static int save_rank_1(sherd_store *store, void *arg, sherd_error *err)
{
	(void)arg;
	return save_rank(store, 1, err);
}

static int remove_it(sherd_store *store, void *arg, sherd_error *err)
{
	(void)arg;
	int rc = sherd_ckpt_remove(store, "m", NULL, NULL, err);
	return rc == SHERD_ENOTFOUND ? SHERD_ECONFLICT : rc; /* the other one did */
}

static int prune(sherd_store *store, void *arg, sherd_error *err)
{
	(void)arg;
	return sherd_ckpt_prune(store, "", &(sherd_ckpt_prune_options){.keep = 1, .orphaned = true}, err);
}

static int look(sherd_store *store, void *arg, sherd_error *err)
{
	(void)arg;
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	int rc = sherd_ckpt_open(&c, store, "m", NULL, err);
	return rc == SHERD_ENOTFOUND || rc == SHERD_EINCOMPLETE ? SHERD_OK : rc;
}

typedef struct deed {
	const char *name;
	turn_fn *act;
	ckpt_sample *const *saves; /* what is there when it worked; NULL: nothing new */
} deed;

static const deed deeds[] = {
	{"replace", save_left, &left}, {"take over", take_over, &right}, {"rank 0", save_rank_0, NULL},
	{"rank 1", save_rank_1, NULL}, {"remove", remove_it, NULL},      {"prune", prune, NULL},
	{"read", look, NULL},          {"by hand", save_by_hand, &hand},
};

/* ---- what is there afterwards */

static int make_base(void **state)
{
	(void)state;
	old = ckpt_sample_small(1, 2);
	newest = ckpt_sample_small(2, 2);
	left = ckpt_sample_small(3, 2);
	right = ckpt_sample_small(4, 2);
	ranks = ckpt_sample_small(5, 2);
	hand = ckpt_sample_small(6, 2);
	assert_ok(sherd_store_open_memory(&base, err));
	sherd_ckpt_save_options o = ckpt_sample_options(old, 1);
	assert_ok(sherd_ckpt_save(base, "m", old->shards, &o, err));
	o = ckpt_sample_options(newest, 5);
	assert_ok(sherd_ckpt_save(base, "n", newest->shards, &o, err));
	return 0;
}

static int close_base(void **state)
{
	(void)state;
	ckpt_sample *const all[] = {old, newest, left, right, ranks, hand};
	for (size_t i = 0; i < COUNT_OF(all); i++)
		ckpt_sample_free(all[i]);
	sherd_store_close(base);
	return 0;
}

static bool copy_one(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat;
	object_copy(base, arg, key);
	return true;
}

static bool copy_others(void *arg, const char *key, const sherd_stat *stat)
{
	return *key == 'm' || copy_one(arg, key, stat);
}

typedef struct order {
	const deed *deeds[2];
	bool locks;
	bool fresh; /* nothing is committed before */
	long first, second;
} order;

static void complain(const order *o, sherd_store *store, const char *what)
{
	char *keys = object_keys(store);
	fail_msg("%s %ld, %s %ld, %s: %s; there is: %s", o->deeds[0]->name, o->first, o->deeds[1]->name, o->second,
	         o->locks ? "locks" : "no locks", what, keys);
	free(keys);
}

static bool has(const order *o, turn_fn *act)
{
	return o->deeds[0]->act == act || o->deeds[1]->act == act;
}

static bool is_there(sherd_store *store, const char *key)
{
	sherd_stat stat;
	return sherd_store_stat(&stat, store, key, NULL) == SHERD_OK;
}

/* Where the store cannot lock, vacant metadata of 30 bytes stays after a removal. */
static bool has_metadata(sherd_store *store, const char *key)
{
	sherd_stat stat;
	return sherd_store_stat(&stat, store, key, NULL) == SHERD_OK && stat.size != 30;
}

/* What stands under the prefix is one of those that were saved, whole. */
static const ckpt_sample *find_whole(const order *o, sherd_store *store)
{
	const ckpt_sample *const all[] = {old, left, right, ranks, hand};
	if (!has_metadata(store, "m.metadata.json"))
		return NULL;
	for (size_t i = 0; i < COUNT_OF(all); i++)
		if (!ckpt_sample_missing(all[i], store, "m"))
			return all[i];
	complain(o, store, "a set with a hole");
	return NULL;
}

static void check(const order *o, sherd_store *store, const turn_actor actors[2])
{
	const ckpt_sample *there = find_whole(o, store);
	bool newest_there = has_metadata(store, "n.metadata.json");
	if (newest_there && ckpt_sample_missing(newest, store, "n"))
		complain(o, store, "what nobody touched has a hole");
	if (!newest_there && !(has(o, prune) && there && there != old))
		complain(o, store, "the newest is gone");
	for (unsigned i = 0; i < 2; i++) {
		ckpt_sample *const *saves = o->deeds[i]->saves;
		bool replaced = there && there != old && o->deeds[!i]->saves && actors[!i].rc == SHERD_OK;
		bool removed = !there && o->deeds[!i]->act == remove_it && actors[!i].rc == SHERD_OK;
		if (saves && actors[i].rc == SHERD_OK && there != *saves && !replaced && !removed)
			complain(o, store, "what was committed is lost");
	}
	if (has(o, save_rank_0) && has(o, save_rank_1) && there != ranks)
		complain(o, store, "both ranks have saved, and the set is not committed");
	if (is_there(store, "m.saving") && !has(o, save_rank_0) && !has(o, save_rank_1))
		complain(o, store, "a claim is left");
}

static void run(const order *o, long steps[2])
{
	SHD_AUTO(sherd_store, sherd_store_close) store = NULL;
	turn_actor actors[2] = {{.act = o->deeds[0]->act}, {.act = o->deeds[1]->act}};
	assert_ok(sherd_store_open_memory(&store, err));
	assert_ok(sherd_store_list(base, "", "", o->fresh ? copy_others : copy_one, store, err));
	turn_run(store, o->locks, actors, o->first, o->second);
	for (unsigned i = 0; i < 2; i++) {
		if (actors[i].rc < 0 && actors[i].rc != SHERD_ECONFLICT && actors[i].rc != SHERD_EEXIST)
			complain(o, store, actors[i].err.message);
		steps[i] = actors[i].steps;
	}
	check(o, store, actors);
}

static void run_all(bool locks, bool fresh)
{
	long every = environment_number("SHERD_KILLS", 0) ? 1 : fresh ? 29 : 13;
	unsigned runs = 0;
	for (size_t a = 0; a < COUNT_OF(deeds); a++)
		for (size_t b = 0; b < COUNT_OF(deeds); b++) {
			long steps[2] = {1, 1};
			order o = {.deeds = {&deeds[a], &deeds[b]}, .locks = locks, .fresh = fresh};
			if (a == b && deeds[a].act != remove_it && deeds[a].act != prune)
				continue;
			for (o.first = 0; o.first <= steps[0]; o.first++)
				for (o.second = o.first % every; o.second <= steps[1]; o.second += every, runs++)
					run(&o, steps);
		}
	print_message("%u orders\n", runs);
}

TEST(two_at_one_prefix_leave_no_hole)
{
	run_all(true, false);
}

TEST(two_at_a_prefix_without_a_set_leave_no_hole_with_locks_and_without)
{
	run_all(true, true);
	run_all(false, true);
}

TEST(two_at_one_prefix_leave_no_hole_on_a_store_without_locks)
{
	run_all(false, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_at_one_prefix_leave_no_hole),
		cmocka_unit_test(two_at_a_prefix_without_a_set_leave_no_hole_with_locks_and_without),
		cmocka_unit_test(two_at_one_prefix_leave_no_hole_on_a_store_without_locks),
	};
	return cmocka_run_group_tests_name("thread/ckpt_turns", tests, make_base, close_base);
}

/* Sets of several files on stores with locks and without: two who write one, in many orders; one who dies at any step;
 * one who removes the claim of another by hand, as those have to who cannot lock.
 *
 * SHD_KILLS: every order instead of some. */
#include "support/environment.h"
#include "support/set_sample.h"
#include "support/test.h"
#include "support/turn_store.h"

#include "base/error.h"

#include <sherd/convert.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_store, sherd_store_close)

#define STORE SHD_AUTO(sherd_store, sherd_store_close)

enum { OLD = 1, FIRST, SECOND, LATER, SEEDS, TENSORS = 4, MOST_LEFT = 12 };

typedef struct kind {
	const char *key, *target, *claim;
	sherd_format format;
	bool replace; /* OLD stands there before */
} kind;

static const kind kinds[] = {
	{"m", "m", "m.safetensors.saving", SHERD_FORMAT_SAFETENSORS_INDEX, false},
	{"m", "m", "m.safetensors.saving", SHERD_FORMAT_SAFETENSORS_INDEX, true},
	{"a", "a/", "a/npy.saving", SHERD_FORMAT_NPY_FOLDER, false},
	{"a", "a/", "a/npy.saving", SHERD_FORMAT_NPY_FOLDER, true},
	{"p", "p", "p/dcp.saving", SHERD_FORMAT_DCP, false},
	{"p", "p", "p/dcp.saving", SHERD_FORMAT_DCP, true},
	{"s.sdnb", "s.sdnb", "s.sdnb.saving", SHERD_FORMAT_SDNB, false},
	{"q.sdc", "q", "q.shard.saving", SHERD_FORMAT_SAMEDIFF_CONTAINER, false},
	{"q.sdc", "q", "q.shard.saving", SHERD_FORMAT_SAMEDIFF_CONTAINER, true},
};

/* Tensors that all hold the same byte, one bundle for each. */
static sherd_store *memory;
static sherd_bundle *sources[SEEDS];

static int open_sources(void **state)
{
	(void)state;
	assert_ok(sherd_store_open_memory(&memory, err));
	for (unsigned seed = OLD; seed < SEEDS; seed++)
		sources[seed] = set_sample(memory, (uint8_t)seed, TENSORS);
	return 0;
}

static int close_sources(void **state)
{
	(void)state;
	for (unsigned seed = OLD; seed < SEEDS; seed++)
		sherd_bundle_close(sources[seed]);
	sherd_store_close(memory);
	return 0;
}

/* Who does what. */
typedef struct deed {
	const kind *kind;
	unsigned seed;
	uint32_t shards;
	bool by_hand;          /* the claim that is there is removed first */
	sherd_store *snapshot; /* nothing is written: what is there is copied here */
} deed;

static int act(sherd_store *store, void *arg, sherd_error *err)
{
	const deed *d = arg;
	const sherd_convert_options o = {.shards = d->shards, .replace = d->kind->replace};
	if (d->by_hand)
		TRY(sherd_store_remove(store, d->kind->claim, err));
	return sherd_convert(sources[d->seed], store, d->kind->target, d->kind->format, &o, err);
}

static void begin(const kind *k, sherd_store **store)
{
	const sherd_convert_options o = {.shards = 2};
	assert_ok(sherd_store_open_memory(store, err));
	if (k->replace)
		assert_ok(sherd_convert(sources[OLD], *store, k->target, k->format, &o, err));
}

static long stride(void)
{
	return environment_number("SHERD_KILLS", 0) ? 1 : 5;
}

typedef void order_fn(const kind *k, bool locks, long first, long second, long steps[2]);

static void in_many_orders(order_fn *run)
{
	for (size_t i = 0; i < COUNT_OF(kinds); i++)
		for (int locks = 0; locks < 2; locks++) {
			long steps[2] = {1, 1};
			for (long first = 0; first <= steps[0]; first++)
				for (long second = first % stride(); second <= steps[1]; second += stride())
					run(&kinds[i], locks, first, second, steps);
		}
}

/* ---- two savers */

static void check_two(const kind *k, sherd_store *store, const turn_actor actors[2], bool meddled, const char *order)
{
	unsigned got = set_sample_content(store, k->key, TENSORS);
	bool any = false;
	for (unsigned i = 0; i < 2; i++) {
		int rc = actors[i].rc;
		any |= rc == SHERD_OK;
		if (rc < 0 && rc != SHERD_ECONFLICT && rc != SHERD_EEXIST)
			fail_msg("%s: %s: %s: %s", order, k->key, actors[i].err.object, actors[i].err.message);
	}
	if (got == FIRST || got == SECOND ? actors[got - FIRST].rc != SHERD_OK : any || got != (k->replace ? OLD : 0))
		fail_msg("%s: %s: %d (%s) and %d (%s), and %u is there", order, k->key, actors[0].rc,
		         actors[0].err.message, actors[1].rc, actors[1].err.message, got);
	if (!meddled && !any)
		fail_msg("%s: %s: both were refused: %s, %s", order, k->key, actors[0].err.message,
		         actors[1].err.message);
	if (any && !k->replace && actors[0].rc == actors[1].rc)
		fail_msg("%s: %s: both made a first set", order, k->key);
	if (!meddled)
		set_sample_assert_clean(store, k->key);
}

static void run_two(const kind *k, bool locks, long first, long second, long steps[2], bool by_hand, uint32_t shards)
{
	STORE store = NULL;
	char order[64];
	deed deeds[2] = {{.kind = k, .seed = FIRST, .shards = 2},
	                 {.kind = k, .seed = SECOND, .shards = shards, .by_hand = by_hand}};
	turn_actor actors[2] = {{.act = act, .arg = &deeds[0]}, {.act = act, .arg = &deeds[1]}};
	begin(k, &store);
	turn_run(store, locks, actors, first, second);
	(void)snprintf(order, sizeof(order), "%s, %ld steps, %ld", locks ? "locks" : "no locks", first, second);
	check_two(k, store, actors, by_hand, order);
	for (unsigned i = 0; i < 2; i++)
		steps[i] = actors[i].steps;
}

static void two_savers(const kind *k, bool locks, long first, long second, long steps[2])
{
	for (uint32_t shards = 2; shards < 4; shards++)
		run_two(k, locks, first, second, steps, false, shards);
}

TEST(of_two_savers_one_wins_whole_with_locks_and_without)
{
	in_many_orders(two_savers);
}

static void a_meddler(const kind *k, bool locks, long first, long second, long steps[2])
{
	for (uint32_t shards = 2; shards < 4; shards++)
		run_two(k, locks, first, second, steps, true, shards);
}

TEST(a_claim_removed_by_hand_mixes_no_two_sets)
{
	in_many_orders(a_meddler);
}

/* ---- one that dies */

static bool copy_one(void *arg, const char *key, const sherd_stat *stat)
{
	sherd_store *const *stores = arg;
	char *text;
	size_t len;
	assert_ok(sherd_store_get(&text, &len, stores[0], key, stat->size, err));
	assert_ok(sherd_store_put(stores[1], key, SHERD_WRITE_NEW, text, len, err));
	sherd_free(text);
	return true;
}

static int take_snapshot(sherd_store *store, void *arg, sherd_error *err)
{
	const deed *d = arg;
	sherd_store *stores[] = {store, d->snapshot};
	return sherd_store_list(store, "", "", copy_one, stores, err);
}

static int do_nothing(sherd_store *store, void *arg, sherd_error *err)
{
	(void)store, (void)arg, (void)err;
	return SHERD_OK;
}

static int save_later(const kind *k, sherd_store *store, bool locks, bool replace, sherd_error *why)
{
	kind later = *k;
	later.replace = replace;
	deed d = {.kind = &later, .seed = LATER, .shards = 3};
	turn_actor actors[2] = {{.act = act, .arg = &d}, {.act = do_nothing}};
	turn_run(store, locks, actors, 1000000, 1);
	*why = actors[0].err;
	return actors[0].rc;
}

/* With locks the next one clears. Without, the claim says that somebody may live, until it is removed by hand; files
 * that then belong to nobody are named one by one. */
static void recover(const kind *k, sherd_store *store, bool locks)
{
	sherd_error e = {0};
	sherd_stat stat;
	unsigned before = set_sample_content(store, k->key, TENSORS);
	bool claimed = sherd_store_stat(&stat, store, k->claim, NULL) == SHERD_OK;
	if (before && k->format == SHERD_FORMAT_SDNB)
		return; /* never replaced */
	int rc = save_later(k, store, locks, before != 0, &e);
	if (claimed && !locks) {
		assert_int_equal(rc, SHERD_ECONFLICT);
		assert_string_equal(e.object, k->claim);
		assert_int_equal(set_sample_content(store, k->key, TENSORS), before);
		assert_ok(sherd_store_remove(store, k->claim, err));
		rc = save_later(k, store, locks, before != 0, &e);
		for (int left = 0; rc == SHERD_EEXIST && left < MOST_LEFT; left++) {
			assert_ok(sherd_store_remove(store, e.object, err));
			rc = save_later(k, store, locks, before != 0, &e);
		}
	}
	if (rc < 0)
		fail_msg("%s: %s: %s", k->key, e.object, e.message);
	assert_int_equal(set_sample_content(store, k->key, TENSORS), LATER);
	if (locks)
		set_sample_assert_clean(store, k->key);
}

static void a_death(const kind *k, bool locks, long first, long second, long steps[2])
{
	STORE store = NULL;
	STORE snapshot = NULL;
	if (second != first % stride())
		return;
	begin(k, &store);
	assert_ok(sherd_store_open_memory(&snapshot, err));
	deed deeds[2] = {{.kind = k, .seed = FIRST, .shards = 2}, {.snapshot = snapshot}};
	turn_actor actors[2] = {{.act = act, .arg = &deeds[0]}, {.act = take_snapshot, .arg = &deeds[1]}};
	turn_run(store, locks, actors, first, 1000000);
	assert_int_equal(actors[0].rc, SHERD_OK);
	unsigned got = set_sample_content(snapshot, k->key, TENSORS);
	assert_true(got == FIRST || got == (k->replace ? OLD : 0));
	recover(k, snapshot, locks);
	steps[0] = actors[0].steps;
}

TEST(who_dies_at_any_step_leaves_one_set_and_the_next_save_works)
{
	in_many_orders(a_death);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(of_two_savers_one_wins_whole_with_locks_and_without, open_sources,
	                                        close_sources),
		cmocka_unit_test_setup_teardown(a_claim_removed_by_hand_mixes_no_two_sets, open_sources, close_sources),
		cmocka_unit_test_setup_teardown(who_dies_at_any_step_leaves_one_set_and_the_next_save_works,
	                                        open_sources, close_sources),
	};
	return cmocka_run_group_tests_name("thread/set_turns", tests, NULL, NULL);
}

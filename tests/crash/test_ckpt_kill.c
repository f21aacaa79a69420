/* A real process that saves, replaces, removes and prunes is killed at random moments. After every kill the newest
 * committed set is whole, dead saves are named as such, the next save succeeds, and nothing stays behind.
 *
 * SHD_KILLS: how often (200), SHD_SEED: which moments. */
#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/environment.h"
#include "support/kill.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"
#include "store/local/local.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

SHD_AUTO_DEFINE(ckpt_sample, ckpt_sample_free)
SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)
SHD_AUTO_DEFINE(sherd_ckpt_list, sherd_ckpt_list_close)

#define SAMPLE SHD_AUTO(ckpt_sample, ckpt_sample_free)

/* The step of a set is the seed of its sample, so that whoever finds it knows what must be in it. */
static int save(sherd_store *store, const char *prefix, uint64_t step, bool replace, sherd_error *err)
{
	SAMPLE s = ckpt_sample_small(step, 1 + (uint32_t)(step % 3));
	sherd_ckpt_about about = {.has_step = true, .step = (int64_t)step};
	sherd_ckpt_save_options o = ckpt_sample_options(s, (int64_t)step);
	o.about = &about;
	o.replace = replace;
	return sherd_ckpt_save(store, prefix, s->shards, &o, err);
}

static int save_step(sherd_store *store, uint64_t step, sherd_error *err)
{
	char prefix[32];
	if (step % 2)
		return save(store, "latest", step, true, err);
	(void)snprintf(prefix, sizeof(prefix), "step-%05u", (unsigned)(step % 100000));
	return save(store, prefix, step, false, err);
}

/* The set of two steps ago, if it has a prefix of its own and prune has left it. */
static int remove_step(sherd_store *store, uint64_t step, sherd_error *err)
{
	char prefix[32];
	(void)snprintf(prefix, sizeof(prefix), "step-%05u", (unsigned)((step - 2) % 100000));
	int rc = sherd_ckpt_remove(store, prefix, NULL, NULL, err);
	return rc == SHERD_ENOTFOUND ? SHERD_OK : rc;
}

/* Never returns: it is killed, or ends by itself with what went wrong. */
static void be_killed(const char *folder, uint64_t step)
{
	sherd_store *store = NULL;
	sherd_error err = {0};
	if (sherd_store_open_local(&store, folder, NULL, &err) < 0)
		_exit(2);
	for (;; step++) {
		if (save_step(store, step, &err) < 0) {
			fprintf(stderr, "child: %s: %s\n", err.object, err.message);
			_exit(3);
		}
		if (step % 4 == 2 && step > 2 && remove_step(store, step, &err) < 0) {
			fprintf(stderr, "child: remove: %s: %s\n", err.object, err.message);
			_exit(5);
		}
		if (step % 3 == 0 && sherd_ckpt_prune(store, "", &(sherd_ckpt_prune_options){.keep = 2}, &err) < 0) {
			fprintf(stderr, "child: prune: %s: %s\n", err.object, err.message);
			_exit(4);
		}
	}
}

static void kill_one(const char *folder, uint64_t step, long nanoseconds)
{
	pid_t child = fork();
	assert_true(child >= 0);
	if (!child)
		be_killed(folder, step);
	kill_after(child, nanoseconds);
}

/* Returns the highest step that is committed. */
static uint64_t check_after_kill(sherd_store *store, uint64_t least)
{
	SHD_AUTO(sherd_ckpt_list, sherd_ckpt_list_close) list = NULL;
	uint64_t newest = 0;
	assert_ok(sherd_ckpt_list_open(&list, store, "", NULL, err));
	for (size_t i = 0; i < sherd_ckpt_list_count(list); i++) {
		const sherd_ckpt_listing *c = sherd_ckpt_list_at(list, i);
		assert_true(c->state == SHERD_CKPT_COMMITTED || c->state == SHERD_CKPT_DEAD);
		if (c->state != SHERD_CKPT_COMMITTED)
			continue;
		uint64_t step = (uint64_t)c->step;
		SAMPLE s = ckpt_sample_small(step, 1 + (uint32_t)(step % 3));
		assert_sample(s, store, c->prefix);
		newest = step > newest ? step : newest;
	}
	assert_true(newest >= least);
	return newest;
}

static bool claims_stay(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat;
	size_t n = strlen(key);
	if (n > 7 && strcmp(key + n - 7, ".saving") == 0)
		*(bool *)arg = true;
	return true;
}

static bool count_shards(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat;
	*(size_t *)arg += strstr(key, "_shard_") != NULL;
	return true;
}

/* The next writers, at both kinds of prefix: they succeed, and what the dead one left is gone. */
static void check_next_writers(const char *folder, uint64_t step)
{
	sherd_store *store = NULL;
	SHD_AUTO(sherd_ckpt_list, sherd_ckpt_list_close) list = NULL;
	bool claimed = false;
	size_t shards = 0, named = 0;
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	assert_ok(save_step(store, step, err));
	assert_ok(save_step(store, step + 1, err));
	assert_ok(sherd_ckpt_prune(store, "", &(sherd_ckpt_prune_options){.keep = 2}, err));
	assert_ok(sherd_store_list(store, "", "", claims_stay, &claimed, err));
	assert_false(claimed);
	assert_int_equal(scratch_temporaries(folder), 0);
	assert_ok(sherd_store_list(store, "", "", count_shards, &shards, err));
	assert_ok(sherd_ckpt_list_open(&list, store, "", NULL, err));
	assert_int_equal(sherd_ckpt_list_count(list), 2);
	for (size_t i = 0; i < 2; i++)
		named += sherd_ckpt_list_at(list, i)->world;
	assert_int_equal(shards, named);
	sherd_store_close(store);
}

static void kill_many(uint64_t kills)
{
	uint64_t seed = environment_number("SHERD_SEED", (uint64_t)time(NULL));
	char *folder = scratch_make();
	ckpt_sample dice = {.random = seed};
	uint64_t step = 1;
	sherd_store *store = NULL;
	print_message("SHERD_SEED=%llu\n", (unsigned long long)seed);
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	assert_ok(save_step(store, step, err));
	for (uint64_t i = 0; i < kills; i++) {
		/* up to some ten saves; often within the first */
		kill_one(folder, step + 1, (long)(1 + ckpt_sample_random(&dice, i % 2 ? 30000000 : 4000000)));
		step = check_after_kill(store, step);
		/* a save of that step may have died: the next ones clear it */
		check_next_writers(folder, step + 1);
		step = check_after_kill(store, step + 2);
	}
	sherd_store_close(store);
	scratch_remove(folder);
}

TEST(a_process_that_is_killed_loses_nothing_that_was_committed)
{
	kill_many(environment_number("SHERD_KILLS", 200) / 2);
}

/* Where syncs cost nothing the moments fall between other steps. */
TEST(so_it_is_where_syncs_cost_nothing)
{
	scratch_in_memory();
	kill_many(environment_number("SHERD_KILLS", 200) - environment_number("SHERD_KILLS", 200) / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_that_is_killed_loses_nothing_that_was_committed),
		cmocka_unit_test(so_it_is_where_syncs_cost_nothing),
	};
	return cmocka_run_group_tests_name("crash/ckpt_kill", tests, NULL, NULL);
}

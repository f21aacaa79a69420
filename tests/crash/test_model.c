/* What a power loss or a kill leaves of models that are saved as FlatBuffers file, SDNB and SDZ: the old one or the new
 * one, whole; of a first save nothing that opens, or all of it; and the next save succeeds.
 *
 * SHD_KILLS: how often (70), SHD_SEED: which moments. */
#include "support/crash_walk.h"
#include "support/environment.h"
#include "support/kill.h"
#include "support/scratch.h"
#include "support/sdnb_make.h"
#include "support/test.h"

#include "base/error.h"
#include "base/rng.h"
#include "store/local/local.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

SHD_AUTO_DEFINE(sherd_model, sherd_model_close)

#define MODEL SHD_AUTO(sherd_model, sherd_model_close)

enum { OLD = 1, NEW = 2 };

typedef struct job {
	const char *key;
	sherd_format format;
	uint32_t shards;
	bool replace; /* OLD stands there before */
} job;

static const job jobs[] = {
	{"m.fb", SHERD_FORMAT_SAMEDIFF_FLATBUFFERS, 1, false},
	{"m.fb", SHERD_FORMAT_SAMEDIFF_FLATBUFFERS, 1, true},
	{"m.sdnb", SHERD_FORMAT_SDNB, 1, false},
	{"m.sdnb", SHERD_FORMAT_SDNB, 1, true},
	{"m.sdz", SHERD_FORMAT_SDZ, 2, false},
	{"m.sdz", SHERD_FORMAT_SDZ, 2, true},
	{"m", SHERD_FORMAT_SDNB, 3, false},
};

static int save(sherd_store *store, const job *j, unsigned seed, bool replace, sherd_error *err)
{
	MODEL m = sdnb_sample(seed, true);
	const sherd_model_save_options o = {
		.format = j->format, .shards = j->shards, .replace = replace, .drop_pairs = true};
	return sherd_model_save(m, store, j->key, &o, err);
}

/* 0 when there is no model; else its seed. */
static unsigned content(sherd_store *store, const char *key)
{
	MODEL m = NULL;
	sherd_error e = {0};
	int rc = sherd_model_open(&m, store, key, NULL, &e);
	if (rc == SHERD_ENOTFOUND || rc == SHERD_EINCOMPLETE)
		return 0;
	if (rc < 0)
		fail_msg("%s: %s: %s", e.object, e.reason, e.message);
	if (!sdnb_sample_difference(m, NEW, true))
		return NEW;
	assert_null(sdnb_sample_difference(m, OLD, true));
	return OLD;
}

static void save_old(crash_walk *w, sherd_store *store)
{
	const job *j = w->arg;
	if (j->replace)
		assert_ok(save(store, j, OLD, false, err));
}

static void save_new(crash_walk *w, sherd_store *store)
{
	const job *j = w->arg;
	assert_ok(save(store, j, NEW, j->replace, err));
}

static void check(sherd_store *store, const job *j, bool finished)
{
	unsigned got = content(store, j->key);
	if (finished)
		assert_int_equal(got, NEW);
	else if (j->replace)
		assert_int_not_equal(got, 0);
	else
		assert_int_not_equal(got, OLD);
	if (!got || j->replace) {
		assert_ok(save(store, j, NEW, true, err));
		assert_int_equal(content(store, j->key), NEW);
	}
}

static void check_state(crash_walk *w, sherd_store *store)
{
	check(store, w->arg, w->finished);
}

TEST(a_power_loss_leaves_the_old_model_or_the_new_one)
{
	size_t states = 0;
	for (size_t i = 0; i < COUNT_OF(jobs); i++) {
		job j = jobs[i];
		crash_walk w = {.name = j.key, .arg = &j, .before = save_old, .act = save_new, .check = check_state};
		crash_walk_assert(&w);
		states += w.states;
	}
	assert_true(states > 40);
}

/* Never returns: it is killed, or ends by itself when a save fails that must not; sets of SDNB are never replaced. */
__attribute__((noreturn)) static void be_killed(const char *folder, const job *j)
{
	sherd_store *store = NULL;
	sherd_error err = {0};
	if (sherd_store_open_local(&store, folder, NULL, &err) < 0)
		_exit(2);
	while (save(store, j, NEW, true, &err) == SHERD_OK || err.code == SHERD_EEXIST)
		continue;
	(void)fprintf(stderr, "child: %s: %s\n", err.object, err.message);
	_exit(3);
}

TEST(a_kill_leaves_the_old_model_or_the_new_one)
{
	uint64_t kills = environment_number("SHERD_KILLS", 70), seed = environment_number("SHERD_SEED", 1);
	print_message("SHERD_SEED=%llu\n", (unsigned long long)seed);
	for (uint64_t i = 0; i < kills; i++) {
		const job *j = &jobs[i % COUNT_OF(jobs)];
		char *folder = scratch_make();
		sherd_store *store = NULL;
		assert_ok(sherd_store_open_local(&store, folder, NULL, err));
		if (j->replace)
			assert_ok(save(store, j, OLD, false, err));
		pid_t child = fork();
		assert_true(child >= 0);
		if (!child)
			be_killed(folder, j);
		kill_after(child, (long)(100000 + shd_splitmix64(seed + i) % 6000000));
		check(store, j, false);
		sherd_store_close(store);
		scratch_remove(folder);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_power_loss_leaves_the_old_model_or_the_new_one),
		cmocka_unit_test(a_kill_leaves_the_old_model_or_the_new_one),
	};
	return cmocka_run_group_tests_name("crash/model", tests, NULL, NULL);
}

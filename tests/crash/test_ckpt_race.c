/* Many processes at one prefix: of different sets one wins, of one set all do. */
#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"
#include "store/local/local.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

SHD_AUTO_DEFINE(ckpt_sample, ckpt_sample_free)

#define SAMPLE SHD_AUTO(ckpt_sample, ckpt_sample_free)

enum { PROCESSES = 16, ROUNDS = 50 };

/* What the processes of a round share: they begin together, and tell how it ended. */
typedef struct shared {
	_Atomic int waiting;
	struct {
		int rc;
		bool committed;
		char message[300];
	} outcome[PROCESSES];
} shared;

typedef int job_fn(sherd_store *store, unsigned round, uint32_t process, bool *committed, sherd_error *err);

static void be_one(const char *folder, shared *all, unsigned round, uint32_t process, job_fn *job)
{
	sherd_store *store = NULL;
	sherd_error err = {0};
	if (sherd_store_open_local(&store, folder, NULL, &err) < 0)
		_exit(1);
	(void)atomic_fetch_add(&all->waiting, 1);
	while (all->waiting < PROCESSES)
		(void)usleep(50);
	all->outcome[process].rc = job(store, round, process, &all->outcome[process].committed, &err);
	(void)snprintf(all->outcome[process].message, sizeof(all->outcome[process].message), "%.20s %.200s",
	               err.reason ? err.reason : "", err.message);
	sherd_store_close(store);
	_exit(0);
}

static void run_round(const char *folder, shared *all, unsigned round, job_fn *job)
{
	pid_t children[PROCESSES];
	memset(all, 0, sizeof(*all));
	for (uint32_t i = 0; i < PROCESSES; i++) {
		children[i] = fork();
		assert_true(children[i] >= 0);
		if (!children[i])
			be_one(folder, all, round, i, job);
	}
	for (uint32_t i = 0; i < PROCESSES; i++) {
		int status;
		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
}

static shared *share(void)
{
	shared *all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(all != MAP_FAILED);
	return all;
}

static void remove_set(sherd_store *store, uint32_t world)
{
	assert_ok(sherd_store_remove(store, "m.metadata.json", err));
	for (uint32_t r = 0; r < world; r++) {
		char key[32];
		(void)snprintf(key, sizeof(key), "m_shard_%u.shard", r);
		assert_ok(sherd_store_remove(store, key, err));
	}
	assert_keys(store, "");
}

/* ---- different sets */

static int save_own_set(sherd_store *store, unsigned round, uint32_t process, bool *committed, sherd_error *err)
{
	SAMPLE s = ckpt_sample_small((uint64_t)round * PROCESSES + process, 2);
	int rc = ckpt_sample_save(s, store, "m", err);
	*committed = rc == SHERD_OK;
	return rc;
}

TEST(of_sixteen_sets_one_wins_and_is_whole)
{
	char *folder = scratch_make();
	shared *all = share();
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint32_t winners = 0, winner = 0;
		run_round(folder, all, round, save_own_set);
		for (uint32_t i = 0; i < PROCESSES; i++) {
			int rc = all->outcome[i].rc;
			if (rc == SHERD_OK) {
				winners++;
				winner = i;
			} else if (rc != SHERD_ECONFLICT && rc != SHERD_EEXIST) {
				fail_msg("round %u, process %u: %d %s", round, i, rc, all->outcome[i].message);
			}
		}
		if (winners != 1)
			for (uint32_t i = 0; i < PROCESSES; i++)
				print_error("process %u: %d %s\n", i, all->outcome[i].rc, all->outcome[i].message);
		assert_int_equal(winners, 1);
		SAMPLE s = ckpt_sample_small((uint64_t)round * PROCESSES + winner, 2);
		assert_sample(s, store, "m");
		assert_keys(store, "m.metadata.json m_shard_0.shard m_shard_1.shard");
		assert_int_equal(scratch_temporaries(folder), 0);
		remove_set(store, 2);
	}
	sherd_store_close(store);
	(void)munmap(all, sizeof(*all));
	scratch_remove(folder);
}

/* ---- replacing one another */

static int replace_with_own(sherd_store *store, unsigned round, uint32_t process, bool *committed, sherd_error *err)
{
	SAMPLE s = ckpt_sample_small((uint64_t)round * PROCESSES + process, 2);
	int rc = ckpt_sample_replace(s, store, "m", err);
	*committed = rc == SHERD_OK;
	return rc;
}

TEST(sixteen_replacements_leave_one_whole_set)
{
	char *folder = scratch_make();
	shared *all = share();
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	for (unsigned round = 0; round < ROUNDS / 2; round++) {
		uint32_t winners = 0, whole = 0;
		run_round(folder, all, round, replace_with_own);
		for (uint32_t i = 0; i < PROCESSES; i++) {
			int rc = all->outcome[i].rc;
			if (rc != SHERD_OK && rc != SHERD_ECONFLICT && rc != SHERD_EEXIST)
				fail_msg("round %u, process %u: %d %s", round, i, rc, all->outcome[i].message);
			SAMPLE s = ckpt_sample_small((uint64_t)round * PROCESSES + i, 2);
			winners += rc == SHERD_OK;
			whole += rc == SHERD_OK && !ckpt_sample_missing(s, store, "m");
		}
		assert_true(winners >= 1);
		assert_int_equal(whole, 1);
		assert_int_equal(scratch_temporaries(folder), 0);
		size_t claims = 0;
		sherd_stat stat;
		claims += sherd_store_stat(&stat, store, "m.saving", NULL) == SHERD_OK;
		assert_int_equal(claims, 0);
	}
	sherd_store_close(store);
	(void)munmap(all, sizeof(*all));
	scratch_remove(folder);
}

/* ---- removing, saving and reading at once */

/* What opens is whole, whoever is at work; where nothing opens, nothing is committed. */
static int read_often(sherd_store *store, sherd_error *err)
{
	for (int i = 0; i < 20; i++) {
		sherd_ckpt *c = NULL;
		int rc = sherd_ckpt_open(&c, store, "m", NULL, err);
		if (rc == SHERD_ENOTFOUND || rc == SHERD_EINCOMPLETE)
			continue;
		TRY(rc);
		uint8_t buf[4096];
		for (size_t t = 0; t < sherd_ckpt_count(c) && rc == SHERD_OK; t++) {
			sherd_ckpt_want want = {.tensor = t, .buf = buf};
			rc = sherd_ckpt_load(c, &want, 1, NULL, err);
		}
		sherd_ckpt_close(c);
		TRY(rc);
	}
	return SHERD_OK;
}

static int remove_save_or_read(sherd_store *store, unsigned round, uint32_t process, bool *committed, sherd_error *err)
{
	*committed = false;
	if (process % 3 == 0)
		return sherd_ckpt_remove(store, "m", NULL, NULL, err);
	if (process % 3 == 1)
		return read_often(store, err);
	return replace_with_own(store, round, process, committed, err);
}

TEST(removals_among_replacements_leave_one_whole_set_or_nothing)
{
	char *folder = scratch_make();
	shared *all = share();
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	for (unsigned round = 0; round < ROUNDS / 2; round++) {
		uint32_t whole = 0;
		run_round(folder, all, round, remove_save_or_read);
		for (uint32_t i = 0; i < PROCESSES; i++) {
			int rc = all->outcome[i].rc;
			bool lost = rc == SHERD_ECONFLICT || (i % 3 == 0 && rc == SHERD_ENOTFOUND) ||
			            (i % 3 == 2 && rc == SHERD_EEXIST);
			if (rc != SHERD_OK && !lost)
				fail_msg("round %u, process %u: %d %s", round, i, rc, all->outcome[i].message);
			SAMPLE s = ckpt_sample_small((uint64_t)round * PROCESSES + i, 2);
			whole += all->outcome[i].committed && !ckpt_sample_missing(s, store, "m");
		}
		char *keys = object_keys(store);
		if (whole != (*keys ? 1 : 0) || strstr(keys, ".saving"))
			fail_msg("round %u: %u whole sets, left: %s", round, whole, keys);
		free(keys);
		assert_int_equal(scratch_temporaries(folder), 0);
		if (whole)
			assert_ok(sherd_ckpt_remove(store, "m", NULL, NULL, err));
		assert_keys(store, "");
	}
	sherd_store_close(store);
	(void)munmap(all, sizeof(*all));
	scratch_remove(folder);
}

/* ---- ranks of one set */

static int save_own_rank(sherd_store *store, unsigned round, uint32_t process, bool *committed, sherd_error *err)
{
	SAMPLE s = ckpt_sample_small(1000 + round, PROCESSES);
	sherd_ckpt_saver *saver = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	(void)usleep((unsigned)(process * 7919 * (round + 1) % 4000)); /* some are late */
	TRY(sherd_ckpt_saver_open(&saver, store, "m", &o, err));
	int rc = sherd_ckpt_saver_shard(saver, process, s->shards[process].items, s->shards[process].count, err);
	if (rc < 0) {
		sherd_ckpt_saver_abort(saver);
		return rc;
	}
	return sherd_ckpt_saver_finish(saver, committed, err);
}

TEST(sixteen_ranks_of_one_set_all_succeed)
{
	char *folder = scratch_make();
	shared *all = share();
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint32_t committed = 0;
		run_round(folder, all, round, save_own_rank);
		for (uint32_t i = 0; i < PROCESSES; i++) {
			if (all->outcome[i].rc != SHERD_OK)
				fail_msg("round %u, rank %u: %d %s", round, i, all->outcome[i].rc,
				         all->outcome[i].message);
			committed += all->outcome[i].committed;
		}
		assert_true(committed >= 1);
		SAMPLE s = ckpt_sample_small(1000 + round, PROCESSES);
		assert_sample(s, store, "m");
		assert_int_equal(scratch_temporaries(folder), 0);
		remove_set(store, PROCESSES);
	}
	sherd_store_close(store);
	(void)munmap(all, sizeof(*all));
	scratch_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_sixteen_sets_one_wins_and_is_whole),
		cmocka_unit_test(sixteen_replacements_leave_one_whole_set),
		cmocka_unit_test(removals_among_replacements_leave_one_whole_set_or_nothing),
		cmocka_unit_test(sixteen_ranks_of_one_set_all_succeed),
	};
	scratch_in_memory();
	return cmocka_run_group_tests_name("crash/ckpt_race", tests, NULL, NULL);
}

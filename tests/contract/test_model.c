/* Processes that save models under one key at the same time: one wins, and what it saved is whole. */
#include "support/container_make.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/verify.h>

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

SHD_AUTO_DEFINE(sherd_model, sherd_model_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

enum { RACERS = 6, ROUNDS = 20, WON = 0, REFUSED = 1, FAILED = 2 };

/* Each racer signs what it saves. shards 0: one file; else sets of which some have one shard more than others. */
static int save(const char *folder, uint32_t shards, int racer, int go)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	sherd_store *store = NULL;
	sherd_error e = {0};
	char name[16], byte;
	(void)snprintf(name, sizeof(name), "%d", racer);
	const sherd_pair pair = {"racer", name};
	const sherd_model_save_options o = {
		.shards = shards ? shards + (uint32_t)racer % 2 : 0, .pairs = &pair, .pair_count = 1};
	if (sherd_store_open_local(&store, folder, NULL, &e) < 0 ||
	    sherd_model_make(&m, container_parts(false), &e) < 0)
		return FAILED;
	(void)!read(go, &byte, 1); /* returns for all when the parent closes its end */
	int rc = sherd_model_save(m, store, "m", &o, &e);
	sherd_store_close(store);
	if (rc < 0 && rc != SHERD_EEXIST && rc != SHERD_ECONFLICT)
		(void)fprintf(stderr, "racer %d: %s: %s\n", racer, e.object, e.message);
	return rc == SHERD_OK ? WON : rc == SHERD_EEXIST || rc == SHERD_ECONFLICT ? REFUSED : FAILED;
}

/* The one that won; fails the test when it is not one. */
static int race(const char *folder, uint32_t shards)
{
	pid_t pids[RACERS];
	int go[2], status, winner = -1;
	assert_int_equal(pipe(go), 0);
	for (int i = 0; i < RACERS; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (!pids[i]) {
			(void)close(go[1]);
			_exit(save(folder, shards, i, go[0]));
		}
	}
	(void)close(go[0]);
	(void)close(go[1]);
	for (int i = 0; i < RACERS; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) != FAILED);
		if (WEXITSTATUS(status) == WON) {
			assert_int_equal(winner, -1);
			winner = i;
		}
	}
	assert_int_not_equal(winner, -1);
	return winner;
}

static void assert_saved_by(sherd_store *store, int winner)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	const sherd_pair *pairs;
	const char *racer = "nobody";
	char want[16];
	assert_ok(sherd_model_open(&m, store, "m", NULL, err));
	size_t count = sherd_model_pairs(&pairs, m);
	for (size_t i = 0; i < count; i++)
		if (strcmp(pairs[i].key, "racer") == 0)
			racer = pairs[i].value;
	(void)snprintf(want, sizeof(want), "%d", winner);
	assert_string_equal(racer, want);
	container_assert(store, "m", false, true);
	assert_ok(sherd_verify(&r, store, "m", NULL, err));
	assert_int_equal(sherd_report_errors(r), 0);
	assert_int_equal(sherd_report_warnings(r), 0);
}

static void race_often(uint32_t shards)
{
	for (int i = 0; i < ROUNDS; i++) {
		char *folder = scratch_make();
		sherd_store *store = NULL;
		int winner = race(folder, shards);
		assert_ok(sherd_store_open_local(&store, folder, NULL, err));
		assert_saved_by(store, winner);
		sherd_store_close(store);
		scratch_remove(folder);
	}
}

TEST(of_processes_that_save_one_file_exactly_one_wins)
{
	race_often(0);
}

TEST(of_processes_that_save_sets_under_one_base_exactly_one_wins)
{
	race_often(2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_processes_that_save_one_file_exactly_one_wins),
		cmocka_unit_test(of_processes_that_save_sets_under_one_base_exactly_one_wins),
	};
	return cmocka_run_group_tests_name("contract/model", tests, NULL, NULL);
}

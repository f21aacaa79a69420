/* Ranks that are killed at any time and started again: in the end one whole set, whoever prunes meanwhile. */
#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

SHD_AUTO_DEFINE(ckpt_sample, ckpt_sample_free)

#define SAMPLE SHD_AUTO(ckpt_sample, ckpt_sample_free)

enum { WORLD = 3, ROUNDS = 20 };

static int save_rank(const char *folder, const ckpt_sample *s, uint32_t rank, bool replace)
{
	sherd_store *store = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	o.replace = replace;
	if (sherd_store_open_local(&store, folder, NULL, NULL) < 0)
		return SHERD_EIO;
	int rc = sherd_ckpt_save_rank(store, "m", rank, s->shards[rank].items, s->shards[rank].count, &o, NULL, NULL);
	sherd_store_close(store);
	return rc;
}

/* True when the rank was not killed before its end. */
static bool try_rank(const char *folder, const ckpt_sample *s, uint32_t rank, bool replace, long nanoseconds)
{
	struct timespec t = {.tv_nsec = nanoseconds};
	int status;
	pid_t child = fork();
	assert_true(child >= 0);
	if (!child)
		_exit(save_rank(folder, s, rank, replace) == SHERD_OK ? 0 : 1);
	(void)nanosleep(&t, NULL);
	(void)kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
		fail_msg("rank %u failed", rank);
	return WIFEXITED(status);
}

static void save_by_killed_ranks(const char *folder, sherd_store *store, const ckpt_sample *s, bool replace)
{
	for (uint32_t r = 0; r < WORLD; r++) {
		long patience = 100000;
		while (!try_rank(folder, s, r, replace, patience)) {
			patience += patience / 2;
			/* who prunes meanwhile must not touch what waits */
			assert_ok(sherd_ckpt_prune(store, "", &(sherd_ckpt_prune_options){.keep = 1}, err));
		}
	}
	/* the one that published may have been killed before it could say so */
	(void)sherd_ckpt_commit(store, "m", NULL, NULL);
	assert_sample(s, store, "m");
}

TEST(ranks_that_are_killed_and_started_again_make_a_whole_set)
{
	char *folder = scratch_make();
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	for (uint64_t round = 0; round < ROUNDS; round++) {
		SAMPLE s = ckpt_sample_small(round + 1, WORLD);
		save_by_killed_ranks(folder, store, s, round > 0);
	}
	sherd_store_close(store);
	scratch_remove(folder);
}

int main(void)
{
	scratch_in_memory();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_that_are_killed_and_started_again_make_a_whole_set),
	};
	return cmocka_run_group_tests_name("crash/ckpt_ranks", tests, NULL, NULL);
}

/* A real process that saves models into files and shards is killed at random moments. After every kill each model that
 * was there once is whole, old or new, and the next save succeeds and clears what was left.
 *
 * SHD_KILLS: how often (60), SHD_SEED: which moments. */
#include "support/ckpt_place.h"
#include "support/container_make.h"
#include "support/environment.h"
#include "support/kill.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/buf.h"
#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int save(sherd_store *store, const char *key, uint32_t shards, uint64_t step, sherd_error *err)
{
	sherd_model *m = NULL;
	const sherd_model_save_options o = {.shards = shards,
	                                    .replace = true,
	                                    .compress = step % 2 ? SHERD_COMPRESS_DEFLATE : SHERD_COMPRESS_NONE,
	                                    .time_ns = ((int64_t)step + 1) * 1000000};
	TRY(sherd_model_make(&m, container_parts(false), err));
	int rc = sherd_model_save(m, store, key, &o, err);
	sherd_model_close(m);
	return rc;
}

/* One file, sets of the same number of shards, sets of changing numbers. */
static int save_step(sherd_store *store, uint64_t step, sherd_error *err)
{
	TRY(save(store, "one.sdc", 1, step, err));
	TRY(save(store, "same", 3, step, err));
	return save(store, "changing", 2 + (uint32_t)(step % 3), step, err);
}

/* Never returns: it is killed, or ends by itself with what went wrong. */
__attribute__((noreturn)) static void be_killed(const char *folder, uint64_t step)
{
	sherd_store *store = NULL;
	sherd_error err = {0};
	if (sherd_store_open_local(&store, folder, NULL, &err) < 0)
		_exit(2);
	while (save_step(store, step, &err) == SHERD_OK)
		step++;
	(void)fprintf(stderr, "child: %s: %s\n", err.object, err.message);
	_exit(3);
}

static void kill_one(const char *folder, uint64_t step, long nanoseconds)
{
	pid_t child = fork();
	assert_true(child >= 0);
	if (!child)
		be_killed(folder, step);
	kill_after(child, nanoseconds);
}

static void assert_whole(sherd_store *store)
{
	static const char *const keys[] = {"one.sdc", "same", "changing"};
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		sherd_error first = {0};
		if (container_verify(store, keys[i], &first))
			fail_msg("%s: %s: %s: %s", keys[i], first.object, first.reason, first.message);
		container_assert(store, keys[i], false, true);
	}
}

TEST(no_kill_breaks_a_model)
{
	char *folder = scratch_make();
	sherd_store *store = NULL;
	uint64_t kills = environment_number("SHERD_KILLS", 60), seed = environment_number("SHERD_SEED", 1), step = 0;
	print_message("SHERD_SEED=%llu\n", (unsigned long long)seed);
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	assert_ok(save_step(store, step, err));
	for (uint64_t i = 0; i < kills; i++) {
		kill_one(folder, ++step, (long)(shd_splitmix64(seed + i) % 60000000));
		assert_whole(store);
	}
	step += 3 - step % 3; /* so that "changing" has two shards */
	assert_ok(save_step(store, step, err));
	assert_whole(store);
	assert_int_equal(object_count(store, ""), 1 + 3 + 2);
	sherd_store_close(store);
	scratch_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(no_kill_breaks_a_model)};
	return cmocka_run_group_tests_name("crash/container_kill", tests, NULL, NULL);
}

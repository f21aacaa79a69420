/* What a power loss, a kill or a second writer leaves of targets that are several files: the old ones or the new ones,
 * never a mixture; of a first conversion nothing that opens, or all of it; and the next one needs no leave to replace
 * what a dead one left (S-3, S-12).
 *
 * SHD_KILLS: how often (64), SHD_SEED: which moments. */
#include "support/crash_walk.h"
#include "support/environment.h"
#include "support/kill.h"
#include "support/scratch.h"
#include "support/set_sample.h"
#include "support/test.h"

#include "base/error.h"
#include "base/rng.h"
#include "store/local/local.h"

#include <sherd/convert.h>

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_store, sherd_store_close)

#define BUNDLE SHD_AUTO(sherd_bundle, sherd_bundle_close)
#define STORE SHD_AUTO(sherd_store, sherd_store_close)

enum { OLD = 1, NEW = 2, TENSORS = 6 };

typedef struct job {
	const char *key; /* to open it by */
	const char *target;
	sherd_format format;
	bool replace; /* OLD stands there before, in fewer files */
	bool fixed;   /* what is there is never replaced */
} job;

static const job jobs[] = {
	{"m", "m", SHERD_FORMAT_SAFETENSORS_INDEX, false, false},
	{"m", "m", SHERD_FORMAT_SAFETENSORS_INDEX, true, false},
	{"d/a", "d/a/", SHERD_FORMAT_NPY_FOLDER, false, false},
	{"d/a", "d/a/", SHERD_FORMAT_NPY_FOLDER, true, false},
	{"d/p", "d/p", SHERD_FORMAT_DCP, false, false},
	{"d/p", "d/p", SHERD_FORMAT_DCP, true, false},
	{"q.sdc", "q", SHERD_FORMAT_SAMEDIFF_CONTAINER, false, false},
	{"q.sdc", "q", SHERD_FORMAT_SAMEDIFF_CONTAINER, true, false},
	{"s.sdnb", "s.sdnb", SHERD_FORMAT_SDNB, false, true},
	{"c", "c", SHERD_FORMAT_CHECKPOINT, true, false},
};

static int convert(sherd_store *store, const job *j, unsigned seed, bool replace, sherd_error *why)
{
	STORE memory = NULL;
	assert_ok(sherd_store_open_memory(&memory, err));
	BUNDLE b = set_sample(memory, (uint8_t)seed, TENSORS);
	const sherd_convert_options o = {.shards = seed == OLD ? 2 : 3, .replace = replace};
	return sherd_convert(b, store, j->target, j->format, &o, why);
}

static void check(sherd_store *store, const job *j, bool finished)
{
	unsigned got = set_sample_content(store, j->key, TENSORS);
	if (finished)
		assert_int_equal(got, NEW);
	else if (j->replace)
		assert_int_not_equal(got, 0);
	else
		assert_int_not_equal(got, OLD);
	if (got && j->fixed)
		return;
	/* What a dead first conversion left is in nobody's way. */
	assert_ok(convert(store, j, NEW, got != 0, err));
	assert_int_equal(set_sample_content(store, j->key, TENSORS), NEW);
	set_sample_assert_clean(store, j->key);
}

static void write_old(crash_walk *w, sherd_store *store)
{
	const job *j = w->arg;
	if (j->replace)
		assert_ok(convert(store, j, OLD, false, err));
}

static void write_new(crash_walk *w, sherd_store *store)
{
	const job *j = w->arg;
	assert_ok(convert(store, j, NEW, j->replace, err));
}

static void check_state(crash_walk *w, sherd_store *store)
{
	check(store, w->arg, w->finished);
}

TEST(a_power_loss_leaves_the_old_files_or_the_new_ones)
{
	for (size_t i = 0; i < COUNT_OF(jobs); i++) {
		job j = jobs[i];
		crash_walk w = {.name = j.key, .arg = &j, .before = write_old, .act = write_new, .check = check_state};
		crash_walk_assert(&w);
		assert_true(w.states > 5);
	}
}

/* ---- what was there before */

typedef struct bystander {
	const char *target, *file;
	sherd_format format;
} bystander;

static const bystander bystanders[] = {
	{"m", "m-00001-of-00003.safetensors", SHERD_FORMAT_SAFETENSORS_INDEX},
	{"d/a/", "d/a/a.npy", SHERD_FORMAT_NPY_FOLDER},
	{"d/p", "d/p/__0_1.distcp", SHERD_FORMAT_DCP},
	{"s.sdnb", "s.shard1-of-3.sdnb", SHERD_FORMAT_SDNB},
};

static void put_bystander(crash_walk *w, sherd_store *store)
{
	const bystander *b = w->arg;
	assert_ok(sherd_store_put(store, b->file, SHERD_WRITE_NEW, "mine", 4, err));
}

static void be_refused(crash_walk *w, sherd_store *store)
{
	const bystander *b = w->arg;
	const job j = {.target = b->target, .format = b->format};
	sherd_error e = {0};
	assert_int_equal(convert(store, &j, NEW, false, &e), SHERD_EEXIST);
}

static void check_bystander(crash_walk *w, sherd_store *store)
{
	const bystander *b = w->arg;
	char *text;
	size_t len;
	be_refused(w, store);
	assert_ok(sherd_store_get(&text, &len, store, b->file, 100, err));
	assert_true(len == 4 && memcmp(text, "mine", 4) == 0);
	sherd_free(text);
}

/* A claim never lists a file that was there before, wherever its save dies: else the next one would remove it. */
TEST(a_file_that_no_set_owns_survives_a_refused_conversion)
{
	for (size_t i = 0; i < COUNT_OF(bystanders); i++) {
		bystander b = bystanders[i];
		crash_walk w = {.name = b.file,
		                .arg = &b,
		                .before = put_bystander,
		                .act = be_refused,
		                .check = check_bystander};
		crash_walk_assert(&w);
	}
}

/* Never returns: it is killed, or ends by itself when a conversion fails that must not. */
__attribute__((noreturn)) static void be_killed(const char *folder, const job *j)
{
	sherd_store *store = NULL;
	sherd_error err = {0};
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* also by the end of a test that failed */
	if (sherd_store_open_local(&store, folder, NULL, &err) < 0)
		_exit(2);
	for (unsigned seed = NEW;; seed ^= OLD ^ NEW) {
		int rc = convert(store, j, j->replace ? seed : NEW, true, &err);
		if (rc < 0 && !(j->fixed && rc == SHERD_EEXIST)) {
			(void)fprintf(stderr, "child: %s: %s\n", err.object, err.message);
			_exit(3);
		}
	}
}

TEST(a_kill_leaves_the_old_files_or_the_new_ones)
{
	uint64_t kills = environment_number("SHERD_KILLS", 64), seed = environment_number("SHERD_SEED", 1);
	print_message("SHERD_SEED=%llu\n", (unsigned long long)seed);
	for (uint64_t i = 0; i < kills; i++) {
		const job *j = &jobs[i % COUNT_OF(jobs)];
		char *folder = scratch_make();
		STORE store = NULL;
		assert_ok(sherd_store_open_local(&store, folder, NULL, err));
		if (j->replace)
			assert_ok(convert(store, j, OLD, false, err));
		pid_t child = fork();
		assert_true(child >= 0);
		if (!child)
			be_killed(folder, j);
		kill_after(child, (long)(100000 + shd_splitmix64(seed + i) % 6000000));
		check(store, j, false);
		scratch_remove(folder);
	}
}

/* ---- readers */

/* What is there while another writes; 0 also when the set was replaced under the reader, who was told. */
static unsigned read_beside(sherd_store *store, const job *j)
{
	BUNDLE b = NULL;
	sherd_error e = {0};
	int rc;
	assert_ok(sherd_bundle_open(&b, store, j->key, NULL, err));
	assert_int_equal(sherd_bundle_count(b), TENSORS);
	unsigned byte = set_sample_byte(b, &rc, &e);
	if (rc < 0 && rc != SHERD_ECONFLICT)
		fail_msg("%s: %s: %s", e.object, e.reason, e.message);
	return byte;
}

TEST(readers_see_one_set_while_it_is_replaced)
{
	static const size_t which[] = {1, 3};
	for (size_t n = 0; n < COUNT_OF(which); n++) {
		const job *j = &jobs[which[n]];
		char *folder = scratch_make();
		unsigned seen[NEW + 1] = {0};
		STORE store = NULL;
		assert_ok(sherd_store_open_local(&store, folder, NULL, err));
		assert_ok(convert(store, j, OLD, false, err));
		pid_t child = fork();
		assert_true(child >= 0);
		if (!child)
			be_killed(folder, j);
		for (int reads = 0; reads < 300; reads++)
			seen[read_beside(store, j)]++;
		kill_after(child, 1);
		assert_true(seen[OLD] + seen[NEW] > 0);
		scratch_remove(folder);
	}
}

/* ---- two at once */

enum { WRITERS = 3, ROUNDS = 6 };

typedef struct shared {
	_Atomic int waiting;
	int rc[WRITERS];
	char message[WRITERS][200];
} shared;

static void be_one(const char *folder, shared *all, int number, const job *j, bool replace)
{
	sherd_store *store = NULL;
	sherd_error err = {0};
	if (sherd_store_open_local(&store, folder, NULL, &err) < 0)
		_exit(1);
	(void)atomic_fetch_add(&all->waiting, 1);
	while (all->waiting < WRITERS)
		(void)usleep(50);
	all->rc[number] = convert(store, j, 10 + (unsigned)number, replace, &err);
	(void)snprintf(all->message[number], sizeof(all->message[number]), "%.20s %.120s", err.reason ? err.reason : "",
	               err.message);
	sherd_store_close(store);
	_exit(0);
}

static void race(const char *folder, shared *all, const job *j, bool replace)
{
	pid_t children[WRITERS];
	memset(all, 0, sizeof(*all));
	for (int i = 0; i < WRITERS; i++) {
		children[i] = fork();
		assert_true(children[i] >= 0);
		if (!children[i])
			be_one(folder, all, i, j, replace);
	}
	for (int i = 0; i < WRITERS; i++) {
		int status;
		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
}

TEST(of_several_writers_at_once_one_wins_whole)
{
	shared *all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(all != MAP_FAILED);
	for (size_t n = 0; n < COUNT_OF(jobs) * ROUNDS; n++) {
		const job *j = &jobs[n % COUNT_OF(jobs)];
		char *folder = scratch_make();
		STORE store = NULL;
		int winners = 0;
		assert_ok(sherd_store_open_local(&store, folder, NULL, err));
		if (j->replace)
			assert_ok(convert(store, j, OLD, false, err));
		race(folder, all, j, j->replace);
		unsigned got = set_sample_content(store, j->key, TENSORS);
		for (int i = 0; i < WRITERS; i++) {
			int rc = all->rc[i];
			winners += rc == SHERD_OK;
			if (rc < 0 && rc != SHERD_ECONFLICT && rc != SHERD_EEXIST)
				fail_msg("%s: writer %d got %d: %s", j->key, i, rc, all->message[i]);
		}
		assert_true(winners >= 1 && (j->replace || winners == 1));
		assert_true(got >= 10 && all->rc[got - 10] == SHERD_OK);
		set_sample_assert_clean(store, j->key);
		scratch_remove(folder);
	}
	(void)munmap(all, sizeof(*all));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_power_loss_leaves_the_old_files_or_the_new_ones),
		cmocka_unit_test(a_file_that_no_set_owns_survives_a_refused_conversion),
		cmocka_unit_test(a_kill_leaves_the_old_files_or_the_new_ones),
		cmocka_unit_test(readers_see_one_set_while_it_is_replaced),
		cmocka_unit_test(of_several_writers_at_once_one_wins_whole),
	};
	scratch_in_memory(); /* what a kill leaves does not depend on syncs */
	return cmocka_run_group_tests_name("crash/convert", tests, NULL, NULL);
}

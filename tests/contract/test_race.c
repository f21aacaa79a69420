/* Of several threads or processes that commit one key at once exactly one wins, once per backend. */
#include "base/error.h"
#include "store/local/local.h"
#include "support/backends.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RACERS = 4, ROUNDS = 25, RACE_SIZE = 5000 };

typedef struct racer {
	sherd_store *store;
	pthread_barrier_t *start;
	const char *key, *identity;
	int id, rc;
} racer;

static int race_once(const racer *r)
{
	char bytes[RACE_SIZE];
	memset(bytes, 'a' + r->id, sizeof(bytes));
	sherd_write_options options = {.mode = r->identity ? SHERD_WRITE_REPLACE : SHERD_WRITE_NEW,
	                               .if_identity = r->identity};
	sherd_writer *w = NULL;
	int rc = sherd_store_write(&w, r->store, r->key, &options, NULL);
	if (rc == SHERD_OK)
		rc = sherd_writer_append(w, bytes, sizeof(bytes), NULL);
	if (r->start)
		pthread_barrier_wait(r->start);
	return rc == SHERD_OK ? sherd_writer_commit(w, NULL) : rc;
}

static void *race_thread(void *arg)
{
	racer *r = arg;
	r->rc = race_once(r);
	return NULL;
}

static void assert_whole_from(sherd_store *s, const char *key, int winner)
{
	char *data = NULL;
	size_t len = 0;
	assert_ok(sherd_store_get(&data, &len, s, key, RACE_SIZE, err));
	assert_int_equal(len, RACE_SIZE);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(data[i], 'a' + winner);
	sherd_free(data);
}

static void race_threads(sherd_store *s, const char *key, const char *identity, int loss)
{
	pthread_barrier_t start;
	pthread_barrier_init(&start, NULL, RACERS);
	racer racers[RACERS];
	pthread_t threads[RACERS];
	int winner = -1;
	for (int i = 0; i < RACERS; i++) {
		racers[i] = (racer){s, &start, key, identity, i, 0};
		assert_int_equal(pthread_create(&threads[i], NULL, race_thread, &racers[i]), 0);
	}
	for (int i = 0; i < RACERS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < RACERS; i++) {
		if (racers[i].rc == SHERD_OK) {
			assert_int_equal(winner, -1);
			winner = i;
		} else {
			assert_int_equal(racers[i].rc, loss);
		}
	}
	pthread_barrier_destroy(&start);
	assert_true(winner >= 0);
	assert_whole_from(s, key, winner);
}

TEST(of_threads_that_commit_one_key_exactly_one_wins)
{
	for (int round = 0; round < ROUNDS; round++) {
		char key[32];
		(void)snprintf(key, sizeof(key), "race/%d", round);
		race_threads(STORE, key, NULL, SHERD_EEXIST);
	}
}

TEST(of_threads_that_replace_one_identity_exactly_one_wins)
{
	for (int round = 0; round < ROUNDS; round++) {
		sherd_stat stat;
		char text[16];
		/* Other bytes than any racer has: a store may know an object by its content. */
		(void)snprintf(text, sizeof(text), "%d", round);
		assert_ok(sherd_store_put(STORE, "x", SHERD_WRITE_REPLACE, text, strlen(text), err));
		assert_ok(sherd_store_stat(&stat, STORE, "x", err));
		race_threads(STORE, "x", stat.identity, SHERD_ECONFLICT);
	}
}

static int race_process(fixture *f, const char *key, const char *identity, int id, int go)
{
	/* a store of its own, as another program has it */
	sherd_store *store = NULL;
	char byte;
	if (shd_store_open_local_sys(&store, f->folder, NULL, &f->sys.sys, NULL) < 0 || read(go, &byte, 1) < 0)
		return 99;
	int rc = race_once(&(racer){.store = store, .key = key, .identity = identity, .id = id});
	sherd_store_close(store);
	return -rc;
}

static void race_processes(fixture *f, const char *key, const char *identity, int loss)
{
	int go[2], winner = -1;
	pid_t pids[RACERS];
	assert_int_equal(pipe(go), 0);
	for (int i = 0; i < RACERS; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			close(go[1]);
			_exit(race_process(f, key, identity, i, go[0]));
		}
	}
	close(go[0]);
	close(go[1]);
	for (int i = 0; i < RACERS; i++) {
		int status = 0;
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_true(WIFEXITED(status));
		if (WEXITSTATUS(status) == 0) {
			assert_int_equal(winner, -1);
			winner = i;
		} else {
			assert_int_equal(WEXITSTATUS(status), -loss);
		}
	}
	assert_true(winner >= 0);
	assert_whole_from(f->store, key, winner);
}

TEST(of_processes_that_commit_one_key_exactly_one_wins)
{
	if (!((fixture *)*state)->backend->local)
		return;
	for (int round = 0; round < ROUNDS; round++) {
		char key[32];
		(void)snprintf(key, sizeof(key), "race/%d", round);
		race_processes(*state, key, NULL, SHERD_EEXIST);
	}
}

TEST(of_processes_that_replace_one_identity_exactly_one_wins)
{
	if (!((fixture *)*state)->backend->local)
		return;
	assert_ok(sherd_store_put(STORE, "x", SHERD_WRITE_NEW, "one", 3, err));
	for (int round = 0; round < ROUNDS; round++) {
		sherd_stat stat;
		assert_ok(sherd_store_stat(&stat, STORE, "x", err));
		race_processes(*state, "x", stat.identity, SHERD_ECONFLICT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BACKEND_TEST(of_threads_that_commit_one_key_exactly_one_wins),
		BACKEND_TEST(of_threads_that_replace_one_identity_exactly_one_wins),
		BACKEND_TEST(of_processes_that_commit_one_key_exactly_one_wins),
		BACKEND_TEST(of_processes_that_replace_one_identity_exactly_one_wins),
	};
	return run_for_backends(tests, COUNT_OF(tests));
}

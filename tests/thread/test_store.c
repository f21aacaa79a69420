/* Several threads on one store, for ThreadSanitizer, and for what readers may see while others replace. */
#include "support/test.h"

#include <sherd/store.h>

#include "base/error.h"
#include "support/scratch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, TURNS = 60, SIZE = 9000 };

typedef struct worker {
	sherd_store *store;
	int id;
	_Atomic int *wrong;
	const sherd_reader *shared;
} worker;

static bool count_key(void *arg, const char *key, const sherd_stat *stat)
{
	(void)key, (void)stat;
	++*(size_t *)arg;
	return true;
}

/* All bytes of an object are the same letter; any mixture is a torn read. */
static void read_whole(const worker *w, const char *key)
{
	char *data = NULL;
	size_t len = 0;
	int rc = sherd_store_get(&data, &len, w->store, key, SIZE, NULL);
	bool fine = rc == SHERD_ENOTFOUND || (rc == SHERD_OK && len == SIZE);
	for (size_t i = 1; fine && rc == SHERD_OK && i < len; i++)
		fine = data[i] == data[0];
	if (!fine)
		atomic_fetch_add(w->wrong, 1);
	sherd_free(data);
}

static void use_locks(const worker *w)
{
	sherd_lock *lock = NULL;
	int rc = sherd_store_create_locked(&lock, w->store, "claim", "", 0, SHERD_LOCK_EXCLUSIVE, NULL);
	if (rc == SHERD_OK) {
		/* while it is held nobody else gets it */
		sherd_lock *other = NULL;
		if (sherd_store_lock(&other, w->store, "claim", SHERD_LOCK_SHARED, NULL) != SHERD_ECONFLICT)
			atomic_fetch_add(w->wrong, 1);
		if (sherd_store_remove(w->store, "claim", NULL) != SHERD_OK)
			atomic_fetch_add(w->wrong, 1);
		sherd_lock_release(lock);
	} else if (rc != SHERD_EEXIST) {
		atomic_fetch_add(w->wrong, 1);
	}
}

static void *work(void *arg)
{
	worker *w = arg;
	char bytes[SIZE], own[32], buf[64];
	for (int turn = 0; turn < TURNS; turn++) {
		memset(bytes, 'a' + (turn + w->id) % 26, sizeof(bytes));
		(void)snprintf(own, sizeof(own), "own/%d/%d", w->id, turn);
		int rc = sherd_store_put(w->store, own, SHERD_WRITE_NEW, bytes, sizeof(bytes), NULL);
		rc |= sherd_store_put(w->store, "common", SHERD_WRITE_REPLACE, bytes, sizeof(bytes), NULL);
		read_whole(w, "common");
		read_whole(w, own);
		size_t keys = 0;
		rc |= sherd_store_list(w->store, "own/", "", count_key, &keys, NULL);
		const void *map = NULL;
		rc |= sherd_reader_map(&map, w->shared, (uint64_t)turn, sizeof(buf), NULL);
		rc |= sherd_reader_at(w->shared, (uint64_t)turn, buf, sizeof(buf), NULL);
		if (rc != SHERD_OK || keys == 0 || memcmp(map, buf, sizeof(buf)) != 0)
			atomic_fetch_add(w->wrong, 1);
		use_locks(w);
		if (turn % 3 == 0)
			(void)sherd_store_remove(w->store, own, NULL);
	}
	return NULL;
}

static void work_together(sherd_store *store)
{
	char bytes[SIZE];
	memset(bytes, 's', sizeof(bytes));
	assert_ok(sherd_store_put(store, "shared", SHERD_WRITE_NEW, bytes, sizeof(bytes), err));
	sherd_reader *shared = NULL;
	assert_ok(sherd_store_read(&shared, store, "shared", err));
	_Atomic int wrong = 0;
	worker workers[THREADS];
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++) {
		workers[i] = (worker){store, i, &wrong, shared};
		assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	sherd_reader_close(shared);
	assert_int_equal(atomic_load(&wrong), 0);
	size_t keys = 0;
	assert_ok(sherd_store_list(store, "own/", "", count_key, &keys, err));
	assert_int_equal(keys, THREADS * (TURNS - TURNS / 3));
}

TEST(a_memory_store_serves_many_threads)
{
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_memory(&store, err));
	work_together(store);
	sherd_store_close(store);
}

TEST(a_local_store_serves_many_threads)
{
	char *folder = scratch_make();
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	work_together(store);
	sherd_store_close(store);
	scratch_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_memory_store_serves_many_threads),
		cmocka_unit_test(a_local_store_serves_many_threads),
	};
	return cmocka_run_group_tests_name("thread/store", tests, NULL, NULL);
}

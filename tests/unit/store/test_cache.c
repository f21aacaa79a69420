#include "support/fail_store.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"
#include "store/cache/cache.h"

#include <sherd/store.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 3, TAIL = 1000 };
static const size_t whole = BLOCKS * SHD_CACHE_BLOCK + TAIL;

typedef struct fixture {
	char *folder;
	sherd_store *memory;
	char *bytes;
} fixture;

static int make_fixture(void **state)
{
	fixture *f = calloc(1, sizeof(*f));
	f->folder = scratch_make();
	f->bytes = malloc(whole);
	for (size_t i = 0; i < whole; i++)
		f->bytes[i] = (char)(i * 2654435761u >> 13);
	assert_ok(sherd_store_open_memory(&f->memory, err));
	assert_ok(sherd_store_put(f->memory, "big", SHERD_WRITE_NEW, f->bytes, whole, err));
	*state = f;
	return 0;
}

static int drop_fixture(void **state)
{
	fixture *f = *state;
	sherd_store_close(f->memory);
	scratch_remove(f->folder);
	free(f->bytes);
	free(f);
	return 0;
}

/* Another name for the store in memory, which may be closed. */
typedef struct lent {
	sherd_store base;
	sherd_store *store;
	const char *identity; /* that all objects have; NULL: each its own */
} lent;

static int lent_read(sherd_reader **out, sherd_store *store, const char *key, sherd_error *err)
{
	const lent *l = (const lent *)store;
	int rc = l->store->ops->read(out, l->store, key, err);
	if (rc == SHERD_OK && l->identity)
		(void)snprintf((*out)->identity, sizeof((*out)->identity), "%s", l->identity);
	return rc;
}

static void lent_close(sherd_store *store)
{
	free(store);
}

static const struct sherd_store_ops lent_ops = {.scheme = "lent", .read = lent_read, .close = lent_close};

/* A cache over it, which counts what is asked of the inner store. */
static sherd_store *open_cache_of(const fixture *f, sherd_store **counting, uint64_t bytes, const char *identity)
{
	sherd_store *cache = NULL;
	lent *l = calloc(1, sizeof(*l));
	l->base.ops = &lent_ops;
	l->store = f->memory;
	l->identity = identity;
	*counting = fail_store_over(&l->base);
	assert_ok(sherd_store_open_cache(&cache, *counting, f->folder, &(sherd_cache_options){.bytes = bytes}, err));
	return cache;
}

static sherd_store *open_cache(const fixture *f, sherd_store **counting, uint64_t bytes)
{
	return open_cache_of(f, counting, bytes, NULL);
}

static void read_all(const fixture *f, sherd_store *cache, size_t step)
{
	sherd_reader *r = NULL;
	char *buf = malloc(step);
	assert_ok(sherd_store_read(&r, cache, "big", err));
	for (size_t at = 0; at < whole; at += step) {
		size_t n = whole - at < step ? whole - at : step;
		assert_ok(sherd_reader_at(r, at, buf, n, err));
		assert_memory_equal(buf, f->bytes + at, n);
	}
	sherd_reader_close(r);
	free(buf);
}

static uint64_t fetched(const fixture *f, size_t step)
{
	sherd_store *counting;
	sherd_store *cache = open_cache(f, &counting, 0);
	read_all(f, cache, step);
	uint64_t n = fail_store_read_bytes(counting);
	sherd_store_close(cache);
	return n;
}

TEST(what_was_read_once_is_not_fetched_again)
{
	const fixture *f = *state;
	assert_int_equal(fetched(f, 1 << 20), whole);
	assert_int_equal(fetched(f, 1 << 20), 0);
	assert_int_equal(fetched(f, whole), 0);
	assert_int_equal(fetched(f, 777777), 0);
}

TEST(a_small_range_costs_its_block)
{
	const fixture *f = *state;
	sherd_store *counting;
	sherd_store *cache = open_cache(f, &counting, 0);
	sherd_reader *r = NULL;
	char buf[16];
	assert_ok(sherd_store_read(&r, cache, "big", err));
	assert_ok(sherd_reader_at(r, 2 * SHD_CACHE_BLOCK - 8, buf, sizeof(buf), err));
	assert_memory_equal(buf, f->bytes + 2 * SHD_CACHE_BLOCK - 8, sizeof(buf));
	assert_int_equal(fail_store_read_bytes(counting), 2 * SHD_CACHE_BLOCK);
	sherd_reader_close(r);
	sherd_store_close(cache);
}

/* Calls each file of the cache. */
static unsigned each_file(const fixture *f, void (*act)(const char *path))
{
	unsigned count = 0;
	DIR *top = opendir(f->folder);
	for (struct dirent *d; (d = readdir(top));) {
		char path[512];
		(void)snprintf(path, sizeof(path), "%s/%s", f->folder, d->d_name);
		DIR *dir = d->d_name[0] == '.' ? NULL : opendir(path);
		for (struct dirent *e; dir && (e = readdir(dir));) {
			char file[1024];
			(void)snprintf(file, sizeof(file), "%s/%s", path, e->d_name);
			if (e->d_name[0] != '.') {
				act(file);
				count++;
			}
		}
		if (dir)
			(void)closedir(dir);
	}
	(void)closedir(top);
	return count;
}

static void spoil(const char *path)
{
	int fd = open(path, O_RDWR);
	char byte;
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, 500), 1);
	byte ^= 4;
	assert_int_equal(pwrite(fd, &byte, 1, 500), 1);
	(void)close(fd);
}

static void cut(const char *path)
{
	assert_int_equal(truncate(path, 100), 0);
}

static void leave(const char *path)
{
	(void)path;
}

TEST(what_is_damaged_in_the_folder_is_fetched_anew)
{
	const fixture *f = *state;
	assert_int_equal(fetched(f, 1 << 20), whole);
	assert_int_equal(each_file(f, spoil), BLOCKS + 1);
	assert_int_equal(fetched(f, 1 << 20), whole);
	assert_int_equal(fetched(f, 1 << 20), 0);
	assert_int_equal(each_file(f, cut), BLOCKS + 1);
	assert_int_equal(fetched(f, 1 << 20), whole);
}

TEST(what_is_mapped_is_kept_whole_and_checked)
{
	const fixture *f = *state;
	for (int round = 0; round < 3; round++) {
		sherd_store *counting;
		sherd_store *cache = open_cache(f, &counting, 0);
		sherd_reader *r = NULL;
		const void *map = NULL;
		assert_true(sherd_store_caps(cache) & SHERD_CAP_MAP);
		assert_ok(sherd_store_read(&r, cache, "big", err));
		assert_ok(sherd_reader_map(&map, r, 10, whole - 10, err));
		assert_memory_equal(map, f->bytes + 10, whole - 10);
		assert_ok(sherd_reader_check(r, err));
		assert_int_equal(fail_store_read_bytes(counting), round == 1 ? 0 : whole);
		sherd_reader_close(r);
		sherd_store_close(cache);
		if (round == 1)
			assert_int_equal(each_file(f, spoil), 1);
	}
}

TEST(an_object_that_was_replaced_is_another_one)
{
	fixture *f = *state;
	assert_int_equal(fetched(f, 1 << 20), whole);
	f->bytes[whole / 2] ^= 1;
	assert_ok(sherd_store_put(f->memory, "big", SHERD_WRITE_REPLACE, f->bytes, whole, err));
	assert_int_equal(fetched(f, 1 << 20), whole);
}

/* A server that has no ETag, or a weak one, says the same of both. */
TEST(nothing_is_kept_under_an_identity_that_others_may_have)
{
	fixture *f = *state;
	static const char *const identities[] = {"", "W/1767960000"};
	for (size_t i = 0; i < 2 * COUNT_OF(identities); i++) {
		sherd_store *counting;
		sherd_store *cache = open_cache_of(f, &counting, 0, identities[i / 2]);
		sherd_reader *r = NULL;
		const void *map = NULL;
		read_all(f, cache, 1 << 20);
		assert_int_equal(each_file(f, leave), 0);
		assert_ok(sherd_store_read(&r, cache, "big", err));
		assert_ok(sherd_reader_map(&map, r, 0, whole, err));
		assert_memory_equal(map, f->bytes, whole);
		sherd_reader_close(r);
		sherd_store_close(cache);
		assert_int_equal(each_file(f, leave), 0);
		f->bytes[whole / 2] ^= 1;
		assert_ok(sherd_store_put(f->memory, "big", SHERD_WRITE_REPLACE, f->bytes, whole, err));
	}
}

static uint64_t weight;
static void weigh(const char *path)
{
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	weight += (uint64_t)st.st_size;
}

TEST(the_folder_stays_within_its_bound)
{
	const fixture *f = *state;
	sherd_store *counting;
	uint64_t most = 2 * SHD_CACHE_BLOCK + 100;
	for (int i = 0; i < 2; i++) {
		sherd_store *cache = open_cache(f, &counting, most);
		read_all(f, cache, 1000000);
		weight = 0;
		(void)each_file(f, weigh);
		assert_true(weight <= most && weight > 0);
		sherd_store_close(cache);
	}
	/* One that is smaller when it is opened again. */
	sherd_store *cache = open_cache(f, &counting, SHD_CACHE_BLOCK + 100);
	weight = 0;
	(void)each_file(f, weigh);
	assert_true(weight <= SHD_CACHE_BLOCK + 100);
	read_all(f, cache, 1 << 20);
	sherd_store_close(cache);
}

/* What was used last stays. */
TEST(what_was_not_used_for_longest_goes_first)
{
	fixture *f = *state;
	sherd_store *counting;
	static const char *const names[] = {"a", "b", "c", "a", "d"};
	char *bytes = calloc(1, SHD_CACHE_BLOCK);
	for (const char *n = "abcd"; *n; n++)
		assert_ok(sherd_store_put(f->memory, (char[]){*n, 0}, SHERD_WRITE_NEW, bytes, SHD_CACHE_BLOCK, err));
	for (size_t i = 0; i < COUNT_OF(names) + 1; i++) {
		sherd_store *cache = open_cache(f, &counting, 3 * SHD_CACHE_BLOCK + 100);
		sherd_reader *r = NULL;
		assert_ok(sherd_store_read(&r, cache, i < COUNT_OF(names) ? names[i] : "a", err));
		assert_ok(sherd_reader_at(r, 0, bytes, SHD_CACHE_BLOCK, err));
		if (i == COUNT_OF(names)) /* "b" and perhaps "c" went for "d", and not "a" */
			assert_int_equal(fail_store_read_bytes(counting), 0);
		sherd_reader_close(r);
		sherd_store_close(cache);
		(void)usleep(2000);
	}
	free(bytes);
}

TEST(processes_share_a_folder)
{
	const fixture *f = *state;
	pid_t pids[4];
	for (size_t i = 0; i < COUNT_OF(pids); i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			sherd_store *counting;
			sherd_store *cache = open_cache(f, &counting, i % 2 ? 0 : 2 * SHD_CACHE_BLOCK);
			read_all(f, cache, 300000 + 1000 * i);
			_exit(0);
		}
	}
	for (size_t i = 0; i < COUNT_OF(pids); i++) {
		int status = 0;
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
}

static const fixture *shared;
static void *read_in_thread(void *arg)
{
	read_all(shared, arg, 250000);
	return NULL;
}

TEST(threads_share_a_cache)
{
	sherd_store *counting;
	shared = *state;
	sherd_store *cache = open_cache(shared, &counting, 0);
	pthread_t threads[4];
	for (size_t i = 0; i < COUNT_OF(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_in_thread, cache), 0);
	for (size_t i = 0; i < COUNT_OF(threads); i++)
		(void)pthread_join(threads[i], NULL);
	sherd_store_close(cache);
}

TEST(a_failure_of_the_inner_store_names_its_object)
{
	const fixture *f = *state;
	sherd_store *counting;
	sherd_store *cache = open_cache(f, &counting, 0);
	sherd_reader *r = NULL;
	char buf[16];
	sherd_error e = {0};
	assert_ok(sherd_store_read(&r, cache, "big", err));
	fail_store_at(counting, 1);
	assert_int_equal(sherd_reader_at(r, 0, buf, sizeof(buf), &e), SHERD_EIO);
	assert_string_equal(e.object, "big");
	assert_ptr_equal(e.store, cache);
	assert_ok(sherd_reader_at(r, 0, buf, sizeof(buf), err));
	assert_memory_equal(buf, f->bytes, sizeof(buf));
	sherd_reader_close(r);
	sherd_store_close(cache);
}

TEST(a_folder_that_cannot_be_used_is_told)
{
	const fixture *f = *state;
	sherd_store *cache = NULL;
	char path[512];
	sherd_error e = {0};
	(void)snprintf(path, sizeof(path), "%s/file", f->folder);
	assert_int_equal(close(open(path, O_CREAT | O_WRONLY, 0600)), 0);
	assert_true(sherd_store_open_cache(&cache, f->memory, path, NULL, &e) < 0);
	assert_string_equal(e.object, path);
	assert_null(e.store);
	(void)each_file(f, leave);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_fixture, drop_fixture)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_was_read_once_is_not_fetched_again),
		CASE(a_small_range_costs_its_block),
		CASE(what_is_damaged_in_the_folder_is_fetched_anew),
		CASE(what_is_mapped_is_kept_whole_and_checked),
		CASE(an_object_that_was_replaced_is_another_one),
		CASE(nothing_is_kept_under_an_identity_that_others_may_have),
		CASE(the_folder_stays_within_its_bound),
		CASE(what_was_not_used_for_longest_goes_first),
		CASE(processes_share_a_folder),
		CASE(threads_share_a_cache),
		CASE(a_failure_of_the_inner_store_names_its_object),
		CASE(a_folder_that_cannot_be_used_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

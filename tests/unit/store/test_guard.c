/* Maps of files that are cut off: an error while a guard is open, the signal as ever when none is. */
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/guard.h>
#include <sherd/pool.h>
#include <sherd/store.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)
#define READER SHD_AUTO(sherd_reader, sherd_reader_close)

enum { PAGE = 4096, PAGES = 64, SIZE = PAGES * PAGE };

typedef struct fixture {
	char *folder;
	sherd_store *store;
} fixture;

static int setup(void **state)
{
	fixture *f = calloc(1, sizeof(*f));
	assert_non_null(f);
	f->folder = scratch_make();
	assert_ok(sherd_store_open_local(&f->store, f->folder, NULL, err));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	fixture *f = *state;
	sherd_store_close(f->store);
	scratch_remove(f->folder);
	free(f);
	assert_false(sherd_guard_held());
	return 0;
}

static const char *path_of(const fixture *f, const char *key)
{
	static char path[4096];
	(void)snprintf(path, sizeof(path), "%s/%s", f->folder, key);
	return path;
}

/* A file of sevens, mapped. */
static const volatile uint8_t *map_sevens(fixture *f, const char *key, sherd_reader **reader)
{
	static uint8_t bytes[SIZE];
	const void *map;
	memset(bytes, 7, sizeof(bytes));
	assert_ok(sherd_store_put(f->store, key, SHERD_WRITE_REPLACE, bytes, sizeof(bytes), err));
	assert_ok(sherd_store_read(reader, f->store, key, err));
	assert_ok(sherd_reader_map(&map, *reader, 0, SIZE, err));
	return map;
}

static void cut(const fixture *f, const char *key, off_t size)
{
	assert_int_equal(truncate(path_of(f, key), size), 0);
}

TEST(what_is_cut_off_reads_as_zeros_and_is_told)
{
	fixture *f = *state;
	READER r = NULL;
	READER other = NULL;
	const volatile uint8_t *map = map_sevens(f, "a", &r), *whole = map_sevens(f, "b", &other);
	assert_ok(sherd_guard_open(err));
	assert_ok(sherd_reader_check(r, err));
	assert_int_equal(map[5], 7);
	cut(f, "a", 8 * PAGE + 100);
	assert_int_equal(map[20 * PAGE + 3], 0);
	assert_int_equal(map[SIZE - 1], 0);
	assert_int_equal(map[9 * PAGE], 0);
	assert_int_equal(map[0], 7);
	assert_int_equal(whole[9 * PAGE], 7);
	assert_fails(SHERD_ECORRUPT, 8 * PAGE + 100, sherd_reader_check(r, err));
	assert_ok(sherd_reader_check(other, err));
	/* By the address of what was borrowed. */
	sherd_error e = {0};
	assert_int_equal(sherd_guard_check((const void *)(uintptr_t)(map + 30 * PAGE), 1, &e), SHERD_ECORRUPT);
	assert_string_equal(e.reason, "truncated");
	assert_string_equal(e.object, "a");
	assert_ok(sherd_guard_check((const void *)(uintptr_t)map, PAGE, err));
	assert_ok(sherd_guard_check((const void *)(uintptr_t)whole, SIZE, err));
	assert_ok(sherd_guard_check(&e, sizeof(e), err));
	/* Nobody gets such a map again; who reads is told too. */
	const void *again;
	uint8_t buf[8];
	assert_refused(SHERD_ECORRUPT, "truncated", sherd_reader_map(&again, r, 0, 1, err));
	assert_false(sherd_reader_peek(&again, r, 0, 1));
	assert_refused(SHERD_ECORRUPT, "truncated", sherd_reader_at(r, 10 * PAGE, buf, sizeof(buf), err));
	sherd_reader_close(TAKE(r));
	assert_ok(sherd_guard_check((const void *)(uintptr_t)whole, SIZE, err));
	sherd_guard_close();
}

/* The rest of the last page reads as zeros without any signal. */
TEST(a_file_that_is_cut_off_within_its_last_page_is_noticed)
{
	fixture *f = *state;
	READER r = NULL;
	const volatile uint8_t *map = map_sevens(f, "a", &r);
	cut(f, "a", SIZE - 10);
	assert_int_equal(map[SIZE - 1], 0);
	assert_fails(SHERD_ECORRUPT, SIZE - 10, sherd_reader_check(r, err));
}

/* How a child ends that runs this. */
static int end_of(void (*run)(const volatile uint8_t *), const volatile uint8_t *map)
{
	int status = 0;
	pid_t child = fork();
	if (child == 0) {
		(void)setrlimit(RLIMIT_CORE, &(struct rlimit){0});
		run(map);
		_exit(0);
	}
	assert_true(child > 0 && waitpid(child, &status, 0) == child);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void touch(const volatile uint8_t *map)
{
	(void)map[SIZE - 1];
}

/* Tests have a handler of their own, and so have sanitizers. */
static void touch_plain(const volatile uint8_t *map)
{
	(void)signal(SIGBUS, SIG_DFL);
	(void)map[SIZE - 1];
}

static void touch_guarded(const volatile uint8_t *map)
{
	if (sherd_guard_open(NULL) < 0 || map[SIZE - 1] != 0)
		_exit(1);
	sherd_guard_close();
}

static void touch_after_close(const volatile uint8_t *map)
{
	(void)signal(SIGBUS, SIG_DFL);
	if (sherd_guard_open(NULL) < 0)
		_exit(1);
	sherd_guard_close();
	(void)map[SIZE - 1];
}

static void send_to_guarded(const volatile uint8_t *map)
{
	(void)map;
	(void)signal(SIGBUS, SIG_DFL);
	if (sherd_guard_open(NULL) < 0)
		_exit(1);
	(void)raise(SIGBUS);
	_exit(2);
}

TEST(without_a_guard_the_signal_is_as_ever)
{
	fixture *f = *state;
	READER r = NULL;
	const volatile uint8_t *map = map_sevens(f, "a", &r);
	cut(f, "a", PAGE);
	assert_int_equal(end_of(touch_guarded, map), 0);
	assert_int_equal(end_of(touch_plain, map), -SIGBUS);
	assert_int_equal(end_of(touch_after_close, map), -SIGBUS);
	assert_int_equal(end_of(send_to_guarded, map), -SIGBUS);
}

TEST(a_child_is_guarded_too)
{
	fixture *f = *state;
	READER r = NULL;
	const volatile uint8_t *map = map_sevens(f, "a", &r);
	assert_ok(sherd_guard_open(err));
	cut(f, "a", PAGE);
	assert_int_equal(end_of(touch, map), 0);
	/* What happened there is not known here. */
	assert_ok(sherd_guard_check((const void *)(uintptr_t)map, SIZE, err));
	sherd_guard_close();
}

static const volatile uint8_t *foreign;
static sig_atomic_t passed_on;

static void mend(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
	passed_on++;
	(void)mmap((void *)(uintptr_t)foreign, PAGE, PROT_READ, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

TEST(faults_of_others_go_to_the_handler_of_before)
{
	fixture *f = *state;
	struct sigaction mine = {.sa_sigaction = mend, .sa_flags = SA_SIGINFO}, before, after;
	READER r = NULL;
	const volatile uint8_t *map = map_sevens(f, "a", &r);
	FILE *file = fopen(path_of(f, "foreign"), "w+");
	assert_non_null(file);
	foreign = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fileno(file), 0);
	assert_int_equal(sigaction(SIGBUS, &mine, &before), 0);
	assert_ok(sherd_guard_open(err));
	assert_ok(sherd_guard_open(err));
	sherd_guard_close();
	assert_true(sherd_guard_held());
	passed_on = 0;
	assert_int_equal(foreign[1], 0);
	assert_int_equal(passed_on, 1);
	cut(f, "a", PAGE);
	assert_int_equal(map[SIZE - 1], 0);
	assert_int_equal(passed_on, 1);
	sherd_guard_close();
	assert_false(sherd_guard_held());
	assert_int_equal(sigaction(SIGBUS, &before, &after), 0);
	assert_ptr_equal(after.sa_sigaction, mend);
	assert_int_equal(munmap((void *)(uintptr_t)foreign, PAGE), 0);
	assert_int_equal(fclose(file), 0);
}

TEST(nothing_is_borrowed_from_a_map_unless_a_guard_is_open)
{
	fixture *f = *state;
	READER r = NULL;
	const void *p;
	(void)map_sevens(f, "a", &r);
	assert_false(sherd_reader_peek(&p, r, 0, SIZE));
	assert_ok(sherd_guard_open(err));
	bool lent = sherd_reader_peek(&p, r, 0, SIZE);
	if (lent)
		assert_int_equal(*(const uint8_t *)p, 7);
	sherd_guard_close();
}

/* ---- threads */

enum { THREADS = 8, MAPS = 300 };

typedef struct reading {
	const volatile uint8_t *maps[MAPS];
	unsigned failed;
} reading;

static void *read_all(void *arg)
{
	reading *w = arg;
	for (size_t i = 0; i < MAPS; i++)
		for (size_t page = PAGES; page-- > 0;)
			w->failed += w->maps[i][page * PAGE] != (page == 0 ? 7 : 0);
	return NULL;
}

TEST(many_maps_fail_under_many_threads)
{
	fixture *f = *state;
	static sherd_reader *readers[MAPS];
	static reading work[THREADS];
	pthread_t threads[THREADS];
	char key[16];
	assert_ok(sherd_guard_open(err));
	for (size_t i = 0; i < MAPS; i++) {
		(void)snprintf(key, sizeof(key), "m%zu", i % 10);
		const volatile uint8_t *map = NULL;
		if (i < 10) {
			map = map_sevens(f, key, &readers[i]);
		} else {
			const void *p;
			assert_ok(sherd_store_read(&readers[i], f->store, key, err));
			assert_ok(sherd_reader_map(&p, readers[i], 0, SIZE, err));
			map = p;
		}
		for (size_t t = 0; t < THREADS; t++)
			work[t].maps[i] = map;
	}
	for (size_t i = 0; i < 10; i++) {
		(void)snprintf(key, sizeof(key), "m%zu", i);
		cut(f, key, PAGE);
	}
	for (size_t t = 0; t < THREADS; t++)
		assert_int_equal(pthread_create(&threads[t], NULL, read_all, &work[t]), 0);
	for (size_t t = 0; t < THREADS; t++) {
		assert_int_equal(pthread_join(threads[t], NULL), 0);
		assert_int_equal(work[t].failed, 0);
	}
	for (size_t i = 0; i < MAPS; i++) {
		assert_fails(SHERD_ECORRUPT, PAGE, sherd_reader_check(readers[i], err));
		sherd_reader_close(readers[i]);
	}
	sherd_guard_close();
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	scratch_in_memory();
	const struct CMUnitTest tests[] = {
		CASE(what_is_cut_off_reads_as_zeros_and_is_told),
		CASE(a_file_that_is_cut_off_within_its_last_page_is_noticed),
		CASE(without_a_guard_the_signal_is_as_ever),
		CASE(a_child_is_guarded_too),
		CASE(faults_of_others_go_to_the_handler_of_before),
		CASE(nothing_is_borrowed_from_a_map_unless_a_guard_is_open),
		CASE(many_maps_fail_under_many_threads),
	};
	return cmocka_run_group_tests_name("guard", tests, NULL, NULL);
}

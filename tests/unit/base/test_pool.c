#include "base/pool.h"

#include "support/test.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS = 1000, MOST_WORKERS = 8 };

typedef struct counts {
	_Atomic int begun[TASKS];
	_Atomic int running, most_running;
} counts;

static int count_one(void *arg, size_t index, sherd_error *err)
{
	(void)err;
	counts *c = arg;
	int running = atomic_fetch_add(&c->running, 1) + 1, most = atomic_load(&c->most_running);
	while (running > most && !atomic_compare_exchange_weak(&c->most_running, &most, running))
		;
	atomic_fetch_add(&c->begun[index], 1);
	atomic_fetch_sub(&c->running, 1);
	return SHERD_OK;
}

TEST(every_index_runs_once_whatever_the_number_of_workers)
{
	for (unsigned workers = 0; workers <= MOST_WORKERS; workers++) {
		sherd_pool *pool = NULL;
		counts *c = calloc(1, sizeof(*c));
		assert_non_null(c);
		if (workers)
			assert_ok(sherd_pool_open(&pool, workers, err));
		assert_int_equal(sherd_pool_workers(pool), workers ? workers : 1);
		for (int round = 1; round <= 3; round++) {
			assert_ok(shd_pool_run(pool, TASKS, count_one, c, err));
			for (int i = 0; i < TASKS; i++)
				assert_int_equal(c->begun[i], round);
		}
		assert_ok(shd_pool_run(pool, 0, count_one, c, err));
		assert_true(c->most_running <= (int)(workers ? workers : 1));
		sherd_pool_close(pool);
		free(c);
	}
}

static int square(void *arg, size_t index, sherd_error *err)
{
	(void)err;
	((uint64_t *)arg)[index] = (uint64_t)index * index + 1;
	return SHERD_OK;
}

TEST(results_do_not_depend_on_the_number_of_workers)
{
	static uint64_t alone[TASKS], shared[TASKS];
	assert_ok(shd_pool_run(NULL, TASKS, square, alone, err));
	for (unsigned workers = 1; workers <= MOST_WORKERS; workers++) {
		sherd_pool *pool;
		memset(shared, 0, sizeof(shared));
		assert_ok(sherd_pool_open(&pool, workers, err));
		assert_ok(shd_pool_run(pool, TASKS, square, shared, err));
		sherd_pool_close(pool);
		assert_memory_equal(shared, alone, sizeof(alone));
	}
}

typedef struct failing {
	size_t from; /* this index fails, and every third after it */
	_Atomic size_t begun;
} failing;

static int fail_some(void *arg, size_t index, sherd_error *err)
{
	failing *f = arg;
	atomic_fetch_add(&f->begun, 1);
	if (index < f->from || (index - f->from) % 3)
		return SHERD_OK;
	/* The lowest takes longest, so that a higher one is likely to fail before it. */
	for (volatile int spin = 0; index == f->from && spin < 100000; spin++)
		;
	return shd_fail_at(err, SHERD_ECORRUPT, "bad-task", index, "task %zu", index);
}

TEST(of_several_failures_the_lowest_index_is_reported)
{
	for (unsigned workers = 1; workers <= MOST_WORKERS; workers++) {
		sherd_pool *pool;
		assert_ok(sherd_pool_open(&pool, workers, err));
		for (size_t from = 0; from < 60; from += 7) {
			failing f = {.from = from};
			assert_fails(SHERD_ECORRUPT, from, shd_pool_run(pool, TASKS, fail_some, &f, err));
			assert_true(f.begun > from);
			f.begun = 0;
			assert_int_equal(shd_pool_run(pool, TASKS, fail_some, &f, NULL), SHERD_ECORRUPT);
		}
		failing last = {.from = TASKS - 1};
		assert_fails(SHERD_ECORRUPT, TASKS - 1, shd_pool_run(pool, TASKS, fail_some, &last, err));
		assert_int_equal(last.begun, TASKS);
		sherd_pool_close(pool);
	}
}

static int stop_at_once(void *arg, size_t index, sherd_error *err)
{
	atomic_fetch_add((_Atomic size_t *)arg, 1);
	return shd_fail_at(err, SHERD_EIO, "io", index, "x");
}

TEST(after_a_failure_no_new_index_is_begun)
{
	for (unsigned workers = 1; workers <= 4; workers++) {
		sherd_pool *pool;
		_Atomic size_t begun = 0;
		assert_ok(sherd_pool_open(&pool, workers, err));
		assert_fails(SHERD_EIO, 0, shd_pool_run(pool, TASKS, stop_at_once, &begun, err));
		/* The workers and the caller may each have been inside one. */
		assert_true(begun <= workers + 1);
		sherd_pool_close(pool);
	}
}

typedef struct nest {
	sherd_pool *pool;
	_Atomic size_t leaves;

} nest;

typedef struct nest_level {
	nest *n;
	unsigned left;
} nest_level;

static int run_nested(void *arg, size_t index, sherd_error *err) // NOLINT(misc-no-recursion)
{
	(void)index;
	nest_level *l = arg, below = {l->n, l->left - 1};
	if (!l->left) {
		atomic_fetch_add(&l->n->leaves, 1);
		return SHERD_OK;
	}
	return shd_pool_run(l->n->pool, 5, run_nested, &below, err);
}

TEST(tasks_may_run_jobs_themselves)
{
	for (unsigned workers = 1; workers <= MOST_WORKERS; workers++) {
		nest n = {0};
		nest_level top = {&n, 3};
		assert_ok(sherd_pool_open(&n.pool, workers, err));
		assert_ok(shd_pool_run(n.pool, 5, run_nested, &top, err));
		assert_int_equal(n.leaves, 5 * 5 * 5 * 5);
		sherd_pool_close(n.pool);
	}
}

typedef struct caller {
	pthread_t thread;
	sherd_pool *pool;
	uint64_t out[TASKS];
	int rc;
} caller;

static void *call(void *arg)
{
	caller *c = arg;
	for (int round = 0; round < 20 && c->rc >= 0; round++)
		c->rc = shd_pool_run(c->pool, TASKS, square, c->out, NULL);
	return NULL;
}

TEST(several_threads_may_use_one_pool)
{
	enum { CALLERS = 4 };
	static caller callers[CALLERS];
	sherd_pool *pool;
	assert_ok(sherd_pool_open(&pool, 3, err));
	for (int i = 0; i < CALLERS; i++) {
		callers[i].pool = pool;
		assert_int_equal(pthread_create(&callers[i].thread, NULL, call, &callers[i]), 0);
	}
	for (int i = 0; i < CALLERS; i++) {
		assert_int_equal(pthread_join(callers[i].thread, NULL), 0);
		assert_int_equal(callers[i].rc, SHERD_OK);
		for (uint64_t k = 0; k < TASKS; k++)
			assert_true(callers[i].out[k] == k * k + 1);
	}
	sherd_pool_close(pool);
}

typedef struct later {
	shd_pool_later item;
	_Atomic int *ran;
} later;

static void run_later(void *arg)
{
	atomic_fetch_add(((later *)arg)->ran, 1);
}

TEST(submitted_work_is_done_before_the_pool_is_closed)
{
	for (unsigned workers = 1; workers <= 4; workers++) {
		enum { ITEMS = 200 };
		later items[ITEMS];
		_Atomic int ran = 0;
		sherd_pool *pool;
		assert_ok(sherd_pool_open(&pool, workers, err));
		for (int i = 0; i < ITEMS; i++) {
			items[i] = (later){.item = {.fn = run_later}, .ran = &ran};
			items[i].item.arg = &items[i];
			shd_pool_submit(pool, &items[i].item);
		}
		sherd_pool_close(pool);
		assert_int_equal(ran, ITEMS);
	}
}

TEST(an_absurd_number_of_workers_is_refused_and_none_means_one_for_each_processor)
{
	sherd_pool *pool = NULL;
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_pool_open(&pool, 1000000, err));
	assert_null(pool);
	assert_ok(sherd_pool_open(&pool, 0, err));
	assert_true(sherd_pool_workers(pool) >= 1);
	sherd_pool_close(pool);
	sherd_pool_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_index_runs_once_whatever_the_number_of_workers),
		cmocka_unit_test(results_do_not_depend_on_the_number_of_workers),
		cmocka_unit_test(of_several_failures_the_lowest_index_is_reported),
		cmocka_unit_test(after_a_failure_no_new_index_is_begun),
		cmocka_unit_test(tasks_may_run_jobs_themselves),
		cmocka_unit_test(several_threads_may_use_one_pool),
		cmocka_unit_test(submitted_work_is_done_before_the_pool_is_closed),
		cmocka_unit_test(an_absurd_number_of_workers_is_refused_and_none_means_one_for_each_processor),
	};
	return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}

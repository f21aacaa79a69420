/* base/pool.c - a list of running jobs that idle workers join.
 *
 * A job lives on the stack of the thread that called shd_pool_run(). Workers
 * take indexes from it one by one; it leaves the list when its last index was
 * taken, and run returns when the last taken one is finished. */
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct job {
	struct job *next;
	shd_task_fn *fn;
	void *arg;
	size_t count, taken;
	unsigned running; /* threads inside fn */
	unsigned most;    /* how many may be */
	size_t failed;    /* lowest index that failed, or count */
	int rc;
	sherd_error *err;
	pthread_cond_t finished;
} job;

struct sherd_pool {
	pthread_mutex_t lock;
	pthread_cond_t work;
	job *jobs;
	shd_pool_later *first, **last;
	bool closing;
	unsigned workers, started;
	pthread_t threads[];
};

static bool exhausted(const job *j)
{
	return j->taken >= j->count || j->failed < j->count;
}

/* Runs one index of the job; the lock is held on entry and on return. */
static void run_one(sherd_pool *p, job *j)
{
	size_t index = j->taken++;
	sherd_error err = {0};
	j->running++;
	(void)pthread_mutex_unlock(&p->lock);
	int rc = j->fn(j->arg, index, &err);
	(void)pthread_mutex_lock(&p->lock);
	j->running--;
	if (rc < 0 && index < j->failed) {
		j->failed = index;
		j->rc = rc;
		if (j->err)
			*j->err = err;
	}
	if (!j->running && exhausted(j))
		(void)pthread_cond_signal(&j->finished);
}

static job *find_job(sherd_pool *p)
{
	for (job *j = p->jobs; j; j = j->next)
		if (!exhausted(j) && j->running < j->most)
			return j;
	return NULL;
}

static void run_later(sherd_pool *p)
{
	shd_pool_later item = *p->first;
	p->first = item.next;
	if (!p->first)
		p->last = &p->first;
	(void)pthread_mutex_unlock(&p->lock);
	item.fn(item.arg);
	(void)pthread_mutex_lock(&p->lock);
}

static void *worker(void *arg)
{
	sherd_pool *p = arg;
	(void)pthread_mutex_lock(&p->lock);
	for (;;) {
		job *j = find_job(p);
		if (j)
			run_one(p, j);
		else if (p->first)
			run_later(p);
		else if (p->closing)
			break;
		else
			(void)pthread_cond_wait(&p->work, &p->lock);
	}
	(void)pthread_mutex_unlock(&p->lock);
	return NULL;
}

static unsigned usable_processors(void)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return 1;
	return (unsigned)CPU_COUNT(&set);
}

int sherd_pool_open(sherd_pool **out, unsigned workers, sherd_error *err)
{
	if (!workers)
		workers = usable_processors();
	if (workers > 4096)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "a pool of %u workers", workers);
	sherd_pool *p = calloc(1, sizeof(*p) + workers * sizeof(p->threads[0]));
	if (!p)
		return shd_fail_nomem(err);
	p->workers = workers;
	p->last = &p->first;
	(void)pthread_mutex_init(&p->lock, NULL);
	(void)pthread_cond_init(&p->work, NULL);
	for (; p->started < workers; p->started++) {
		int rc = pthread_create(&p->threads[p->started], NULL, worker, p);
		if (rc) {
			sherd_pool_close(p);
			return shd_fail_os(err, rc, "cannot start a thread");
		}
	}
	*out = p;
	return SHERD_OK;
}

unsigned sherd_pool_workers(const sherd_pool *pool)
{
	return pool ? pool->workers : 1;
}

void sherd_pool_close(sherd_pool *p)
{
	if (!p)
		return;
	(void)pthread_mutex_lock(&p->lock);
	p->closing = true;
	(void)pthread_cond_broadcast(&p->work);
	(void)pthread_mutex_unlock(&p->lock);
	for (unsigned i = 0; i < p->started; i++)
		(void)pthread_join(p->threads[i], NULL);
	(void)pthread_cond_destroy(&p->work);
	(void)pthread_mutex_destroy(&p->lock);
	free(p);
}

void shd_pool_submit(sherd_pool *p, shd_pool_later *item)
{
	(void)pthread_mutex_lock(&p->lock);
	item->next = NULL;
	*p->last = item;
	p->last = &item->next;
	(void)pthread_cond_signal(&p->work);
	(void)pthread_mutex_unlock(&p->lock);
}

bool shd_pool_withdraw(sherd_pool *p, const shd_pool_later *item)
{
	(void)pthread_mutex_lock(&p->lock);
	shd_pool_later **at = &p->first;
	while (*at && *at != item)
		at = &(*at)->next;
	bool found = *at;
	if (found) {
		*at = item->next;
		if (!item->next)
			p->last = at;
	}
	(void)pthread_mutex_unlock(&p->lock);
	return found;
}

static int run_alone(size_t count, shd_task_fn *fn, void *arg, sherd_error *err)
{
	for (size_t i = 0; i < count; i++)
		TRY(fn(arg, i, err));
	return SHERD_OK;
}

static void unlink_job(sherd_pool *p, job *j)
{
	job **at = &p->jobs;
	while (*at != j)
		at = &(*at)->next;
	*at = j->next;
}

int shd_pool_run(sherd_pool *p, size_t count, shd_task_fn *fn, void *arg, sherd_error *err)
{
	if (!p || p->workers < 2 || count < 2)
		return run_alone(count, fn, arg, err);
	job j = {.fn = fn, .arg = arg, .count = count, .most = p->workers, .failed = count, .err = err};
	(void)pthread_cond_init(&j.finished, NULL);
	(void)pthread_mutex_lock(&p->lock);
	j.next = p->jobs;
	p->jobs = &j;
	(void)pthread_cond_broadcast(&p->work);
	while (!exhausted(&j)) {
		if (j.running < j.most)
			run_one(p, &j);
		else
			(void)pthread_cond_wait(&j.finished, &p->lock);
	}
	while (j.running)
		(void)pthread_cond_wait(&j.finished, &p->lock);
	unlink_job(p, &j);
	(void)pthread_mutex_unlock(&p->lock);
	(void)pthread_cond_destroy(&j.finished);
	return j.rc;
}

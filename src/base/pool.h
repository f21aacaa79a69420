/* base/pool.h - running work on the caller's pool. */
#pragma once

#include "base/error.h"

#include <sherd/pool.h>

#include <stdbool.h>
#include <stddef.h>

/* One index of a job. */
typedef int shd_task_fn(void *arg, size_t index, sherd_error *err);

/* Calls fn for 0 .. count-1 on at most sherd_pool_workers() threads, the caller's among them, and returns when
 * all are finished. After a failure no new index is begun; of several failures the lowest index is reported.
 * Tasks may run jobs themselves. pool may be NULL. */
int shd_pool_run(sherd_pool *pool, size_t count, shd_task_fn *fn, void *arg, sherd_error *err);

/* Calls fn(arg) on a worker some time later and returns at once. */
typedef struct shd_pool_later {
	struct shd_pool_later *next;
	void (*fn)(void *arg);
	void *arg;
} shd_pool_later;
void shd_pool_submit(sherd_pool *pool, shd_pool_later *item);
/* Takes it back, unless a worker has it by now: then false. */
bool shd_pool_withdraw(sherd_pool *pool, const shd_pool_later *item);

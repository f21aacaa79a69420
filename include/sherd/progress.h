/* sherd/progress.h - watching and cancelling work that takes long. */
#ifndef SHERD_PROGRESS_H
#define SHERD_PROGRESS_H

#include <sherd/export.h>

#include <stdbool.h>
#include <stdint.h>

SHERD_BEGIN_DECLS

/* update() is called now and then, never by two threads at once but possibly by
 * a worker of the pool, with the bytes done so far and in all (0 when unknown);
 * calls that count something else say so. It returns false to cancel: the call
 * then undoes what it began and fails with SHERD_ECANCELLED. */
typedef struct sherd_progress {
	bool (*update)(void *arg, uint64_t done, uint64_t total);
	void *arg;
} sherd_progress;

SHERD_END_DECLS

#endif

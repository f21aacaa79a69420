/* store/guard.h - the maps of the process, where a signal handler finds them. */
#pragma once

#include <sherd/guard.h>
#include <sherd/store.h>

#include <stdatomic.h>
#include <stdint.h>

#define SHD_GUARD_WHOLE UINT64_MAX

typedef struct shd_guarded {
	_Atomic uintptr_t start; /* 0: nothing is there */
	_Atomic size_t size;
	_Atomic uint64_t broken;             /* the first byte that could not be had, or SHD_GUARD_WHOLE */
	_Atomic(const sherd_reader *) owner; /* asked why, by sherd_reader_check() */
	struct shd_guarded *free;            /* the next, of those that nobody has */
} shd_guarded;

/* A place for a map that is about to be used, or NULL when memory is out. Whether a guard is open or not: one may be
 * opened later. */
shd_guarded *shd_guard_add(const void *start, size_t size, const sherd_reader *owner);
/* Before the map goes away. NULL is fine. */
void shd_guard_remove(shd_guarded *g);

/* Has anything failed under any map of the process that is still there? */
bool shd_guard_any_broken(void);

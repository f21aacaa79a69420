/* engine/tensors/sweep.h - many tensors, part by part, on all workers; what is found is told in order.
 *
 * Tensors are taken in windows of bounded size: begin() for each, parts of all of them in any order and at once, then
 * end() for each in order. One that is larger than a window is cut into several, since its size may be a file's claim
 * alone: after each, merge() takes what its parts have found, and their numbers are used again. */
#pragma once

#include "base/error.h"
#include "base/pool.h"

#include <stdint.h>

/* A part ends at a multiple of this, as chunks of containers do, or at a whole number of blocks. */
enum { SHD_SWEEP_PART = 1 << 20 };

typedef struct shd_sweep_part {
	size_t item;
	size_t number; /* below what begin() was told */
	uint64_t offset;
	size_t len;
} shd_sweep_part;

typedef struct shd_sweep {
	sherd_pool *pool;
	size_t count;   /* items */
	size_t scratch; /* bytes of memory that part() gets: zero at first, then as the last part left it */
	void *arg;      /* of these, which may fail */
	/* How much of the item there is to look at, in blocks of that many bytes. */
	uint64_t (*bytes)(const void *arg, size_t item, uint32_t *block);
	int (*begin)(void *arg, size_t item, size_t parts, sherd_error *err);
	int (*part)(void *arg, const shd_sweep_part *part, void *scratch, sherd_error *err);
	/* Takes all parts, in order, and empties them; NULL: nothing is kept of parts. end() does so itself for the
	 * last ones, which may be empty. */
	void (*merge)(void *arg, size_t item);
	int (*end)(void *arg, size_t item, sherd_error *err);
} shd_sweep;

int shd_sweep_run(const shd_sweep *sweep, sherd_error *err);

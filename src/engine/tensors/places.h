/* engine/tensors/places.h - the front of an object, whose bytes are known by their places, written by all workers. */
#pragma once

#include <sherd/pool.h>
#include <sherd/store.h>

#include <stdbool.h>

/* Fills bytes [offset, offset+len) of the object. Called by several threads at once. */
typedef int shd_place_fn(void *arg, uint64_t offset, uint8_t *to, size_t len, sherd_error *err);

typedef struct shd_placing {
	sherd_writer *writer; /* nothing was written to it */
	uint64_t size;        /* bytes that are placed; more may be appended afterwards */
	shd_place_fn *fill;
	void *arg;
	bool in_order; /* fill() is called by one thread at a time, in ascending order */
	/* Each range from one cut to the next is filled in ascending order, by one thread; they ascend from 0 to size.
	 * NULL: wherever it suits. */
	const uint64_t *cuts;
	size_t ranges;
	sherd_pool *pool;
	uint32_t *crc; /* of all of it, when it was written; or NULL */
} shd_placing;

/* After a failure the writer can only be aborted. */
int shd_places_write(const shd_placing *p, sherd_error *err);

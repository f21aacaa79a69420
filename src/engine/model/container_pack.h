/* engine/model/container_pack.h - chunks on their way into files, several at a time.
 *
 * Workers of the pool fetch, shuffle, pack and sum chunks in any order, and put them at their places, which follow each
 * other in the order in which the chunks were added. */
#pragma once

#include "base/meter.h"
#include "base/pool.h"
#include "codec/deflate.h"
#include "engine/model/container_out.h"

#include <sherd/model.h>

typedef struct container_slot {
	uint8_t *raw;   /* room for SHD_CONTAINER_CHUNK bytes */
	uint8_t *large; /* and for a kept chunk that has more, large_room bytes; or NULL */
	size_t large_room;
	uint32_t len;                 /* of them are this chunk */
	uint64_t from;                /* where it begins in its array */
	size_t array;                 /* whose it is */
	bool fetched;                 /* raw has the bytes; else they are read first */
	const container_record *kept; /* whose chunk at that place is taken as it is stored; or NULL */
	uint8_t width;                /* of the elements to be shuffled; 0: not */
	bool aligned;                 /* it begins at a multiple of SHD_CONTAINER_ALIGN */
	container_out *to;
	shd_container_chunk chunk; /* what became of it */
	shd_digest_value value;    /* of the stored bytes, where that is wanted */
	/* Belong to the batch. */
	uint8_t *work, *packed;
	shd_deflate *deflate;
	const uint8_t *stored;
	size_t gap; /* zeros before it */
	bool ready;
} container_slot;

typedef struct container_batch {
	container_slot *slots;
	size_t count, used;
	int level; /* 0: nothing is packed */
	bool digest;
	sherd_pool *pool;
	shd_meter *meter;
	sherd_model_read_fn *read;
	void *arg;
	pthread_mutex_t lock; /* guards what follows, and ready */
	size_t next;          /* whose place is not known yet */
	bool failed;          /* nobody goes on */
} container_batch;

/* Then digest, pool, meter, read and arg may be set. */
int shd_container_batch_init(container_batch *b, unsigned workers, int level, sherd_error *err);
void shd_container_batch_done(container_batch *b);
/* The next free slot, with room for its raw bytes; there is one as long as used < count. */
int shd_container_batch_slot(container_batch *b, container_slot **out, sherd_error *err);
/* Writes what is in the used slots; the caller takes their chunks and sets used to 0. */
int shd_container_batch_run(container_batch *b, sherd_error *err);

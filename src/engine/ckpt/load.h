/* engine/ckpt/load.h - many tensors and slices on their way into memory. */
#pragma once

#include "base/meter.h"
#include "base/vec.h"
#include "engine/ckpt/runs.h"

/* One piece's share of a box on its way to the target. */
typedef struct part {
	const sherd_ckpt_piece *piece;
	runs runs;
	uint64_t bytes; /* that arrive */
	size_t want;    /* whose */
	uint64_t reach; /* of its shard's data: what ends last of this part and those before it */
	bool arrived;
} part;

/* What is hashed of one shard, and arrives meanwhile. */
typedef struct load_shard {
	part *parts; /* by place */
	size_t count;
	uint64_t hashed; /* bytes */
	/* With BLAKE3: what is known of its parts; or room for what they come to, all are hashed then. */
	const uint8_t (*values)[SHD_BLAKE3_BYTES];
	uint8_t (*found)[SHD_BLAKE3_BYTES];
	unsigned log;
	uint8_t *wanted; /* by part of the shard: something in it is */
} load_shard;

typedef struct load {
	const sherd_ckpt *ckpt;
	const sherd_ckpt_want *wants;
	bool checked;
	SHD_VEC(part) parts;
	shd_meter meter;
	uint64_t total;
	sherd_pool *pool;
	load_shard *shards; /* by shard; NULL: nothing is hashed */
} load;

/* Loads all parts of shards that have a digest, verified by it; they have arrived then. Sorts the parts, and sets the
 * meter's total to what will be read of all. */
int shd_ckpt_load_hashed(load *l, sherd_pool *pool, sherd_error *err);
void shd_ckpt_load_hashed_done(load *l);

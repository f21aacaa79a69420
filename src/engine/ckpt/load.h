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
	bool again;     /* wanted twice, or in several runs: read again after the hashing */
	bool arrived;
} part;

/* What is hashed of one shard, and arrives meanwhile. */
typedef struct load_shard {
	part *parts; /* those in one run, by place, none over another; others of the shard follow */
	size_t straight, count;
	/* With BLAKE3: what is known of its parts; NULL: it is hashed whole. */
	const uint8_t (*values)[SHD_BLAKE3_BYTES];
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

/* Verified by digests: sorts the parts by shard and place, and counts the bytes of all that will be read. */
int shd_ckpt_load_plan(load *l, sherd_error *err);
void shd_ckpt_load_plan_done(load *l);
/* Hashes as planned; parts that have arrived then say so, the others can be trusted. */
int shd_ckpt_load_hashed(load *l, sherd_pool *pool, sherd_error *err);

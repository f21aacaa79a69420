/* bench/tensors.h - tensors in memory as shards of a checkpoint. */
#pragma once

#include <sherd/ckpt.h>

/* One tensor: 2048 x 4096 of F32, as a layer of a middling model has them. */
#define BENCH_TENSOR_BYTES ((uint64_t)32 << 20)

typedef struct bench_tensors {
	size_t count;
	uint64_t bytes; /* of all */
	uint32_t world;
	sherd_ckpt_item *items;
	sherd_ckpt_shard_items *shards;
} bench_tensors;

/* Cuts the memory into tensors and deals them out to shards, one after the other. */
bench_tensors bench_tensors_of(uint8_t *memory, uint64_t bytes, uint32_t world);
void bench_tensors_done(bench_tensors *t);
/* All of them, each to the place that its item has in memory; the caller frees it. */
sherd_ckpt_want *bench_wants_of(const bench_tensors *t, const sherd_ckpt *ckpt);

/* These end the program when they fail. */
sherd_store *bench_store(void);
sherd_pool *bench_pool(unsigned workers);
/* Returns the seconds that it took. */
double bench_save(sherd_store *store, const char *prefix, const bench_tensors *t, sherd_pool *pool);
/* Removes a checkpoint, untimed. */
void bench_remove(sherd_store *store, const char *prefix, uint32_t world);

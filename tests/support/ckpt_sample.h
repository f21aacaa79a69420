/* tests/support/ckpt_sample.h - small sets of tensors, the same for the same seed, and what must come back of them. */
#pragma once

#include "base/arena.h"

#include <sherd/ckpt.h>

typedef struct ckpt_sample {
	shd_arena arena;
	uint64_t random;
	/* The whole tensors, as a naive copy. */
	sherd_tensor *tensors;
	uint8_t **bytes; /* by tensor */
	size_t count;
	/* The same as pieces, wholes and replicas: what shard r is to hold. */
	uint32_t world;
	sherd_ckpt_shard_items *shards;
	sherd_set_id set_id; /* also made from the seed */
} ckpt_sample;

/* A few hundred bytes: one tensor cut by rows over all ranks, one whole, one in all ranks. */
ckpt_sample *ckpt_sample_small(uint64_t seed, uint32_t world);
/* All types, scalars, empty tensors, 32 dimensions, odd names, cuts along several dimensions, replicas of wholes and
 * of pieces, empty pieces. A few thousand bytes. */
ckpt_sample *ckpt_sample_full(uint64_t seed, uint32_t world);
/* Whole tensors only, of types that the C# layout knows. */
ckpt_sample *ckpt_sample_csharp(uint64_t seed, uint32_t world);
void ckpt_sample_free(ckpt_sample *s); /* NULL is fine */

/* A number below n, from the sample's own sequence. */
uint64_t ckpt_sample_random(ckpt_sample *s, uint64_t n);
/* Copies a box of a whole tensor element by element. */
void ckpt_sample_slice(const ckpt_sample *s, size_t tensor, const uint64_t *at, const uint64_t *shape, uint8_t *out);

/* Options that save the sample as it is: its world, its set id, this time. */
sherd_ckpt_save_options ckpt_sample_options(const ckpt_sample *s, int64_t time_ns);
int ckpt_sample_save(const ckpt_sample *s, sherd_store *store, const char *prefix, sherd_error *err);
int ckpt_sample_replace(const ckpt_sample *s, sherd_store *store, const char *prefix, sherd_error *err);

/* NULL when the checkpoint holds exactly these tensors; else what is wrong, until the next call of this thread. */
const char *ckpt_sample_differs(const ckpt_sample *s, const sherd_ckpt *ckpt);
/* The same of a prefix, which must also verify without errors. */
const char *ckpt_sample_missing(const ckpt_sample *s, sherd_store *store, const char *prefix);
/* Which of two stands under the prefix, whole? */
typedef enum ckpt_content { CONTENT_NONE, CONTENT_OLD, CONTENT_NEW, CONTENT_OTHER } ckpt_content;
ckpt_content ckpt_sample_content(sherd_store *store, const char *prefix, const ckpt_sample *old,
                                 const ckpt_sample *new_one);
/* Fails the test unless it is there. */
void assert_sample(const ckpt_sample *s, sherd_store *store, const char *prefix);

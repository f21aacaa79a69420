/* engine/ckpt/shard.h - one shard on a store, opened and its head understood. */
#pragma once

#include "base/arena.h"
#include "format/ckpt/index.h"
#include "format/ckpt/shard.h"

#include <sherd/store.h>

typedef struct ckpt_shard {
	sherd_reader *reader;
	uint32_t rank;
	uint32_t tensors;
	uint64_t data_offset, data_size;
	bool four_byte;
	bool by_metadata; /* the checksum: the shard records none */
	char checksum[SHD_CKPT_CHECKSUM_MAX + 1];
} ckpt_shard;

/* want_size: what the metadata says the file has, or 0 for a shard that is opened by itself. */
int shd_ckpt_shard_open(ckpt_shard *out, sherd_store *store, const char *key, uint64_t want_size, sherd_error *err);
void shd_ckpt_shard_done(ckpt_shard *s);

/* The index at the end of the data; *found is false when there is none. Its tensors fit the data, and its rank and
 * count are the head's. */
int shd_ckpt_shard_index(const ckpt_shard *s, const sherd_limits *limits, shd_arena *arena, shd_ckpt_index *out,
                         bool *found, sherd_error *err);
/* The same of a shard that is opened for that. */
int shd_ckpt_shard_index_of(sherd_store *store, const char *key, const sherd_limits *limits, shd_arena *arena,
                            shd_ckpt_index *out, bool *found, sherd_error *err);

/* Is a file of this name there, with an index of this set? A shard of another set, or of none, is not found. */
int shd_ckpt_shard_find(ckpt_shard *out, sherd_store *store, const char *prefix, uint32_t rank,
                        const sherd_set_id *set_id, const sherd_limits *limits, shd_arena *arena, shd_ckpt_index *index,
                        bool *found, sherd_error *err);
/* Of a rank that was not found: is a file of its name there that nobody can read as a shard? why tells, then. */
bool shd_ckpt_shard_is_broken(sherd_store *store, const char *prefix, uint32_t rank, const sherd_set_id *set_id,
                              sherd_error *why);

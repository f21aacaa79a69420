/* format/container/shard.h - containers in several files: their names, and the SHARD_INFO section
 * (docs/formats/container.md). */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "codec/sha256.h"
#include "format/container/head.h"

#include <sherd/limits.h>

/* What shard 0 knows of another one. */
typedef struct shd_container_peer {
	uint64_t size;
	uint8_t digest[SHD_SHA256_BYTES]; /* of its front, which has the CRCs of all the rest */
} shd_container_peer;

typedef struct shd_container_shards {
	uint32_t shard, count;
	uint32_t generation;                       /* 0, or more than that of the set that was replaced */
	uint8_t replaces[SHD_CONTAINER_SET_BYTES]; /* a set of another count that this one stands for; 0: none */
	const shd_container_peer *peers;           /* of shards 1 to count-1; NULL but in shard 0 */
} shd_container_shards;

void shd_container_shards_encode(const shd_container_shards *info, shd_buf *out);
/* Offsets of failures count from the payload. */
int shd_container_shards_decode(const void *data, size_t len, const sherd_limits *limits, shd_arena *arena,
                                shd_container_shards *out, sherd_error *err);

#define SHD_CONTAINER_SUFFIX ".sdc"

/* <base>.shard<i>-of-<N>.sdc, of later generations <base>.shard<i>-of-<N>.<generation>.sdc; shard 0 is always called
 * as if of generation 0. */
typedef struct shd_container_name {
	size_t base; /* so many bytes of the key are the base */
	uint32_t shard, count, generation;
} shd_container_name;

/* Appends the name and a NUL, which is not counted. */
void shd_container_name_put(shd_buf *out, const char *base, uint32_t shard, uint32_t count, uint32_t generation);
bool shd_container_name_parse(const char *key, shd_container_name *out);

#define SHD_CONTAINER_SHARD ".shard" /* stands after the base in each of them */

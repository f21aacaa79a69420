/* engine/ckpt/sums.h - what a shard's data sums up to, part by part: CRC-32 of the tensors' blocks, and BLAKE3.
 *
 * Parts are summed in any order, by several threads. */
#pragma once

#include "base/arena.h"
#include "codec/blake3.h"
#include "format/ckpt/entry.h"

/* A tensor that has bytes. */
typedef struct ckpt_span {
	uint64_t offset, bytes;
	uint32_t *crcs; /* by block */
} ckpt_span;

/* The end of a block that began in an earlier part, or more of it. */
typedef struct ckpt_more {
	uint32_t *of;
	uint32_t crc, len;
} ckpt_more;

typedef struct ckpt_sums {
	uint64_t size;    /* of the data, or of the front of it */
	unsigned log;     /* parts have 2^log bytes, the last one what is left */
	size_t parts;     /* of them all */
	bool alone;       /* there is one part and no other data: its value is the hash */
	ckpt_span *spans; /* by offset, none over another */
	size_t span_count;
	uint8_t (*values)[SHD_BLAKE3_BYTES]; /* by part; there is room for one more */
	ckpt_more *more;                     /* by part */
} ckpt_sums;

/* Room for all of it, in the arena. Spans, at most so many, are added by the caller, in order. */
int shd_ckpt_sums_init(ckpt_sums *s, uint64_t size, unsigned log, size_t spans, shd_arena *arena, sherd_error *err);
int shd_ckpt_sums_add_span(ckpt_sums *s, uint64_t offset, uint64_t bytes, shd_arena *arena, sherd_error *err);

uint64_t shd_ckpt_part_bytes(const ckpt_sums *s, size_t part);
/* CRCs of one part. */
void shd_ckpt_sums_crcs(ckpt_sums *s, size_t part, const uint8_t *bytes);
/* CRCs and BLAKE3 of one part. */
void shd_ckpt_sums_part(ckpt_sums *s, size_t part, const uint8_t *bytes);
/* After all parts: the CRCs of blocks that lie in several. */
void shd_ckpt_sums_join(ckpt_sums *s);

/* format/ckpt/index.h - what makes a shard describe itself: the index at the end of its data.
 * docs/formats/checkpoint.md, "Index". */
#pragma once

#include "base/buf.h"
#include "codec/blake3.h"
#include "format/ckpt/entry.h"

#include <sherd/ckpt.h>

/* u64 length of the body, u32 CRC-32 of body and length, 8 bytes of magic. */
#define SHD_CKPT_TRAILER_SIZE 20
/* Parts that we write have 1 MiB; what is read: */
enum { SHD_CKPT_PART_LOG = 20, SHD_CKPT_PART_LOG_MIN = 10, SHD_CKPT_PART_LOG_MAX = 24 };

typedef struct shd_ckpt_index {
	sherd_set_id set_id;
	uint32_t rank, world;
	int64_t time_ns;
	shd_str about; /* JSON object, or empty */
	shd_ckpt_entry *entries;
	size_t count;
	/* Version 2: BLAKE3 values of the parts of 2^part_log bytes that lie in front of the index. part_log is 0 in
	 * version 1, which has none. */
	unsigned part_log;
	const uint8_t (*values)[SHD_BLAKE3_BYTES];
	size_t value_count;
} shd_ckpt_index;

/* Finds the body in front of the trailer: its length, or 0 when the bytes are no trailer.
 * SHERD_EVERSION for the trailer of a later version; SHERD_ECORRUPT when it claims more than data_size. */
int shd_ckpt_trailer_decode(const uint8_t raw[SHD_CKPT_TRAILER_SIZE], uint64_t data_size, uint64_t *body_size,
                            sherd_error *err);

/* body and trailer, as they follow one another. Everything handed out lies in the arena. Offsets in errors count
 * from the body's start. Entries are checked one by one, not against each other. */
int shd_ckpt_index_decode(const uint8_t *raw, size_t len, const sherd_limits *limits, shd_arena *arena,
                          shd_ckpt_index *out, sherd_error *err);

/* Appends body and trailer. Every entry must have its CRCs (or no bytes). */
void shd_ckpt_index_encode(const shd_ckpt_index *index, shd_buf *out);

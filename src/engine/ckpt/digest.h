/* engine/ckpt/digest.h - digests of an object's range, in bounded memory; and ranges part by part, by all workers. */
#pragma once

#include "base/meter.h"
#include "codec/blake3.h"
#include "format/ckpt/shard.h"

#include <sherd/pool.h>
#include <sherd/store.h>

/* A range that is cut into parts of 2^log bytes, the last one as long as it is. */
typedef struct ckpt_parts {
	const sherd_reader *reader;
	uint64_t offset, size;
	unsigned log;
} ckpt_parts;

typedef int ckpt_part_fn(void *arg, size_t part, const uint8_t *bytes, size_t len, sherd_error *err);

size_t shd_ckpt_parts_count(const ckpt_parts *p);
/* Reads parts first .. first+count-1, of those the ones that wanted (by part; NULL: all) says, and hands each to fn,
 * which several threads call. Errors name the object, but for those of fn. */
int shd_ckpt_parts_run(const ckpt_parts *p, size_t first, size_t count, const uint8_t *wanted, sherd_pool *pool,
                       ckpt_part_fn *fn, void *arg, sherd_error *err);

/* The BLAKE3 value of one of these parts. */
void shd_ckpt_part_value(const ckpt_parts *p, size_t part, const uint8_t *bytes, size_t len,
                         uint8_t out[SHD_BLAKE3_BYTES]);
/* BLAKE3 of the whole range, by the values of all its parts, as checksum text. */
void shd_ckpt_parts_text(const uint8_t (*values)[SHD_BLAKE3_BYTES], size_t count, char out[SHD_CKPT_DIGEST_TEXT]);

/* The checksum text of a range. SHA-256 is made by this thread alone. meter may be NULL. */
int shd_ckpt_digest_range(const sherd_reader *reader, uint64_t offset, uint64_t size, sherd_digest digest,
                          sherd_pool *pool, shd_meter *meter, char out[SHD_CKPT_DIGEST_TEXT], sherd_error *err);

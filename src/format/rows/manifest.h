/* format/rows/manifest.h - the JSON beside shards of rows. docs/formats/rows.md, "Manifest" and
 * "residual_shard_bf16".
 *
 * rows.manifest.json lists the shards of a set; manifest.json of residual_shard_bf16 is a foreign list of files
 * without heads. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "codec/sha256.h"

#include <sherd/dtype.h>
#include <sherd/limits.h>

#define SHD_ROWS_MANIFEST "rows.manifest.json"
#define SHD_ROWS_BF16_MANIFEST "manifest.json"
#define SHD_ROWS_SUFFIX ".shard"

/* CRC-32 are of so many bytes of a shard's values each; the last block may be shorter. */
#define SHD_ROWS_BLOCK (16u << 20)

/* How shards of a type of values look. */
typedef struct shd_rows_kind {
	sherd_dtype dtype;
	const char *suffix;
	uint64_t head, element; /* bytes in front of the values; of one value */
} shd_rows_kind;

/* Of F32, F16 and BF16; NULL for what cannot be stored. */
const shd_rows_kind *shd_rows_kind_of(sherd_dtype dtype);
/* How many CRC-32 so many bytes of values have. */
uint64_t shd_rows_blocks(uint64_t payload);

typedef struct shd_rows_entry {
	const char *file; /* a plain name */
	uint64_t rows;
	uint64_t bytes;                   /* of the file */
	uint8_t sha256[SHD_SHA256_BYTES]; /* of the file; zeros in a foreign list */
	const uint32_t *crcs;             /* of every block of the values; NULL: none are recorded */
	size_t crc_count;
} shd_rows_entry;

/* Everything in it belongs to the arena it was decoded into. */
typedef struct shd_rows_manifest {
	uint32_t version; /* 1 or 2 */
	sherd_dtype dtype;
	uint64_t rows; /* the sum over the shards */
	uint64_t width;
	uint64_t fence; /* how often what dead writers left was cleared away */
	size_t count;
	const shd_rows_entry *shards; /* in the order of the rows */
} shd_rows_manifest;

/* Whatever is accepted is consistent: names are plain, differ, and end as the type's do, and in version 1 ascend by
 * their bytes; the rows add up, every file has the size that its rows need, and one CRC-32 a block or none. Reasons
 * beside those of JSON: "bad-seal", "unknown-format", "bad-version" (SHERD_EVERSION), "bad-dtype", "bad-width",
 * "bad-path", "bad-name", "duplicate-name", "bad-text", "bad-length", "bad-count", "size-mismatch", "missing-key",
 * "too-many-shards". */
int shd_rows_manifest_decode(const void *data, size_t len, const sherd_limits *limits, shd_arena *arena,
                             shd_rows_manifest *out, sherd_error *err);
/* Writes the sealed document into an empty buffer, whose sticky failure reports lack of memory. */
void shd_rows_manifest_encode(const shd_rows_manifest *manifest, shd_buf *out);

/* The foreign list: order is as listed, names are plain, sizes and sums are checked as above. */
int shd_rows_bf16_decode(const void *data, size_t len, const sherd_limits *limits, shd_arena *arena,
                         shd_rows_manifest *out, sherd_error *err);

/* Of each column: the mean, and the root of the mean square. */
typedef struct shd_rows_bf16_stats {
	const double *mean, *norm;
} shd_rows_bf16_stats;

/* Such a list, sealed, into an empty buffer. */
void shd_rows_bf16_encode(const shd_rows_manifest *manifest, uint64_t rows_per_shard, const shd_rows_bf16_stats *stats,
                          shd_buf *out);
/* Does the document say that it is such a list? Damage after that word does not matter. Fails for lack of memory only.
 */
int shd_rows_bf16_recognise(const void *data, size_t len, bool *out, sherd_error *err);

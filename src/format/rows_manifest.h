/* format/rows_manifest.h - the JSON beside shards of rows. docs/formats/rows.md, "Manifest", "Marker" and
 * "residual_shard_bf16".
 *
 * rows.manifest.json lists the shards of a set that was packed; rows.packing says that a set is being packed;
 * manifest.json of residual_shard_bf16 is a foreign list of files without heads, which is only read. */
#ifndef SHERD_FORMAT_ROWS_MANIFEST_H
#define SHERD_FORMAT_ROWS_MANIFEST_H

#include "base/arena.h"
#include "base/buf.h"
#include "codec/sha256.h"

#include <sherd/limits.h>

#define SHERD_ROWS_MANIFEST "rows.manifest.json"
#define SHERD_ROWS_MARKER "rows.packing"
#define SHERD_ROWS_BF16_MANIFEST "manifest.json"
#define SHERD_ROWS_SUFFIX ".shard"

typedef struct sherd_rows_entry {
	const char *file; /* a plain name */
	uint64_t rows;
	uint64_t bytes;                     /* of the file */
	uint8_t sha256[SHERD_SHA256_BYTES]; /* of the file; zeros in a foreign list */
} sherd_rows_entry;

/* Everything in it belongs to the arena it was decoded into. */
typedef struct sherd_rows_manifest {
	uint64_t rows; /* the sum over the shards */
	uint64_t width;
	size_t count;
	const sherd_rows_entry *shards; /* in the order of the rows */
} sherd_rows_manifest;

/* Whatever is accepted is consistent: names end in ".shard" and ascend by their bytes, the rows add up, every file has
 * the size that its rows need. Reasons beside those of JSON: "bad-seal", "unknown-format", "bad-version"
 * (SHERD_EVERSION), "bad-dtype", "bad-width", "bad-path", "bad-name", "bad-text", "bad-count", "size-mismatch",
 * "missing-key", "too-many-shards". */
int sherd_rows_manifest_decode(const void *data, size_t len, const sherd_limits *limits, sherd_arena *arena,
                               sherd_rows_manifest *out, sherd_error *err);
/* Writes the sealed document into an empty buffer, whose sticky failure reports lack of memory. */
void sherd_rows_manifest_encode(const sherd_rows_manifest *manifest, sherd_buf *out);

/* The foreign list: order is as listed, names are plain, sizes and sums are checked as above. */
int sherd_rows_bf16_decode(const void *data, size_t len, const sherd_limits *limits, sherd_arena *arena,
                           sherd_rows_manifest *out, sherd_error *err);
/* Does the document say that it is such a list? Damage behind that word does not matter. Fails for lack of memory only.
 */
int sherd_rows_bf16_recognise(const void *data, size_t len, bool *out, sherd_error *err);

typedef struct sherd_rows_marker {
	int64_t time_ns;
	uint64_t process;
	char host[65]; /* valid UTF-8 */
} sherd_rows_marker;

void sherd_rows_marker_encode(const sherd_rows_marker *marker, sherd_buf *out); /* into an empty buffer */
int sherd_rows_marker_decode(const void *data, size_t len, sherd_rows_marker *out, sherd_error *err);

#endif

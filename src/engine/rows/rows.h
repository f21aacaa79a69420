/* engine/rows/rows.h - an open set of rows. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include "format/rows/manifest.h"

#include <sherd/rows.h>

struct sherd_rows {
	sherd_store *store;
	shd_arena arena;
	sherd_rows_shard *shards;
	size_t count;
	uint64_t total, width;
	uint64_t row_bytes;  /* as stored */
	sherd_dtype dtype;   /* as stored */
	uint64_t head_bytes; /* before the rows of every shard */
	const char **left_out;
	size_t left_out_count;
	bool has_manifest;
	bool foreign;                  /* residual_shard_bf16 */
	const shd_rows_entry *entries; /* of the shards, as the manifest has them; NULL without one of ours */
};

/* The shard that holds a row; row < total. */
size_t shd_rows_shard_of(const sherd_rows *rows, uint64_t row);

/* The file has the size that it had when the set was opened: "truncated", or "changed" (SHERD_ECONFLICT). */
int shd_rows_check_size(const sherd_reader *reader, const sherd_rows_shard *want, sherd_error *err);

/* The set as far as its first `total` rows: SHA-256 over type, width, and rows and SHA-256 of every shard that has
 * rows. The same for what was appended to since, whatever the version of the manifest. False when no shard ends there,
 * or nobody recorded hashes. docs/formats/rows.md, "Lineage". */
bool shd_rows_lineage(const sherd_rows *rows, uint64_t total, uint8_t out[SHD_SHA256_BYTES]);

/* engine/rows/bf16.h - a folder of residual_shard_bf16, for reading. */
#pragma once

#include "format/rows/manifest.h"

#include <sherd/store.h>

/* Reads and decodes manifest.json into the arena. */
int shd_rows_bf16_read(sherd_store *store, const char *folder, const sherd_limits *limits, shd_arena *arena,
                       shd_rows_manifest *out, sherd_error *err);
/* Is the file there, of the size listed? "missing-shard" (SHERD_EINCOMPLETE), "truncated", "size-mismatch". */
int shd_rows_bf16_check(sherd_store *store, const char *folder, const shd_rows_entry *entry, sherd_error *err);
/* Has it the size listed? */
int shd_rows_bf16_compare(const shd_rows_entry *entry, uint64_t size, sherd_error *err);
/* SHERD_EINCOMPLETE, "missing-shard". */
int shd_rows_missing(sherd_error *err);

/* engine/rows/bf16.h - a folder of residual_shard_bf16, for reading. */
#ifndef SHERD_ENGINE_ROWS_BF16_H
#define SHERD_ENGINE_ROWS_BF16_H

#include "format/rows/manifest.h"

#include <sherd/store.h>

/* Reads and decodes manifest.json into the arena. */
int sherd_rows_bf16_read(sherd_store *store, const char *folder, const sherd_limits *limits, sherd_arena *arena,
                         sherd_rows_manifest *out, sherd_error *err);
/* Is the file there, of the size listed? "missing-shard" (SHERD_EINCOMPLETE), "truncated", "size-mismatch". */
int sherd_rows_bf16_check(sherd_store *store, const char *folder, const sherd_rows_entry *entry, sherd_error *err);
/* Has it the size listed? */
int sherd_rows_bf16_compare(const sherd_rows_entry *entry, uint64_t size, sherd_error *err);
/* SHERD_EINCOMPLETE, "missing-shard". */
int sherd_rows_missing(sherd_error *err);

#endif

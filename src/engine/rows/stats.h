/* engine/rows/stats.h - what residual_shard_bf16 tells of each column: its mean, and the root of its mean square. */
#ifndef SHERD_ENGINE_ROWS_STATS_H
#define SHERD_ENGINE_ROWS_STATS_H

#include "format/rows/manifest.h"

typedef struct rows_stats rows_stats;

int sherd_rows_stats_open(rows_stats **out, uint64_t width, sherd_error *err);
void sherd_rows_stats_close(rows_stats *stats);                                  /* NULL is fine */
void sherd_rows_stats_add(rows_stats *stats, const void *values, uint64_t rows); /* of BF16 */
/* The manifest, with the stats so far. */
void sherd_rows_stats_encode(const rows_stats *stats, const sherd_rows_manifest *manifest, uint64_t rows_per_shard,
                             sherd_buf *out);

#endif

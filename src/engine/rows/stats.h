/* engine/rows/stats.h - what residual_shard_bf16 tells of each column: its mean, and the root of its mean square. */
#pragma once

#include "format/rows/manifest.h"

typedef struct rows_stats rows_stats;

int shd_rows_stats_open(rows_stats **out, uint64_t width, sherd_error *err);
void shd_rows_stats_close(rows_stats *stats);                                  /* NULL is fine */
void shd_rows_stats_add(rows_stats *stats, const void *values, uint64_t rows); /* of BF16 */
/* The manifest, with the stats so far. */
void shd_rows_stats_encode(const rows_stats *stats, const shd_rows_manifest *manifest, uint64_t rows_per_shard,
                           shd_buf *out);

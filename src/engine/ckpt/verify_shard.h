/* engine/ckpt/verify_shard.h - one pass over the data of a shard. */
#pragma once

#include "base/meter.h"
#include "engine/ckpt/ckpt.h"
#include "engine/tensors/report.h"

/* What is known of a shard's tensors: the index says it, or the metadata. */
typedef struct ckpt_scan {
	const ckpt_shard *shard;
	const shd_ckpt_entry *entries;
	size_t count;
	bool has_crcs; /* entries carry them */
	/* Of a shard with BLAKE3, which all workers read: what its index says of parts, as there. */
	unsigned part_log;
	const uint8_t (*values)[SHD_BLAKE3_BYTES];
	size_t value_count;
	sherd_pool *pool;
	shd_meter *meter;
} ckpt_scan;

/* With what the index of the shard says. */
ckpt_scan shd_ckpt_scan_by_index(const ckpt_shard *shard, const shd_ckpt_index *index, sherd_pool *pool,
                                 shd_meter *meter);

/* Digest of all data, CRC of every block, text of UTF8 tensors. Findings go into the report. */
int shd_ckpt_scan(const ckpt_scan *scan, sherd_report *r, sherd_error *err);

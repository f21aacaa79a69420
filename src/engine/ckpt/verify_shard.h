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
	shd_meter *meter;
} ckpt_scan;

/* Hash of all data, CRC of every block, text of UTF8 tensors. Findings go into the report. */
int shd_ckpt_scan(const ckpt_scan *scan, sherd_report *r, sherd_error *err);

/* engine/ckpt/replicas.h - the same piece in several shards must be the same bytes. */
#pragma once

#include "base/meter.h"
#include "engine/ckpt/shard.h"
#include "engine/tensors/report.h"

typedef struct ckpt_replica {
	const ckpt_shard *shard;
	const shd_ckpt_entry *entry;
} ckpt_replica;

/* Compares every piece with the first one of the same tensor and place: by their checksums, or byte for byte. */
int shd_ckpt_compare_replicas(const ckpt_replica *list, size_t count, sherd_report *r, shd_meter *meter,
                              sherd_error *err);

/* engine/ckpt/write_parts.h - the tensors of a shard with BLAKE3: part by part, read, summed and put at their places by
 * all workers. */
#pragma once

#include "base/buf.h"
#include "base/meter.h"
#include "engine/ckpt/sums.h"

#include <sherd/ckpt.h>

typedef struct ckpt_parts_out {
	const sherd_ckpt_item *items;
	const shd_ckpt_entry *entries; /* where each lies; ascending */
	size_t count;
	sherd_writer *writer; /* with places; NULL: only CRCs are made */
	uint64_t head;        /* where the data begins in its object */
	sherd_pool *pool;
	shd_meter *meter;
} ckpt_parts_out;

/* Puts what lies in front of the index, padding included. sums: of all of it. tail receives the bytes of the last
 * part if it is not full: whoever appends the index makes its value. */
int shd_ckpt_write_parts(const ckpt_parts_out *out, ckpt_sums *sums, shd_buf *tail, sherd_error *err);

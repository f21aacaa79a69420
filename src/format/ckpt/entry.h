/* format/ckpt/entry.h - one tensor as a shard holds it; in the index and in the metadata alike. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <sherd/limits.h>
#include <sherd/tensor.h>

/* The unit of checksums within a tensor. */
#define SHD_CKPT_BLOCK (16u << 20)

typedef struct shd_ckpt_entry {
	sherd_tensor tensor;           /* name, type, shape and bytes of what is stored here */
	const uint64_t *global_shape;  /* tensor.ndim of them; NULL: the tensor is whole */
	const uint64_t *global_offset; /* not NULL when global_shape is not */
	uint64_t offset;               /* in the data */
	const uint32_t *crcs;          /* CRC-32 of every SHD_CKPT_BLOCK bytes; NULL when unknown */
	const char *extra;             /* unknown members, `"key": value, ...`, or NULL */
	uint64_t where;                /* byte of its description, for messages */
} shd_ckpt_entry;

static inline uint64_t shd_ckpt_blocks(uint64_t bytes)
{
	return bytes / SHD_CKPT_BLOCK + (bytes % SHD_CKPT_BLOCK != 0);
}

/* Shape, type, size and place within the whole tensor must agree. */
int shd_ckpt_entry_check(const shd_ckpt_entry *entry, sherd_error *err);
/* Entries lie within the data and do not overlap. scratch is an arena for sorting. */
int shd_ckpt_entries_check(const shd_ckpt_entry *entries, size_t count, uint64_t data_size, shd_arena *scratch,
                           sherd_error *err);
/* Foreign writers leave every offset 0. Where the sizes then add up to the data, the tensors lie in listed order. */
void shd_ckpt_entries_place(shd_ckpt_entry *entries, size_t count, uint64_t data_size);
/* The same tensor at the same place, whatever its checksums and extra members? */
bool shd_ckpt_entry_equal(const shd_ckpt_entry *a, const shd_ckpt_entry *b);

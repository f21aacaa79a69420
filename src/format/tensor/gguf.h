/* format/tensor/gguf.h - the head of a GGUF file (docs/formats/gguf.md).
 *
 *	0   4  "GGUF"
 *	4   4  version, 2 or 3
 *	8   8  T, number of tensors
 *	16  8  K, number of keys
 *	24     K keys with their values, then T descriptions of tensors, then padding to the alignment
 *	       data of the tensors, each at a multiple of the alignment
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"

#include <sherd/limits.h>
#include <sherd/tensor.h>
#include <sherd/value.h>

#define SHD_GGUF_MAGIC "GGUF"
#define SHD_GGUF_ALIGNMENT "general.alignment"
#define SHD_GGUF_SPLIT "split." /* what keys begin with that tell of the files of a set */
enum { SHD_GGUF_DIMS = 4, SHD_GGUF_NAME = 64, SHD_GGUF_DEFAULT_ALIGNMENT = 32 };

typedef struct shd_gguf_entry {
	sherd_tensor tensor;
	uint64_t offset; /* of its data, in the file */
} shd_gguf_entry;

/* Everything in it belongs to the arena it was decoded into. */
typedef struct shd_gguf {
	uint32_t version;
	uint64_t data; /* where data begins in the file */
	size_t count;
	const shd_gguf_entry *entries; /* as in the file */
	size_t value_count;
	const sherd_value *values; /* as in the file, but those of the split; texts are of the type UTF8 */
	/* Of a file of a set: which it is, counted from 0, of how many, and how many tensors all have; 0: it is none */
	uint64_t split_no, split_count, split_tensors;
} shd_gguf;

/* Decodes the head of a file of file_size bytes from its first len bytes. Returns 1 when these are too few and the file
 * has more: whatever is in the arena is of no use then. */
int shd_gguf_decode(const void *data, size_t len, uint64_t file_size, const sherd_limits *limits, shd_arena *arena,
                    shd_gguf *out, sherd_error *err);

/* Appends the head of version 3 for these tensors, whose data follow in this order, each from a multiple of
 * *alignment on, which the pairs may tell. values are those of the pairs that have a type, in their order. Pairs about
 * a split are left out. SHERD_EUNSUPPORTED, "cannot-hold", names what the format has no place for. */
int shd_gguf_encode(const sherd_tensor *tensors, size_t count, const sherd_pair *pairs, size_t pair_count,
                    const sherd_value *values, size_t value_count, shd_buf *out, uint32_t *alignment, sherd_error *err);

/* The type of a number that ggml has for it, and the other way round; NONE and false for what the other does not have.
 */
sherd_dtype shd_gguf_dtype(uint32_t number);
bool shd_gguf_number(uint32_t *out, sherd_dtype dtype);

/* Types of values, by their numbers in the file: 0 to 12. NONE for an array, and for numbers that name no type. */
enum { SHD_GGUF_TEXT = 8, SHD_GGUF_ARRAY = 9, SHD_GGUF_TYPES = 13 };
sherd_dtype shd_gguf_value_type(uint32_t number);

/* format/tensor/safetensors.h - the head of a safetensors file (docs/formats/safetensors.md).
 *
 *	0      8  N, length of the header, little-endian
 *	8      N  header, JSON: name -> {dtype, shape, data_offsets}, and "__metadata__"
 *	8+N       data of all tensors, without a gap, to the end of the file
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"

#include <sherd/limits.h>
#include <sherd/tensor.h>

#define SHD_SAFETENSORS_HEAD 8
#define SHD_SAFETENSORS_MAX_HEADER 100000000u

typedef struct shd_safetensors_entry {
	sherd_tensor tensor;
	uint64_t offset; /* of its data, in the file */
} shd_safetensors_entry;

/* Everything in it belongs to the arena it was decoded into. */
typedef struct shd_safetensors {
	uint64_t data; /* where data begins in the file */
	size_t count;
	const shd_safetensors_entry *entries; /* in the order of their data; empty ones as in the header */
	size_t pair_count;
	const sherd_pair *pairs; /* of __metadata__, as in the header */
} shd_safetensors;

/* Takes the first bytes of a file of file_size bytes (as many as there are, up to SHD_SAFETENSORS_HEAD) and tells
 * how many bytes the header takes after them. */
int shd_safetensors_decode_length(const void *raw, size_t len, uint64_t file_size, uint64_t *header_len,
                                  sherd_error *err);

/* Decodes the header, which stands at byte SHD_SAFETENSORS_HEAD of a file of file_size bytes; errors count from the
 * start of the file. A type we do not know is SHERD_EUNSUPPORTED, "bad-dtype". */
int shd_safetensors_decode(const void *header, size_t len, uint64_t file_size, const sherd_limits *limits,
                           shd_arena *arena, shd_safetensors *out, sherd_error *err);

/* Appends length and header for these tensors, byte for byte as the reference implementation, and fills order[0..count)
 * with the indices of the tensors in the order in which their data must follow. Pairs are written in the order given,
 * and no "__metadata__" at all when there are none. SHERD_EUNSUPPORTED, "cannot-hold", names the tensor that the format
 * cannot hold. */
int shd_safetensors_encode(const sherd_tensor *tensors, size_t count, const sherd_pair *pairs, size_t pair_count,
                           shd_buf *out, size_t *order, sherd_error *err);

/* format/samediff/nd4j_array.h - arrays as ND4J stores them (docs/formats/samediff-legacy.md, Arrays and ND4J binary
 *arrays).
 *
 * An array is described by its shape information, 2*rank+4 64-bit numbers:
 *	rank, rank dimensions, rank strides (in elements), extras, element-wise stride, order ('c' or 'f')
 * and by its buffer: elements one after the other in the order that the strides give. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <sherd/limits.h>
#include <sherd/tensor.h>

#define SHD_ND4J_MAGIC_BYTES 18 /* of the longest one */
#define SHD_ND4J_HEAD 1024      /* more than the longest head takes */
/* Do the bytes begin as a file does that is one array? len may be anything. */
bool shd_nd4j_probe(const uint8_t *bytes, size_t len);

/* How the offsets of texts are stored. */
typedef enum shd_nd4j_text {
	SHD_ND4J_TEXT_PLAIN = 0,  /* n+1 offsets, little-endian: as we have it */
	SHD_ND4J_TEXT_COUNTED = 1 /* n, then n+1 offsets, all big-endian: files before 2020 */
} shd_nd4j_text;

typedef struct shd_nd4j_array {
	sherd_dtype dtype;
	uint32_t ndim;
	const uint64_t *shape;
	uint64_t bytes;  /* as they are handed out: C order, little-endian */
	uint64_t data;   /* where the buffer begins in the file */
	uint64_t stored; /* bytes of it */
	bool swap;       /* elements are big-endian */
	bool fortran;    /* the first dimension varies fastest; only with two dimensions or more */
	/* In elements, where the order is neither C nor Fortran; else NULL. Dense, as shd_reorder wants them. */
	const uint64_t *strides;
	bool empty;  /* told by extras: no elements, whatever the dimensions were */
	bool hollow; /* empty, and none of its dimensions was 0 */
	shd_nd4j_text text;
} shd_nd4j_array;

/* SameDiff's number of a type; SHERD_DTYPE_NONE for one that we do not have. */
sherd_dtype shd_nd4j_dtype(uint8_t number);
/* The other way round; 0 for a type that SameDiff does not have. */
uint8_t shd_nd4j_number(sherd_dtype dtype);

#define SHD_ND4J_INFO_MOST (2 * SHERD_MAX_DIMS + 4)

/* Takes shape, order and emptiness from the shape information, which begins at byte at. An empty array none of whose
 * dimensions is 0 gets the shape [0]. The array has its dtype and swap already; bytes is set, but for texts. */
int shd_nd4j_shape_decode(const int64_t *info, size_t count, uint64_t at, const sherd_limits *limits, shd_arena *arena,
                          shd_nd4j_array *out, sherd_error *err);
/* The same where the dimensions alone are told. */
int shd_nd4j_dims_decode(const int64_t *dims, size_t rank, bool fortran, uint64_t at, const sherd_limits *limits,
                         shd_arena *arena, shd_nd4j_array *out, sherd_error *err);
/* The shape information of a tensor, elements side by side; returns how many numbers. A hollow one has no dimensions.
 * Dimensions fit 63 bits, there are at most SHERD_MAX_DIMS. */
size_t shd_nd4j_shape_encode(const sherd_tensor *tensor, bool fortran, bool hollow, int64_t info[SHD_ND4J_INFO_MOST]);
/* Has it no elements? */
bool shd_nd4j_is_empty(const sherd_tensor *tensor);
/* Big-endian. */
uint64_t shd_nd4j_get_u64(const uint8_t *p);
/* Checks the length of the buffer against the shape, at being where the length stands. Not for texts. */
int shd_nd4j_size_check(const shd_nd4j_array *array, uint64_t at, sherd_error *err);

/* Decodes the head of a file that is one array: its first bytes, as many as there are up to SHD_ND4J_HEAD. */
int shd_nd4j_array_decode(const void *head, size_t len, uint64_t file_size, const sherd_limits *limits,
                          shd_arena *arena, shd_nd4j_array *out, sherd_error *err);

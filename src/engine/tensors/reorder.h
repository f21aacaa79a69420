/* engine/tensors/reorder.h - reading an array that is stored big-endian or in another order than C as if it were not.
 */
#pragma once

#include "base/error.h"

#include <sherd/store.h>

/* Bytes of anything that holds an array. */
typedef int shd_reorder_fetch_fn(const void *source, uint64_t offset, void *buf, size_t len, sherd_error *err);

typedef struct shd_reorder {
	const sherd_reader *reader;
	shd_reorder_fetch_fn *fetch; /* instead of the reader, when there is none */
	const void *source;
	uint64_t data, bytes; /* where the array lies in the object */
	uint32_t element;     /* bytes of one: 1, 2, 4 or 8 */
	uint32_t swap;        /* runs of so many bytes are byte-swapped: 1 (none), 2, 4 or 8; divides element */
	uint32_t ndim;
	const uint64_t *shape;   /* of the array */
	const uint64_t *strides; /* in elements, for gather; NULL: Fortran order. Those of dimensions of 1 mean nothing;
	                          * the others are dense: 1, and each the next smaller one times its dimension */
} shd_reorder;

/* Both fill buf with bytes [offset, offset+len) of the array as it is in C order, little-endian; the range was
 * checked. Memory stays below a few MiB, whatever the array. */
int shd_reorder_bytes(const shd_reorder *order, uint64_t offset, void *buf, size_t len, sherd_error *err);
/* Whole arrays and ranges of many rows are read in long runs; a few elements are read one by one. */
int shd_reorder_gather(const shd_reorder *order, uint64_t offset, void *buf, size_t len, sherd_error *err);
/* Turns each run of width bytes round: 1 (nothing happens), 2, 4 or 8; len is a multiple of width. */
void shd_reorder_turn(void *bytes, size_t len, uint32_t width);

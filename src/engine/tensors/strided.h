/* engine/tensors/strided.h - reading a view of elements that lie anywhere: with gaps, in another order, or again and
 * again. */
#pragma once

#include "base/error.h"

#include <sherd/store.h>

typedef struct shd_strided {
	const sherd_reader *reader;
	uint64_t at;      /* where the first element lies in the object */
	uint32_t element; /* bytes of one, at most 16 */
	uint32_t ndim;
	const uint64_t *shape;
	const uint64_t *strides; /* in elements; 0 where one stands for all */
} shd_strided;

#define SHD_STRIDED_WINDOW (1u << 20)

/* A box of elements, each dimension with its own steps. */
typedef struct shd_strided_box {
	const sherd_reader *reader;
	uint64_t at; /* where the first element lies in the object */
	uint32_t element;
	uint32_t ndim;
} shd_strided_box;

/* Copies len[d] elements of each dimension, which lie from[d] bytes apart in the object, to where they lie to[d] bytes
 * apart in buf. window has SHD_STRIDED_WINDOW bytes. */
int shd_strided_read_box(const shd_strided_box *view, const uint64_t *len, const uint64_t *from, const uint64_t *to,
                         void *window, void *buf, sherd_error *err);

/* Fills buf with elements [first, first + count) of C order. All of them lie inside of the object, which was checked.
 * They are read in the order of the object, in runs where they lie close; memory stays below a few MiB. */
int shd_strided_read(const shd_strided *s, uint64_t first, uint64_t count, void *buf, sherd_error *err);

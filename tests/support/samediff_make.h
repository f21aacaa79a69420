/* tests/support/samediff_make.h - SameDiff graphs made by hand, with what genuine files at hand do not show. */
#pragma once

#include "base/buf.h"

#include <sherd/dtype.h>

/* A variable with an array: how it is stored, and what must be handed out. */
typedef struct samediff_row {
	const char *name;
	uint8_t kind, type; /* SameDiff's numbers */
	uint8_t big;        /* big-endian */
	char order;
	uint32_t rank;
	int64_t dims[3];
	int64_t extras;
	const char *data; /* NULL: no buffer */
	uint32_t len;
	sherd_dtype dtype;
	const char *want; /* in C order, little-endian */
	uint32_t want_len;
} samediff_row;

extern const samediff_row samediff_rows[];
extern const size_t samediff_row_count;

/* One constant, "c": F32 [1.5, -2]. The example of the document. */
void samediff_make_small(shd_buf *b);
/* A placeholder "in", every row, a result "out"; one operation with every field; the state of an updater, a sequence,
 * losses, a training configuration. */
void samediff_make_full(shd_buf *b);
/* As small, but "c" has no array, and its name is this. */
void samediff_make_hollow(shd_buf *b, const char *name);
/* No variables, and one operation "add" of this name, with so many constants, F32 [1], in one property; without their
 * elements as in a container. */
void samediff_make_owner(shd_buf *b, const char *name, uint32_t arrays, bool elements);

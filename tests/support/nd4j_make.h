/* tests/support/nd4j_make.h - ND4J binary arrays made by hand. */
#pragma once

#include "base/buf.h"

/* One of the two parts that a file is made of: numbers of `size` bytes, which are turned round to big-endian. */
void nd4j_put_part(shd_buf *b, const char *type, uint64_t count, const void *data, uint32_t size);
/* The same as older versions wrote it: LONG_SHAPE, JAVACPP, HEAP, DIRECT; all but the first count with 32 bits. */
void nd4j_put_part_as(shd_buf *b, const char *mode, const char *type, uint64_t count, const void *data, uint32_t size);
/* Shape information for dimensions in C or Fortran order, as the first part. */
void nd4j_put_shape(shd_buf *b, uint32_t rank, const int64_t *dims, char order, int64_t extras);

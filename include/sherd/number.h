/* sherd/number.h - elements of tensors as numbers. */
#ifndef SHERD_NUMBER_H
#define SHERD_NUMBER_H

#include <sherd/dtype.h>

#include <stdbool.h>

SHERD_BEGIN_DECLS

/* Are elements of the type numbers that can be had here? Not those of UTF8, of opaque types, and of blocks that are not
 * decoded. */
SHERD_API bool sherd_number_known(sherd_dtype dtype);

/* Writes count elements as doubles; of C64 there are two each, real and imaginary. `in` holds whole blocks,
 * little-endian, and need not be aligned; count is a multiple of the elements of a block. Exact, but for 64-bit
 * integers beyond 2^53, which are rounded to nearest. A type that is not known gives NaNs. */
SHERD_API void sherd_number_widen(double *out, sherd_dtype dtype, const void *in, size_t count);

SHERD_END_DECLS

#endif

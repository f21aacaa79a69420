/* base/dtype.h - what the library alone asks of element types. */
#pragma once

#include <sherd/tensor.h>

/* What an address must be a multiple of so that elements can be used in place; 0 for a value that names no type.
 * UTF8 begins with 64-bit offsets. */
uint32_t shd_dtype_align(sherd_dtype dtype);

/* Do type and shape tell the size? Not of UTF8 and opaque types. */
bool shd_dtype_is_sized(sherd_dtype dtype);
/* Does a shape, or a position, lie between blocks? A tensor whose shape does not, or whose type has no size, is one
 * lump of bytes that is never cut. */
bool shd_dtype_box_fits(sherd_dtype dtype, uint32_t ndim, const uint64_t *box);
/* Can every row of dimension 0 be taken alone? */
bool shd_tensor_has_rows(const sherd_tensor *t);

/* Is its type one that there is, and has an opaque one a name? Whether that is UTF-8 is for others to tell. */
bool shd_tensor_is_typed(const sherd_tensor *t);
/* Of two whose types are. */
bool shd_tensor_same_type(const sherd_tensor *a, const sherd_tensor *b);

/* base/dtype.h - what the library alone asks of element types. */
#ifndef SHD_BASE_DTYPE_H
#define SHD_BASE_DTYPE_H

#include <sherd/dtype.h>

/* What an address must be a multiple of so that elements can be used in place; 0 for a value that names no type.
 * UTF8 begins with 64-bit offsets. */
uint32_t shd_dtype_align(sherd_dtype dtype);

#endif

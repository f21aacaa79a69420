/* base/dtype.h - what other worlds call our element types. */
#ifndef SHD_BASE_DTYPE_H
#define SHD_BASE_DTYPE_H

#include "base/str.h"

#include <sherd/dtype.h>

/* As in checkpoint metadata: "Float32", "BFloat16"; NULL for a value that names no type. */
const char *shd_dtype_csharp_name(sherd_dtype dtype);
/* SHERD_DTYPE_NONE for an unknown name; the name is exact. */
sherd_dtype shd_dtype_by_csharp_name(shd_str name);

/* The number that the C# program's enum gives the type; -1 when it has none. */
int shd_dtype_csharp_number(sherd_dtype dtype);
/* SHERD_DTYPE_NONE for a number that is not in the enum. */
sherd_dtype shd_dtype_by_csharp_number(uint64_t number);

/* What an address must be a multiple of so that elements can be used in place; 0 for a value that names no type.
 * UTF8 begins with 64-bit offsets. */
uint32_t shd_dtype_align(sherd_dtype dtype);

#endif

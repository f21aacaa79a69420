/* format/ckpt/dtype.h - element types as the metadata of checkpoints names them; the names and numbers are those of the
 * C# program. docs/formats/dtypes.md. */
#pragma once

#include "base/str.h"

#include <sherd/dtype.h>

/* "Float32", "BFloat16"; our own names of blocks, "Q4_0"; NULL for a value that names no type, or an opaque one. */
const char *shd_ckpt_dtype_name(sherd_dtype dtype);
/* SHERD_DTYPE_NONE for an unknown name; the name is exact. */
sherd_dtype shd_ckpt_dtype_by_name(shd_str name);

/* Before the name of an opaque type: "Opaque:F5". */
#define SHD_CKPT_OPAQUE "Opaque:"

/* The number that the C# program's enum gives the type; -1 when it has none. */
int shd_ckpt_dtype_number(sherd_dtype dtype);
/* SHERD_DTYPE_NONE for a number that is not in the enum. */
sherd_dtype shd_ckpt_dtype_by_number(uint64_t number);

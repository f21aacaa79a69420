/* sherd/tensor.h - the description of one tensor, and of what stands beside tensors. */
#ifndef SHERD_TENSOR_H
#define SHERD_TENSOR_H

#include <sherd/dtype.h>
#include <sherd/error.h>
#include <sherd/pair.h>

#include <stdbool.h>

SHERD_BEGIN_DECLS

/* A view: the pointers belong to whoever handed it out. Elements are stored in
 * C order, little-endian. A scalar has ndim 0. */
typedef struct sherd_tensor {
	const char *name; /* UTF-8, NUL-terminated */
	sherd_dtype dtype;
	uint32_t ndim;
	const uint64_t *shape; /* ndim of them */
	uint64_t bytes;
	const char *type_name; /* of SHERD_OPAQUE, what its file calls the type: UTF-8, 1 to 255 bytes; else NULL */
} sherd_tensor;

#define SHERD_MAX_TYPE_NAME 255

/* What the type is called: by its own name where it is opaque. "unknown" when dtype names none. */
SHERD_API const char *sherd_tensor_type(const sherd_tensor *tensor);

/* The bytes that a tensor of this type and shape takes; false when that does not
 * fit 64 bits, is no whole number of blocks (of ggml's blocks: in its last dimension), or the type is UTF8 or opaque.
 */
SHERD_API bool sherd_tensor_bytes(uint64_t *out, sherd_dtype dtype, uint32_t ndim, const uint64_t *shape);

SHERD_END_DECLS

#endif

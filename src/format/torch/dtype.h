/* format/torch/dtype.h - element types as PyTorch calls them. docs/formats/torch.md. */
#pragma once

#include "base/str.h"

#include <sherd/dtype.h>
#include <sherd/tensor.h>

typedef struct shd_torch_dtype {
	const char *name;    /* "float32", as in torch.float32 */
	const char *storage; /* "FloatStorage"; NULL: there is none, and storages of it are untyped */
	sherd_dtype dtype;   /* OPAQUE where no type of ours is it: the name is the type's */
	uint32_t bytes;      /* of one element */
	uint32_t swap;       /* bytes that are turned round where the order of bytes is another */
	uint32_t packed;     /* of our elements in one of theirs: 2 of F4, else 1 */
} shd_torch_dtype;

/* By "float32"; NULL when there is none. */
const shd_torch_dtype *shd_torch_dtype_by_name(shd_str name);
/* By "FloatStorage". */
const shd_torch_dtype *shd_torch_dtype_by_storage(shd_str name);
/* What a tensor's elements are written as; NULL when they cannot be. */
const shd_torch_dtype *shd_torch_dtype_of(const sherd_tensor *t);
/* Bytes of whatever, in storages that have no type. */
extern const shd_torch_dtype shd_torch_untyped;

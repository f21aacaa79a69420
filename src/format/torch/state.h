/* format/torch/state.h - tensors and values in a pickle of torch.save(). docs/formats/torch.md.
 *
 * Dictionaries, lists and objects become dotted names. What torch would have called is recognised by its name and the
 * shape of its arguments, and nothing else is believed. */
#pragma once

#include "format/pickle/pickle.h"
#include "format/torch/dtype.h"

#include <sherd/limits.h>
#include <sherd/value.h>

/* Bytes that tensors are views of. */
typedef struct shd_torch_storage {
	const char *key; /* its name in the file */
	uint64_t bytes;
	uint32_t unit; /* bytes of what its length is counted in */
} shd_torch_storage;

/* A view of a storage, which it lies inside of. */
typedef struct shd_torch_view {
	size_t storage;
	const shd_torch_dtype *type;
	uint64_t offset;         /* in bytes */
	const uint64_t *shape;   /* as torch has it: counts pairs of F4 */
	const uint64_t *strides; /* in elements */
	bool dense;              /* its elements follow each other in C order */
	bool conj, neg;          /* imaginary parts, or all of it, change their sign when they are read */
} shd_torch_view;

typedef struct shd_torch_state {
	size_t count;
	sherd_tensor *tensors;
	shd_torch_view *views; /* of each tensor */
	size_t storage_count;
	shd_torch_storage *storages;
	size_t value_count;
	sherd_value *values; /* what is no tensor */
	bool single;         /* it is one tensor that has no name; "" stands there */
} shd_torch_state;

/* Everything is in the arena. Names and values, written out, may take SHD_TORCH_SPREAD times the bytes of the pickle
 * and a mebibyte, else SHERD_ELIMIT, "too-large": so values that are shared again and again cannot fill memory. */
#define SHD_TORCH_SPREAD 64
int shd_torch_state_of(const shd_pickle *pickle, const sherd_limits *limits, shd_arena *arena, shd_torch_state *out,
                       sherd_error *err);

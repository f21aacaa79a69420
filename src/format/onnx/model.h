/* format/onnx/model.h - initialisers of an ONNX model. docs/formats/onnx.md.
 *
 * A model is a protocol buffer. It is walked field by field through a small window: what is not wanted, and the raw
 * bytes of tensors, are passed over. Every length is held against what is left of its message before it is used. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <sherd/limits.h>
#include <sherd/tensor.h>
#include <sherd/value.h>

/* Bytes of the model; the range was checked. */
typedef int shd_onnx_fetch_fn(const void *source, uint64_t offset, void *buf, size_t len, sherd_error *err);

typedef struct shd_onnx_source {
	uint64_t size;
	shd_onnx_fetch_fn *fetch;
	const void *source;
} shd_onnx_source;

typedef struct shd_onnx_tensor {
	sherd_tensor tensor;
	const uint8_t *values; /* where the model has them as numbers or texts; else NULL */
	const char *location;  /* the file, beside the model, that has them; else NULL */
	uint64_t offset;       /* where they begin, in the model or that file */
} shd_onnx_tensor;

typedef struct shd_onnx_model {
	shd_onnx_tensor *tensors;
	size_t count;
	sherd_value *values; /* what the model says of itself, then its metadata_props */
	size_t value_count;
	const char **sparse; /* names of sparse initialisers, which are not read */
	size_t sparse_count;
} shd_onnx_model;

/* Everything is in the arena. Numbers that are not stored as raw bytes take at most 8 bytes for each of theirs, and
 * metadata_bytes of the limits in all. */
int shd_onnx_decode(const shd_onnx_source *source, const sherd_limits *limits, shd_arena *arena, shd_onnx_model *out,
                    sherd_error *err);

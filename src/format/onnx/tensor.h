/* format/onnx/tensor.h - one TensorProto. */
#pragma once

#include "base/buf.h"
#include "format/onnx/fields.h"

/* What is left of the memory that numbers may take. */
typedef struct shd_onnx_budget {
	uint64_t left;
} shd_onnx_budget;

int shd_onnx_take_tensor(shd_onnx_fields *f, shd_onnx_span message, const sherd_limits *limits, shd_onnx_budget *budget,
                         shd_arena *arena, shd_onnx_tensor *out, sherd_error *err);
/* Its name alone; "" where it has none. */
int shd_onnx_take_name(shd_onnx_fields *f, shd_onnx_span message, const sherd_limits *limits, shd_arena *arena,
                       const char **out, sherd_error *err);

/* engine/tensors/onnx.h - initialisers of ONNX models. */
#pragma once

#include "engine/tensors/format.h"

extern const shd_format_entry shd_format_onnx;

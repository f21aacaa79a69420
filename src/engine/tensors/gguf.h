/* engine/tensors/gguf.h - files of ggml and llama.cpp (docs/formats/gguf.md). */
#pragma once

#include "engine/tensors/format.h"

extern const shd_format_entry shd_format_gguf;

int shd_write_gguf(shd_conversion *c, sherd_error *err);

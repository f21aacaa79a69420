/* format/torch/write.h - pickles of torch.save(), written. docs/formats/torch.md. */
#pragma once

#include "format/pickle/write.h"
#include "format/torch/dtype.h"

#include <sherd/limits.h>

/* Why a tensor cannot be written, for a sentence about it: "is of a type that torch lacks"; or NULL. */
const char *shd_torch_write_fault(const sherd_tensor *t);

/* A tensor that is all of the storage with this number, in C order. */
void shd_torch_put_tensor(shd_pickle_writer *w, const sherd_tensor *t, size_t storage);
/* Its shape as torch has it, and the strides of that in C order. */
void shd_torch_shape_of(const sherd_tensor *t, uint64_t shape[SHERD_MAX_DIMS], uint64_t strides[SHERD_MAX_DIMS]);

/* engine/torch/slice.h - a part of an object as if it were one. */
#pragma once

#include "base/error.h"

#include <sherd/store.h>

/* The reader is borrowed and outlives it. Errors tell the object's name, and bytes counted from the part's begin. */
int shd_slice_open(sherd_reader **out, const sherd_reader *reader, uint64_t offset, uint64_t len, sherd_error *err);

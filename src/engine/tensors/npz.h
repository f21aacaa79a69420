/* engine/tensors/npz.h - archives of NumPy arrays (docs/formats/npz.md). */
#pragma once

#include "engine/tensors/format.h"

extern const shd_format_entry shd_format_npz;

int shd_write_npz(shd_conversion *c, sherd_error *err);

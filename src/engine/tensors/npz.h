/* engine/tensors/npz.h - archives of NumPy arrays (docs/formats/npz.md). */
#ifndef SHD_ENGINE_TENSORS_NPZ_H
#define SHD_ENGINE_TENSORS_NPZ_H

#include "engine/tensors/format.h"

extern const shd_format_entry shd_format_npz;

int shd_write_npz(shd_conversion *c, sherd_error *err);

#endif

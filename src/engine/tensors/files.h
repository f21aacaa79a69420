/* engine/tensors/files.h - formats of files that hold tensors and no more. */
#pragma once

#include "engine/tensors/format.h"

#define SHD_SAFETENSORS_DTYPES (SHD_DTYPES_ALL & ~SHERD_DTYPE_BIT(SHERD_UTF8))
#define SHD_NPY_DTYPES \
	(SHD_DTYPES_ALL & ~(SHD_DTYPES_NARROW | SHERD_DTYPE_BIT(SHERD_UTF8) | SHERD_DTYPE_BIT(SHERD_BF16)))

extern const shd_format_entry shd_format_safetensors;
extern const shd_format_entry shd_format_safetensors_index;
extern const shd_format_entry shd_format_index_folder; /* a folder around an index */
extern const shd_format_entry shd_format_npy;
extern const shd_format_entry shd_format_npy_folder;

int shd_write_safetensors(shd_conversion *c, sherd_error *err);
int shd_write_safetensors_index(shd_conversion *c, sherd_error *err);
int shd_write_npy(shd_conversion *c, sherd_error *err);
int shd_write_npy_folder(shd_conversion *c, sherd_error *err);

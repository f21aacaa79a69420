/* engine/tensors/files.h - formats of files that hold tensors and no more. */
#ifndef SHERD_ENGINE_TENSORS_FILES_H
#define SHERD_ENGINE_TENSORS_FILES_H

#include "engine/tensors/format.h"

#define SHERD_SAFETENSORS_DTYPES (SHERD_DTYPES_ALL & ~SHERD_DTYPE_BIT(SHERD_UTF8))
#define SHERD_NPY_DTYPES                                                                  \
	(SHERD_DTYPES_ALL & ~(SHERD_DTYPE_BIT(SHERD_UTF8) | SHERD_DTYPE_BIT(SHERD_BF16) | \
	                      SHERD_DTYPE_BIT(SHERD_F8_E4M3) | SHERD_DTYPE_BIT(SHERD_F8_E5M2)))

extern const sherd_format_entry sherd_format_safetensors;
extern const sherd_format_entry sherd_format_safetensors_index;
extern const sherd_format_entry sherd_format_index_folder; /* a folder around an index */
extern const sherd_format_entry sherd_format_npy;
extern const sherd_format_entry sherd_format_npy_folder;

int sherd_write_safetensors(sherd_conversion *c, sherd_error *err);
int sherd_write_safetensors_index(sherd_conversion *c, sherd_error *err);
int sherd_write_npy(sherd_conversion *c, sherd_error *err);
int sherd_write_npy_folder(sherd_conversion *c, sherd_error *err);

#endif

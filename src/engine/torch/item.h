/* engine/torch/item.h - pieces of archives as torch.save() writes them. */
#pragma once

#include "engine/tensors/archive_out.h"
#include "engine/tensors/convert.h"

#define SHD_TORCH_ROOT "archive/"
#define SHD_TORCH_PAIRS "sherd.pairs.json" /* pairs of text, beside the pickle: torch does not look at it */

/* "cannot-hold" names the tensor that torch has no place for. */
int shd_torch_check_tensors(const shd_conversion *c, sherd_error *err);

/* A small entry, by its name below the root. */
int shd_torch_put_entry(shd_archive_out *out, const char *name, const void *data, size_t len, sherd_error *err);
/* Those that say how the others are to be read: version of the format, alignment, order of bytes. */
int shd_torch_put_constants(shd_archive_out *out, sherd_error *err);
/* The bytes of a tensor, or so many from an offset on. */
int shd_torch_put_storage(shd_conversion *c, shd_archive_out *out, const char *name, size_t tensor, sherd_error *err);

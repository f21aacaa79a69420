/* engine/torch/format.h - entries of the table of formats: files of torch.save() and folders of DCP. */
#pragma once

#include "engine/tensors/format.h"

/* Types that are named here and in torch. */
#define SHD_TORCH_DTYPES  \
	(SHD_DTYPES_ALL & \
	 ~(SHERD_DTYPE_BIT(SHERD_UTF8) | SHERD_DTYPE_BIT(SHERD_F6_E2M3) | SHERD_DTYPE_BIT(SHERD_F6_E3M2)))

extern const shd_format_entry shd_format_torch, shd_format_torch_legacy, shd_format_dcp;

/* A pickle that is none of these: told as foreign, with what is dangerous in it. */
int shd_torch_refuse_pickle(const shd_evidence *e, sherd_error *err);
int shd_write_torch(shd_conversion *c, sherd_error *err);
int shd_write_dcp(shd_conversion *c, sherd_error *err);

/* engine/rows/format.h - sets of rows in the table of formats. */
#pragma once

#include "engine/tensors/format.h"

extern const shd_format_entry shd_format_rows;
extern const shd_format_entry shd_format_rows_bf16;

/* As a bundle: one tensor, "rows". */
int shd_bundle_open_rows(sherd_bundle **out, shd_evidence *e, const sherd_bundle_options *options, sherd_error *err);
/* By the folder, its manifest, or one shard. */
int shd_rows_open_found(sherd_rows **out, shd_evidence *e, const sherd_rows_options *options, sherd_error *err);
int shd_rows_open_found_bf16(sherd_rows **out, shd_evidence *e, const sherd_rows_options *options, sherd_error *err);
int shd_write_rows(shd_conversion *c, sherd_error *err);

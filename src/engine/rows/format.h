/* engine/rows/format.h - sets of rows in the table of formats. */
#ifndef SHERD_ENGINE_ROWS_FORMAT_H
#define SHERD_ENGINE_ROWS_FORMAT_H

#include "engine/tensors/format.h"

extern const sherd_format_entry sherd_format_rows;
extern const sherd_format_entry sherd_format_rows_bf16;

/* As a bundle: one tensor, "rows". */
int sherd_bundle_open_rows(sherd_bundle **out, sherd_evidence *e, const sherd_bundle_options *options,
                           sherd_error *err);
/* By the folder, its manifest, or one shard. */
int sherd_rows_open_found(sherd_rows **out, sherd_evidence *e, const sherd_rows_options *options, sherd_error *err);
int sherd_rows_open_found_bf16(sherd_rows **out, sherd_evidence *e, const sherd_rows_options *options,
                               sherd_error *err);
int sherd_write_rows(sherd_conversion *c, sherd_error *err);

#endif

/* engine/model/format.h - models and their arrays in the table of formats. */
#pragma once

#include "engine/tensors/format.h"

extern const shd_format_entry shd_format_container;
extern const shd_format_entry shd_format_samediff;
extern const shd_format_entry shd_format_sdnb;
extern const shd_format_entry shd_format_sdz;
extern const shd_format_entry shd_format_nd4j_array;

/* Opens what the evidence was found to be. */
int shd_model_open_found(sherd_model **out, shd_evidence *e, const sherd_model_options *options, sherd_error *err);
/* The same, as a bundle. */
int shd_bundle_open_model(sherd_bundle **out, shd_evidence *e, const sherd_bundle_options *options, sherd_error *err);
int shd_bundle_open_nd4j(sherd_bundle **out, shd_evidence *e, const sherd_bundle_options *options, sherd_error *err);
int shd_write_model(shd_conversion *c, sherd_error *err);

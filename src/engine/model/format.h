/* engine/model/format.h - models and their arrays in the table of formats. */
#ifndef SHERD_ENGINE_MODEL_FORMAT_H
#define SHERD_ENGINE_MODEL_FORMAT_H

#include "engine/tensors/format.h"

extern const sherd_format_entry sherd_format_container;
extern const sherd_format_entry sherd_format_samediff;
extern const sherd_format_entry sherd_format_sdnb;
extern const sherd_format_entry sherd_format_sdz;
extern const sherd_format_entry sherd_format_nd4j_array;

/* Opens what the evidence was found to be. */
int sherd_model_open_found(sherd_model **out, sherd_evidence *e, const sherd_model_options *options, sherd_error *err);
/* The same, as a bundle. */
int sherd_bundle_open_model(sherd_bundle **out, sherd_evidence *e, const sherd_bundle_options *options,
                            sherd_error *err);
int sherd_bundle_open_nd4j(sherd_bundle **out, sherd_evidence *e, const sherd_bundle_options *options,
                           sherd_error *err);
int sherd_write_model(sherd_conversion *c, sherd_error *err);

#endif

/* engine/ckpt/format.h - checkpoints in the table of formats. */
#ifndef SHERD_ENGINE_CKPT_FORMAT_H
#define SHERD_ENGINE_CKPT_FORMAT_H

#include "engine/tensors/format.h"

extern const sherd_format_entry sherd_format_checkpoint;
extern const sherd_format_entry sherd_format_checkpoint_shard; /* one by itself */
extern const sherd_format_entry sherd_format_checkpoint_unfinished;

/* As bundles; see bundle.c. */
int sherd_bundle_open_ckpt(sherd_bundle **out, sherd_evidence *e, const sherd_bundle_options *options,
                           sherd_error *err);
int sherd_bundle_open_ckpt_shard(sherd_bundle **out, sherd_evidence *e, const sherd_bundle_options *options,
                                 sherd_error *err);

#endif

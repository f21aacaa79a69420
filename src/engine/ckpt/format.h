/* engine/ckpt/format.h - checkpoints in the table of formats. */
#pragma once

#include "engine/tensors/format.h"

extern const shd_format_entry shd_format_checkpoint;
extern const shd_format_entry shd_format_checkpoint_shard; /* one by itself */
extern const shd_format_entry shd_format_checkpoint_unfinished;

/* As bundles; see bundle.c. */
int shd_bundle_open_ckpt(sherd_bundle **out, shd_evidence *e, const sherd_bundle_options *options, sherd_error *err);
int shd_bundle_open_ckpt_shard(sherd_bundle **out, shd_evidence *e, const sherd_bundle_options *options,
                               sherd_error *err);

/* engine/ckpt/verify.h - checks of checkpoints and shards. */
#pragma once

#include "engine/tensors/report.h"

/* name: prefix or metadata file. */
int shd_ckpt_verify(sherd_report *r, sherd_store *store, const char *name, const sherd_verify_options *options,
                    sherd_error *err);
int shd_ckpt_verify_shard(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *options,
                          sherd_error *err);
/* Shards or a claim without metadata. */
int shd_ckpt_verify_incomplete(sherd_report *r, sherd_store *store, const char *prefix,
                               const sherd_verify_options *options, sherd_error *err);

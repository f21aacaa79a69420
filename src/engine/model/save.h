/* engine/model/save.h - writing models: one function for each format, called when the front (save.c) has chosen it. */
#pragma once

#include "engine/model/model.h"

/* options is never NULL and was checked; the model's pairs are not yet joined with those of options. */
typedef int shd_model_save_fn(const sherd_model *model, sherd_store *store, const char *key,
                              const sherd_model_save_options *options, sherd_error *err);
shd_model_save_fn shd_model_save_container; /* shards > 1: <key>.shard<i>-of-<N>.sdc */
shd_model_save_fn shd_model_save_samediff;
shd_model_save_fn shd_model_save_sdnb;
shd_model_save_fn shd_model_save_sdz;

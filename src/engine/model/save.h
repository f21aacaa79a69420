/* engine/model/save.h - writing models: one function for each format, called when the front (save.c) has chosen it. */
#ifndef SHERD_ENGINE_MODEL_SAVE_H
#define SHERD_ENGINE_MODEL_SAVE_H

#include "engine/model/model.h"

/* options is never NULL and was checked; the model's pairs are not yet joined with those of options. */
typedef int sherd_model_save_fn(const sherd_model *model, sherd_store *store, const char *key,
                                const sherd_model_save_options *options, sherd_error *err);
sherd_model_save_fn sherd_model_save_container; /* shards > 1: <key>.shard<i>-of-<N>.sdc */
sherd_model_save_fn sherd_model_save_samediff;
sherd_model_save_fn sherd_model_save_sdnb;
sherd_model_save_fn sherd_model_save_sdz;

#endif

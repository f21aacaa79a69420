/* engine/ckpt/remove.h - ending one set, or what is left of one. */
#ifndef SHERD_ENGINE_CKPT_REMOVE_H
#define SHERD_ENGINE_CKPT_REMOVE_H

#include <sherd/ckpt.h>

/* Removes the set whose metadata has this identity. SHERD_ECONFLICT: somebody is writing there, or has replaced it. */
int sherd_ckpt_remove_set(sherd_store *store, const char *prefix, const char *identity, sherd_error *err);
/* Removes shards that belong to nothing. SHERD_ECONFLICT: a claim, or metadata, is there by now. */
int sherd_ckpt_remove_orphans(sherd_store *store, const char *prefix, sherd_error *err);

#endif

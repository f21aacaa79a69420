/* engine/ckpt/remove.h - ending one set, or what is left of one. */
#pragma once

#include <sherd/ckpt.h>

/* Removes the set whose metadata has this identity. SHERD_ECONFLICT: somebody is writing there, or has replaced it. */
int shd_ckpt_remove_set(sherd_store *store, const char *prefix, const char *identity, sherd_error *err);
/* Removes shards that belong to nothing. SHERD_ECONFLICT: a claim, or metadata, is there by now. */
int shd_ckpt_remove_orphans(sherd_store *store, const char *prefix, sherd_error *err);

/* Removes shards under the prefix that the set with this metadata does not name, which a take-over that died may leave;
 * *count tells how many there were. dry_run: only that. SHERD_ECONFLICT as above. */
int shd_ckpt_remove_strays(sherd_store *store, const char *prefix, const char *identity, bool dry_run, size_t *count,
                           sherd_error *err);

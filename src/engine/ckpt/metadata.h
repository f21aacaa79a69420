/* engine/ckpt/metadata.h - the metadata of a prefix, and the shards it names. */
#ifndef SHERD_ENGINE_CKPT_METADATA_H
#define SHERD_ENGINE_CKPT_METADATA_H

#include "engine/ckpt/shard.h"
#include "format/ckpt_meta.h"

/* Everything handed out lies in the arena. identity is set as soon as the object is open. */
int sherd_ckpt_metadata_read(sherd_store *store, const char *prefix, const sherd_limits *limits, sherd_arena *arena,
                             sherd_ckpt_meta *out, char identity[72], sherd_error *err);

/* Opens the shard and checks its size and head against the metadata. A missing one is SHERD_ECORRUPT, "missing-shard".
 */
int sherd_ckpt_named_shard_open(ckpt_shard *out, sherd_store *store, const char *prefix, const sherd_ckpt_meta_shard *m,
                                sherd_error *err);

#endif

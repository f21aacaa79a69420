/* engine/ckpt/metadata.h - the metadata of a prefix, and the shards it names. */
#pragma once

#include "engine/ckpt/files.h"
#include "base/map.h"
#include "engine/ckpt/shard.h"
#include "format/ckpt/meta.h"

/* Did a look at an object fail because something else has its name: a special file, or a link that leads out? */
static inline bool shd_ckpt_is_no_object(int rc, const sherd_error *found)
{
	return rc == SHERD_EUNSUPPORTED || (rc == SHERD_EIO && strcmp(found->reason, "symlink") == 0);
}

/* Everything handed out lies in the arena. identity is set as soon as the object is open. */
int shd_ckpt_metadata_read(sherd_store *store, const char *prefix, const sherd_limits *limits, shd_arena *arena,
                           shd_ckpt_meta *out, char identity[72], sherd_error *err);

/* Is the metadata another object by now, or gone? Then what did not fit it proves nothing: look again. */
bool shd_ckpt_metadata_changed(sherd_store *store, const char *prefix, const char *identity);

/* The files that a metadata names, by the last part of their keys; all of it is borrowed or in the arena. */
int shd_ckpt_metadata_files(const shd_ckpt_meta *meta, const char *prefix, shd_arena *arena, shd_map *out,
                            sherd_error *err);
/* Leaves those on the list that the metadata does not name. */
int shd_ckpt_files_unnamed(ckpt_files *files, const shd_ckpt_meta *meta, const char *prefix, shd_arena *arena,
                           sherd_error *err);

/* Opens the shard and checks its size and head against the metadata. A missing one is SHERD_ECORRUPT, "missing-shard".
 */
int shd_ckpt_named_shard_open(ckpt_shard *out, sherd_store *store, const char *prefix, const shd_ckpt_meta_shard *m,
                              sherd_error *err);

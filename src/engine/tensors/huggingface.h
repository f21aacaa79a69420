/* engine/tensors/huggingface.h - folders of models, runs of checkpoints and caches as Hugging Face's programs leave
 * them (docs/formats/huggingface.md). */
#pragma once

#include "engine/tensors/format.h"

extern const shd_format_entry shd_format_huggingface;

/* The key of what holds the tensors of the folder, with its NUL, into an empty buffer: 1, or 0 when there is none. */
int shd_huggingface_find(sherd_store *store, const char *folder, shd_buf *out, sherd_error *err);
/* Is it a cache, of which a revision is checked out? The folder of that into an empty buffer, with its NUL. */
int shd_huggingface_snapshot(sherd_store *store, const char *folder, shd_buf *out, sherd_error *err);

/* Holds the files of a cache against the names of its blobs. */
int shd_huggingface_check_cache(sherd_report *r, sherd_store *store, const char *folder, const char *snapshot,
                                const sherd_verify_options *o, sherd_error *err);

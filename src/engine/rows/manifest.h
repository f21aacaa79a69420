/* engine/rows/manifest.h - rows.manifest.json of a folder. */
#ifndef SHERD_ENGINE_ROWS_MANIFEST_H
#define SHERD_ENGINE_ROWS_MANIFEST_H

#include "format/rows_manifest.h"

#include <sherd/store.h>

/* Reads and decodes it into the arena. stat may be NULL; else size and identity of what was read, also when decoding
 * fails. */
int sherd_rows_manifest_read(sherd_store *store, const char *folder, const sherd_limits *limits, sherd_arena *arena,
                             sherd_rows_manifest *out, sherd_stat *stat, sherd_error *err);

#endif

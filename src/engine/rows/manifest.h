/* engine/rows/manifest.h - rows.manifest.json of a folder. */
#pragma once

#include "format/rows/manifest.h"

#include <sherd/store.h>

typedef struct rows_manifest_seen {
	uint64_t bytes;
	char identity[72];
} rows_manifest_seen;

/* Reads and decodes it into the arena. seen may be NULL; else it tells what was read, also when decoding fails. */
int shd_rows_manifest_read(sherd_store *store, const char *folder, const sherd_limits *limits, shd_arena *arena,
                           shd_rows_manifest *out, rows_manifest_seen *seen, sherd_error *err);

/* Adds to what is wrong with a manifest, if that is damage, that shards with heads can do without it. Returns rc. */
int shd_rows_manifest_tell_way_out(sherd_store *store, const char *folder, int rc, sherd_error *err);

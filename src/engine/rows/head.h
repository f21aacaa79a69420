/* engine/rows/head.h - the manifest of a set that is written to: replaced only while it is the one that was known. */
#pragma once

#include "engine/rows/manifest.h"

typedef struct rows_head {
	char identity[72]; /* "" when there is no manifest */
} rows_head;

/* A part that we wrote. */
typedef struct rows_written {
	sherd_store *store;
	const char *key, *identity;
} rows_written;

/* 1 when a manifest is there, 0 when not, or a vacant one, whose identity is told. */
int shd_rows_head_look(rows_head *out, sherd_store *store, const char *folder, sherd_error *err);
/* Reads the manifest that is there. */
int shd_rows_head_read(rows_head *out, sherd_store *store, const char *folder, const sherd_limits *limits,
                       shd_arena *arena, shd_rows_manifest *manifest, sherd_error *err);
/* Makes this text the manifest, under its name in the folder, or fails with SHERD_ECONFLICT when the one that is there
 * is another than the head, or there is one where none was. part: one that only a manifest of ours can name; NULL:
 * none. *uncertain when it failed and the manifest may be ours nevertheless, or become it: the head has its
 * identity then, "" when nobody knows it. */
int shd_rows_head_write(rows_head *head, sherd_store *store, const char *folder, const char *name, const shd_buf *text,
                        const rows_written *part, bool *uncertain, sherd_error *err);

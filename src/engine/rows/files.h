/* engine/rows/files.h - what lies in a folder of rows, folders below it left out. */
#ifndef SHERD_ENGINE_ROWS_FILES_H
#define SHERD_ENGINE_ROWS_FILES_H

#include "base/arena.h"
#include "base/buf.h"

#include <sherd/store.h>

typedef struct rows_file {
	const char *key;
	const char *name; /* the end of the key */
	uint64_t size;
} rows_file;

typedef struct rows_files {
	sherd_arena arena;
	rows_file *list; /* files with the suffix, by the bytes of their names */
	size_t count;
	bool has_manifest, has_marker; /* rows.manifest.json, rows.packing */
	bool has_foreign;              /* manifest.json */
} rows_files;

/* folder is "" or "a/b"; one that is not there is empty. A name that is nothing but the suffix does not have it.
 * suffix NULL: that of shards of any type. */
int sherd_rows_files_open(rows_files *out, sherd_store *store, const char *folder, const char *suffix,
                          sherd_error *err);
void sherd_rows_files_done(rows_files *files);

/* The key of a file in a folder, NUL-terminated, into an empty buffer. */
int sherd_rows_key(sherd_buf *out, const char *folder, const char *name, sherd_error *err);

/* Is it a manifest, by its name? Then it stands for its folder. */
bool sherd_rows_is_manifest(const char *key);
/* The folder that a file lies in, NUL-terminated, into an empty buffer. */
int sherd_rows_folder(sherd_buf *out, const char *key, sherd_error *err);

#endif

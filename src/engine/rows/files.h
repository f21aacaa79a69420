/* engine/rows/files.h - what lies in a folder of rows, folders below it left out. */
#pragma once

#include "engine/tensors/folder.h"

typedef struct rows_files {
	shd_folder folder;
	const shd_folder_file *list; /* files with the suffix, by the bytes of their names */
	size_t count;
	bool has_manifest, has_claim; /* rows.manifest.json, rows.packing */
	bool has_foreign;             /* manifest.json */
} rows_files;

/* folder is "" or "a/b"; one that is not there is empty. suffix NULL: that of shards of any type. */
int shd_rows_files_open(rows_files *out, sherd_store *store, const char *folder, const char *suffix, sherd_error *err);
void shd_rows_files_done(rows_files *files);

/* Is it a manifest, by its name? Then it stands for its folder. */
bool shd_rows_is_manifest(const char *key);

/* engine/tensors/folder.h - what lies in a folder, folders below it left out. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"

#include <sherd/store.h>

typedef struct shd_folder_file {
	const char *key;
	const char *name; /* the end of the key */
	uint64_t size;
} shd_folder_file;

typedef struct shd_folder {
	shd_arena arena;
	shd_folder_file *list; /* by the bytes of their names */
	size_t count;
} shd_folder;

/* Called for each file: is it to be on the list? */
typedef bool shd_folder_want_fn(void *arg, shd_str name);

/* folder is "" or "a/b"; one that is not there is empty. */
int shd_folder_open(shd_folder *out, sherd_store *store, const char *folder, shd_folder_want_fn *want, void *arg,
                    sherd_error *err);
/* Only files with the suffix; a name that is nothing but the suffix does not have it. */
int shd_folder_open_suffix(shd_folder *out, sherd_store *store, const char *folder, const char *suffix,
                           sherd_error *err);
void shd_folder_done(shd_folder *folder);

/* The key of a file in a folder, NUL-terminated, into an empty buffer. */
int shd_folder_key(shd_buf *out, const char *folder, const char *name, sherd_error *err);
/* The folder that a file lies in, NUL-terminated, into an empty buffer. */
int shd_folder_of(shd_buf *out, const char *key, sherd_error *err);

/* What has a name. */
typedef enum shd_named { SHD_NAMES_NOTHING = 0, SHD_NAMES_OBJECT, SHD_NAMES_FOLDER } shd_named;
/* One of these, or < 0. Stores without folders have none. */
int shd_folder_look(sherd_store *store, const char *key, sherd_error *err);
/* How many parts of a folder's path ("a/b", "a/b/") are not there and have to be made, counted from its end;
 * SHERD_EEXIST when one is an object. */
int shd_folder_missing(sherd_store *store, const char *folder, size_t *out, sherd_error *err);
/* Removes these again, as far as nothing is in them. */
void shd_folder_remove_made(sherd_store *store, const char *folder, size_t made);

/* Does the name end so, and have something before? */
static inline bool shd_folder_has_suffix(shd_str name, const char *suffix)
{
	return shd_str_ends(name, suffix) && name.len > strlen(suffix);
}

/* engine/tensors/folder.h - what lies in a folder, folders below it left out. */
#ifndef SHERD_ENGINE_TENSORS_FOLDER_H
#define SHERD_ENGINE_TENSORS_FOLDER_H

#include "base/arena.h"
#include "base/buf.h"

#include <sherd/store.h>

typedef struct sherd_folder_file {
	const char *key;
	const char *name; /* the end of the key */
	uint64_t size;
} sherd_folder_file;

typedef struct sherd_folder {
	sherd_arena arena;
	sherd_folder_file *list; /* by the bytes of their names */
	size_t count;
} sherd_folder;

/* Called for each file: is it to be on the list? */
typedef bool sherd_folder_want_fn(void *arg, sherd_str name);

/* folder is "" or "a/b"; one that is not there is empty. */
int sherd_folder_open(sherd_folder *out, sherd_store *store, const char *folder, sherd_folder_want_fn *want, void *arg,
                      sherd_error *err);
/* Only files with the suffix; a name that is nothing but the suffix does not have it. */
int sherd_folder_open_suffix(sherd_folder *out, sherd_store *store, const char *folder, const char *suffix,
                             sherd_error *err);
void sherd_folder_done(sherd_folder *folder);

/* The key of a file in a folder, NUL-terminated, into an empty buffer. */
int sherd_folder_key(sherd_buf *out, const char *folder, const char *name, sherd_error *err);
/* The folder that a file lies in, NUL-terminated, into an empty buffer. */
int sherd_folder_of(sherd_buf *out, const char *key, sherd_error *err);

/* Does the name end so, and have something before? */
static inline bool sherd_folder_has_suffix(sherd_str name, const char *suffix)
{
	return sherd_str_ends(name, suffix) && name.len > strlen(suffix);
}

#endif

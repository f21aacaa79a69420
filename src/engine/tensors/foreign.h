/* engine/tensors/foreign.h - formats of others that are known by name and not read here. */
#ifndef SHERD_ENGINE_TENSORS_FOREIGN_H
#define SHERD_ENGINE_TENSORS_FOREIGN_H

#include "base/str.h"

#include <sherd/store.h>

/* Each of these refuses what it knows with SHERD_EUNSUPPORTED, "foreign-format", and says what to do; SHERD_OK: it is
 * nothing of the kind. first is how the object begins, at most 64 bytes. */
int sherd_foreign_object(sherd_str first, sherd_error *err);
/* A part of a graph database, by how it begins or what it is called: "part". */
int sherd_foreign_part(const char *key, sherd_str first, sherd_error *err);
/* A ZIP archive, by the names of its entries. *ours: one of them is as SameDiff calls its models; then it is not known.
 */
int sherd_foreign_archive(const sherd_reader *reader, bool *ours, sherd_error *err);
/* A folder, "" or "a/b", by what lies in it. */
int sherd_foreign_folder(sherd_store *store, const char *folder, sherd_error *err);
/* A folder around an index of safetensors files: SHERD_ENOTFOUND, "is-folder", and the name of the index. */
int sherd_foreign_index(sherd_store *store, const char *folder, sherd_error *err);

#endif

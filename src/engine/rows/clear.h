/* engine/rows/clear.h - what a dead writer left in a folder. */
#pragma once

#include "engine/rows/files.h"

#include <sherd/limits.h>

/* The number of a name that a writer gives, part-00000.shard and so on; -1 when it is none. */
int shd_rows_part_number(const char *name);
/* From which number on parts may be those of a claim's writer. */
uint32_t shd_rows_first_left(sherd_store *store, const char *claim, bool has_manifest);
/* Removes what the writer of a claim left, but not the claim. The caller knows that the writer is dead. */
int shd_rows_clear(sherd_store *store, const char *folder, const char *claim, const sherd_limits *limits,
                   sherd_error *err);

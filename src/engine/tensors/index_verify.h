/* engine/tensors/index_verify.h - an index of safetensors files, and what lies beside it. */
#pragma once

#include "engine/tensors/report.h"

/* The index, the head of every file that it names, and what both say of each other. Warns of files that are named like
 * the set's and not named by its index, and of a claim. key is that of the index, or its base. */
int shd_index_verify(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *options,
                     sherd_error *err);

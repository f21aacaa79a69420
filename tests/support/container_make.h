/* tests/support/container_make.h - containers for tests: a model whose arrays are generated. */
#pragma once

#include <sherd/model.h>

#define CONTAINER_ARRAYS 5
#define CONTAINER_LARGE 3 /* "large": F32, longer than three chunks, in large samples */

/* A variable "w" F32 [2,3], a constant "n" I64 scalar, "texts" UTF8 [2] ("a", "bcd"), "large" F32, and "@updater/w/M"
 * F32 [2,3]; large samples have a "large" of 900001 elements, small ones of 40. Static storage. */
const sherd_model_parts *container_parts(bool large);
/* What an array holds, and what read() of the parts gives. */
int container_read(void *arg, size_t array, uint64_t offset, void *buf, size_t len, sherd_error *err);

/* Writes the sample by handing its arrays over in pieces of so many bytes; 0: whole. Fails the test when that fails. */
void container_write(sherd_store *store, const char *key, bool large, const sherd_model_save_options *options,
                     size_t piece);
/* The model under the key has the sample's variables and bytes. */
void container_assert(sherd_store *store, const char *key, bool large, bool updater);
/* Errors that verify reports; -1 when it could not run. *first is a copy of the first one, if any. */
long container_verify(sherd_store *store, const char *key, sherd_error *first);

/* fuzz/bundle.h - reading tensors of what the input holds. */
#pragma once

#include <sherd/model.h>

/* Every byte of every tensor; where the bundle is sound nothing may fail. */
void fuzz_read_bundle(const sherd_bundle *b, bool sound);
/* What can be had of a damaged container is whole; of a sound one it is all of it, and nothing is lost. */
void fuzz_salvage(sherd_store *store, const char *key, bool sound);
/* By the last byte: half of the inputs are salvaged too. */
bool fuzz_is_salvaged(const uint8_t *data, size_t len);

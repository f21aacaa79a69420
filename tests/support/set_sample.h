/* tests/support/set_sample.h - tensors that all hold one byte, which tells who wrote a set of several files. */
#pragma once

#include <sherd/bundle.h>

/* So many tensors, at most 6, that hold the byte; they lie in the store, which must live as long. */
sherd_bundle *set_sample(sherd_store *memory, uint8_t byte, size_t count);
/* The byte that all tensors hold. Fails the case where they hold others; *rc is that of a read that failed, or 0. */
uint8_t set_sample_byte(const sherd_bundle *bundle, int *rc, sherd_error *err);
/* The same of the set under the key, with so many tensors; 0 when nothing is there. */
uint8_t set_sample_content(sherd_store *store, const char *key, size_t tensors);
/* Whole, and nothing beside it that somebody left. */
void set_sample_assert_clean(sherd_store *store, const char *key);

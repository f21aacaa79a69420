/* format/container/pairs.h - the METADATA section: pairs of text, sorted by key (docs/formats/container.md). */
#pragma once

#include "base/arena.h"
#include "base/buf.h"

#include <sherd/tensor.h>

/* The pairs are sorted by the bytes of their keys, no two alike, and each text is below 4 GiB. */
void shd_container_pairs_encode(const sherd_pair *pairs, size_t count, shd_buf *out);
/* Lives in the arena. Offsets of failures count from the payload. */
int shd_container_pairs_decode(const void *data, size_t len, shd_arena *arena, const sherd_pair **out, size_t *count,
                               sherd_error *err);

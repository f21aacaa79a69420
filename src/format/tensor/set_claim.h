/* format/tensor/set_claim.h - the claim of who writes a set of several files: what has to be cleared should the writer
 * die. docs/formats/safetensors.md, "Names, and how a set is replaced". */
#pragma once

#include "base/arena.h"
#include "base/buf.h"

typedef struct shd_set_claim {
	const char *const *endings; /* what follows, in the names of files, the prefix that all of them share */
	size_t count;
} shd_set_claim;

/* Into an empty buffer. Endings that are not UTF-8 are left out. */
void shd_set_claim_encode(const shd_set_claim *claim, shd_buf *out);
/* In the arena. An ending with a '/' or a NUL in it, or without any byte, is "bad-path". */
int shd_set_claim_decode(const void *data, size_t len, shd_arena *arena, shd_set_claim *out, sherd_error *err);

/* format/tensor/set_claim.h - the claim of who writes a set of several files: what has to be cleared should the writer
 * die. docs/formats/safetensors.md, "Names, and how a set is replaced". */
#ifndef SHERD_FORMAT_TENSOR_SET_CLAIM_H
#define SHERD_FORMAT_TENSOR_SET_CLAIM_H

#include "base/arena.h"
#include "base/buf.h"

typedef struct sherd_set_claim {
	const char *const *endings; /* what follows, in the names of files, the prefix that all of them share */
	size_t count;
} sherd_set_claim;

/* Into an empty buffer. Endings that are not UTF-8 are left out. */
void sherd_set_claim_encode(const sherd_set_claim *claim, sherd_buf *out);
/* In the arena. An ending with a '/' or a NUL in it, or without any byte, is "bad-path". */
int sherd_set_claim_decode(const void *data, size_t len, sherd_arena *arena, sherd_set_claim *out, sherd_error *err);

#endif

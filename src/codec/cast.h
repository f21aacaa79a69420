/* codec/cast.h - elements of any type of reals as F16, BF16 or F32. */
#pragma once

#include "codec/numbers.h"

/* Are elements of the type reals that can be cast? Floats of any size, and the blocks that are decoded; not integers.
 */
bool shd_cast_known(sherd_dtype from);
/* F16, BF16, F32. */
bool shd_cast_target(sherd_dtype to);

/* How elements of one type become those of another. */
typedef struct shd_cast {
	sherd_dtype from, to;
	uint32_t in_bytes, elements; /* of a block of from */
	uint32_t out_bytes;          /* of one element */
	bool overflows;              /* finite values may become infinite */
	shd_numbers numbers;         /* of what is neither F16, BF16, F32 nor F64 */
} shd_cast;

/* Both are as above. */
void shd_cast_init(shd_cast *c, sherd_dtype from, sherd_dtype to);
/* So many blocks, rounded once, to nearest, ties to even. Both sides have the alignment of a double, or of what
 * malloc() gives. Returns how many finite values became infinite. */
size_t shd_cast_blocks(const shd_cast *c, const void *in, void *out, size_t blocks);

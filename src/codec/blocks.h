/* codec/blocks.h - ggml's blocks of quantised elements as floats (docs/formats/gguf.md). */
#pragma once

#include <sherd/dtype.h>

#include <stdbool.h>

/* Is this a type of blocks that can be turned into floats here? Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K to Q6_K. */
bool shd_blocks_known(sherd_dtype dtype);

/* So many blocks of such a type; out takes as many floats as they have elements. in need not be aligned. Every way
 * gives the same bits: each product and each sum is rounded by itself. */
void shd_blocks_widen(sherd_dtype dtype, const void *in, float *out, size_t blocks);

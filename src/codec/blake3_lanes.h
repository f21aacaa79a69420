/* codec/blake3_lanes.h - several chains of BLAKE3 at a time, one in each lane of a vector. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { SHD_BLAKE3_BLOCK = 64, SHD_BLAKE3_ROUNDS = 7, SHD_BLAKE3_MOST_LANES = 16 };

static const uint32_t shd_blake3_initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/* Which word of the block each step of a round takes: every round permutes those of the one before. */
static const uint8_t shd_blake3_schedule[SHD_BLAKE3_ROUNDS][16] = {
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8},
	{3, 4, 10, 12, 13, 2, 7, 14, 6, 5, 9, 0, 11, 15, 8, 1}, {10, 7, 12, 9, 14, 3, 13, 15, 4, 0, 11, 2, 5, 8, 1, 6},
	{12, 13, 9, 11, 15, 10, 14, 8, 7, 2, 5, 3, 0, 1, 6, 4}, {9, 14, 11, 5, 8, 12, 15, 1, 13, 3, 0, 10, 2, 6, 4, 7},
	{11, 15, 5, 0, 1, 9, 8, 6, 14, 10, 2, 12, 3, 4, 7, 13}};

/* Inputs of equal length that lie one after the other: whole chunks, or pairs of chains. */
typedef struct shd_blake3_inputs {
	const uint8_t *data;
	size_t blocks;                           /* of each input */
	uint64_t counter;                        /* of the first one */
	uint32_t step;                           /* what each next one adds to it: 1 or 0 */
	uint32_t flags, first_flags, last_flags; /* of every block, and of the first and the last besides */
} shd_blake3_inputs;

/* Chains of the first inputs, as many as there are lanes: words in the order of the hash. */
typedef void shd_blake3_lanes_fn(const shd_blake3_inputs *in, uint32_t (*chains)[8]);

typedef struct shd_blake3_width {
	const char *name; /* of the instructions that it takes */
	unsigned lanes;
	shd_blake3_lanes_fn *hash;
} shd_blake3_width;

/* What this processor can do, widest first; NULL past the end. */
const shd_blake3_width *shd_blake3_width_at(size_t index);

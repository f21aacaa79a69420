/* engine/rows/order.h - in which order rows are delivered, and which. docs/formats/rows.md, "Order".
 *
 * A shuffle is a permutation that is computed, not stored: a Feistel network over
 * the smallest number of bits that holds the positions, walked until it hits one.
 *
 *	h(x)          the SplitMix64 finaliser
 *	bits          the smallest b >= 2 with 2^b >= n; low = b/2 bits, high = b - low bits
 *	round i, 0..7 key_i = h(seed + i); x = high part, y = low part of the number
 *	              i even: x ^= h(y ^ key_i) mod 2^high    i odd: y ^= h(x ^ key_i) mod 2^low
 *	repeat all rounds while the number is >= n
 *
 * Epoch e > 0 is shuffled with the seed h(seed ^ h(e)), epoch 0 with the seed itself.
 *
 * Within windows of w rows, window k is permuted like a set of its own size with
 * the seed h(seed ^ h(k)).
 *
 * Sampling takes a row when h(id) < trunc(fraction * 2^64): fractions nest. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct rows_order {
	uint64_t total;
	bool shuffle;
	uint64_t seed, window; /* window 0: the whole set */
	uint64_t epoch;        /* each is shuffled in its own way */
	bool sample;
	bool all;           /* the fraction is 1 or more */
	uint64_t threshold; /* else: hashes below it are taken */
} rows_order;

/* fraction <= 0 takes none, >= 1 all; not NaN. */
void shd_rows_order_sample(rows_order *o, double fraction);
/* The row that stands at a position of the delivery order; position < total. */
uint64_t shd_rows_order_at(const rows_order *o, uint64_t position);
bool shd_rows_order_takes(const rows_order *o, uint64_t row);
/* Where position i of n goes under a seed. */
uint64_t shd_rows_permute(uint64_t seed, uint64_t n, uint64_t i);

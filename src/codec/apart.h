/* codec/apart.h - how far two runs of numbers are from each other. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero is "nothing yet". Sums are of pairs in which both are finite. */
typedef struct shd_apart {
	uint64_t count, not_finite;
	uint64_t different, first; /* first: where different is not 0 */
	double largest;
	uint64_t largest_at;
	double left, right, both, difference; /* sums of a*a, b*b, a*b, (a-b)*(a-b) */
} shd_apart;

/* When are two numbers the same? */
typedef struct shd_apart_rule {
	bool bits; /* who counts the different ones compares bits: the numbers are not asked */
	double tolerance, relative;
} shd_apart_rule;

/* Adds count pairs, the first of which is number `at` of all. Pairs come in order. */
void shd_apart_add(shd_apart *a, const double *left, const double *right, size_t count, uint64_t at,
                   const shd_apart_rule *rule);
/* Counts elements of so many bytes whose bits differ. */
void shd_apart_bits(shd_apart *a, const void *left, const void *right, size_t count, size_t size, uint64_t at);
/* Adds others, which came after. */
void shd_apart_merge(shd_apart *a, const shd_apart *other);

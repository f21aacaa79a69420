/* codec/moments.h - extremes, sums and squares of many numbers in one pass. Every way gives the same bits: numbers are
 * added in eight lanes by their place. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Of what was finite: count, extremes, mean, and the sum of squares about the mean. Zero is "nothing yet". */
typedef struct shd_moments {
	uint64_t finite, nan, inf, zeros;
	double min, max; /* where finite is not 0, as all below */
	double mean, squares;
} shd_moments;

/* Of these numbers alone. in needs the alignment of its type. */
void shd_moments_f32(shd_moments *out, const float *in, size_t count);
void shd_moments_f64(shd_moments *out, const double *in, size_t count);
/* Adds others, which came after. */
void shd_moments_merge(shd_moments *m, const shd_moments *other);

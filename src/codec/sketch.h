/* codec/sketch.h - quantiles of any number of values in bounded memory.
 *
 * Values are counted in buckets of floats that share sign, exponent and the first five bits of their mantissa: what is
 * told of them is off by less than 1/32 of a value. Counts add up, so that the order of adding never matters. What is
 * no finite float (a double may be larger) counts as the largest. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { SHD_SKETCH_BUCKETS = 1 << 14 };

typedef struct shd_sketch {
	uint64_t count;
	uint32_t low, high; /* buckets [low, high) may hold something */
	uint64_t at[SHD_SKETCH_BUCKETS];
} shd_sketch;

/* Empties one that was not used before; later shd_sketch_clear() is enough, and quick. */
void shd_sketch_init(shd_sketch *s);
void shd_sketch_clear(shd_sketch *s);
/* NaN and infinities are left out. */
void shd_sketch_f32(shd_sketch *s, const float *in, size_t count);
void shd_sketch_f64(shd_sketch *s, const double *in, size_t count);
void shd_sketch_merge(shd_sketch *s, const shd_sketch *other);

/* The values below which these shares of all lie, about; shares are in order, values within [min, max], which are known
 * exactly. NaN of none. */
void shd_sketch_quantiles(const shd_sketch *s, const double *shares, double *out, size_t n, double min, double max);
/* The same of few values, exactly: sorts them, and takes what lies between two neighbours where a share falls there. */
void shd_sketch_exact(double *values, size_t count, const double *shares, double *out, size_t n);
/* How many lie in each of n equal parts of [min, max]. */
void shd_sketch_bins(const shd_sketch *s, double min, double max, uint64_t *bins, size_t n);

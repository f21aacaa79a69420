#include "codec/sketch.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bits of a float that a bucket does not tell apart; the bucket of zero, after that of minus zero. */
enum { SHIFT = 18, ZERO = SHD_SKETCH_BUCKETS / 2 };

/* Bits in the order of the values: those of negative numbers turned round. */
static inline uint32_t ordered(float v)
{
	uint32_t bits;
	memcpy(&bits, &v, sizeof(bits));
	return bits ^ (bits & 0x80000000u ? UINT32_MAX : 0x80000000u);
}

/* The least float of a bucket. */
static double bucket_start(uint32_t bucket)
{
	uint32_t order = bucket << SHIFT, bits = order & 0x80000000u ? order ^ 0x80000000u : ~order;
	float v;
	memcpy(&v, &bits, sizeof(v));
	return isfinite(v) ? (double)v : signbit(v) ? -(double)FLT_MAX : (double)FLT_MAX;
}

void shd_sketch_init(shd_sketch *s)
{
	memset(s, 0, sizeof(*s));
	s->low = SHD_SKETCH_BUCKETS;
}

void shd_sketch_clear(shd_sketch *s)
{
	if (s->low < s->high)
		memset(s->at + s->low, 0, (s->high - s->low) * sizeof(s->at[0]));
	s->count = 0;
	s->low = SHD_SKETCH_BUCKETS;
	s->high = 0;
}

void shd_sketch_f32(shd_sketch *s, const float *in, size_t count)
{
	uint32_t low = s->low, high = s->high;
	uint64_t taken = 0;
	for (size_t i = 0; i < count; i++) {
		if (!(fabsf(in[i]) <= FLT_MAX))
			continue;
		uint32_t bucket = ordered(in[i]) >> SHIFT;
		s->at[bucket]++;
		low = bucket < low ? bucket : low;
		high = bucket >= high ? bucket + 1 : high;
		taken++;
	}
	s->low = low;
	s->high = high;
	s->count += taken;
}

void shd_sketch_f64(shd_sketch *s, const double *in, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!isfinite(in[i]))
			continue;
		double v = in[i] > (double)FLT_MAX    ? (double)FLT_MAX
		           : in[i] < -(double)FLT_MAX ? -(double)FLT_MAX
		                                      : in[i];
		float near = (float)v;
		shd_sketch_f32(s, &near, 1);
	}
}

void shd_sketch_merge(shd_sketch *s, const shd_sketch *other)
{
	for (uint32_t i = other->low; i < other->high; i++)
		s->at[i] += other->at[i];
	s->low = other->low < s->low ? other->low : s->low;
	s->high = other->high > s->high ? other->high : s->high;
	s->count += other->count;
}

static double within(double v, double min, double max)
{
	return v < min ? min : v > max ? max : v;
}

/* The value at a rank of the bucket, which holds `here` of them. */
static double value_in(uint32_t bucket, double rank, double here, double min, double max)
{
	if (bucket == ZERO || bucket == ZERO - 1)
		return within(0, min, max); /* zeros, but for numbers next to nothing */
	double from = within(bucket_start(bucket), min, max), to = within(bucket_start(bucket + 1), min, max);
	return from + (to - from) * ((rank + 0.5) / here);
}

void shd_sketch_quantiles(const shd_sketch *s, const double *shares, double *out, size_t n, double min, double max)
{
	double before = 0, last = s->count ? (double)(s->count - 1) : 0;
	size_t i = 0;
	for (uint32_t b = s->low; b < s->high && i < n; b++) {
		double here = (double)s->at[b];
		for (; i < n && shares[i] * last < before + here; i++)
			out[i] = value_in(b, shares[i] * last - before, here, min, max);
		before += here;
	}
	for (; i < n; i++)
		out[i] = s->count ? max : NAN;
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

void shd_sketch_exact(double *values, size_t count, const double *shares, double *out, size_t n)
{
	qsort(values, count, sizeof(*values), by_value);
	for (size_t i = 0; i < n; i++) {
		double rank = count ? shares[i] * (double)(count - 1) : 0, part = rank - floor(rank);
		size_t low = (size_t)rank, high = low + 1 < count ? low + 1 : low;
		out[i] = count ? values[low] * (1 - part) + values[high] * part : NAN;
	}
}

/* Puts the values of one bucket where they lie; where it covers several bins, evenly. */
static void bin_bucket(uint64_t count, double from, double to, uint64_t *bins, size_t n)
{
	size_t first = (size_t)within(from, 0, (double)n - 1), last = (size_t)within(to, 0, (double)n - 1);
	uint64_t left = count;
	for (size_t i = first; i < last && to > from; i++) {
		double begin = (double)i > from ? (double)i : from, share = ((double)i + 1 - begin) / (to - from);
		uint64_t some = (uint64_t)within(floor((double)count * share + 0.5), 0, (double)left);
		bins[i] += some;
		left -= some;
	}
	bins[last] += left;
}

void shd_sketch_bins(const shd_sketch *s, double min, double max, uint64_t *bins, size_t n)
{
	double width = max / (double)n - min / (double)n; /* the difference of two doubles may be infinite */
	memset(bins, 0, n * sizeof(*bins));
	for (uint32_t i = s->low; i < s->high; i++) {
		if (!s->at[i])
			continue;
		double from = within(bucket_start(i), min, max), to = within(bucket_start(i + 1), min, max);
		if (width > 0)
			bin_bucket(s->at[i], from / width - min / width, to / width - min / width, bins, n);
		else
			bins[0] += s->at[i];
	}
}

#include "codec/moments.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { LANES = 8, STRETCH = 1024 /* a multiple of LANES: numbers that are looked at in one go */ };

/* Sums about a number that lies among them, so that little is lost where the mean is far from zero. */
typedef struct running {
	double shift;
	double sum[LANES], squares[LANES];
	double min, max;
	uint64_t finite, nan, inf, zeros;
} running;

static void take_one(running *r, double x, size_t lane)
{
	if (isnan(x)) {
		r->nan++;
		return;
	}
	if (isinf(x)) {
		r->inf++;
		return;
	}
	double d = x - r->shift;
	r->sum[lane] += d;
	r->squares[lane] += d * d;
	r->min = x < r->min ? x : r->min;
	r->max = x > r->max ? x : r->max;
	r->zeros += x == 0;
	r->finite++;
}

static void take_f32(running *r, const float *in, size_t count)
{
	for (size_t i = 0; i < count; i++)
		take_one(r, (double)in[i], i % LANES);
}

static void take_f64(running *r, const double *in, size_t count)
{
	for (size_t i = 0; i < count; i++)
		take_one(r, in[i], i % LANES);
}

static void finish(shd_moments *out, const running *r)
{
	double sum = 0, squares = 0;
	for (int i = 0; i < LANES; i++) {
		sum += r->sum[i];
		squares += r->squares[i];
	}
	*out = (shd_moments){.finite = r->finite, .nan = r->nan, .inf = r->inf, .zeros = r->zeros};
	if (!r->finite)
		return;
	double n = (double)r->finite, about = squares - sum * (sum / n);
	out->min = r->min;
	out->max = r->max;
	out->mean = r->shift + sum / n;
	out->squares = about > 0 ? about : 0;
}

static running begin(double first)
{
	return (running){.shift = isfinite(first) ? first : 0, .min = DBL_MAX, .max = -DBL_MAX};
}

#if defined(__x86_64__)

#define AVX2 __attribute__((target("avx2")))

AVX2 static double least_of(__m256d v)
{
	double at[4];
	_mm256_storeu_pd(at, v);
	double a = at[0] < at[1] ? at[0] : at[1], b = at[2] < at[3] ? at[2] : at[3];
	return a < b ? a : b;
}

AVX2 static uint64_t count_of(__m256i minus)
{
	int32_t at[LANES];
	int64_t sum = 0;
	_mm256_storeu_si256((__m256i *)(void *)at, minus);
	for (int i = 0; i < LANES; i++)
		sum -= at[i];
	return (uint64_t)sum;
}

/* What both kinds keep in registers over one stretch. */
typedef struct vectors {
	__m256d sum[2], squares[2];
} vectors;

AVX2 static inline vectors load_sums(const running *r)
{
	return (vectors){.sum = {_mm256_loadu_pd(r->sum), _mm256_loadu_pd(r->sum + 4)},
	                 .squares = {_mm256_loadu_pd(r->squares), _mm256_loadu_pd(r->squares + 4)}};
}

AVX2 static inline void keep_sums(running *r, const vectors *v)
{
	_mm256_storeu_pd(r->sum, v->sum[0]);
	_mm256_storeu_pd(r->sum + 4, v->sum[1]);
	_mm256_storeu_pd(r->squares, v->squares[0]);
	_mm256_storeu_pd(r->squares + 4, v->squares[1]);
}

AVX2 static inline void add_doubles(vectors *v, int half, __m256d x, __m256d shift)
{
	__m256d d = _mm256_sub_pd(x, shift);
	v->sum[half] = _mm256_add_pd(v->sum[half], d);
	v->squares[half] = _mm256_add_pd(v->squares[half], _mm256_mul_pd(d, d));
}

/* What is NaN or infinite makes its lane so for good. */
AVX2 static inline bool all_finite(const vectors *v)
{
	__m256d both = _mm256_add_pd(v->sum[0], v->sum[1]);
	__m256d zero = _mm256_sub_pd(both, both); /* NaN where one was */
	return _mm256_movemask_pd(_mm256_cmp_pd(zero, zero, _CMP_UNORD_Q)) == 0;
}

/* A stretch of finite numbers. False, and nothing is kept, when one is not. */
AVX2 static bool stretch_f32_avx2(running *r, const float *in)
{
	const __m256 zero = _mm256_setzero_ps();
	const __m256d shift = _mm256_set1_pd(r->shift);
	__m256 min = _mm256_set1_ps(FLT_MAX), max = _mm256_set1_ps(-FLT_MAX);
	__m256i zeros = _mm256_setzero_si256();
	vectors v = load_sums(r);
	for (size_t i = 0; i < STRETCH; i += LANES) {
		__m256 x = _mm256_loadu_ps(in + i);
		min = _mm256_min_ps(min, x);
		max = _mm256_max_ps(max, x);
		zeros = _mm256_add_epi32(zeros, _mm256_castps_si256(_mm256_cmp_ps(x, zero, _CMP_EQ_OQ)));
		add_doubles(&v, 0, _mm256_cvtps_pd(_mm256_castps256_ps128(x)), shift);
		add_doubles(&v, 1, _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)), shift);
	}
	if (!all_finite(&v))
		return false;
	float low[LANES], high[LANES];
	_mm256_storeu_ps(low, min);
	_mm256_storeu_ps(high, max);
	for (int i = 0; i < LANES; i++) {
		r->min = (double)low[i] < r->min ? (double)low[i] : r->min;
		r->max = (double)high[i] > r->max ? (double)high[i] : r->max;
	}
	keep_sums(r, &v);
	r->zeros += count_of(zeros);
	r->finite += STRETCH;
	return true;
}

AVX2 static bool stretch_f64_avx2(running *r, const double *in)
{
	const __m256d zero = _mm256_setzero_pd(), shift = _mm256_set1_pd(r->shift);
	__m256d min = _mm256_set1_pd(DBL_MAX), max = _mm256_set1_pd(-DBL_MAX);
	uint64_t zeros = 0;
	vectors v = load_sums(r);
	for (size_t i = 0; i < STRETCH; i += 4) {
		__m256d x = _mm256_loadu_pd(in + i);
		min = _mm256_min_pd(min, x);
		max = _mm256_max_pd(max, x);
		zeros += (uint64_t)__builtin_popcount((unsigned)_mm256_movemask_pd(_mm256_cmp_pd(x, zero, _CMP_EQ_OQ)));
		add_doubles(&v, i % LANES != 0, x, shift);
	}
	if (!all_finite(&v))
		return false;
	double low = least_of(min), high = -least_of(_mm256_sub_pd(zero, max));
	r->min = low < r->min ? low : r->min;
	r->max = high > r->max ? high : r->max;
	keep_sums(r, &v);
	r->zeros += zeros;
	r->finite += STRETCH;
	return true;
}

static bool stretch_f32(running *r, const float *in)
{
	return __builtin_cpu_supports("avx2") && stretch_f32_avx2(r, in);
}

static bool stretch_f64(running *r, const double *in)
{
	return __builtin_cpu_supports("avx2") && stretch_f64_avx2(r, in);
}

#else

static bool stretch_f32(running *r, const float *in)
{
	(void)r, (void)in;
	return false;
}

static bool stretch_f64(running *r, const double *in)
{
	(void)r, (void)in;
	return false;
}

#endif

void shd_moments_f32(shd_moments *out, const float *in, size_t count)
{
	running r = begin(count ? (double)in[0] : 0);
	size_t i = 0;
	for (; i + STRETCH <= count; i += STRETCH)
		if (!stretch_f32(&r, in + i))
			take_f32(&r, in + i, STRETCH);
	take_f32(&r, in + i, count - i);
	finish(out, &r);
}

void shd_moments_f64(shd_moments *out, const double *in, size_t count)
{
	running r = begin(count ? in[0] : 0);
	size_t i = 0;
	for (; i + STRETCH <= count; i += STRETCH)
		if (!stretch_f64(&r, in + i))
			take_f64(&r, in + i, STRETCH);
	take_f64(&r, in + i, count - i);
	finish(out, &r);
}

void shd_moments_merge(shd_moments *m, const shd_moments *other)
{
	m->nan += other->nan;
	m->inf += other->inf;
	m->zeros += other->zeros;
	if (!other->finite)
		return;
	if (!m->finite) {
		m->min = other->min;
		m->max = other->max;
		m->mean = other->mean;
		m->squares = other->squares;
		m->finite = other->finite;
		return;
	}
	double n = (double)m->finite, k = (double)other->finite, apart = other->mean - m->mean;
	m->min = other->min < m->min ? other->min : m->min;
	m->max = other->max > m->max ? other->max : m->max;
	m->mean += apart * (k / (n + k));
	m->squares += other->squares + apart * apart * (n * k / (n + k));
	m->finite += other->finite;
}

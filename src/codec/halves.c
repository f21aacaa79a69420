#include "codec/halves.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "values lie in memory as they do in files");

/* Magnitudes of floats, as bits: infinity; what becomes the infinity of F16; the smallest normal F16. */
#define INFINITY_BITS 0x7f800000u
#define F16_OVERFLOW 0x477ff000u
#define F16_NORMAL 0x38800000u

/* How far the exponent of F16 is from that of a float, as bits. */
#define F16_BIAS (112u << 23)

static uint32_t bits_of(float f)
{
	uint32_t u;
	memcpy(&u, &f, sizeof(u));
	return u;
}

static float float_of(uint32_t u)
{
	float f;
	memcpy(&f, &u, sizeof(f));
	return f;
}

static uint16_t load16(const void *in, size_t i)
{
	uint16_t v;
	memcpy(&v, (const uint8_t *)in + 2 * i, sizeof(v));
	return v;
}

static void store16(void *out, size_t i, uint32_t v)
{
	uint16_t half = (uint16_t)v;
	memcpy((uint8_t *)out + 2 * i, &half, sizeof(half));
}

/* ---- one value */

static float widen_f16(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = (h >> 10) & 0x1f, fraction = h & 0x3ff;
	if (exponent == 0x1f)
		return float_of(sign | INFINITY_BITS | fraction << 13);
	if (exponent)
		return float_of(sign | (exponent + 112) << 23 | fraction << 13);
	/* Below the smallest normal number: fraction * 2^-24. */
	return float_of(sign | bits_of((float)fraction * 0x1p-24f));
}

static uint32_t narrow_f16(float f)
{
	uint32_t bits = bits_of(f), magnitude = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
	if (magnitude > INFINITY_BITS)
		return sign | 0x7e00 | (magnitude >> 13 & 0x3ff);
	if (magnitude >= F16_OVERFLOW)
		return sign | 0x7c00;
	if (magnitude < F16_NORMAL)
		return sign | (bits_of(float_of(magnitude) * 0x1p24f + 0x1p23f) - 0x4b000000); /* to a whole number */
	return sign | (magnitude + 0xfff + (magnitude >> 13 & 1) - F16_BIAS) >> 13;
}

static uint32_t narrow_bf16(float f)
{
	uint32_t bits = bits_of(f);
	if ((bits & 0x7fffffff) > INFINITY_BITS)
		return bits >> 16 | 0x40;
	return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static void widen_f16_plain(const void *in, float *out, size_t i, size_t count)
{
	for (; i < count; i++)
		out[i] = widen_f16(load16(in, i));
}

static void widen_bf16_plain(const void *in, float *out, size_t i, size_t count)
{
	for (; i < count; i++)
		out[i] = float_of((uint32_t)load16(in, i) << 16);
}

static void narrow_f16_plain(const float *in, void *out, size_t i, size_t count)
{
	for (; i < count; i++)
		store16(out, i, narrow_f16(in[i]));
}

static void narrow_bf16_plain(const float *in, void *out, size_t i, size_t count)
{
	for (; i < count; i++)
		store16(out, i, narrow_bf16(in[i]));
}

#if defined(__x86_64__)

/* ---- eight values. Each returns how many are done. */

#define AVX2 __attribute__((target("avx2")))

AVX2 static inline __m256i load8(const void *in, size_t i)
{
	return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)((const uint8_t *)in + 2 * i)));
}

/* The lower halves of eight 32-bit numbers below 65536. */
AVX2 static inline void store8(void *out, size_t i, __m256i v)
{
	__m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(v, v), 0x08);
	_mm_storeu_si128((__m128i *)(void *)((uint8_t *)out + 2 * i), _mm256_castsi256_si128(packed));
}

AVX2 static inline __m256i all(uint32_t v)
{
	return _mm256_set1_epi32((int)v);
}

AVX2 static size_t widen_f16_avx2(const void *in, float *out, size_t count)
{
	size_t i = 0;
	for (; i + 8 <= count; i += 8) {
		__m256i h = load8(in, i), sign = _mm256_slli_epi32(_mm256_and_si256(h, all(0x8000)), 16);
		__m256i m = _mm256_slli_epi32(_mm256_and_si256(h, all(0x7fff)), 13);
		__m256i high = _mm256_cmpgt_epi32(m, all(0x0f7fffff)), low = _mm256_cmpgt_epi32(all(0x00800000), m);
		__m256i normal = _mm256_add_epi32(m, all(F16_BIAS)), special = _mm256_or_si256(m, all(INFINITY_BITS));
		__m256i tiny = _mm256_castps_si256(
			_mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_srli_epi32(m, 13)), _mm256_set1_ps(0x1p-24f)));
		__m256i v = _mm256_blendv_epi8(_mm256_blendv_epi8(normal, special, high), tiny, low);
		_mm256_storeu_si256((__m256i *)(void *)(out + i), _mm256_or_si256(v, sign));
	}
	return i;
}

AVX2 static size_t widen_bf16_avx2(const void *in, float *out, size_t count)
{
	size_t i = 0;
	for (; i + 8 <= count; i += 8)
		_mm256_storeu_si256((__m256i *)(void *)(out + i), _mm256_slli_epi32(load8(in, i), 16));
	return i;
}

AVX2 static size_t narrow_f16_avx2(const float *in, void *out, size_t count)
{
	size_t i = 0;
	for (; i + 8 <= count; i += 8) {
		__m256i bits = _mm256_loadu_si256((const __m256i *)(const void *)(in + i));
		__m256i m = _mm256_and_si256(bits, all(0x7fffffff));
		__m256i sign = _mm256_and_si256(_mm256_srli_epi32(bits, 16), all(0x8000));
		__m256i cut = _mm256_srli_epi32(m, 13), odd = _mm256_and_si256(cut, all(1));
		__m256i normal =
			_mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(m, odd), all(0xfff - F16_BIAS)), 13);
		__m256i tiny = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_castsi256_ps(m), _mm256_set1_ps(0x1p24f)));
		__m256i nan = _mm256_or_si256(_mm256_and_si256(cut, all(0x3ff)), all(0x7e00));
		__m256i v = _mm256_blendv_epi8(normal, tiny, _mm256_cmpgt_epi32(all(F16_NORMAL), m));
		v = _mm256_blendv_epi8(v, all(0x7c00), _mm256_cmpgt_epi32(m, all(F16_OVERFLOW - 1)));
		v = _mm256_blendv_epi8(v, nan, _mm256_cmpgt_epi32(m, all(INFINITY_BITS)));
		store8(out, i, _mm256_or_si256(v, sign));
	}
	return i;
}

AVX2 static size_t narrow_bf16_avx2(const float *in, void *out, size_t count)
{
	size_t i = 0;
	for (; i + 8 <= count; i += 8) {
		__m256i bits = _mm256_loadu_si256((const __m256i *)(const void *)(in + i));
		__m256i cut = _mm256_srli_epi32(bits, 16), odd = _mm256_and_si256(cut, all(1));
		__m256i near = _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(bits, odd), all(0x7fff)), 16);
		__m256i is_nan = _mm256_cmpgt_epi32(_mm256_and_si256(bits, all(0x7fffffff)), all(INFINITY_BITS));
		store8(out, i, _mm256_blendv_epi8(near, _mm256_or_si256(cut, all(0x40)), is_nan));
	}
	return i;
}

#define VECTORS(name, in, out, count) (__builtin_cpu_supports("avx2") ? name##_avx2(in, out, count) : 0)

#else

#define VECTORS(name, in, out, count) 0

#endif

void shd_halves_widen_f16(const void *in, float *out, size_t count)
{
	widen_f16_plain(in, out, VECTORS(widen_f16, in, out, count), count);
}

void shd_halves_widen_bf16(const void *in, float *out, size_t count)
{
	widen_bf16_plain(in, out, VECTORS(widen_bf16, in, out, count), count);
}

void shd_halves_narrow_f16(const float *in, void *out, size_t count)
{
	narrow_f16_plain(in, out, VECTORS(narrow_f16, in, out, count), count);
}

void shd_halves_narrow_bf16(const float *in, void *out, size_t count)
{
	narrow_bf16_plain(in, out, VECTORS(narrow_bf16, in, out, count), count);
}

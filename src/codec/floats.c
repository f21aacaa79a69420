#include "codec/floats.h"

#include "base/error.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static void widen_plain(const float *in, double *out, size_t count)
{
	for (size_t i = 0; i < count; i++)
		out[i] = (double)in[i];
}

#if defined(__x86_64__)

/* Results above this size leave the cache anyway: they are written past it. What is so long is also asked for ahead, in
 * values: the processor's own prefetching stops at every page. */
enum { STREAM_ABOVE = 128 << 10, AHEAD = 256 };

static inline void ask_for(const float *in)
{
	/* An address only, which may lie past the end. */
	_mm_prefetch((const char *)((uintptr_t)in + AHEAD * sizeof(float)), _MM_HINT_T0);
}

__attribute__((target("avx2"))) static void widen_avx2(const float *in, double *out, size_t count)
{
	size_t i = 0;
	for (; i < count && (uintptr_t)(out + i) % 32; i++)
		out[i] = (double)in[i];
	if (count > STREAM_ABOVE) {
		for (; i + 8 <= count; i += 8) {
			ask_for(in + i);
			_mm256_stream_pd(out + i, _mm256_cvtps_pd(_mm_loadu_ps(in + i)));
			_mm256_stream_pd(out + i + 4, _mm256_cvtps_pd(_mm_loadu_ps(in + i + 4)));
		}
		_mm_sfence();
	}
	for (; i + 4 <= count; i += 4)
		_mm256_store_pd(out + i, _mm256_cvtps_pd(_mm_loadu_ps(in + i)));
	widen_plain(in + i, out + i, count - i);
}

__attribute__((target("avx512f"))) static void widen_avx512(const float *in, double *out, size_t count)
{
	size_t i = 0;
	for (; i < count && (uintptr_t)(out + i) % 64; i++)
		out[i] = (double)in[i];
	if (count > STREAM_ABOVE) {
		for (; i + 16 <= count; i += 16) {
			ask_for(in + i);
			_mm512_stream_pd(out + i, _mm512_cvtps_pd(_mm256_loadu_ps(in + i)));
			_mm512_stream_pd(out + i + 8, _mm512_cvtps_pd(_mm256_loadu_ps(in + i + 8)));
		}
		_mm_sfence();
	}
	for (; i + 8 <= count; i += 8)
		_mm512_store_pd(out + i, _mm512_cvtps_pd(_mm256_loadu_ps(in + i)));
	widen_plain(in + i, out + i, count - i);
}

void sherd_floats_widen(const float *in, double *out, size_t count)
{
	if (__builtin_cpu_supports("avx512f"))
		widen_avx512(in, out, count);
	else if (__builtin_cpu_supports("avx2"))
		widen_avx2(in, out, count);
	else
		widen_plain(in, out, count);
}

#else

void sherd_floats_widen(const float *in, double *out, size_t count)
{
	widen_plain(in, out, count);
}

#endif

void sherd_floats_from_f64(const void *in, float *out, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double v;
		memcpy(&v, (const uint8_t *)in + 8 * i, sizeof(v));
		out[i] = (float)v;
	}
}

static float from_bits(uint32_t bits)
{
	float f;
	memcpy(&f, &bits, sizeof(f));
	return f;
}

static float f16_to_f32(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = (h >> 10) & 0x1f, fraction = h & 0x3ff;
	if (exponent == 0x1f)
		return from_bits(sign | 0x7f800000 | fraction << 13);
	if (exponent)
		return from_bits(sign | (exponent + 112) << 23 | fraction << 13);
	/* Below the smallest normal number: fraction * 2^-24. */
	float magnitude = (float)fraction * 0x1p-24f;
	return sign ? -magnitude : magnitude;
}

static uint16_t load16(const void *in, size_t i)
{
	const uint8_t *p = (const uint8_t *)in + 2 * i;
	return (uint16_t)((unsigned)p[0] | (unsigned)p[1] << 8);
}

void sherd_floats_from_f16(const void *in, float *out, size_t count)
{
	for (size_t i = 0; i < count; i++)
		out[i] = f16_to_f32(load16(in, i));
}

void sherd_floats_from_bf16(const void *in, float *out, size_t count)
{
	for (size_t i = 0; i < count; i++)
		out[i] = from_bits((uint32_t)load16(in, i) << 16);
}

void sherd_floats_widen_bf16(const void *in, double *out, size_t count)
{
	float some[1024];
	for (size_t done = 0; done < count; done += COUNT_OF(some)) {
		size_t n = count - done < COUNT_OF(some) ? count - done : COUNT_OF(some);
		sherd_floats_from_bf16((const uint8_t *)in + 2 * done, some, n);
		sherd_floats_widen(some, out + done, n);
	}
}

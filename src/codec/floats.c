#include "codec/floats.h"

#include "base/error.h"
#include "codec/halves.h"

#include <math.h>
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

void shd_floats_widen(const float *in, double *out, size_t count)
{
	if (__builtin_cpu_supports("avx512f"))
		widen_avx512(in, out, count);
	else if (__builtin_cpu_supports("avx2"))
		widen_avx2(in, out, count);
	else
		widen_plain(in, out, count);
}

#else

void shd_floats_widen(const float *in, double *out, size_t count)
{
	widen_plain(in, out, count);
}

#endif

void shd_floats_from_f64(const void *in, float *out, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double v;
		memcpy(&v, (const uint8_t *)in + 8 * i, sizeof(v));
		out[i] = (float)v;
	}
}

/* ---- any type into any other */

/* As a float whose last bit tells that something was cut off: then rounding once more is as if from the double. */
static float to_odd(double d)
{
	float f = (float)d;
	uint32_t bits;
	if (isnan(d) || isinf(d) || (double)f == d)
		return f;
	memcpy(&bits, &f, sizeof(bits));
	if (fabs((double)f) > fabs(d))
		bits--;
	bits |= 1;
	memcpy(&f, &bits, sizeof(f));
	return f;
}

static void f64_to_odd(const void *in, float *out, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double v;
		memcpy(&v, (const uint8_t *)in + 8 * i, sizeof(v));
		out[i] = to_odd(v);
	}
}

static void to_f32(sherd_dtype from, const void *in, float *out, size_t count)
{
	if (from == SHERD_F16)
		shd_halves_widen_f16(in, out, count);
	else if (from == SHERD_BF16)
		shd_halves_widen_bf16(in, out, count);
	else if (from == SHERD_F64)
		shd_floats_from_f64(in, out, count);
	else
		memcpy(out, in, count * sizeof(*out));
}

static void from_f32(sherd_dtype to, const float *in, void *out, size_t count)
{
	if (to == SHERD_F16)
		shd_halves_narrow_f16(in, out, count);
	else if (to == SHERD_BF16)
		shd_halves_narrow_bf16(in, out, count);
	else
		shd_floats_widen(in, out, count);
}

/* Some at a time by way of floats. */
static void by_floats(sherd_dtype from, const uint8_t *in, sherd_dtype to, uint8_t *out, size_t count)
{
	float some[1024];
	size_t in_bytes = sherd_dtype_element_bytes(from), out_bytes = sherd_dtype_element_bytes(to);
	for (size_t done = 0; done < count; done += COUNT_OF(some)) {
		size_t n = count - done < COUNT_OF(some) ? count - done : COUNT_OF(some);
		if (from == SHERD_F64)
			f64_to_odd(in + in_bytes * done, some, n);
		else
			to_f32(from, in + in_bytes * done, some, n);
		from_f32(to, some, out + out_bytes * done, n);
	}
}

void shd_floats_convert(sherd_dtype from, const void *in, sherd_dtype to, void *out, size_t count)
{
	if (from == to)
		memcpy(out, in, count * sherd_dtype_element_bytes(from));
	else if (to == SHERD_F32)
		to_f32(from, in, out, count);
	else if (from == SHERD_F32)
		from_f32(to, in, out, count);
	else
		by_floats(from, in, to, out, count);
}

static size_t infinite_halves(const uint8_t *in, size_t count, unsigned infinity)
{
	size_t found = 0;
	uint16_t v;
	for (size_t i = 0; i < count; i++) {
		memcpy(&v, in + i * sizeof(v), sizeof(v));
		found += (v & 0x7fffu) == infinity;
	}
	return found;
}

static size_t infinite_f32(const uint8_t *in, size_t count)
{
	size_t found = 0;
	uint32_t v;
	for (size_t i = 0; i < count; i++) {
		memcpy(&v, in + i * sizeof(v), sizeof(v));
		found += (v & 0x7fffffffu) == 0x7f800000u;
	}
	return found;
}

static size_t infinite_f64(const uint8_t *in, size_t count)
{
	size_t found = 0;
	uint64_t v;
	for (size_t i = 0; i < count; i++) {
		memcpy(&v, in + i * sizeof(v), sizeof(v));
		found += (v & 0x7fffffffffffffffu) == 0x7ff0000000000000u;
	}
	return found;
}

size_t shd_floats_infinite(sherd_dtype dtype, const void *in, size_t count)
{
	if (dtype == SHERD_F64)
		return infinite_f64(in, count);
	if (dtype == SHERD_F32)
		return infinite_f32(in, count);
	return infinite_halves(in, count, dtype == SHERD_F16 ? 0x7c00 : 0x7f80);
}

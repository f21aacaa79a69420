#include "codec/blocks.h"

#include "codec/halves.h"

#include <string.h>

enum { SMALL = 32, LARGE = 256 }; /* elements of a block */

/* The compiler makes vectors of these loops, once for each set of instructions that they are compiled for. */
#define ALWAYS __attribute__((always_inline))

static inline ALWAYS float half_at(const uint8_t *p)
{
	float f;
	shd_halves_widen_f16(p, &f, 1);
	return f;
}

static uint32_t bits_at(const uint8_t *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

/* ---- 32 elements: a scale, perhaps a least value, a fifth bit of each, four bits of each */

static inline ALWAYS void widen_q4_0(const uint8_t *in, float *out)
{
	float d = half_at(in);
	for (size_t i = 0; i < 16; i++) {
		out[i] = (float)((in[2 + i] & 15) - 8) * d;
		out[i + 16] = (float)((in[2 + i] >> 4) - 8) * d;
	}
}

static inline ALWAYS void widen_q4_1(const uint8_t *in, float *out)
{
	float d = half_at(in), least = half_at(in + 2);
	for (size_t i = 0; i < 16; i++) {
		out[i] = (float)(in[4 + i] & 15) * d + least;
		out[i + 16] = (float)(in[4 + i] >> 4) * d + least;
	}
}

static inline ALWAYS void widen_q5_0(const uint8_t *in, float *out)
{
	float d = half_at(in);
	uint32_t fifth = bits_at(in + 2);
	for (size_t i = 0; i < 16; i++) {
		int low = (in[6 + i] & 15) | (int)(fifth >> i & 1) << 4;
		int high = in[6 + i] >> 4 | (int)(fifth >> (i + 16) & 1) << 4;
		out[i] = (float)(low - 16) * d;
		out[i + 16] = (float)(high - 16) * d;
	}
}

static inline ALWAYS void widen_q5_1(const uint8_t *in, float *out)
{
	float d = half_at(in), least = half_at(in + 2);
	uint32_t fifth = bits_at(in + 4);
	for (size_t i = 0; i < 16; i++) {
		int low = (in[8 + i] & 15) | (int)(fifth >> i & 1) << 4;
		int high = in[8 + i] >> 4 | (int)(fifth >> (i + 16) & 1) << 4;
		out[i] = (float)low * d + least;
		out[i + 16] = (float)high * d + least;
	}
}

static inline ALWAYS void widen_q8_0(const uint8_t *in, float *out)
{
	float d = half_at(in);
	for (size_t i = 0; i < SMALL; i++)
		out[i] = (float)(int8_t)in[2 + i] * d;
}

/* ---- 256 elements: groups of 16 or 32 with a scale each, which are scaled themselves */

/* Two bits of each element; 16 groups with four bits of scale and four of least value. */
static inline ALWAYS void widen_q2_k(const uint8_t *in, float *out)
{
	const uint8_t *scales = in, *bits = in + 16;
	float d = half_at(in + 80), least = half_at(in + 82);
	for (size_t group = 0; group < 16; group++) {
		const uint8_t *q = bits + group / 8 * 32 + group % 2 * 16;
		unsigned shift = (unsigned)(group % 8 / 2 * 2);
		float scale = d * (float)(scales[group] & 15), below = least * (float)(scales[group] >> 4);
		for (size_t i = 0; i < 16; i++)
			out[group * 16 + i] = scale * (float)(q[i] >> shift & 3) - below;
	}
}

/* Two bits of each element and a third one apart, which is inverted; 16 groups with a scale of six bits. */
static inline ALWAYS void widen_q3_k(const uint8_t *in, float *out)
{
	const uint8_t *third = in, *bits = in + 32, *scales = in + 96;
	float d = half_at(in + 108);
	for (size_t group = 0; group < 16; group++) {
		const uint8_t *q = bits + group / 8 * 32 + group % 2 * 16, *h = third + group % 2 * 16;
		unsigned shift = (unsigned)(group % 8 / 2 * 2), mask = 1u << group / 2;
		int low = group < 8 ? scales[group] & 15 : scales[group - 8] >> 4;
		int high = scales[8 + group % 4] >> group / 4 * 2 & 3;
		float scale = d * (float)((low | high << 4) - 32);
		for (size_t i = 0; i < 16; i++)
			out[group * 16 + i] = scale * (float)((q[i] >> shift & 3) - (h[i] & mask ? 0 : 4));
	}
}

/* Scale and least value of one of 8 groups, six bits each, in 12 bytes. */
static inline ALWAYS void scale_of_k(const uint8_t *packed, size_t group, int *scale, int *least)
{
	if (group < 4) {
		*scale = packed[group] & 63;
		*least = packed[group + 4] & 63;
	} else {
		*scale = (packed[group + 4] & 15) | packed[group - 4] >> 6 << 4;
		*least = packed[group + 4] >> 4 | packed[group] >> 6 << 4;
	}
}

static inline ALWAYS void widen_q4_k(const uint8_t *in, float *out)
{
	float d = half_at(in), d_least = half_at(in + 2);
	for (size_t group = 0; group < 8; group++) {
		const uint8_t *q = in + 16 + group / 2 * 32;
		int scale, least;
		unsigned shift = (unsigned)(group % 2 * 4);
		scale_of_k(in + 4, group, &scale, &least);
		float step = d * (float)scale, below = d_least * (float)least;
		for (size_t i = 0; i < 32; i++)
			out[group * 32 + i] = step * (float)(q[i] >> shift & 15) - below;
	}
}

static inline ALWAYS void widen_q5_k(const uint8_t *in, float *out)
{
	float d = half_at(in), d_least = half_at(in + 2);
	const uint8_t *fifth = in + 16;
	for (size_t group = 0; group < 8; group++) {
		const uint8_t *q = in + 48 + group / 2 * 32;
		int scale, least;
		unsigned shift = (unsigned)(group % 2 * 4);
		scale_of_k(in + 4, group, &scale, &least);
		float step = d * (float)scale, below = d_least * (float)least;
		for (size_t i = 0; i < 32; i++)
			out[group * 32 + i] =
				step * (float)((q[i] >> shift & 15) | (fifth[i] >> group & 1) << 4) - below;
	}
}

/* Four bits of each element and two more apart; 16 groups with a scale of eight bits, signed. */
static inline ALWAYS void widen_q6_k(const uint8_t *in, float *out)
{
	const uint8_t *low = in, *high = in + 128, *scales = in + 192;
	float d = half_at(in + 208);
	for (size_t group = 0; group < 16; group++) {
		size_t part = group / 8, quarter = group % 8 / 2, half = group % 2 * 16;
		const uint8_t *l = low + part * 64 + quarter % 2 * 32 + half, *h = high + part * 32 + half;
		unsigned l_shift = (unsigned)(quarter / 2 * 4), h_shift = (unsigned)(quarter * 2);
		float scale = d * (float)(int8_t)scales[group];
		for (size_t i = 0; i < 16; i++) {
			int q = (l[i] >> l_shift & 15) | (h[i] >> h_shift & 3) << 4;
			out[group * 16 + i] = scale * (float)(q - 32);
		}
	}
}

/* ---- many blocks */

#define EACH(widen, block_bytes, elements)                           \
	for (size_t i = 0; i < blocks; i++)                          \
		widen(in + i * (block_bytes), out + i * (elements)); \
	break

static inline ALWAYS void widen_any(sherd_dtype dtype, const uint8_t *in, float *out, size_t blocks)
{
	switch (dtype) {
	case SHERD_Q4_0: EACH(widen_q4_0, 18, SMALL);
	case SHERD_Q4_1: EACH(widen_q4_1, 20, SMALL);
	case SHERD_Q5_0: EACH(widen_q5_0, 22, SMALL);
	case SHERD_Q5_1: EACH(widen_q5_1, 24, SMALL);
	case SHERD_Q8_0: EACH(widen_q8_0, 34, SMALL);
	case SHERD_Q2_K: EACH(widen_q2_k, 84, LARGE);
	case SHERD_Q3_K: EACH(widen_q3_k, 110, LARGE);
	case SHERD_Q4_K: EACH(widen_q4_k, 144, LARGE);
	case SHERD_Q5_K: EACH(widen_q5_k, 176, LARGE);
	case SHERD_Q6_K: EACH(widen_q6_k, 210, LARGE);
	default: break;
	}
}

static void widen_plain(sherd_dtype dtype, const uint8_t *in, float *out, size_t blocks)
{
	widen_any(dtype, in, out, blocks);
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) static void widen_avx2(sherd_dtype dtype, const uint8_t *in, float *out, size_t blocks)
{
	widen_any(dtype, in, out, blocks);
}

#define WIDEN(...) (__builtin_cpu_supports("avx2") ? widen_avx2(__VA_ARGS__) : widen_plain(__VA_ARGS__))

#else

#define WIDEN(...) widen_plain(__VA_ARGS__)

#endif

bool shd_blocks_known(sherd_dtype dtype)
{
	switch (dtype) {
	case SHERD_Q4_0:
	case SHERD_Q4_1:
	case SHERD_Q5_0:
	case SHERD_Q5_1:
	case SHERD_Q8_0:
	case SHERD_Q2_K:
	case SHERD_Q3_K:
	case SHERD_Q4_K:
	case SHERD_Q5_K:
	case SHERD_Q6_K: return true;
	default: return false;
	}
}

void shd_blocks_widen(sherd_dtype dtype, const void *in, float *out, size_t blocks)
{
	WIDEN(dtype, in, out, blocks);
}

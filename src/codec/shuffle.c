#include "codec/shuffle.h"

#include <stdint.h>
#include <string.h>

/* Elements from `from` on, one at a time. */
static void shuffle_spread(const uint8_t *in, size_t from, size_t count, size_t width, uint8_t *out)
{
	for (size_t i = from; i < count; i++)
		for (size_t k = 0; k < width; k++)
			out[k * count + i] = in[i * width + k];
}

static void shuffle_gather(const uint8_t *in, size_t from, size_t count, size_t width, uint8_t *out)
{
	for (size_t i = from; i < count; i++)
		for (size_t k = 0; k < width; k++)
			out[i * width + k] = in[k * count + i];
}

#ifdef __SSE2__
#include <emmintrin.h>

static __m128i shuffle_load(const uint8_t *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static void shuffle_store(uint8_t *p, __m128i v)
{
	_mm_storeu_si128((__m128i *)(void *)p, v);
}

/* Byte k of each of the 16 elements of 4 bytes. */
static __m128i plane_of_4(const __m128i v[4], int k)
{
	const __m128i low = _mm_set1_epi32(0xff), by = _mm_cvtsi32_si128(8 * k);
	__m128i x[4];
	for (int i = 0; i < 4; i++)
		x[i] = _mm_and_si128(_mm_srl_epi32(v[i], by), low);
	return _mm_packus_epi16(_mm_packs_epi32(x[0], x[1]), _mm_packs_epi32(x[2], x[3]));
}

/* Each returns how many elements it did, 16 at a time. */
static size_t spread_4(const uint8_t *in, size_t count, uint8_t *out)
{
	size_t i = 0;
	for (; i + 16 <= count; i += 16) {
		const __m128i v[4] = {shuffle_load(in + 4 * i), shuffle_load(in + 4 * i + 16),
		                      shuffle_load(in + 4 * i + 32), shuffle_load(in + 4 * i + 48)};
		for (int k = 0; k < 4; k++)
			shuffle_store(out + (size_t)k * count + i, plane_of_4(v, k));
	}
	return i;
}

static size_t spread_2(const uint8_t *in, size_t count, uint8_t *out)
{
	const __m128i low = _mm_set1_epi16(0xff);
	size_t i = 0;
	for (; i + 16 <= count; i += 16) {
		__m128i a = shuffle_load(in + 2 * i), b = shuffle_load(in + 2 * i + 16);
		shuffle_store(out + i, _mm_packus_epi16(_mm_and_si128(a, low), _mm_and_si128(b, low)));
		shuffle_store(out + count + i, _mm_packus_epi16(_mm_srli_epi16(a, 8), _mm_srli_epi16(b, 8)));
	}
	return i;
}

static size_t gather_4(const uint8_t *in, size_t count, uint8_t *out)
{
	size_t i = 0;
	for (; i + 16 <= count; i += 16) {
		__m128i a = shuffle_load(in + i), b = shuffle_load(in + count + i),
			c = shuffle_load(in + 2 * count + i), d = shuffle_load(in + 3 * count + i);
		__m128i ab = _mm_unpacklo_epi8(a, b), cd = _mm_unpacklo_epi8(c, d);
		shuffle_store(out + 4 * i, _mm_unpacklo_epi16(ab, cd));
		shuffle_store(out + 4 * i + 16, _mm_unpackhi_epi16(ab, cd));
		ab = _mm_unpackhi_epi8(a, b);
		cd = _mm_unpackhi_epi8(c, d);
		shuffle_store(out + 4 * i + 32, _mm_unpacklo_epi16(ab, cd));
		shuffle_store(out + 4 * i + 48, _mm_unpackhi_epi16(ab, cd));
	}
	return i;
}

static size_t gather_2(const uint8_t *in, size_t count, uint8_t *out)
{
	size_t i = 0;
	for (; i + 16 <= count; i += 16) {
		__m128i a = shuffle_load(in + i), b = shuffle_load(in + count + i);
		shuffle_store(out + 2 * i, _mm_unpacklo_epi8(a, b));
		shuffle_store(out + 2 * i + 16, _mm_unpackhi_epi8(a, b));
	}
	return i;
}

static size_t spread_many(const uint8_t *in, size_t count, size_t width, uint8_t *out)
{
	return width == 4 ? spread_4(in, count, out) : width == 2 ? spread_2(in, count, out) : 0;
}

static size_t gather_many(const uint8_t *in, size_t count, size_t width, uint8_t *out)
{
	return width == 4 ? gather_4(in, count, out) : width == 2 ? gather_2(in, count, out) : 0;
}
#else
static size_t spread_many(const uint8_t *in, size_t count, size_t width, uint8_t *out)
{
	(void)in, (void)count, (void)width, (void)out;
	return 0;
}

static size_t gather_many(const uint8_t *in, size_t count, size_t width, uint8_t *out)
{
	(void)in, (void)count, (void)width, (void)out;
	return 0;
}
#endif

static void keep_rest(const uint8_t *in, size_t len, size_t whole, uint8_t *out)
{
	if (len > whole)
		memcpy(out + whole, in + whole, len - whole);
}

void shd_shuffle(const void *in, size_t len, size_t width, void *out)
{
	size_t count = width ? len / width : 0;
	shuffle_spread(in, spread_many(in, count, width, out), count, width, out);
	keep_rest(in, len, count * width, out);
}

void shd_unshuffle(const void *in, size_t len, size_t width, void *out)
{
	size_t count = width ? len / width : 0;
	shuffle_gather(in, gather_many(in, count, width, out), count, width, out);
	keep_rest(in, len, count * width, out);
}

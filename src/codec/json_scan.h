/* codec/json_scan.h - the two loops in which a JSON parser spends its time, several bytes at a time.
 *
 * Both look at [p, end) only. SHD_JSON_NO_SSE2 chooses the portable code, for its tests. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) && !defined(SHD_JSON_NO_SSE2)
#define JSON_SCAN_SSE2 1
#include <emmintrin.h>
#endif

static inline bool json_is_space(uint8_t c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* May the byte stand in a string as it is, alone? */
static inline bool json_is_plain(uint8_t c)
{
	return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* Bit 7 of each byte that is not plain. A borrow may set it wrongly, but only above a right one,
 * so that the lowest is exact. */
static inline uint64_t json_unplain_bytes(uint64_t v)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t quote = v ^ ones * '"', slash = v ^ ones * '\\';
	uint64_t low = (v - ones * 0x20) & ~v;
	return (low | ((quote - ones) & ~quote) | ((slash - ones) & ~slash) | v) & ones * 0x80;
}
#endif

/* The first byte that is not plain, or end. */
static inline const uint8_t *json_plain_end(const uint8_t *p, const uint8_t *end)
{
#ifdef JSON_SCAN_SSE2
	const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), space = _mm_set1_epi8(0x20);
	for (; end - p >= 16; p += 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
		/* The comparison is signed: bytes from 0x80 are below 0x20 as well. */
		__m128i hit = _mm_or_si128(_mm_cmplt_epi8(v, space),
		                           _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash)));
		unsigned mask = (unsigned)_mm_movemask_epi8(hit);
		if (mask)
			return p + __builtin_ctz(mask);
	}
#endif
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	for (; end - p >= 8; p += 8) {
		uint64_t v;
		memcpy(&v, p, 8);
		uint64_t hit = json_unplain_bytes(v);
		if (hit)
			return p + __builtin_ctzll(hit) / 8;
	}
#endif
	while (p < end && json_is_plain(*p))
		p++;
	return p;
}

static const uint8_t *json_spaces_end(const uint8_t *p, const uint8_t *end);

/* The first byte that is not white space, or end. */
static inline const uint8_t *json_space_end(const uint8_t *p, const uint8_t *end)
{
	/* Mostly nothing or one space stands between tokens of a line. */
	if (end - p > 1) {
		if (*p > ' ')
			return p;
		if (*p == ' ' && p[1] > ' ')
			return p + 1;
	}
	return json_spaces_end(p, end);
}

__attribute__((noinline)) static const uint8_t *json_spaces_end(const uint8_t *p, const uint8_t *end)
{
#ifdef JSON_SCAN_SSE2
	const __m128i space = _mm_set1_epi8(' '), line = _mm_set1_epi8('\n'), tab = _mm_set1_epi8('\t'),
		      ret = _mm_set1_epi8('\r');
	for (; end - p >= 16; p += 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i hit = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, space), _mm_cmpeq_epi8(v, line)),
		                           _mm_or_si128(_mm_cmpeq_epi8(v, tab), _mm_cmpeq_epi8(v, ret)));
		unsigned mask = (unsigned)_mm_movemask_epi8(hit) ^ 0xffff;
		if (mask)
			return p + __builtin_ctz(mask);
	}
#endif
	while (p < end && json_is_space(*p))
		p++;
	return p;
}

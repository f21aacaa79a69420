#include "base/copy.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>

/* Below this a copy by the C library is as fast, and its target may be wanted soon. */
enum { PAST_FROM = 64 << 10 };

/* A store past the cache has to fill a line whole. Several pages are copied side by side, since the processor foresees
 * what is read only within a page. */
enum { LINE = 64, PAGE = 4096, ABREAST = 4 };

static inline void copy_line(uint8_t *to, const uint8_t *from)
{
	__m128i a = _mm_loadu_si128((const __m128i *)(const void *)from);
	__m128i b = _mm_loadu_si128((const __m128i *)(const void *)(from + 16));
	__m128i c = _mm_loadu_si128((const __m128i *)(const void *)(from + 32));
	__m128i d = _mm_loadu_si128((const __m128i *)(const void *)(from + 48));
	_mm_stream_si128((__m128i *)(void *)to, a);
	_mm_stream_si128((__m128i *)(void *)(to + 16), b);
	_mm_stream_si128((__m128i *)(void *)(to + 32), c);
	_mm_stream_si128((__m128i *)(void *)(to + 48), d);
}

/* len is a multiple of LINE. */
static void copy_lines(uint8_t *to, const uint8_t *from, size_t len)
{
	size_t at = 0;
	for (; len - at >= (size_t)ABREAST * PAGE; at += (size_t)ABREAST * PAGE)
		for (size_t line = at; line < at + PAGE; line += LINE)
			for (size_t page = 0; page < ABREAST; page++)
				copy_line(to + line + page * PAGE, from + line + page * PAGE);
	for (; at < len; at += LINE)
		copy_line(to + at, from + at);
	_mm_sfence();
}

void shd_copy_past(void *restrict to, const void *restrict from, size_t len)
{
	if (len < PAST_FROM) {
		memcpy(to, from, len);
		return;
	}
	size_t head = (LINE - (uintptr_t)to % LINE) % LINE;
	size_t tail = (len - head) % LINE;
	uint8_t *out = to;
	const uint8_t *in = from;
	memcpy(out, in, head);
	copy_lines(out + head, in + head, len - head - tail);
	memcpy(out + len - tail, in + len - tail, tail);
}

#else

void shd_copy_past(void *restrict to, const void *restrict from, size_t len)
{
	memcpy(to, from, len);
}

#endif

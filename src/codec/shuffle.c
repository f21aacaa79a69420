#include "codec/shuffle.h"

#include <stdint.h>
#include <string.h>

/* As much as the first-level cache holds of input and output together. */
enum { BLOCK = 2048 };

/* Inlined for each width that matters, so that the compiler knows it. */
static inline __attribute__((always_inline)) void spread(const uint8_t *in, size_t count, size_t width, uint8_t *out)
{
	for (size_t from = 0; from < count; from += BLOCK) {
		size_t n = count - from < BLOCK ? count - from : BLOCK;
		for (size_t k = 0; k < width; k++)
			for (size_t i = from; i < from + n; i++)
				out[k * count + i] = in[i * width + k];
	}
}

static inline __attribute__((always_inline)) void gather(const uint8_t *in, size_t count, size_t width, uint8_t *out)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < width; k++)
			out[i * width + k] = in[k * count + i];
}

void sherd_shuffle(const void *in, size_t len, size_t width, void *out)
{
	size_t count = width ? len / width : 0, whole = count * width;
	switch (width) {
	case 2: spread(in, count, 2, out); break;
	case 4: spread(in, count, 4, out); break;
	case 8: spread(in, count, 8, out); break;
	default: spread(in, count, width, out); break;
	}
	if (len > whole)
		memcpy((uint8_t *)out + whole, (const uint8_t *)in + whole, len - whole);
}

void sherd_unshuffle(const void *in, size_t len, size_t width, void *out)
{
	size_t count = width ? len / width : 0, whole = count * width;
	switch (width) {
	case 2: gather(in, count, 2, out); break;
	case 4: gather(in, count, 4, out); break;
	case 8: gather(in, count, 8, out); break;
	default: gather(in, count, width, out); break;
	}
	if (len > whole)
		memcpy((uint8_t *)out + whole, (const uint8_t *)in + whole, len - whole);
}

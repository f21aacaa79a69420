/* codec/utf8.h - one sequence of UTF-8 at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool utf8_tail(uint8_t c)
{
	return (c & 0xc0) == 0x80;
}

/* Bytes of the sequence that begins with p[0] >= 0x80, or 0 when it is not valid or does not end within left. */
static inline size_t utf8_sequence(const uint8_t *p, size_t left)
{
	uint8_t c = p[0];
	if (c < 0xc2 || left < 2 || !utf8_tail(p[1]))
		return 0;
	if (c < 0xe0)
		return 2;
	if (c < 0xf0) {
		bool overlong = c == 0xe0 && p[1] < 0xa0, surrogate = c == 0xed && p[1] > 0x9f;
		return left > 2 && utf8_tail(p[2]) && !overlong && !surrogate ? 3 : 0;
	}
	bool overlong = c == 0xf0 && p[1]<0x90, too_large = c> 0xf4 || (c == 0xf4 && p[1] > 0x8f);
	return left > 3 && utf8_tail(p[2]) && utf8_tail(p[3]) && !overlong && !too_large ? 4 : 0;
}

/* Could these last bytes of a document begin a valid sequence that was cut off? */
bool shd_utf8_cut_off(const uint8_t *p, size_t left);

#include "format/samediff/java_text.h"

enum { HIGH = 0xd800, LOW = 0xdc00, LAST = 0xdfff };

/* One unit of 16 bits; 0 bytes taken when there is none. */
static size_t take_unit(const uint8_t *p, size_t left, uint32_t *out)
{
	if (p[0] < 0x80) {
		*out = p[0];
		return 1;
	}
	if ((p[0] & 0xe0) == 0xc0 && left >= 2 && (p[1] & 0xc0) == 0x80) {
		*out = (uint32_t)(p[0] & 0x1f) << 6 | (p[1] & 0x3f);
		return *out >= 0x80 || !*out ? 2 : 0;
	}
	if ((p[0] & 0xf0) == 0xe0 && left >= 3 && (p[1] & 0xc0) == 0x80 && (p[2] & 0xc0) == 0x80) {
		*out = (uint32_t)(p[0] & 0xf) << 12 | (uint32_t)(p[1] & 0x3f) << 6 | (p[2] & 0x3f);
		return *out >= 0x800 ? 3 : 0;
	}
	return 0;
}

static void put_long(uint32_t point, shd_buf *out)
{
	shd_buf_u8(out, (uint8_t)(0xf0 | point >> 18));
	shd_buf_u8(out, (uint8_t)(0x80 | (point >> 12 & 0x3f)));
	shd_buf_u8(out, (uint8_t)(0x80 | (point >> 6 & 0x3f)));
	shd_buf_u8(out, (uint8_t)(0x80 | (point & 0x3f)));
}

bool shd_java_text_decode(const uint8_t *text, size_t len, shd_buf *out)
{
	for (size_t i = 0; i < len;) {
		uint32_t unit, low;
		size_t n = take_unit(text + i, len - i, &unit), more = 0;
		if (!n || !unit)
			return false;
		if (unit >= HIGH && unit <= LAST) {
			more = i + n < len ? take_unit(text + i + n, len - i - n, &low) : 0;
			if (unit >= LOW || !more || low < LOW || low > LAST)
				return false;
			put_long(0x10000 + ((unit - HIGH) << 10 | (low - LOW)), out);
		} else {
			shd_buf_append(out, text + i, n);
		}
		i += n + more;
	}
	return true;
}

static void put_surrogate(uint32_t unit, shd_buf *out)
{
	shd_buf_u8(out, (uint8_t)(0xe0 | unit >> 12));
	shd_buf_u8(out, (uint8_t)(0x80 | (unit >> 6 & 0x3f)));
	shd_buf_u8(out, (uint8_t)(0x80 | (unit & 0x3f)));
}

void shd_java_text_encode(const char *text, size_t len, shd_buf *out)
{
	const uint8_t *p = (const uint8_t *)text;
	for (size_t i = 0; i < len;) {
		if (p[i] < 0xf0 || len - i < 4) {
			shd_buf_u8(out, p[i++]);
			continue;
		}
		uint32_t point = (uint32_t)(p[i] & 7) << 18 | (uint32_t)(p[i + 1] & 0x3f) << 12 |
		                 (uint32_t)(p[i + 2] & 0x3f) << 6 | (p[i + 3] & 0x3f);
		point -= 0x10000;
		put_surrogate(HIGH | point >> 10, out);
		put_surrogate(LOW | (point & 0x3ff), out);
		i += 4;
	}
}

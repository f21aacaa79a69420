/* base/buf.h - a byte buffer that grows.
 *
 * Appends need no checking: the first failed allocation sticks, later appends do
 * nothing, and shd_buf_check() reports it once at the end. */
#pragma once

#include "base/str.h"
#include "base/vec.h"

#include <stdarg.h>
#include <stdint.h>

typedef struct shd_buf {
	uint8_t *data;
	size_t len;
	size_t cap;
	bool failed;
} shd_buf;

void shd_buf_done(shd_buf *b);                 /* frees and empties */
bool shd_buf_reserve(shd_buf *b, size_t more); /* room for more bytes after len */
void shd_buf_append(shd_buf *b, const void *data, size_t len);
void shd_buf_zero(shd_buf *b, size_t len); /* appends zero bytes */
__attribute__((format(printf, 2, 3))) void shd_buf_printf(shd_buf *b, const char *fmt, ...);
int shd_buf_check(const shd_buf *b, sherd_error *err);
/* Ends a text with its NUL, and tells whether all of it is there. */
int shd_buf_end(shd_buf *b, sherd_error *err);
/* Hands out the bytes with a NUL after them (not counted) and empties the buffer; NULL when it failed. */
char *shd_buf_take(shd_buf *b);

static inline void shd_buf_str(shd_buf *b, const char *text)
{
	shd_buf_append(b, text, strlen(text));
}

static inline void shd_buf_u8(shd_buf *b, uint8_t v)
{
	shd_buf_append(b, &v, 1);
}

/* Integers are little-endian. */
static inline void shd_buf_u16(shd_buf *b, uint16_t v)
{
	shd_buf_append(b, (uint8_t[]){(uint8_t)v, (uint8_t)(v >> 8)}, 2);
}

static inline void shd_put_u32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

static inline void shd_put_u64(uint8_t *p, uint64_t v)
{
	shd_put_u32(p, (uint32_t)v);
	shd_put_u32(p + 4, (uint32_t)(v >> 32));
}

static inline void shd_buf_u32(shd_buf *b, uint32_t v)
{
	uint8_t raw[4];
	shd_put_u32(raw, v);
	shd_buf_append(b, raw, sizeof(raw));
}

static inline void shd_buf_u64(shd_buf *b, uint64_t v)
{
	uint8_t raw[8];
	shd_put_u64(raw, v);
	shd_buf_append(b, raw, sizeof(raw));
}

#define SHD_AUTO_BUF __attribute__((cleanup(shd_buf_done))) shd_buf

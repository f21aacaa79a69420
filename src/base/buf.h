/* base/buf.h - a byte buffer that grows.
 *
 * Appends need no checking: the first failed allocation sticks, later appends do
 * nothing, and sherd_buf_check() reports it once at the end. */
#ifndef SHERD_BASE_BUF_H
#define SHERD_BASE_BUF_H

#include "base/error.h"
#include "base/str.h"

#include <stdarg.h>
#include <stdint.h>

typedef struct sherd_buf {
	uint8_t *data;
	size_t len;
	size_t cap;
	bool failed;
} sherd_buf;

void sherd_buf_done(sherd_buf *b);                 /* frees and empties */
bool sherd_buf_reserve(sherd_buf *b, size_t more); /* room for more bytes behind len */
void sherd_buf_append(sherd_buf *b, const void *data, size_t len);
void sherd_buf_zero(sherd_buf *b, size_t len); /* appends zero bytes */
__attribute__((format(printf, 2, 3))) void sherd_buf_printf(sherd_buf *b, const char *fmt, ...);
int sherd_buf_check(const sherd_buf *b, sherd_error *err);
/* Hands out the bytes with a NUL behind them (not counted) and empties the buffer; NULL when it failed. */
char *sherd_buf_take(sherd_buf *b);

static inline void sherd_buf_str(sherd_buf *b, const char *text)
{
	sherd_buf_append(b, text, strlen(text));
}

static inline void sherd_buf_u8(sherd_buf *b, uint8_t v)
{
	sherd_buf_append(b, &v, 1);
}

/* Integers are little-endian. */
static inline void sherd_buf_u16(sherd_buf *b, uint16_t v)
{
	sherd_buf_append(b, (uint8_t[]){(uint8_t)v, (uint8_t)(v >> 8)}, 2);
}

static inline void sherd_put_u32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

static inline void sherd_put_u64(uint8_t *p, uint64_t v)
{
	sherd_put_u32(p, (uint32_t)v);
	sherd_put_u32(p + 4, (uint32_t)(v >> 32));
}

static inline void sherd_buf_u32(sherd_buf *b, uint32_t v)
{
	uint8_t raw[4];
	sherd_put_u32(raw, v);
	sherd_buf_append(b, raw, sizeof(raw));
}

static inline void sherd_buf_u64(sherd_buf *b, uint64_t v)
{
	uint8_t raw[8];
	sherd_put_u64(raw, v);
	sherd_buf_append(b, raw, sizeof(raw));
}

#define SHERD_AUTO_BUF __attribute__((cleanup(sherd_buf_done))) sherd_buf

#endif

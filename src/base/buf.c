#include "base/buf.h"

#include <stdio.h>

enum { PRINTED = 256 }; /* bytes that a formatted text mostly fits in */

void shd_buf_done(shd_buf *b)
{
	free(b->data);
	*b = (shd_buf){0};
}

bool shd_buf_reserve(shd_buf *b, size_t more)
{
	return (!b->failed && more <= b->cap - b->len) ||
	       shd_vec_grow(&b->data, sizeof(*b->data), b->len, &b->cap, &b->failed, more);
}

void shd_buf_append(shd_buf *b, const void *data, size_t len)
{
	if (len && shd_buf_reserve(b, len)) {
		memcpy(b->data + b->len, data, len);
		b->len += len;
	}
}

void shd_buf_zero(shd_buf *b, size_t len)
{
	if (len && shd_buf_reserve(b, len)) {
		memset(b->data + b->len, 0, len);
		b->len += len;
	}
}

void shd_buf_printf(shd_buf *b, const char *fmt, ...)
{
	va_list ap, again;
	if (!shd_buf_reserve(b, PRINTED))
		return;
	size_t room = b->cap - b->len;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf((char *)b->data + b->len, room, fmt, ap);
	va_end(ap);
	if (n < 0)
		b->failed = true;
	else if ((size_t)n >= room && shd_buf_reserve(b, (size_t)n + 1))
		(void)vsnprintf((char *)b->data + b->len, (size_t)n + 1, fmt, again);
	if (!b->failed)
		b->len += (size_t)n;
	va_end(again);
}

int shd_buf_check(const shd_buf *b, sherd_error *err)
{
	return b->failed ? shd_fail_nomem(err) : SHERD_OK;
}

int shd_buf_end(shd_buf *b, sherd_error *err)
{
	shd_buf_u8(b, 0);
	return shd_buf_check(b, err);
}

char *shd_buf_take(shd_buf *b)
{
	if (!shd_buf_reserve(b, 1))
		return NULL;
	b->data[b->len] = 0;
	char *text = (char *)b->data;
	*b = (shd_buf){0};
	return text;
}

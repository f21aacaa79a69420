#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>

enum { SMALLEST = 256, LARGE = 4096 };

void sherd_buf_done(sherd_buf *b)
{
	free(b->data);
	*b = (sherd_buf){0};
}

bool sherd_buf_reserve(sherd_buf *b, size_t more)
{
	if (b->failed)
		return false;
	if (more <= b->cap - b->len)
		return true;
	/* A short text grows a few times only, a long one wastes little. */
	size_t need, cap = b->cap < SMALLEST ? SMALLEST : b->cap < LARGE ? 4 * b->cap : b->cap + b->cap / 2;
	b->failed = __builtin_add_overflow(b->len, more, &need);
	if (cap < need)
		cap = need;
	uint8_t *data = b->failed ? NULL : realloc(b->data, cap);
	if (!data) {
		b->failed = true;
		return false;
	}
	b->data = data;
	b->cap = cap;
	return true;
}

void sherd_buf_append(sherd_buf *b, const void *data, size_t len)
{
	if (len && sherd_buf_reserve(b, len)) {
		memcpy(b->data + b->len, data, len);
		b->len += len;
	}
}

void sherd_buf_zero(sherd_buf *b, size_t len)
{
	if (len && sherd_buf_reserve(b, len)) {
		memset(b->data + b->len, 0, len);
		b->len += len;
	}
}

void sherd_buf_printf(sherd_buf *b, const char *fmt, ...)
{
	va_list ap, again;
	if (!sherd_buf_reserve(b, SMALLEST))
		return;
	size_t room = b->cap - b->len;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf((char *)b->data + b->len, room, fmt, ap);
	va_end(ap);
	if (n < 0)
		b->failed = true;
	else if ((size_t)n >= room && sherd_buf_reserve(b, (size_t)n + 1))
		(void)vsnprintf((char *)b->data + b->len, (size_t)n + 1, fmt, again);
	if (!b->failed)
		b->len += (size_t)n;
	va_end(again);
}

int sherd_buf_check(const sherd_buf *b, sherd_error *err)
{
	return b->failed ? sherd_fail_nomem(err) : SHERD_OK;
}

char *sherd_buf_take(sherd_buf *b)
{
	if (!sherd_buf_reserve(b, 1))
		return NULL;
	b->data[b->len] = 0;
	char *text = (char *)b->data;
	*b = (sherd_buf){0};
	return text;
}

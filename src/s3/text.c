#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void text_wipe(shd_s3_text *text)
{
	if (text->data)
		explicit_bzero(text->data, text->room);
	free(text->data);
}

static bool text_grow(shd_s3_text *text, size_t len)
{
	if (text->failed || len >= (size_t)-1 / 2 - text->len)
		return false;
	if (text->len + len < text->room)
		return true;
	size_t room = (text->len + len + 1) * 2;
	char *data = malloc(room);
	text->failed = !data;
	if (!data)
		return false;
	if (text->data)
		memcpy(data, text->data, text->len + 1);
	text_wipe(text);
	text->data = data;
	text->room = room;
	return true;
}

void shd_s3_text_add(shd_s3_text *text, const char *bytes, size_t len)
{
	if (!text_grow(text, len)) {
		text->failed = true;
		return;
	}
	if (len)
		memcpy(text->data + text->len, bytes, len);
	text->len += len;
	text->data[text->len] = 0;
}

void shd_s3_text_say(shd_s3_text *text, const char *fmt, ...)
{
	va_list ap;
	char *line;
	va_start(ap, fmt);
	int len = vasprintf(&line, fmt, ap);
	va_end(ap);
	if (len < 0) {
		text->failed = true;
		return;
	}
	shd_s3_text_add(text, line, (size_t)len);
	explicit_bzero(line, (size_t)len);
	free(line);
}

void shd_s3_text_encode(shd_s3_text *text, const char *bytes, bool keep_slash)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
	static const char digits[] = "0123456789ABCDEF";
	for (; *bytes; bytes++) {
		unsigned char c = (unsigned char)*bytes;
		if (strchr(plain, c) || (keep_slash && c == '/'))
			shd_s3_text_add(text, bytes, 1);
		else
			shd_s3_text_add(text, (char[]){'%', digits[c >> 4], digits[c & 15]}, 3);
	}
}

const char *shd_s3_text_of(const shd_s3_text *text)
{
	return text->data ? text->data : "";
}

void shd_s3_text_clear(shd_s3_text *text)
{
	text->len = 0;
	if (text->data)
		text->data[0] = 0;
}

void shd_s3_text_free(shd_s3_text *text)
{
	text_wipe(text);
	*text = (shd_s3_text){0};
}

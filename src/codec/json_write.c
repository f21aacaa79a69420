#include "codec/json_state.h"

#include <math.h>

enum { INDENT = 2, LEVELS = 64 };

void sherd_json_writer_init(sherd_json_writer *w, sherd_buf *buf)
{
	*w = (sherd_json_writer){.buf = buf, .first = true};
}

static bool within_line_at(const sherd_json_writer *w, uint32_t depth)
{
	/* Levels past the last bit are within one line, whatever was asked for. */
	return depth >= LEVELS || w->inline_levels >> depth & 1;
}

static void new_line(sherd_json_writer *w)
{
	size_t spaces = (size_t)w->depth * INDENT;
	if (!sherd_buf_reserve(w->buf, spaces + 1))
		return;
	w->buf->data[w->buf->len] = '\n';
	memset(w->buf->data + w->buf->len + 1, ' ', spaces);
	w->buf->len += spaces + 1;
}

/* What stands before a key or an item. */
static void separate(sherd_json_writer *w)
{
	if (!w->depth)
		return;
	if (!w->first)
		sherd_buf_u8(w->buf, ',');
	if (!within_line_at(w, w->depth))
		new_line(w);
	else if (!w->first)
		sherd_buf_u8(w->buf, ' ');
}

static void begin_value(sherd_json_writer *w)
{
	if (!w->after_key)
		separate(w);
	w->after_key = false;
	w->first = false;
}

static void open_container(sherd_json_writer *w, char bracket, bool within_line)
{
	begin_value(w);
	within_line = within_line || (w->depth && within_line_at(w, w->depth));
	w->depth++;
	if (w->depth < LEVELS) {
		uint64_t bit = (uint64_t)1 << w->depth;
		w->inline_levels = within_line ? w->inline_levels | bit : w->inline_levels & ~bit;
	}
	w->first = true;
	sherd_buf_u8(w->buf, (uint8_t)bracket);
}

static void close_container(sherd_json_writer *w, char bracket)
{
	bool lines = !w->first && !within_line_at(w, w->depth);
	w->depth--;
	if (lines)
		new_line(w);
	w->first = false;
	sherd_buf_u8(w->buf, (uint8_t)bracket);
}

void sherd_json_put_object(sherd_json_writer *w, bool within_line)
{
	open_container(w, '{', within_line);
}

void sherd_json_put_array(sherd_json_writer *w, bool within_line)
{
	open_container(w, '[', within_line);
}

void sherd_json_put_object_end(sherd_json_writer *w)
{
	close_container(w, '}');
}

void sherd_json_put_array_end(sherd_json_writer *w)
{
	close_container(w, ']');
}

static void put_escape(sherd_buf *b, uint8_t c)
{
	static const char from[] = "\"\\\b\f\n\r\t", into[] = "\"\\bfnrt";
	const char *hit = c ? memchr(from, c, sizeof(from) - 1) : NULL;
	if (hit)
		sherd_buf_append(b, (char[]){'\\', into[hit - from]}, 2);
	else
		sherd_buf_printf(b, "\\u%04x", c);
}

static void put_quoted(sherd_buf *b, sherd_str text)
{
	size_t from = 0;
	sherd_buf_u8(b, '"');
	for (size_t i = 0; i < text.len; i++) {
		uint8_t c = (uint8_t)text.ptr[i];
		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		sherd_buf_append(b, text.ptr + from, i - from);
		put_escape(b, c);
		from = i + 1;
	}
	if (text.len > from)
		sherd_buf_append(b, text.ptr + from, text.len - from);
	sherd_buf_u8(b, '"');
}

void sherd_json_put_key_str(sherd_json_writer *w, sherd_str key)
{
	separate(w);
	put_quoted(w->buf, key);
	sherd_buf_append(w->buf, ": ", 2);
	w->first = false;
	w->after_key = true;
}

void sherd_json_put_key(sherd_json_writer *w, const char *key)
{
	sherd_json_put_key_str(w, sherd_str_of(key));
}

void sherd_json_put_string(sherd_json_writer *w, sherd_str text)
{
	begin_value(w);
	put_quoted(w->buf, text);
}

void sherd_json_put_raw(sherd_json_writer *w, sherd_str text)
{
	begin_value(w);
	sherd_buf_append(w->buf, text.ptr, text.len);
}

void sherd_json_put_u128(sherd_json_writer *w, unsigned __int128 v)
{
	char digits[39];
	size_t at = sizeof(digits);
	do {
		digits[--at] = (char)('0' + (int)(v % 10));
		v /= 10;
	} while (v);
	sherd_json_put_raw(w, (sherd_str){digits + at, sizeof(digits) - at});
}

/* The digits end at `end`; where they begin. */
static char *put_digits(uint64_t v, char *end)
{
	do {
		*--end = (char)('0' + (int)(v % 10));
		v /= 10;
	} while (v);
	return end;
}

void sherd_json_put_u64(sherd_json_writer *w, uint64_t v)
{
	char text[20], *end = text + sizeof(text), *from = put_digits(v, end);
	sherd_json_put_raw(w, (sherd_str){from, (size_t)(end - from)});
}

void sherd_json_put_i64(sherd_json_writer *w, int64_t v)
{
	char text[20], *end = text + sizeof(text), *from = put_digits(v < 0 ? -(uint64_t)v : (uint64_t)v, end);
	if (v < 0)
		*--from = '-';
	sherd_json_put_raw(w, (sherd_str){from, (size_t)(end - from)});
}

void sherd_json_put_double(sherd_json_writer *w, double v)
{
	char text[SHERD_DOUBLE_TEXT];
	if (!isfinite(v))
		sherd_json_put_null(w);
	else if (sherd_double_format(v, text))
		sherd_json_put_raw(w, sherd_str_of(text));
	else
		w->buf->failed = true;
}

void sherd_json_put_bool(sherd_json_writer *w, bool v)
{
	sherd_json_put_raw(w, v ? SHERD_STR("true") : SHERD_STR("false"));
}

void sherd_json_put_null(sherd_json_writer *w)
{
	sherd_json_put_raw(w, SHERD_STR("null"));
}

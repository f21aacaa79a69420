#include "codec/json_state.h"

#include <math.h>

enum { INDENT = 2, LEVELS = 64 };

void shd_json_writer_init(shd_json_writer *w, shd_buf *buf)
{
	*w = (shd_json_writer){.buf = buf, .first = true};
}

static bool within_line_at(const shd_json_writer *w, uint32_t depth)
{
	/* Levels past the last bit are within one line, whatever was asked for. */
	return depth >= LEVELS || w->inline_levels >> depth & 1;
}

static void new_line(shd_json_writer *w)
{
	size_t spaces = (size_t)w->depth * INDENT;
	if (!shd_buf_reserve(w->buf, spaces + 1))
		return;
	w->buf->data[w->buf->len] = '\n';
	memset(w->buf->data + w->buf->len + 1, ' ', spaces);
	w->buf->len += spaces + 1;
}

/* What stands before a key or an item. */
static void separate(shd_json_writer *w)
{
	if (!w->depth)
		return;
	if (!w->first)
		shd_buf_u8(w->buf, ',');
	if (!within_line_at(w, w->depth))
		new_line(w);
	else if (!w->first)
		shd_buf_u8(w->buf, ' ');
}

static void begin_value(shd_json_writer *w)
{
	if (!w->after_key)
		separate(w);
	w->after_key = false;
	w->first = false;
}

static void open_container(shd_json_writer *w, char bracket, bool within_line)
{
	begin_value(w);
	within_line = within_line || (w->depth && within_line_at(w, w->depth));
	w->depth++;
	if (w->depth < LEVELS) {
		uint64_t bit = (uint64_t)1 << w->depth;
		w->inline_levels = within_line ? w->inline_levels | bit : w->inline_levels & ~bit;
	}
	w->first = true;
	shd_buf_u8(w->buf, (uint8_t)bracket);
}

static void close_container(shd_json_writer *w, char bracket)
{
	bool lines = !w->first && !within_line_at(w, w->depth);
	w->depth--;
	if (lines)
		new_line(w);
	w->first = false;
	shd_buf_u8(w->buf, (uint8_t)bracket);
}

void shd_json_put_object(shd_json_writer *w, bool within_line)
{
	open_container(w, '{', within_line);
}

void shd_json_put_array(shd_json_writer *w, bool within_line)
{
	open_container(w, '[', within_line);
}

void shd_json_put_object_end(shd_json_writer *w)
{
	close_container(w, '}');
}

void shd_json_put_array_end(shd_json_writer *w)
{
	close_container(w, ']');
}

static void put_escape(shd_buf *b, uint8_t c)
{
	static const char from[] = "\"\\\b\f\n\r\t", into[] = "\"\\bfnrt";
	const char *hit = c ? memchr(from, c, sizeof(from) - 1) : NULL;
	if (hit)
		shd_buf_append(b, (char[]){'\\', into[hit - from]}, 2);
	else
		shd_buf_printf(b, "\\u%04x", c);
}

static void put_quoted(shd_buf *b, shd_str text)
{
	size_t from = 0;
	shd_buf_u8(b, '"');
	for (size_t i = 0; i < text.len; i++) {
		uint8_t c = (uint8_t)text.ptr[i];
		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		shd_buf_append(b, text.ptr + from, i - from);
		put_escape(b, c);
		from = i + 1;
	}
	if (text.len > from)
		shd_buf_append(b, text.ptr + from, text.len - from);
	shd_buf_u8(b, '"');
}

void shd_json_put_key_str(shd_json_writer *w, shd_str key)
{
	separate(w);
	put_quoted(w->buf, key);
	shd_buf_append(w->buf, ": ", 2);
	w->first = false;
	w->after_key = true;
}

void shd_json_put_key(shd_json_writer *w, const char *key)
{
	shd_json_put_key_str(w, shd_str_of(key));
}

void shd_json_put_string(shd_json_writer *w, shd_str text)
{
	begin_value(w);
	put_quoted(w->buf, text);
}

void shd_json_put_raw(shd_json_writer *w, shd_str text)
{
	begin_value(w);
	shd_buf_append(w->buf, text.ptr, text.len);
}

void shd_json_put_u128(shd_json_writer *w, unsigned __int128 v)
{
	char digits[39];
	size_t at = sizeof(digits);
	do {
		digits[--at] = (char)('0' + (int)(v % 10));
		v /= 10;
	} while (v);
	shd_json_put_raw(w, (shd_str){digits + at, sizeof(digits) - at});
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

void shd_json_put_u64(shd_json_writer *w, uint64_t v)
{
	char text[20], *end = text + sizeof(text), *from = put_digits(v, end);
	shd_json_put_raw(w, (shd_str){from, (size_t)(end - from)});
}

void shd_json_put_i64(shd_json_writer *w, int64_t v)
{
	char text[20], *end = text + sizeof(text), *from = put_digits(v < 0 ? -(uint64_t)v : (uint64_t)v, end);
	if (v < 0)
		*--from = '-';
	shd_json_put_raw(w, (shd_str){from, (size_t)(end - from)});
}

void shd_json_put_double(shd_json_writer *w, double v)
{
	char text[SHD_DOUBLE_TEXT];
	if (!isfinite(v))
		shd_json_put_null(w);
	else if (shd_double_format(v, text))
		shd_json_put_raw(w, shd_str_of(text));
	else
		w->buf->failed = true;
}

void shd_json_put_bool(shd_json_writer *w, bool v)
{
	shd_json_put_raw(w, v ? SHD_STR("true") : SHD_STR("false"));
}

void shd_json_put_null(shd_json_writer *w)
{
	shd_json_put_raw(w, SHD_STR("null"));
}

void shd_json_put_key_text(shd_json_writer *w, const char *key, const char *text)
{
	shd_json_put_key(w, key);
	shd_json_put_string(w, shd_str_of(text));
}

void shd_json_put_key_u64(shd_json_writer *w, const char *key, uint64_t v)
{
	shd_json_put_key(w, key);
	shd_json_put_u64(w, v);
}

void shd_json_put_key_bool(shd_json_writer *w, const char *key, bool v)
{
	shd_json_put_key(w, key);
	shd_json_put_bool(w, v);
}

void shd_json_put_key_object(shd_json_writer *w, const char *key, bool within_line)
{
	shd_json_put_key(w, key);
	shd_json_put_object(w, within_line);
}

void shd_json_put_key_array(shd_json_writer *w, const char *key, bool within_line)
{
	shd_json_put_key(w, key);
	shd_json_put_array(w, within_line);
}

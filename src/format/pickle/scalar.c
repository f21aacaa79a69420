/* format/pickle/scalar.c - instructions that push one value which stands after them: numbers, texts, bytes. */
#include "codec/json.h"
#include "format/pickle/decoder.h"

#include <math.h>

enum { MOST_NUMBER = 400 }; /* digits of a number that is written as text */

shd_pickle_value shd_pickle_of_text(shd_str text)
{
	size_t bad = 0;
	uint32_t kind = shd_utf8_valid(text.ptr, text.len, &bad) ? SHD_PICKLE_TEXT : SHD_PICKLE_BYTES;
	return (shd_pickle_value){.kind = kind, .len = (uint32_t)text.len, .text = text.ptr};
}

static shd_pickle_value of_int(int64_t v)
{
	return (shd_pickle_value){.kind = SHD_PICKLE_INT, .integer = v};
}

int shd_pickle_line(shd_pickle_decoder *d, shd_str *out, sherd_error *err)
{
	const char *from = (const char *)d->c.data + d->c.pos;
	const char *end = memchr(from, '\n', shd_cursor_left(&d->c));
	if (!end)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", d->op, "a line of a pickle has no end");
	*out = (shd_str){from, (size_t)(end - from)};
	d->c.pos += out->len + 1;
	if (out->len && out->ptr[out->len - 1] == '\r')
		out->len--;
	return SHERD_OK;
}

/* Decimal, with a sign; false when it is none or does not fit. */
static bool parse_int(shd_str s, int64_t *out)
{
	bool negative = s.len && s.ptr[0] == '-';
	uint64_t v = 0;
	size_t i = negative || (s.len && s.ptr[0] == '+');
	if (i == s.len)
		return false;
	for (; i < s.len; i++)
		if (s.ptr[i] < '0' || s.ptr[i] > '9' || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s.ptr[i] - '0'), &v))
			return false;
	if (v > (uint64_t)INT64_MAX + negative)
		return false;
	*out = negative ? (int64_t)-v : (int64_t)v;
	return true;
}

int shd_pickle_line_u32(shd_pickle_decoder *d, uint32_t *out, sherd_error *err)
{
	shd_str line = {0};
	int64_t v = 0;
	TRY(shd_pickle_line(d, &line, err));
	if (!parse_int(line, &v) || v < 0 || v > UINT32_MAX)
		return shd_pickle_bad(d, err, "no number that something can be remembered under");
	*out = (uint32_t)v;
	return SHERD_OK;
}

/* A number too long for 64 bits stays the text that it is. */
static int push_int_line(shd_pickle_decoder *d, bool is_long, sherd_error *err)
{
	shd_str s = {0};
	int64_t v = 0;
	TRY(shd_pickle_line(d, &s, err));
	if (!is_long && (shd_str_is(s, "00") || shd_str_is(s, "01")))
		return shd_pickle_push(d, (shd_pickle_value){.kind = SHD_PICKLE_BOOL, .integer = s.ptr[1] == '1'}, err);
	if (is_long && s.len && s.ptr[s.len - 1] == 'L')
		s.len--;
	if (parse_int(s, &v))
		return shd_pickle_push(d, of_int(v), err);
	for (size_t i = 0; i < s.len; i++)
		if ((s.ptr[i] < '0' || s.ptr[i] > '9') && !(i == 0 && s.ptr[i] == '-'))
			return shd_pickle_bad(d, err, "no whole number");
	if (!s.len || s.len > MOST_NUMBER)
		return shd_pickle_bad(d, err, "a number of %zu digits", s.len);
	return shd_pickle_push(d, shd_pickle_of_text(s), err);
}

static int push_float_line(shd_pickle_decoder *d, sherd_error *err)
{
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	shd_pickle_value v = {.kind = SHD_PICKLE_FLOAT};
	const sherd_limits limits = {.number_bytes = MOST_NUMBER};
	shd_str s = {0};
	TRY(shd_pickle_line(d, &s, err));
	if (shd_str_is(s, "nan"))
		v.real = NAN;
	else if (shd_str_is(s, "inf") || shd_str_is(s, "-inf"))
		v.real = s.ptr[0] == '-' ? -INFINITY : INFINITY;
	else if (shd_json_open(&j, s.ptr, s.len, &limits, NULL) < 0 || shd_json_double(j, &v.real, NULL) < 0 ||
	         shd_json_end(j, NULL) < 0)
		return shd_pickle_bad(d, err, "no real number");
	return shd_pickle_push(d, v, err);
}

static int push_binfloat(shd_pickle_decoder *d, sherd_error *err)
{
	shd_pickle_value v = {.kind = SHD_PICKLE_FLOAT};
	uint64_t bits = __builtin_bswap64(shd_cursor_u64(&d->c));
	memcpy(&v.real, &bits, sizeof(bits));
	return shd_pickle_push(d, v, err);
}

/* Two's complement, little-endian. */
static int push_long(shd_pickle_decoder *d, uint64_t len, sherd_error *err)
{
	const uint8_t *p = shd_cursor_bytes(&d->c, len);
	if (!p)
		return SHERD_OK; /* the cursor tells */
	size_t n = (size_t)len;
	while (n > 1 && ((p[n - 1] == 0 && !(p[n - 2] & 0x80)) || (p[n - 1] == 0xff && p[n - 2] & 0x80)))
		n--;
	if (n > 8)
		return shd_pickle_push(
			d, (shd_pickle_value){.kind = SHD_PICKLE_LONG, .len = (uint32_t)n, .text = (const char *)p},
			err);
	uint64_t v = n && p[n - 1] & 0x80 ? UINT64_MAX : 0;
	for (size_t i = n; i-- > 0;)
		v = v << 8 | p[i];
	return shd_pickle_push(d, of_int((int64_t)v), err);
}

static int push_bytes(shd_pickle_decoder *d, uint64_t len, bool text, sherd_error *err)
{
	const char *p = (const char *)shd_cursor_bytes(&d->c, len);
	if (!p)
		return SHERD_OK;
	if (text)
		return shd_pickle_push(d, shd_pickle_of_text((shd_str){p, (size_t)len}), err);
	return shd_pickle_push(d, (shd_pickle_value){.kind = SHD_PICKLE_BYTES, .len = (uint32_t)len, .text = p}, err);
}

static int hex_digits(const char *p, size_t n, uint32_t *out)
{
	*out = 0;
	for (size_t i = 0; i < n; i++) {
		char c = p[i];
		int v = c >= '0' && c <= '9'                     ? c - '0'
		        : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
		                                                 : -1;
		if (v < 0)
			return -1;
		*out = *out << 4 | (uint32_t)v;
	}
	return 0;
}

static size_t put_utf8(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (size_t i = n; i-- > 1; c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)((0xf00 >> n & 0xff) | c);
	return n;
}

/* Python's raw-unicode-escape: Latin-1, \uXXXX and \UXXXXXXXX. No escape gives more bytes than twice its own. */
static int push_unicode_line(shd_pickle_decoder *d, sherd_error *err)
{
	shd_str s = {0};
	TRY(shd_pickle_line(d, &s, err));
	char *out = shd_arena_alloc(d->arena, s.len * 2 + 1, 1);
	size_t n = 0;
	if (!out)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < s.len;) {
		uint32_t c = (uint8_t)s.ptr[i];
		size_t digits = c != '\\' || i + 1 == s.len ? 0 : s.ptr[i + 1] == 'u' ? 4 : s.ptr[i + 1] == 'U' ? 8 : 0;
		if (digits && (s.len - i < digits + 2 || hex_digits(s.ptr + i + 2, digits, &c) < 0 || c > 0x10ffff))
			return shd_pickle_bad(d, err, "a text with an escape that is none");
		n += put_utf8(out + n, c);
		i += digits ? digits + 2 : 1;
	}
	return shd_pickle_push(d, shd_pickle_of_text((shd_str){out, n}), err);
}

/* One character of a quoted text, escapes undone; its length there, 0 when it is none. */
static size_t unquote(const char *p, size_t left, char *out)
{
	static const char names[] = "\\'\"abfnrtv", values[] = "\\'\"\a\b\f\n\r\t\v";
	uint32_t c = 0;
	*out = p[0];
	if (p[0] != '\\')
		return 1;
	const char *named = left > 1 && p[1] ? strchr(names, p[1]) : NULL;
	if (named) {
		*out = values[named - names];
		return 2;
	}
	if (left < 4 || p[1] != 'x' || hex_digits(p + 2, 2, &c) < 0)
		return 0;
	*out = (char)c;
	return 4;
}

static int push_string_line(shd_pickle_decoder *d, sherd_error *err)
{
	shd_str s = {0};
	TRY(shd_pickle_line(d, &s, err));
	if (s.len < 2 || (s.ptr[0] != '\'' && s.ptr[0] != '"') || s.ptr[s.len - 1] != s.ptr[0])
		return shd_pickle_bad(d, err, "a text without quotes");
	s = (shd_str){s.ptr + 1, s.len - 2};
	char *out = shd_arena_alloc(d->arena, s.len + 1, 1);
	size_t n = 0;
	if (!out)
		return shd_fail_nomem(err);
	for (size_t i = 0, step; i < s.len; i += step) {
		step = unquote(s.ptr + i, s.len - i, out + n++);
		if (!step)
			return shd_pickle_bad(d, err, "a text with an escape that is none");
	}
	return shd_pickle_push(d, shd_pickle_of_text((shd_str){out, n}), err);
}

int shd_pickle_scalar(shd_pickle_decoder *d, uint8_t op, sherd_error *err)
{
	switch (op) {
	case 'N': return shd_pickle_push(d, (shd_pickle_value){0}, err);
	case 0x88:
	case 0x89: return shd_pickle_push(d, (shd_pickle_value){.kind = SHD_PICKLE_BOOL, .integer = op == 0x88}, err);
	case 'I': return push_int_line(d, false, err);
	case 'L': return push_int_line(d, true, err);
	case 'J': return shd_pickle_push(d, of_int((int32_t)shd_cursor_u32(&d->c)), err);
	case 'K': return shd_pickle_push(d, of_int(shd_cursor_u8(&d->c)), err);
	case 'M': return shd_pickle_push(d, of_int(shd_cursor_u16(&d->c)), err);
	case 0x8a: return push_long(d, shd_cursor_u8(&d->c), err);
	case 0x8b: return push_long(d, shd_cursor_u32(&d->c), err);
	case 'F': return push_float_line(d, err);
	case 'G': return push_binfloat(d, err);
	case 'S': return push_string_line(d, err);
	case 'V': return push_unicode_line(d, err);
	case 'T':
	case 'X': return push_bytes(d, shd_cursor_u32(&d->c), true, err);
	case 'U':
	case 0x8c: return push_bytes(d, shd_cursor_u8(&d->c), true, err);
	case 0x8d: return push_bytes(d, shd_cursor_u64(&d->c), true, err);
	case 'B': return push_bytes(d, shd_cursor_u32(&d->c), false, err);
	case 'C': return push_bytes(d, shd_cursor_u8(&d->c), false, err);
	case 0x8e:
	case 0x96: return push_bytes(d, shd_cursor_u64(&d->c), false, err);
	default: return 1;
	}
}

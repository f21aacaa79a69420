#include "codec/json_state.h"

#include "codec/json_scan.h"
#include "codec/utf8.h"

static unsigned hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10u : 16;
}

/* Four checked digits. */
static unsigned hex4(const uint8_t *p)
{
	return hex_digit(p[0]) << 12 | hex_digit(p[1]) << 8 | hex_digit(p[2]) << 4 | hex_digit(p[3]);
}

static bool is_high(unsigned code)
{
	return (code & 0xfc00) == 0xd800;
}

static bool is_low(unsigned code)
{
	return (code & 0xfc00) == 0xdc00;
}

/* Four digits must stand after the \u at p. */
static int check_hex4(const shd_json *j, const uint8_t *p, sherd_error *err)
{
	for (int i = 2; i < 6; i++) {
		if (j->end - p == i)
			return shd_json_fail_end(j, err);
		if (hex_digit(p[i]) > 15)
			return shd_json_fail(j, p, "bad-escape", err, "\\u needs four hexadecimal digits");
	}
	return SHERD_OK;
}

static int check_unicode(const shd_json *j, const uint8_t *p, size_t *len, sherd_error *err)
{
	TRY(check_hex4(j, p, err));
	unsigned code = hex4(p + 2);
	*len = 6;
	if (is_low(code))
		return shd_json_fail(j, p, "bad-utf8", err, "lone surrogate U+%04X", code);
	if (!is_high(code))
		return SHERD_OK;
	for (int i = 6; i < 8; i++) {
		if (j->end - p == i)
			return shd_json_fail_end(j, err);
		if (p[i] != (uint8_t) "\\u"[i - 6])
			return shd_json_fail(j, p, "bad-utf8", err, "lone surrogate U+%04X", code);
	}
	TRY(check_hex4(j, p + 6, err));
	if (!is_low(hex4(p + 8)))
		return shd_json_fail(j, p, "bad-utf8", err, "lone surrogate U+%04X", code);
	*len = 12;
	return SHERD_OK;
}

static int check_escape(const shd_json *j, const uint8_t *p, size_t *len, sherd_error *err)
{
	if (j->end - p < 2)
		return shd_json_fail_end(j, err);
	switch (p[1]) {
	case '"':
	case '\\':
	case '/':
	case 'b':
	case 'f':
	case 'n':
	case 'r':
	case 't': *len = 2; return SHERD_OK;
	case 'u': return check_unicode(j, p, len, err);
	default: return shd_json_fail(j, p, "bad-escape", err, "unknown escape in a string");
	}
}

int shd_json_scan_string(const shd_json *j, const uint8_t *p, json_span *out, sherd_error *err)
{
	out->escaped = false;
	for (;;) {
		p = json_plain_end(p, j->end);
		if (p == j->end)
			return shd_json_fail_end(j, err);
		size_t len;
		if (*p == '"') {
			out->to = p;
			return SHERD_OK;
		} else if (*p == '\\') {
			TRY(check_escape(j, p, &len, err));
			out->escaped = true;
			p += len;
		} else if (*p >= 0x80) {
			for (; p < j->end && *p >= 0x80; p += len) {
				size_t left = (size_t)(j->end - p);
				len = utf8_sequence(p, left);
				if (!len && shd_utf8_cut_off(p, left))
					return shd_json_fail_end(j, err);
				if (!len)
					return shd_json_fail(j, p, "bad-utf8", err, "not UTF-8 in a string");
			}
		} else {
			return shd_json_fail(j, p, "bad-json", err, "control character %02x in a string", *p);
		}
	}
}

static uint8_t *put_code(uint8_t *to, unsigned code)
{
	if (code < 0x80) {
		*to++ = (uint8_t)code;
		return to;
	}
	if (code < 0x800) {
		*to++ = (uint8_t)(0xc0 | code >> 6);
	} else {
		if (code < 0x10000) {
			*to++ = (uint8_t)(0xe0 | code >> 12);
		} else {
			*to++ = (uint8_t)(0xf0 | code >> 18);
			*to++ = (uint8_t)(0x80 | (code >> 12 & 0x3f));
		}
		*to++ = (uint8_t)(0x80 | (code >> 6 & 0x3f));
	}
	*to++ = (uint8_t)(0x80 | (code & 0x3f));
	return to;
}

/* Undoes the escape at *p and moves past it. */
static uint8_t *put_escape(uint8_t *to, const uint8_t **p)
{
	uint8_t c = (*p)[1];
	if (c != 'u') {
		static const char from[] = "bfnrt", into[] = "\b\f\n\r\t";
		const char *hit = memchr(from, c, sizeof(from) - 1);
		*to = hit ? (uint8_t)into[hit - from] : c;
		*p += 2;
		return to + 1;
	}
	unsigned code = hex4(*p + 2);
	*p += 6;
	if (is_high(code)) {
		code = 0x10000 + ((code & 0x3ff) << 10 | (hex4(*p + 2) & 0x3ff));
		*p += 6;
	}
	return put_code(to, code);
}

int shd_json_unescape(const json_span *s, shd_buf *buf, shd_str *out, sherd_error *err)
{
	*out = (shd_str){(const char *)s->from, (size_t)(s->to - s->from)};
	if (!s->escaped)
		return SHERD_OK;
	buf->len = 0;
	/* An escape is never shorter than what it stands for. */
	if (!shd_buf_reserve(buf, out->len))
		return shd_fail_nomem(err);
	uint8_t *to = buf->data;
	for (const uint8_t *p = s->from; p < s->to;) {
		const uint8_t *slash = memchr(p, '\\', (size_t)(s->to - p));
		size_t run = (size_t)((slash ? slash : s->to) - p);
		memcpy(to, p, run);
		to += run;
		p += run;
		if (slash)
			to = put_escape(to, &p);
	}
	buf->len = (size_t)(to - buf->data);
	*out = (shd_str){(const char *)buf->data, buf->len};
	return SHERD_OK;
}

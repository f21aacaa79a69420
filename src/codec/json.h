/* codec/json.h - a strict pull parser over a whole document, and a writer.
 *
 * RFC 8259 and nothing else: UTF-8 only, no lone surrogates, no duplicate keys,
 * no leading zeros, no trailing text. Numbers are handed out as their text, so
 * that 128-bit integers survive. Every error carries the exact byte offset.
 *
 * A consumer asks for what it expects, in document order:
 *
 *	TRY(shd_json_object(&j, err));
 *	while ((rc = shd_json_key(&j, &key, err)) > 0) {
 *		if (shd_str_is(key, "rank"))
 *			TRY(shd_json_u32(&j, &rank, err));
 *		else
 *			TRY(shd_json_skip(&j, err));
 *	}
 *	TRY(rc);
 *	...
 *	TRY(shd_json_end(&j, err));
 */
#pragma once

#include "base/buf.h"

#include <sherd/limits.h>

typedef enum shd_json_type {
	SHD_JSON_OBJECT = 1,
	SHD_JSON_ARRAY,
	SHD_JSON_STRING,
	SHD_JSON_NUMBER,
	SHD_JSON_TRUE,
	SHD_JSON_FALSE,
	SHD_JSON_NULL
} shd_json_type;

typedef struct shd_json shd_json;

/* data must outlive the parser. Nothing of it is copied but strings with escapes; besides them the memory used is
 * for the keys of open objects, a small multiple of their text. limits gives depth and number_bytes; NULL means
 * defaults. A document longer than limits->metadata_bytes is SHERD_ELIMIT. */
int shd_json_open(shd_json **out, const void *data, size_t len, const sherd_limits *limits, sherd_error *err);
void shd_json_close(shd_json *j); /* NULL is fine */
SHD_AUTO_DEFINE(shd_json, shd_json_close)
/* Reasons: "bad-json", "bad-utf8" (lone surrogates too), "bad-escape", "bad-number", "bad-type", "duplicate-key",
 * "truncated", and with SHERD_ELIMIT "too-deep" and "too-long". After "bad-type" the value can still be taken as
 * another type; after other failures the parser is good for closing only. A call that does not fit what was taken
 * before (a value where a key comes next) is SHERD_EINVAL. */

/* The type of the next value, without taking it; < 0 on failure. */
int shd_json_peek(shd_json *j, sherd_error *err);
/* Offset of the value, key or bracket taken last: where to point when its meaning is wrong. */
uint64_t shd_json_offset(const shd_json *j);

/* Take '{' or '['. */
int shd_json_object(shd_json *j, sherd_error *err);
int shd_json_array(shd_json *j, sherd_error *err);
/* Inside an object: 1 and the next key, or 0 when '}' was taken. The key is valid until the next call. */
int shd_json_key(shd_json *j, shd_str *key, sherd_error *err);
/* Inside an array: 1 when an item comes next, or 0 when ']' was taken. */
int shd_json_item(shd_json *j, sherd_error *err);

/* Take one value of the type asked for; another type is SHERD_ECORRUPT, "bad-type".
 * Strings may hold NUL; they are valid until the next call, and point into the document when nothing was escaped. */
int shd_json_string(shd_json *j, shd_str *out, sherd_error *err);
int shd_json_number(shd_json *j, shd_str *text, sherd_error *err);
int shd_json_bool(shd_json *j, bool *out, sherd_error *err);
int shd_json_null(shd_json *j, sherd_error *err);
/* Plain decimal integers (no fraction, no exponent) in range, else "bad-number". */
int shd_json_u32(shd_json *j, uint32_t *out, sherd_error *err);
int shd_json_u64(shd_json *j, uint64_t *out, sherd_error *err);
int shd_json_i64(shd_json *j, int64_t *out, sherd_error *err);
int shd_json_u128(shd_json *j, unsigned __int128 *out, sherd_error *err);
int shd_json_double(shd_json *j, double *out, sherd_error *err); /* finite, else "bad-number" */

/* Take any value, checked like all the rest, and forget it or borrow its text from the document. */
int shd_json_skip(shd_json *j, sherd_error *err);
int shd_json_raw(shd_json *j, shd_str *text, sherd_error *err);

/* Only white space may be left. */
int shd_json_end(shd_json *j, sherd_error *err);

/* Is this a whole, valid document? */
int shd_json_check(const void *data, size_t len, const sherd_limits *limits, sherd_error *err);

/* The writer. Appends to a buffer, whose sticky failure reports lack of memory.
 * Commas, colons and line breaks are the writer's: each container is written
 * either over several lines with two more spaces of indent, or within one line. */
typedef struct shd_json_writer {
	shd_buf *buf;
	uint32_t depth;
	uint64_t inline_levels; /* bit d: the container at depth d is within one line */
	bool first;             /* nothing stands in the current container yet */
	bool after_key;
} shd_json_writer;

void shd_json_writer_init(shd_json_writer *w, shd_buf *buf);
/* A container inside an inline one is inline too, and so is any below 63 levels. Empty ones are "{}" and "[]". */
void shd_json_put_object(shd_json_writer *w, bool within_line);
void shd_json_put_array(shd_json_writer *w, bool within_line);
void shd_json_put_object_end(shd_json_writer *w);
void shd_json_put_array_end(shd_json_writer *w);
void shd_json_put_key(shd_json_writer *w, const char *key);
void shd_json_put_key_str(shd_json_writer *w, shd_str key);
/* A key and its value. */
void shd_json_put_key_text(shd_json_writer *w, const char *key, const char *text);
void shd_json_put_key_u64(shd_json_writer *w, const char *key, uint64_t v);
void shd_json_put_key_bool(shd_json_writer *w, const char *key, bool v);
void shd_json_put_key_object(shd_json_writer *w, const char *key, bool within_line);
void shd_json_put_key_array(shd_json_writer *w, const char *key, bool within_line);
void shd_json_put_string(shd_json_writer *w, shd_str text); /* valid UTF-8 */
void shd_json_put_u64(shd_json_writer *w, uint64_t v);
void shd_json_put_i64(shd_json_writer *w, int64_t v);
void shd_json_put_u128(shd_json_writer *w, unsigned __int128 v);
void shd_json_put_double(shd_json_writer *w, double v); /* shortest text that reads back the same; null if not finite */
void shd_json_put_bool(shd_json_writer *w, bool v);
void shd_json_put_null(shd_json_writer *w);
void shd_json_put_raw(shd_json_writer *w, shd_str text); /* one valid value */

/* Is every byte of the text valid UTF-8 (no surrogates, nothing overlong, at most U+10FFFF)? Else *bad is where not. */
bool shd_utf8_valid(const void *data, size_t len, size_t *bad);

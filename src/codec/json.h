/* codec/json.h - a strict pull parser over a whole document, and a writer.
 *
 * RFC 8259 and nothing else: UTF-8 only, no lone surrogates, no duplicate keys,
 * no leading zeros, no trailing text. Numbers are handed out as their text, so
 * that 128-bit integers survive. Every error carries the exact byte offset.
 *
 * A consumer asks for what it expects, in document order:
 *
 *	TRY(sherd_json_object(&j, err));
 *	while ((rc = sherd_json_key(&j, &key, err)) > 0) {
 *		if (sherd_str_is(key, "rank"))
 *			TRY(sherd_json_u32(&j, &rank, err));
 *		else
 *			TRY(sherd_json_skip(&j, err));
 *	}
 *	TRY(rc);
 *	...
 *	TRY(sherd_json_end(&j, err));
 */
#ifndef SHERD_CODEC_JSON_H
#define SHERD_CODEC_JSON_H

#include "base/buf.h"

#include <sherd/limits.h>

typedef enum sherd_json_type {
	SHERD_JSON_OBJECT = 1,
	SHERD_JSON_ARRAY,
	SHERD_JSON_STRING,
	SHERD_JSON_NUMBER,
	SHERD_JSON_TRUE,
	SHERD_JSON_FALSE,
	SHERD_JSON_NULL
} sherd_json_type;

typedef struct sherd_json sherd_json;

/* data must outlive the parser. Nothing of it is copied but strings with escapes; besides them the memory used is
 * for the keys of open objects, a small multiple of their text. limits gives depth and number_bytes; NULL means
 * defaults. A document longer than limits->metadata_bytes is SHERD_ELIMIT. */
int sherd_json_open(sherd_json **out, const void *data, size_t len, const sherd_limits *limits, sherd_error *err);
void sherd_json_close(sherd_json *j); /* NULL is fine */
/* Reasons: "bad-json", "bad-utf8" (lone surrogates too), "bad-escape", "bad-number", "bad-type", "duplicate-key",
 * "truncated", and with SHERD_ELIMIT "too-deep" and "too-long". After "bad-type" the value can still be taken as
 * another type; after other failures the parser is good for closing only. A call that does not fit what was taken
 * before (a value where a key comes next) is SHERD_EINVAL. */

/* The type of the next value, without taking it; < 0 on failure. */
int sherd_json_peek(sherd_json *j, sherd_error *err);
/* Offset of the value, key or bracket taken last: where to point when its meaning is wrong. */
uint64_t sherd_json_offset(const sherd_json *j);

/* Take '{' or '['. */
int sherd_json_object(sherd_json *j, sherd_error *err);
int sherd_json_array(sherd_json *j, sherd_error *err);
/* Inside an object: 1 and the next key, or 0 when '}' was taken. The key is valid until the next call. */
int sherd_json_key(sherd_json *j, sherd_str *key, sherd_error *err);
/* Inside an array: 1 when an item comes next, or 0 when ']' was taken. */
int sherd_json_item(sherd_json *j, sherd_error *err);

/* Take one value of the type asked for; another type is SHERD_ECORRUPT, "bad-type".
 * Strings may hold NUL; they are valid until the next call, and point into the document when nothing was escaped. */
int sherd_json_string(sherd_json *j, sherd_str *out, sherd_error *err);
int sherd_json_number(sherd_json *j, sherd_str *text, sherd_error *err);
int sherd_json_bool(sherd_json *j, bool *out, sherd_error *err);
int sherd_json_null(sherd_json *j, sherd_error *err);
/* Plain decimal integers (no fraction, no exponent) in range, else "bad-number". */
int sherd_json_u32(sherd_json *j, uint32_t *out, sherd_error *err);
int sherd_json_i32(sherd_json *j, int32_t *out, sherd_error *err);
int sherd_json_u64(sherd_json *j, uint64_t *out, sherd_error *err);
int sherd_json_i64(sherd_json *j, int64_t *out, sherd_error *err);
int sherd_json_u128(sherd_json *j, unsigned __int128 *out, sherd_error *err);
int sherd_json_double(sherd_json *j, double *out, sherd_error *err); /* finite, else "bad-number" */

/* Take any value, checked like all the rest, and forget it or borrow its text from the document. */
int sherd_json_skip(sherd_json *j, sherd_error *err);
int sherd_json_raw(sherd_json *j, sherd_str *text, sherd_error *err);

/* Only white space may be left. */
int sherd_json_end(sherd_json *j, sherd_error *err);

/* Is this a whole, valid document? */
int sherd_json_check(const void *data, size_t len, const sherd_limits *limits, sherd_error *err);

/* The writer. Appends to a buffer, whose sticky failure reports lack of memory.
 * Commas, colons and line breaks are the writer's: each container is written
 * either over several lines with two more spaces of indent, or within one line. */
typedef struct sherd_json_writer {
	sherd_buf *buf;
	uint32_t depth;
	uint64_t inline_levels; /* bit d: the container at depth d is within one line */
	bool first;             /* nothing stands in the current container yet */
	bool after_key;
} sherd_json_writer;

void sherd_json_writer_init(sherd_json_writer *w, sherd_buf *buf);
/* A container inside an inline one is inline too, and so is any below 63 levels. Empty ones are "{}" and "[]". */
void sherd_json_put_object(sherd_json_writer *w, bool within_line);
void sherd_json_put_array(sherd_json_writer *w, bool within_line);
void sherd_json_put_object_end(sherd_json_writer *w);
void sherd_json_put_array_end(sherd_json_writer *w);
void sherd_json_put_key(sherd_json_writer *w, const char *key);
void sherd_json_put_key_str(sherd_json_writer *w, sherd_str key);
void sherd_json_put_string(sherd_json_writer *w, sherd_str text); /* valid UTF-8 */
void sherd_json_put_u64(sherd_json_writer *w, uint64_t v);
void sherd_json_put_i64(sherd_json_writer *w, int64_t v);
void sherd_json_put_u128(sherd_json_writer *w, unsigned __int128 v);
void sherd_json_put_double(sherd_json_writer *w,
                           double v); /* shortest text that reads back the same; null if not finite */
void sherd_json_put_bool(sherd_json_writer *w, bool v);
void sherd_json_put_null(sherd_json_writer *w);
void sherd_json_put_raw(sherd_json_writer *w, sherd_str text); /* one valid value */

/* Is every byte of the text valid UTF-8 (no surrogates, nothing overlong, at most U+10FFFF)? Else *bad is where not. */
bool sherd_utf8_valid(const void *data, size_t len, size_t *bad);

#endif

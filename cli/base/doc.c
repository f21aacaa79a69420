#include "base/doc.h"

#include "cli.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 1 << 20 };

static void fail(sherd_doc *doc)
{
	if (!doc->failure)
		doc->failure = errno ? errno : EIO;
}

static void spill(sherd_doc *doc)
{
	errno = 0;
	if (!doc->spilled)
		doc->spilled = tmpfile();
	if (!doc->spilled || fwrite(doc->data, 1, doc->len, doc->spilled) != doc->len)
		fail(doc);
	doc->len = 0;
}

static void put(sherd_doc *doc, const char *data, size_t len)
{
	if (doc->out && !doc->out->json)
		return;
	if (!doc->failure && !doc->data) {
		doc->data = malloc(KEPT);
		if (!doc->data)
			doc->failure = ENOMEM;
	}
	while (!doc->failure && len) {
		size_t n = KEPT - doc->len < len ? KEPT - doc->len : len;
		memcpy(doc->data + doc->len, data, n);
		doc->len += n;
		data += n;
		len -= n;
		if (doc->len == KEPT)
			spill(doc);
	}
}

static void put_value(sherd_doc *doc, const char *data, size_t len)
{
	if (doc->comma)
		put(doc, ",", 1);
	put(doc, data, len);
	doc->comma = true;
}

void sherd_doc_open(sherd_doc *doc, char bracket)
{
	put_value(doc, &bracket, 1);
	doc->comma = false;
}

void sherd_doc_close(sherd_doc *doc, char bracket)
{
	put(doc, &bracket, 1);
	doc->comma = true;
}

static void put_escaped(sherd_doc *doc, char c)
{
	static const char named[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	const char *name = c ? strchr(named, c) : NULL;
	char text[8];
	int n = name ? snprintf(text, sizeof(text), "\\%c", letters[name - named])
	             : snprintf(text, sizeof(text), "\\u%04x", (uint8_t)c);
	put(doc, text, (size_t)n);
}

/* Bytes that are no UTF-8 must not look alike: byte NN becomes the private character U+EFNN, which is valid everywhere.
 * So that this can be undone, the bytes of those characters themselves, U+EF80 to U+EFFF, become three of them. */
static bool is_escape(const char *p, size_t len)
{
	return len == 3 && (uint8_t)p[0] == 0xEE && ((uint8_t)p[1] == 0xBE || (uint8_t)p[1] == 0xBF);
}

static void put_byte(sherd_doc *doc, uint8_t byte)
{
	const uint8_t text[] = {0xEE, (uint8_t)(0xBC | byte >> 6), (uint8_t)(0x80 | (byte & 0x3F))};
	put(doc, (const char *)text, sizeof(text));
}

/* A character of JSON, or of a text in it, that needs no escape for JSON's sake; or, n being 0, a byte that is none. */
static void put_char(sherd_doc *doc, const char *p, size_t n)
{
	char escape[SHERD_TEXT_ESCAPE];
	size_t len = n ? sherd_text_escape(p, n, escape) : 0;
	if (len)
		put(doc, escape, len);
	else if (n)
		put(doc, p, n);
	else
		put_byte(doc, (uint8_t)*p);
}

void sherd_doc_text_bytes(sherd_doc *doc, const char *text, size_t len)
{
	put_value(doc, "\"", 1);
	for (size_t i = 0; i < len;) {
		size_t n = sherd_text_char(text + i, len - i);
		if (is_escape(text + i, n))
			n = 0;
		if (n == 1 && ((uint8_t)text[i] < 0x20 || text[i] == '"' || text[i] == '\\'))
			put_escaped(doc, text[i]);
		else
			put_char(doc, text + i, n);
		i += n ? n : 1;
	}
	put(doc, "\"", 1);
}

/* What needs an escape stands in a text, wherever that begins. */
static void put_json(sherd_doc *doc, const char *json)
{
	for (size_t len = strlen(json), i = 0; i < len;) {
		size_t plain = i;
		while (plain < len && (uint8_t)json[plain] < 0x7F)
			plain++;
		put(doc, json + i, plain - i);
		i = plain;
		if (i == len)
			break;
		size_t n = sherd_text_char(json + i, len - i);
		put_char(doc, json + i, n);
		i += n ? n : 1;
	}
}

void sherd_doc_text(sherd_doc *doc, const char *text)
{
	if (text)
		sherd_doc_text_bytes(doc, text, strlen(text));
	else
		sherd_doc_raw(doc, "null");
}

void sherd_doc_key_bytes(sherd_doc *doc, const char *key, size_t len)
{
	sherd_doc_text_bytes(doc, key, len);
	put(doc, ":", 1);
	doc->comma = false;
}

void sherd_doc_key(sherd_doc *doc, const char *key)
{
	sherd_doc_key_bytes(doc, key, strlen(key));
}

void sherd_doc_u64(sherd_doc *doc, uint64_t v)
{
	char text[24];
	put_value(doc, text, (size_t)snprintf(text, sizeof(text), "%" PRIu64, v));
}

void sherd_doc_i64(sherd_doc *doc, int64_t v)
{
	char text[24];
	put_value(doc, text, (size_t)snprintf(text, sizeof(text), "%" PRId64, v));
}

void sherd_doc_f64(sherd_doc *doc, double v)
{
	char text[SHERD_TEXT_NUMBER];
	sherd_text_f64(v, text);
	if (v == 0 && signbit(v))
		sherd_doc_raw(doc, "-0.0"); /* without its fraction it would be read as the whole number 0 */
	else if (isfinite(v))
		put_value(doc, text, strlen(text));
	else
		sherd_doc_text(doc, text);
}

void sherd_doc_raw(sherd_doc *doc, const char *json)
{
	put_value(doc, "", 0);
	put_json(doc, json);
}

void sherd_doc_members(sherd_doc *doc, const char *members)
{
	if (members && *members)
		sherd_doc_raw(doc, members);
}

void sherd_doc_put_text(sherd_doc *doc, const char *key, const char *text)
{
	sherd_doc_key(doc, key);
	sherd_doc_text(doc, text);
}

void sherd_doc_put_u64(sherd_doc *doc, const char *key, uint64_t v)
{
	sherd_doc_key(doc, key);
	sherd_doc_u64(doc, v);
}

void sherd_doc_put_i64(sherd_doc *doc, const char *key, int64_t v)
{
	sherd_doc_key(doc, key);
	sherd_doc_i64(doc, v);
}

void sherd_doc_put_bool(sherd_doc *doc, const char *key, bool v)
{
	sherd_doc_key(doc, key);
	sherd_doc_raw(doc, v ? "true" : "false");
}

void sherd_doc_put_open(sherd_doc *doc, const char *key, char bracket)
{
	sherd_doc_key(doc, key);
	sherd_doc_open(doc, bracket);
}

void sherd_doc_put_shape(sherd_doc *doc, const char *key, const uint64_t *shape, uint32_t ndim)
{
	sherd_doc_put_open(doc, key, '[');
	for (uint32_t i = 0; i < ndim; i++)
		sherd_doc_u64(doc, shape[i]);
	sherd_doc_close(doc, ']');
}

static void put_error(sherd_doc *doc, const sherd_error *err)
{
	sherd_doc_open(doc, '{');
	sherd_doc_put_text(doc, "object", err->object[0] ? err->object : NULL);
	sherd_doc_key(doc, "offset");
	if (err->offset != SHERD_NO_OFFSET)
		sherd_doc_u64(doc, err->offset);
	else
		sherd_doc_raw(doc, "null");
	sherd_doc_put_text(doc, "code", err->reason ? err->reason : "unknown");
	sherd_doc_put_text(doc, "message", err->message);
}

void sherd_doc_error(sherd_doc *doc, const sherd_error *err)
{
	put_error(doc, err);
	sherd_doc_close(doc, '}');
}

void sherd_doc_warning(sherd_doc *doc, const sherd_error *err, uint64_t count)
{
	put_error(doc, err);
	sherd_doc_put_u64(doc, "count", count);
	sherd_doc_close(doc, '}');
}

void sherd_doc_move(sherd_doc *doc, sherd_doc *from)
{
	char part[1 << 14];
	size_t n;
	put_value(doc, "", 0);
	if (from->failure)
		doc->failure = from->failure;
	if (from->spilled)
		rewind(from->spilled);
	while (from->spilled && (n = fread(part, 1, sizeof(part), from->spilled)) > 0)
		put(doc, part, n);
	put(doc, from->data, from->len);
	sherd_doc_done(from);
}

sherd_doc sherd_doc_begin(sherd_out *out)
{
	sherd_doc doc = {.out = out};
	sherd_doc_open(&doc, '{');
	return doc;
}

static void print_spilled(sherd_doc *doc)
{
	char part[1 << 14];
	size_t n;
	rewind(doc->spilled);
	while ((n = fread(part, 1, sizeof(part), doc->spilled)) > 0)
		sherd_out_bytes(doc->out, part, n);
}

static int print(sherd_doc *doc, sherd_error *err)
{
	if (doc->spilled)
		spill(doc);
	if (doc->spilled && fflush(doc->spilled) != 0)
		fail(doc);
	if (doc->failure)
		return sherd_cli_fail(err, doc->failure == ENOMEM ? SHERD_ENOMEM : SHERD_EIO, "io",
		                      "cannot keep the document: %s", strerror(doc->failure));
	if (doc->spilled)
		print_spilled(doc);
	else
		sherd_out_bytes(doc->out, doc->data, doc->len);
	return SHERD_OK;
}

int sherd_doc_end(sherd_doc *doc, int rc, sherd_error *err)
{
	if (rc >= 0 && doc->out->lost) {
		sherd_doc_key(doc, "lost");
		sherd_doc_close(doc->out->lost, ']');
		sherd_doc_move(doc, doc->out->lost);
		doc->out->lost = NULL;
	}
	put(doc, "}\n", 2);
	if (rc >= 0)
		rc = doc->out->json ? print(doc, err) : SHERD_OK;
	sherd_doc_done(doc);
	return rc;
}

void sherd_doc_done(sherd_doc *doc)
{
	free(doc->data);
	if (doc->spilled)
		(void)fclose(doc->spilled);
	*doc = (sherd_doc){0};
}

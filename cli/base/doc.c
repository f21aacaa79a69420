#include "base/doc.h"

#include "cli.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 1 << 20 };

static void fail(cli_doc *doc)
{
	if (!doc->failure)
		doc->failure = errno ? errno : EIO;
}

static void spill(cli_doc *doc)
{
	errno = 0;
	if (!doc->spilled)
		doc->spilled = tmpfile();
	if (!doc->spilled || fwrite(doc->data, 1, doc->len, doc->spilled) != doc->len)
		fail(doc);
	doc->len = 0;
}

static void doc_put(cli_doc *doc, const char *data, size_t len)
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

static void put_value(cli_doc *doc, const char *data, size_t len)
{
	if (doc->comma)
		doc_put(doc, ",", 1);
	doc_put(doc, data, len);
	doc->comma = true;
}

void cli_doc_open(cli_doc *doc, char bracket)
{
	put_value(doc, &bracket, 1);
	doc->comma = false;
}

void cli_doc_close(cli_doc *doc, char bracket)
{
	doc_put(doc, &bracket, 1);
	doc->comma = true;
}

static void put_escaped(cli_doc *doc, char c)
{
	static const char named[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	const char *name = c ? strchr(named, c) : NULL;
	char text[8];
	int n = name ? snprintf(text, sizeof(text), "\\%c", letters[name - named])
	             : snprintf(text, sizeof(text), "\\u%04x", (uint8_t)c);
	doc_put(doc, text, (size_t)n);
}

/* Bytes that are no UTF-8 must not look alike: byte NN becomes the private character U+EFNN, which is valid everywhere.
 * So that this can be undone, the bytes of those characters themselves, U+EF80 to U+EFFF, become three of them. */
static bool is_escape(const char *p, size_t len)
{
	return len == 3 && (uint8_t)p[0] == 0xEE && ((uint8_t)p[1] == 0xBE || (uint8_t)p[1] == 0xBF);
}

static void put_byte(cli_doc *doc, uint8_t byte)
{
	const uint8_t text[] = {0xEE, (uint8_t)(0xBC | byte >> 6), (uint8_t)(0x80 | (byte & 0x3F))};
	doc_put(doc, (const char *)text, sizeof(text));
}

/* A character of JSON, or of a text in it, that needs no escape for JSON's sake; or, n being 0, a byte that is none. */
static void put_char(cli_doc *doc, const char *p, size_t n)
{
	char escape[CLI_TEXT_ESCAPE];
	size_t len = n ? cli_text_escape(p, n, escape) : 0;
	if (len)
		doc_put(doc, escape, len);
	else if (n)
		doc_put(doc, p, n);
	else
		put_byte(doc, (uint8_t)*p);
}

void cli_doc_text_bytes(cli_doc *doc, const char *text, size_t len)
{
	put_value(doc, "\"", 1);
	for (size_t i = 0; i < len;) {
		size_t n = cli_text_char(text + i, len - i);
		if (is_escape(text + i, n))
			n = 0;
		if (n == 1 && ((uint8_t)text[i] < 0x20 || text[i] == '"' || text[i] == '\\'))
			put_escaped(doc, text[i]);
		else
			put_char(doc, text + i, n);
		i += n ? n : 1;
	}
	doc_put(doc, "\"", 1);
}

/* What needs an escape stands in a text, wherever that begins. */
static void put_json(cli_doc *doc, const char *json)
{
	for (size_t len = strlen(json), i = 0; i < len;) {
		size_t plain = i;
		while (plain < len && (uint8_t)json[plain] < 0x7F)
			plain++;
		doc_put(doc, json + i, plain - i);
		i = plain;
		if (i == len)
			break;
		size_t n = cli_text_char(json + i, len - i);
		put_char(doc, json + i, n);
		i += n ? n : 1;
	}
}

void cli_doc_text(cli_doc *doc, const char *text)
{
	if (text)
		cli_doc_text_bytes(doc, text, strlen(text));
	else
		cli_doc_raw(doc, "null");
}

void cli_doc_key_bytes(cli_doc *doc, const char *key, size_t len)
{
	cli_doc_text_bytes(doc, key, len);
	doc_put(doc, ":", 1);
	doc->comma = false;
}

void cli_doc_key(cli_doc *doc, const char *key)
{
	cli_doc_key_bytes(doc, key, strlen(key));
}

void cli_doc_u64(cli_doc *doc, uint64_t v)
{
	char text[24];
	put_value(doc, text, (size_t)snprintf(text, sizeof(text), "%" PRIu64, v));
}

void cli_doc_i64(cli_doc *doc, int64_t v)
{
	char text[24];
	put_value(doc, text, (size_t)snprintf(text, sizeof(text), "%" PRId64, v));
}

void cli_doc_f64(cli_doc *doc, double v)
{
	char text[CLI_TEXT_NUMBER];
	cli_text_f64(v, text);
	if (v == 0 && signbit(v))
		cli_doc_raw(doc, "-0.0"); /* without its fraction it would be read as the whole number 0 */
	else if (isfinite(v))
		put_value(doc, text, strlen(text));
	else
		cli_doc_text(doc, text);
}

void cli_doc_raw(cli_doc *doc, const char *json)
{
	put_value(doc, "", 0);
	put_json(doc, json);
}

void cli_doc_members(cli_doc *doc, const char *members)
{
	if (members && *members)
		cli_doc_raw(doc, members);
}

void cli_doc_put_text(cli_doc *doc, const char *key, const char *text)
{
	cli_doc_key(doc, key);
	cli_doc_text(doc, text);
}

void cli_doc_put_u64(cli_doc *doc, const char *key, uint64_t v)
{
	cli_doc_key(doc, key);
	cli_doc_u64(doc, v);
}

void cli_doc_put_i64(cli_doc *doc, const char *key, int64_t v)
{
	cli_doc_key(doc, key);
	cli_doc_i64(doc, v);
}

void cli_doc_put_bool(cli_doc *doc, const char *key, bool v)
{
	cli_doc_key(doc, key);
	cli_doc_raw(doc, v ? "true" : "false");
}

void cli_doc_put_open(cli_doc *doc, const char *key, char bracket)
{
	cli_doc_key(doc, key);
	cli_doc_open(doc, bracket);
}

void cli_doc_put_shape(cli_doc *doc, const char *key, const uint64_t *shape, uint32_t ndim)
{
	cli_doc_put_open(doc, key, '[');
	for (uint32_t i = 0; i < ndim; i++)
		cli_doc_u64(doc, shape[i]);
	cli_doc_close(doc, ']');
}

static void put_error(cli_doc *doc, const sherd_error *err)
{
	cli_doc_open(doc, '{');
	cli_doc_put_text(doc, "object", err->object[0] ? err->object : NULL);
	cli_doc_key(doc, "offset");
	if (err->offset != SHERD_NO_OFFSET)
		cli_doc_u64(doc, err->offset);
	else
		cli_doc_raw(doc, "null");
	cli_doc_put_text(doc, "code", err->reason ? err->reason : "unknown");
	cli_doc_put_text(doc, "message", err->message);
}

void cli_doc_error(cli_doc *doc, const sherd_error *err)
{
	put_error(doc, err);
	cli_doc_close(doc, '}');
}

void cli_doc_warning(cli_doc *doc, const sherd_error *err, uint64_t count)
{
	put_error(doc, err);
	cli_doc_put_u64(doc, "count", count);
	cli_doc_close(doc, '}');
}

void cli_doc_move(cli_doc *doc, cli_doc *from)
{
	char part[1 << 14];
	size_t n;
	put_value(doc, "", 0);
	if (from->failure)
		doc->failure = from->failure;
	if (from->spilled)
		rewind(from->spilled);
	while (from->spilled && (n = fread(part, 1, sizeof(part), from->spilled)) > 0)
		doc_put(doc, part, n);
	doc_put(doc, from->data, from->len);
	cli_doc_done(from);
}

cli_doc cli_doc_begin(cli_out *out)
{
	cli_doc doc = {.out = out};
	cli_doc_open(&doc, '{');
	if (out->into)
		cli_doc_put_text(&doc, "path", out->path);
	return doc;
}

static void print_spilled(cli_doc *doc)
{
	char part[1 << 14];
	size_t n;
	rewind(doc->spilled);
	while ((n = fread(part, 1, sizeof(part), doc->spilled)) > 0)
		cli_out_bytes(doc->out, part, n);
}

static int doc_print(cli_doc *doc, sherd_error *err)
{
	if (doc->spilled)
		spill(doc);
	if (doc->spilled && fflush(doc->spilled) != 0)
		fail(doc);
	if (doc->failure)
		return cli_fail(err, doc->failure == ENOMEM ? SHERD_ENOMEM : SHERD_EIO, "io",
		                "cannot keep the document: %s", strerror(doc->failure));
	if (doc->spilled)
		print_spilled(doc);
	else
		cli_out_bytes(doc->out, doc->data, doc->len);
	return SHERD_OK;
}

int cli_doc_end(cli_doc *doc, int rc, sherd_error *err)
{
	if (rc >= 0 && doc->out->lost) {
		cli_doc_key(doc, "lost");
		cli_doc_close(doc->out->lost, ']');
		cli_doc_move(doc, doc->out->lost);
		doc->out->lost = NULL;
	}
	doc_put(doc, "}\n", doc->out->into ? 1 : 2);
	if (rc >= 0 && doc->out->into && doc->out->json)
		cli_doc_move(doc->out->into, doc);
	else if (rc >= 0)
		rc = doc->out->json ? doc_print(doc, err) : SHERD_OK;
	cli_doc_done(doc);
	return rc;
}

void cli_doc_done(cli_doc *doc)
{
	free(doc->data);
	if (doc->spilled)
		(void)fclose(doc->spilled);
	*doc = (cli_doc){0};
}

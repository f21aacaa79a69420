/* fuzz/form_json.c - JSON changed value by value, so that it stays JSON; sealed documents get a new seal. */
#include "codec/sha256.h"
#include "form.h"

#include <ctype.h>
#include <stdlib.h>

enum { MOST_VALUES = 512, MOST_DEPTH = 64, NEAR = 4 };

/* A value in the text, or a key. from: where its member begins, key included; at for elements and keys. */
typedef struct json_span {
	size_t from, at, end;
	bool key;
} json_span;

typedef struct json_spans {
	size_t count;
	json_span list[MOST_VALUES];
} json_spans;

typedef struct json_walk {
	const char *text;
	size_t len, at;
	size_t member; /* where the member begins whose value comes next; SIZE_MAX: none */
	size_t depth, open[MOST_DEPTH];
	json_spans *out;
} json_walk;

static size_t span_add(json_walk *w, size_t at, size_t end, bool key)
{
	if (w->out->count == MOST_VALUES)
		return SIZE_MAX;
	size_t from = key || w->member == SIZE_MAX ? at : w->member;
	w->out->list[w->out->count] = (json_span){from, at, end, key};
	return w->out->count++;
}

static void walk_string(json_walk *w)
{
	size_t at = w->at++;
	while (w->at < w->len && w->text[w->at] != '"')
		w->at += w->text[w->at] == '\\' && w->at + 1 < w->len ? 2 : 1;
	w->at += w->at < w->len;
	size_t next = w->at;
	while (next < w->len && isspace((unsigned char)w->text[next]))
		next++;
	bool key = next < w->len && w->text[next] == ':';
	(void)span_add(w, at, w->at, key);
	w->member = key ? at : SIZE_MAX;
}

static void walk_scalar(json_walk *w)
{
	size_t at = w->at;
	while (w->at < w->len && (isalnum((unsigned char)w->text[w->at]) || strchr("+-.", w->text[w->at])))
		w->at++;
	if (w->at == at) {
		w->at++;
		return;
	}
	(void)span_add(w, at, w->at, false);
	w->member = SIZE_MAX;
}

static void walk_step(json_walk *w)
{
	char c = w->text[w->at];
	if (c == '"') {
		walk_string(w);
	} else if (c == '{' || c == '[') {
		size_t span = span_add(w, w->at++, w->len, false);
		if (w->depth < MOST_DEPTH)
			w->open[w->depth++] = span;
		w->member = SIZE_MAX;
	} else if (c == '}' || c == ']') {
		w->at++;
		if (w->depth && w->open[--w->depth] != SIZE_MAX)
			w->out->list[w->open[w->depth]].end = w->at;
	} else if (isspace((unsigned char)c) || c == ',' || c == ':') {
		w->at++;
	} else {
		walk_scalar(w);
	}
}

static void walk_text(const shd_buf *text, json_spans *out)
{
	json_walk w = {.text = (const char *)text->data, .len = text->len, .member = SIZE_MAX, .out = out};
	out->count = 0;
	while (w.at < w.len)
		walk_step(&w);
}

/* Replaces text[at, end) by other bytes, which must not lie in text. */
static void splice(shd_buf *text, size_t at, size_t end, const void *bytes, size_t len)
{
	SHD_AUTO_BUF out = {0};
	shd_buf_append(&out, text->data, at);
	shd_buf_append(&out, bytes, len);
	shd_buf_append(&out, text->data + end, text->len - end);
	if (out.failed)
		return;
	shd_buf kept = *text;
	*text = out;
	out = kept;
}

static void splice_str(shd_buf *text, size_t at, size_t end, const char *str)
{
	splice(text, at, end, str, strlen(str));
}

static void replace_by_odd(shd_buf *text, const json_span *s, form_dice *dice)
{
	static const char *const odd[] = {"0",
	                                  "1",
	                                  "-1",
	                                  "2147483648",
	                                  "4294967295",
	                                  "4294967296",
	                                  "9007199254740993",
	                                  "9223372036854775807",
	                                  "9223372036854775808",
	                                  "18446744073709551615",
	                                  "18446744073709551616",
	                                  "340282366920938463463374607431768211455",
	                                  "0.5",
	                                  "1e308",
	                                  "null",
	                                  "true",
	                                  "[]",
	                                  "{}",
	                                  "[0]",
	                                  "\"\"",
	                                  "\"/\"",
	                                  "\"../x\"",
	                                  "\"a\\u0000b\"",
	                                  "\"\\ud83d\\ude00\"",
	                                  "\"a\""};
	enum { ODD = sizeof(odd) / sizeof(odd[0]), STRINGS = 19 };
	uint32_t first = s->key ? STRINGS : 0;
	splice_str(text, s->at, s->end, odd[first + form_roll(dice, ODD - first)]);
}

/* With one of its commas. */
static void drop_value(shd_buf *text, const json_span *s)
{
	size_t at = s->from, end = s->end;
	while (end < text->len && isspace(text->data[end]))
		end++;
	if (end < text->len && text->data[end] == ',') {
		end++;
	} else {
		while (at && isspace(text->data[at - 1]))
			at--;
		at -= at && text->data[at - 1] == ',';
		end = s->end;
	}
	splice(text, at, end, NULL, 0);
}

static void double_value(shd_buf *text, const json_span *s)
{
	SHD_AUTO_BUF copy = {0};
	shd_buf_str(&copy, ",");
	shd_buf_append(&copy, text->data + s->from, s->end - s->from);
	splice(text, s->end, s->end, copy.data, copy.len);
}

static void swap_values(shd_buf *text, const json_span *a, const json_span *b)
{
	SHD_AUTO_BUF first = {0}, second = {0};
	if (a->from > b->from) {
		const json_span *kept = a;
		a = b;
		b = kept;
	}
	if (a->end > b->from || a->key != b->key)
		return;
	shd_buf_append(&first, text->data + a->at, a->end - a->at);
	shd_buf_append(&second, text->data + b->at, b->end - b->at);
	splice(text, b->at, b->end, first.data, first.len);
	splice(text, a->at, a->end, second.data, second.len);
}

static void copy_value(shd_buf *text, const json_span *to, const json_span *from)
{
	SHD_AUTO_BUF copy = {0};
	if (to->key != from->key)
		return;
	shd_buf_append(&copy, text->data + from->at, from->end - from->at);
	splice(text, to->at, to->end, copy.data, copy.len);
}

/* One character of a string or a number becomes another that may stand there. */
static void change_scalar(shd_buf *text, const json_span *s, form_dice *dice)
{
	static const char digits[] = "0123456789", letters[] = "abcdefghijklmnopqrstuvwxyz0123456789/._-: ";
	bool string = text->data[s->at] == '"';
	size_t inner = s->at + string, end = s->end - (string && s->end > s->at + 1);
	const char *of = string ? letters : digits;
	char c = of[form_roll(dice, (uint32_t)strlen(of))];
	if (inner >= end || form_roll(dice, 4) == 0) {
		splice(text, inner, inner, &c, 1);
		return;
	}
	size_t at = inner + form_roll(dice, (uint32_t)(end - inner));
	bool safe = text->data[at] != '\\' && (at == inner || text->data[at - 1] != '\\');
	if (string ? safe : isdigit(text->data[at]) != 0)
		text->data[at] = (uint8_t)c;
}

void form_change_json(shd_buf *text, form_dice *dice)
{
	static json_spans spans;
	walk_text(text, &spans);
	if (!spans.count)
		return;
	size_t at = form_roll(dice, (uint32_t)spans.count), near = at + 1 + form_roll(dice, NEAR);
	if (near >= spans.count || form_roll(dice, 2))
		near = form_roll(dice, (uint32_t)spans.count);
	const json_span *s = &spans.list[at], *other = &spans.list[near];
	switch (form_roll(dice, 8)) {
	case 0: replace_by_odd(text, s, dice); break;
	case 1: drop_value(text, s); break;
	case 2: double_value(text, s); break;
	case 3: swap_values(text, s, other); break;
	case 4: copy_value(text, s, other); break;
	default:
		if (text->data[s->at] != '{' && text->data[s->at] != '[')
			change_scalar(text, s, dice);
		else
			replace_by_odd(text, s, dice);
	}
}

static bool split_json(const uint8_t *data, size_t len, form_pieces *out)
{
	return len && form_add(out, FORM_JSON, 0, data, len);
}

static void join_json(const form_pieces *p, shd_buf *out)
{
	for (size_t i = 0; i < p->count; i++)
		shd_buf_append(out, p->list[i].bytes.data, p->list[i].bytes.len);
}

const fuzz_form form_json = {split_json, join_json};

/* What a sealed document ends with, the digits aside. */
#define SEAL "\n  \"sha256\": \""
#define SEAL_END "\"\n}"

enum { SEAL_LEN = sizeof(SEAL) - 1 + SHD_SHA256_HEX + sizeof(SEAL_END) - 1, SEALED = 1 };

static bool split_sealed(const uint8_t *data, size_t len, form_pieces *out)
{
	if (!len || data[0] != '{')
		return false;
	if (len <= SEAL_LEN || memcmp(data + len - SEAL_LEN, SEAL, sizeof(SEAL) - 1) != 0)
		return split_json(data, len, out);
	len -= SEAL_LEN;
	len -= data[len - 1] == ',';
	if (!form_add(out, FORM_JSON, SEALED, data, len))
		return false;
	shd_buf_str(&out->list[0].bytes, "\n}");
	return true;
}

static void join_sealed(const form_pieces *p, shd_buf *out)
{
	uint8_t hash[SHD_SHA256_BYTES];
	char hex[SHD_SHA256_HEX + 1];
	join_json(p, out);
	if (!p->count || p->list[0].tag != SEALED || out->len < 2)
		return;
	while (out->len && (isspace(out->data[out->len - 1]) || out->data[out->len - 1] == '}')) {
		bool brace = out->data[--out->len] == '}';
		if (brace)
			break;
	}
	while (out->len && isspace(out->data[out->len - 1]))
		out->len--;
	shd_buf_str(out, out->len && out->data[out->len - 1] == '{' ? "\n  " : ",\n  ");
	shd_sha256_of(out->data, out->len, hash);
	shd_hex(hash, sizeof(hash), hex);
	shd_buf_printf(out, "\"sha256\": \"%s" SEAL_END, hex);
}

const fuzz_form form_sealed = {split_sealed, join_sealed};

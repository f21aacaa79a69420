/* codec/json.c - the pull parser: what may come next, and the values of it. */
#include "codec/json.h"

#include "base/limits.h"
#include "codec/json_scan.h"
#include "codec/json_state.h"

#include <stdio.h>
#include <stdlib.h>

int shd_json_fail(const shd_json *j, const uint8_t *at, const char *reason, sherd_error *err, const char *fmt, ...)
{
	char message[128];
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	return shd_fail_at(err, SHERD_ECORRUPT, reason, (uint64_t)(at - j->data), "%s", message);
}

int shd_json_fail_end(const shd_json *j, sherd_error *err)
{
	return shd_json_fail(j, j->end, "truncated", err, "the document ends too early");
}

__attribute__((cold)) static int fail_order(sherd_error *err)
{
	return shd_fail(err, SHERD_EINVAL, "bad-argument", "the parser was asked out of turn");
}

__attribute__((cold)) static int fail_syntax(const shd_json *j, const uint8_t *at, const char *want, sherd_error *err)
{
	if (*at > ' ' && *at < 0x7f)
		return shd_json_fail(j, at, "bad-json", err, "%s must stand here, not '%c'", want, *at);
	return shd_json_fail(j, at, "bad-json", err, "%s must stand here, not byte %02x", want, *at);
}

int shd_json_open(shd_json **out, const void *data, size_t len, const sherd_limits *limits, sherd_error *err)
{
	sherd_limits l = shd_limits_or_default(limits);
	if (len > l.metadata_bytes)
		return shd_fail_at(err, SHERD_ELIMIT, "too-long", l.metadata_bytes,
		                   "a document of %zu bytes, more than %llu", len,
		                   (unsigned long long)l.metadata_bytes);
	shd_json *j = calloc(1, sizeof(*j));
	if (!j)
		return shd_fail_nomem(err);
	j->data = j->p = j->at = len ? data : (const void *)"";
	j->end = j->data + len;
	j->state = JSON_VALUE;
	j->depth_limit = l.depth;
	j->number_limit = l.number_bytes;
	j->levels = j->first_levels;
	j->level_room = JSON_FIRST_LEVELS;
	j->keys = j->first_keys;
	j->key_room = JSON_FIRST_KEYS;
	*out = j;
	return SHERD_OK;
}

void shd_json_close(shd_json *j)
{
	if (!j)
		return;
	for (uint32_t i = 0; i < j->level_room; i++)
		free(j->levels[i].table);
	if (j->levels != j->first_levels)
		free(j->levels);
	if (j->keys != j->first_keys)
		free(j->keys);
	shd_buf_done(&j->text);
	shd_buf_done(&j->other);
	free(j);
}

uint64_t shd_json_offset(const shd_json *j)
{
	return (uint64_t)(j->at - j->data);
}

/* By first byte; 0 where no value begins with it. */
static const uint8_t types[256] = {
	['{'] = SHD_JSON_OBJECT, ['['] = SHD_JSON_ARRAY, ['"'] = SHD_JSON_STRING, ['t'] = SHD_JSON_TRUE,
	['f'] = SHD_JSON_FALSE,  ['n'] = SHD_JSON_NULL,  ['-'] = SHD_JSON_NUMBER, ['0' ... '9'] = SHD_JSON_NUMBER,
};

static inline int skip_space(shd_json *j, sherd_error *err)
{
	j->p = json_space_end(j->p, j->end);
	return j->p < j->end ? SHERD_OK : shd_json_fail_end(j, err);
}

/* Moves to the first byte of the value that must come. */
static inline int begin_value(shd_json *j, sherd_error *err)
{
	return j->state == JSON_VALUE ? skip_space(j, err) : fail_order(err);
}

int shd_json_peek(shd_json *j, sherd_error *err)
{
	TRY(begin_value(j, err));
	int type = types[*j->p];
	return type ? type : fail_syntax(j, j->p, "a value", err);
}

__attribute__((cold)) static int fail_type(const shd_json *j, const char *want, sherd_error *err)
{
	static const char *const names[] = {
		[SHD_JSON_OBJECT] = "an object", [SHD_JSON_ARRAY] = "an array", [SHD_JSON_STRING] = "a string",
		[SHD_JSON_NUMBER] = "a number",  [SHD_JSON_TRUE] = "true",      [SHD_JSON_FALSE] = "false",
		[SHD_JSON_NULL] = "null"};
	int type = types[*j->p];
	if (!type)
		return fail_syntax(j, j->p, "a value", err);
	return shd_json_fail(j, j->p, "bad-type", err, "%s where %s must stand", names[type], want);
}

/* The token at j->at was a whole value that ends at to. */
static inline void finish_value(shd_json *j, const uint8_t *to)
{
	j->p = to;
	j->state = JSON_AFTER;
}

static int more_levels(shd_json *j, sherd_error *err)
{
	uint32_t room = j->level_room * 2;
	json_level *old = j->levels == j->first_levels ? NULL : j->levels;
	json_level *levels = room < j->level_room ? NULL : realloc(old, room * sizeof(*levels));
	if (!levels)
		return shd_fail_nomem(err);
	if (!old)
		memcpy(levels, j->first_levels, sizeof(j->first_levels));
	memset(levels + j->level_room, 0, (room - j->level_room) * sizeof(*levels));
	j->levels = levels;
	j->level_room = room;
	return SHERD_OK;
}

/* Takes the bracket at j->p. */
static inline int open_container(shd_json *j, sherd_error *err)
{
	if (j->depth == j->depth_limit)
		return shd_fail_at(err, SHERD_ELIMIT, "too-deep", (uint64_t)(j->p - j->data), "nested deeper than %u",
		                   j->depth_limit);
	if (j->depth == j->level_room)
		TRY(more_levels(j, err));
	json_level *l = &j->levels[j->depth++];
	l->first_key = j->key_count;
	l->object = *j->p == '{';
	j->at = j->p++;
	j->state = JSON_FIRST;
	return SHERD_OK;
}

/* Takes the bracket at j->p that ends the innermost container. */
static void close_container(shd_json *j)
{
	shd_json_keys_drop(j);
	j->depth--;
	j->at = j->p;
	finish_value(j, j->p + 1);
}

int shd_json_object(shd_json *j, sherd_error *err)
{
	TRY(begin_value(j, err));
	return *j->p == '{' ? open_container(j, err) : fail_type(j, "an object", err);
}

int shd_json_array(shd_json *j, sherd_error *err)
{
	TRY(begin_value(j, err));
	return *j->p == '[' ? open_container(j, err) : fail_type(j, "an array", err);
}

/* Between the members of a container: 0 when its end was taken, 1 when j->p is where the next one must begin. */
static inline int next_member(shd_json *j, uint8_t bracket, sherd_error *err)
{
	TRY(skip_space(j, err));
	if (*j->p == bracket) {
		close_container(j);
		return 0;
	}
	if (j->state == JSON_AFTER) {
		if (*j->p != ',')
			return fail_syntax(j, j->p, bracket == '}' ? "',' or '}'" : "',' or ']'", err);
		j->p++;
		TRY(skip_space(j, err));
	}
	return 1;
}

static inline int next_item(shd_json *j, sherd_error *err)
{
	int more = next_member(j, ']', err);
	if (more > 0)
		j->state = JSON_VALUE;
	return more;
}

/* The string whose opening quote is at p. */
static inline int scan_string(const shd_json *j, const uint8_t *p, json_span *s, sherd_error *err)
{
	s->from = p + 1;
	s->to = json_plain_end(s->from, j->end);
	s->escaped = false;
	if (s->to < j->end && *s->to == '"')
		return SHERD_OK;
	return shd_json_scan_string(j, s->to, s, err);
}

static inline int text_of(shd_json *j, const json_span *s, shd_str *out, sherd_error *err)
{
	if (s->escaped)
		return shd_json_unescape(s, &j->text, out, err);
	*out = (shd_str){(const char *)s->from, (size_t)(s->to - s->from)};
	return SHERD_OK;
}

static inline int next_key(shd_json *j, shd_str *key, sherd_error *err)
{
	int more = next_member(j, '}', err);
	if (more <= 0)
		return more;
	const uint8_t *quote = j->p;
	json_span s;
	shd_str text;
	if (*quote != '"')
		return fail_syntax(j, quote, "a key", err);
	TRY(scan_string(j, quote, &s, err));
	TRY(text_of(j, &s, &text, err));
	TRY(shd_json_keys_add(j, text, quote, err));
	j->p = s.to + 1;
	TRY(skip_space(j, err));
	if (*j->p != ':')
		return fail_syntax(j, j->p, "':'", err);
	j->p++;
	j->at = quote;
	j->state = JSON_VALUE;
	*key = text;
	return 1;
}

/* Is the parser between the members of an open object (or array)? */
static inline bool between(const shd_json *j, bool object)
{
	return j->depth && j->state != JSON_VALUE && j->levels[j->depth - 1].object == object;
}

int shd_json_key(shd_json *j, shd_str *key, sherd_error *err)
{
	return between(j, true) ? next_key(j, key, err) : fail_order(err);
}

int shd_json_item(shd_json *j, sherd_error *err)
{
	return between(j, false) ? next_item(j, err) : fail_order(err);
}

int shd_json_string(shd_json *j, shd_str *out, sherd_error *err)
{
	json_span s;
	shd_str text;
	TRY(begin_value(j, err));
	if (*j->p != '"')
		return fail_type(j, "a string", err);
	TRY(scan_string(j, j->p, &s, err));
	TRY(text_of(j, &s, &text, err));
	j->at = j->p;
	finish_value(j, s.to + 1);
	*out = text;
	return SHERD_OK;
}

int shd_json_number(shd_json *j, shd_str *text, sherd_error *err)
{
	const uint8_t *to;
	TRY(begin_value(j, err));
	if (types[*j->p] != SHD_JSON_NUMBER)
		return fail_type(j, "a number", err);
	TRY(shd_json_scan_number(j, j->p, &to, err));
	j->at = j->p;
	finish_value(j, to);
	*text = (shd_str){(const char *)j->at, (size_t)(to - j->at)};
	return SHERD_OK;
}

/* Takes this word, the first letter of which stands at j->p. */
static int codec_json_take_word(shd_json *j, const char *word, sherd_error *err)
{
	const uint8_t *p = j->p;
	for (; *word; word++, p++) {
		if (p == j->end)
			return shd_json_fail_end(j, err);
		if (*p != (uint8_t)*word)
			return fail_syntax(j, p, "a value", err);
	}
	j->at = j->p;
	finish_value(j, p);
	return SHERD_OK;
}

int shd_json_bool(shd_json *j, bool *out, sherd_error *err)
{
	TRY(begin_value(j, err));
	bool truth = *j->p == 't';
	if (!truth && *j->p != 'f')
		return fail_type(j, "true or false", err);
	TRY(codec_json_take_word(j, truth ? "true" : "false", err));
	*out = truth;
	return SHERD_OK;
}

int shd_json_null(shd_json *j, sherd_error *err)
{
	TRY(begin_value(j, err));
	return *j->p == 'n' ? codec_json_take_word(j, "null", err) : fail_type(j, "null", err);
}

/* Takes the value at j->p, or the opening bracket of it. */
static inline int pass_value(shd_json *j, sherd_error *err)
{
	json_span s;
	const uint8_t *to;
	switch (types[*j->p]) {
	case SHD_JSON_STRING:
		TRY(scan_string(j, j->p, &s, err));
		finish_value(j, s.to + 1);
		return SHERD_OK;
	case SHD_JSON_NUMBER:
		TRY(shd_json_scan_number(j, j->p, &to, err));
		finish_value(j, to);
		return SHERD_OK;
	case SHD_JSON_OBJECT:
	case SHD_JSON_ARRAY: return open_container(j, err);
	case SHD_JSON_TRUE: return codec_json_take_word(j, "true", err);
	case SHD_JSON_FALSE: return codec_json_take_word(j, "false", err);
	case SHD_JSON_NULL: return codec_json_take_word(j, "null", err);
	default: return fail_syntax(j, j->p, "a value", err);
	}
}

int shd_json_skip(shd_json *j, sherd_error *err)
{
	TRY(begin_value(j, err));
	const uint8_t *start = j->p;
	uint32_t outside = j->depth;
	for (;;) {
		TRY(pass_value(j, err));
		while (j->state != JSON_VALUE && j->depth > outside) {
			shd_str key;
			TRY(j->levels[j->depth - 1].object ? next_key(j, &key, err) : next_item(j, err));
		}
		if (j->state != JSON_VALUE)
			break;
		TRY(skip_space(j, err));
	}
	j->at = start;
	return SHERD_OK;
}

int shd_json_raw(shd_json *j, shd_str *text, sherd_error *err)
{
	TRY(shd_json_skip(j, err));
	*text = (shd_str){(const char *)j->at, (size_t)(j->p - j->at)};
	return SHERD_OK;
}

int shd_json_end(shd_json *j, sherd_error *err)
{
	if (j->depth || j->state != JSON_AFTER)
		return fail_order(err);
	const uint8_t *rest = json_space_end(j->p, j->end);
	return rest == j->end ? SHERD_OK : fail_syntax(j, rest, "the end of the document", err);
}

int shd_json_check(const void *data, size_t len, const sherd_limits *limits, sherd_error *err)
{
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	TRY(shd_json_open(&j, data, len, limits, err));
	TRY(shd_json_skip(j, err));
	return shd_json_end(j, err);
}

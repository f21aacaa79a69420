/* codec/json.c - the pull parser: what may come next, and the values of it. */
#include "codec/json.h"

#include "base/limits.h"
#include "codec/json_scan.h"
#include "codec/json_state.h"

#include <stdio.h>
#include <stdlib.h>

SHERD_AUTO_DEFINE(sherd_json, sherd_json_close)

int sherd_json_fail(const sherd_json *j, const uint8_t *at, const char *reason, sherd_error *err, const char *fmt, ...)
{
	char message[128];
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	return sherd_fail_at(err, SHERD_ECORRUPT, reason, (uint64_t)(at - j->data), "%s", message);
}

int sherd_json_fail_end(const sherd_json *j, sherd_error *err)
{
	return sherd_json_fail(j, j->end, "truncated", err, "the document ends too early");
}

__attribute__((cold)) static int fail_order(sherd_error *err)
{
	return sherd_fail(err, SHERD_EINVAL, "bad-argument", "the parser was asked out of turn");
}

__attribute__((cold)) static int fail_syntax(const sherd_json *j, const uint8_t *at, const char *want, sherd_error *err)
{
	if (*at > ' ' && *at < 0x7f)
		return sherd_json_fail(j, at, "bad-json", err, "%s must stand here, not '%c'", want, *at);
	return sherd_json_fail(j, at, "bad-json", err, "%s must stand here, not byte %02x", want, *at);
}

int sherd_json_open(sherd_json **out, const void *data, size_t len, const sherd_limits *limits, sherd_error *err)
{
	sherd_limits l = sherd_limits_or_default(limits);
	if (len > l.metadata_bytes)
		return sherd_fail_at(err, SHERD_ELIMIT, "too-long", l.metadata_bytes,
		                     "a document of %zu bytes, more than %llu", len,
		                     (unsigned long long)l.metadata_bytes);
	sherd_json *j = calloc(1, sizeof(*j));
	if (!j)
		return sherd_fail_nomem(err);
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

void sherd_json_close(sherd_json *j)
{
	if (!j)
		return;
	for (uint32_t i = 0; i < j->level_room; i++)
		free(j->levels[i].table);
	if (j->levels != j->first_levels)
		free(j->levels);
	if (j->keys != j->first_keys)
		free(j->keys);
	sherd_buf_done(&j->text);
	sherd_buf_done(&j->other);
	free(j);
}

uint64_t sherd_json_offset(const sherd_json *j)
{
	return (uint64_t)(j->at - j->data);
}

/* By first byte; 0 where no value begins with it. */
static const uint8_t types[256] = {
	['{'] = SHERD_JSON_OBJECT, ['['] = SHERD_JSON_ARRAY,          ['"'] = SHERD_JSON_STRING,
	['t'] = SHERD_JSON_TRUE,   ['f'] = SHERD_JSON_FALSE,          ['n'] = SHERD_JSON_NULL,
	['-'] = SHERD_JSON_NUMBER, ['0' ... '9'] = SHERD_JSON_NUMBER,
};

static inline int skip_space(sherd_json *j, sherd_error *err)
{
	j->p = json_space_end(j->p, j->end);
	return j->p < j->end ? SHERD_OK : sherd_json_fail_end(j, err);
}

/* Moves to the first byte of the value that must come. */
static inline int begin_value(sherd_json *j, sherd_error *err)
{
	return j->state == JSON_VALUE ? skip_space(j, err) : fail_order(err);
}

int sherd_json_peek(sherd_json *j, sherd_error *err)
{
	TRY(begin_value(j, err));
	int type = types[*j->p];
	return type ? type : fail_syntax(j, j->p, "a value", err);
}

__attribute__((cold)) static int fail_type(const sherd_json *j, const char *want, sherd_error *err)
{
	static const char *const names[] = {
		[SHERD_JSON_OBJECT] = "an object", [SHERD_JSON_ARRAY] = "an array", [SHERD_JSON_STRING] = "a string",
		[SHERD_JSON_NUMBER] = "a number",  [SHERD_JSON_TRUE] = "true",      [SHERD_JSON_FALSE] = "false",
		[SHERD_JSON_NULL] = "null"};
	int type = types[*j->p];
	if (!type)
		return fail_syntax(j, j->p, "a value", err);
	return sherd_json_fail(j, j->p, "bad-type", err, "%s where %s must stand", names[type], want);
}

/* The token at j->at was a whole value that ends at to. */
static inline void finish_value(sherd_json *j, const uint8_t *to)
{
	j->p = to;
	j->state = JSON_AFTER;
}

static int more_levels(sherd_json *j, sherd_error *err)
{
	uint32_t room = j->level_room * 2;
	json_level *old = j->levels == j->first_levels ? NULL : j->levels;
	json_level *levels = room < j->level_room ? NULL : realloc(old, room * sizeof(*levels));
	if (!levels)
		return sherd_fail_nomem(err);
	if (!old)
		memcpy(levels, j->first_levels, sizeof(j->first_levels));
	memset(levels + j->level_room, 0, (room - j->level_room) * sizeof(*levels));
	j->levels = levels;
	j->level_room = room;
	return SHERD_OK;
}

/* Takes the bracket at j->p. */
static inline int open_container(sherd_json *j, sherd_error *err)
{
	if (j->depth == j->depth_limit)
		return sherd_fail_at(err, SHERD_ELIMIT, "too-deep", (uint64_t)(j->p - j->data), "nested deeper than %u",
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
static void close_container(sherd_json *j)
{
	sherd_json_keys_drop(j);
	j->depth--;
	j->at = j->p;
	finish_value(j, j->p + 1);
}

int sherd_json_object(sherd_json *j, sherd_error *err)
{
	TRY(begin_value(j, err));
	return *j->p == '{' ? open_container(j, err) : fail_type(j, "an object", err);
}

int sherd_json_array(sherd_json *j, sherd_error *err)
{
	TRY(begin_value(j, err));
	return *j->p == '[' ? open_container(j, err) : fail_type(j, "an array", err);
}

/* Between the members of a container: 0 when its end was taken, 1 when j->p is where the next one must begin. */
static inline int next_member(sherd_json *j, uint8_t bracket, sherd_error *err)
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

static inline int next_item(sherd_json *j, sherd_error *err)
{
	int more = next_member(j, ']', err);
	if (more > 0)
		j->state = JSON_VALUE;
	return more;
}

/* The string whose opening quote is at p. */
static inline int scan_string(const sherd_json *j, const uint8_t *p, json_span *s, sherd_error *err)
{
	s->from = p + 1;
	s->to = json_plain_end(s->from, j->end);
	s->escaped = false;
	if (s->to < j->end && *s->to == '"')
		return SHERD_OK;
	return sherd_json_scan_string(j, s->to, s, err);
}

static inline int text_of(sherd_json *j, const json_span *s, sherd_str *out, sherd_error *err)
{
	if (s->escaped)
		return sherd_json_unescape(s, &j->text, out, err);
	*out = (sherd_str){(const char *)s->from, (size_t)(s->to - s->from)};
	return SHERD_OK;
}

static inline int next_key(sherd_json *j, sherd_str *key, sherd_error *err)
{
	int more = next_member(j, '}', err);
	if (more <= 0)
		return more;
	const uint8_t *quote = j->p;
	json_span s;
	sherd_str text;
	if (*quote != '"')
		return fail_syntax(j, quote, "a key", err);
	TRY(scan_string(j, quote, &s, err));
	TRY(text_of(j, &s, &text, err));
	TRY(sherd_json_keys_add(j, text, quote, err));
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
static inline bool between(const sherd_json *j, bool object)
{
	return j->depth && j->state != JSON_VALUE && j->levels[j->depth - 1].object == object;
}

int sherd_json_key(sherd_json *j, sherd_str *key, sherd_error *err)
{
	return between(j, true) ? next_key(j, key, err) : fail_order(err);
}

int sherd_json_item(sherd_json *j, sherd_error *err)
{
	return between(j, false) ? next_item(j, err) : fail_order(err);
}

int sherd_json_string(sherd_json *j, sherd_str *out, sherd_error *err)
{
	json_span s;
	sherd_str text;
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

int sherd_json_number(sherd_json *j, sherd_str *text, sherd_error *err)
{
	const uint8_t *to;
	TRY(begin_value(j, err));
	if (types[*j->p] != SHERD_JSON_NUMBER)
		return fail_type(j, "a number", err);
	TRY(sherd_json_scan_number(j, j->p, &to, err));
	j->at = j->p;
	finish_value(j, to);
	*text = (sherd_str){(const char *)j->at, (size_t)(to - j->at)};
	return SHERD_OK;
}

/* Takes this word, the first letter of which stands at j->p. */
static int take_word(sherd_json *j, const char *word, sherd_error *err)
{
	const uint8_t *p = j->p;
	for (; *word; word++, p++) {
		if (p == j->end)
			return sherd_json_fail_end(j, err);
		if (*p != (uint8_t)*word)
			return fail_syntax(j, p, "a value", err);
	}
	j->at = j->p;
	finish_value(j, p);
	return SHERD_OK;
}

int sherd_json_bool(sherd_json *j, bool *out, sherd_error *err)
{
	TRY(begin_value(j, err));
	bool truth = *j->p == 't';
	if (!truth && *j->p != 'f')
		return fail_type(j, "true or false", err);
	TRY(take_word(j, truth ? "true" : "false", err));
	*out = truth;
	return SHERD_OK;
}

int sherd_json_null(sherd_json *j, sherd_error *err)
{
	TRY(begin_value(j, err));
	return *j->p == 'n' ? take_word(j, "null", err) : fail_type(j, "null", err);
}

/* Takes the value at j->p, or the opening bracket of it. */
static inline int pass_value(sherd_json *j, sherd_error *err)
{
	json_span s;
	const uint8_t *to;
	switch (types[*j->p]) {
	case SHERD_JSON_STRING:
		TRY(scan_string(j, j->p, &s, err));
		finish_value(j, s.to + 1);
		return SHERD_OK;
	case SHERD_JSON_NUMBER:
		TRY(sherd_json_scan_number(j, j->p, &to, err));
		finish_value(j, to);
		return SHERD_OK;
	case SHERD_JSON_OBJECT:
	case SHERD_JSON_ARRAY: return open_container(j, err);
	case SHERD_JSON_TRUE: return take_word(j, "true", err);
	case SHERD_JSON_FALSE: return take_word(j, "false", err);
	case SHERD_JSON_NULL: return take_word(j, "null", err);
	default: return fail_syntax(j, j->p, "a value", err);
	}
}

int sherd_json_skip(sherd_json *j, sherd_error *err)
{
	TRY(begin_value(j, err));
	const uint8_t *start = j->p;
	uint32_t outside = j->depth;
	for (;;) {
		TRY(pass_value(j, err));
		while (j->state != JSON_VALUE && j->depth > outside) {
			sherd_str key;
			TRY(j->levels[j->depth - 1].object ? next_key(j, &key, err) : next_item(j, err));
		}
		if (j->state != JSON_VALUE)
			break;
		TRY(skip_space(j, err));
	}
	j->at = start;
	return SHERD_OK;
}

int sherd_json_raw(sherd_json *j, sherd_str *text, sherd_error *err)
{
	TRY(sherd_json_skip(j, err));
	*text = (sherd_str){(const char *)j->at, (size_t)(j->p - j->at)};
	return SHERD_OK;
}

int sherd_json_end(sherd_json *j, sherd_error *err)
{
	if (j->depth || j->state != JSON_AFTER)
		return fail_order(err);
	const uint8_t *rest = json_space_end(j->p, j->end);
	return rest == j->end ? SHERD_OK : fail_syntax(j, rest, "the end of the document", err);
}

int sherd_json_check(const void *data, size_t len, const sherd_limits *limits, sherd_error *err)
{
	SHERD_AUTO(sherd_json, sherd_json_close) j = NULL;
	TRY(sherd_json_open(&j, data, len, limits, err));
	TRY(sherd_json_skip(j, err));
	return sherd_json_end(j, err);
}

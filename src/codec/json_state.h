/* codec/json_state.h - the parser from inside, for the files it is made of. */
#pragma once

#include "codec/json.h"

enum json_state {
	JSON_VALUE = 1, /* a value must come */
	JSON_FIRST,     /* a container was opened, nothing of it is taken yet */
	JSON_AFTER      /* a value was taken whole: its container goes on, or the document is over */
};

/* A key of an open object. */
typedef struct json_key {
	uint64_t hash;
	uint64_t offset; /* of its opening quote in the document */
} json_key;

/* An open container. */
typedef struct json_level {
	size_t first_key; /* its keys are shd_json.keys[first_key ...] */
	bool object;
	/* Once the keys are many: their numbers, found by hash. The memory stays for the next object at this depth. */
	uint64_t *table;
	size_t table_room; /* slots that are allocated */
	size_t table_size; /* slots in use by the open object: a power of two, or 0 */
} json_level;

enum { JSON_FIRST_LEVELS = 8, JSON_FIRST_KEYS = 32 };

struct shd_json {
	const uint8_t *data, *p, *end;
	const uint8_t *at; /* the token taken last */
	enum json_state state;
	uint32_t depth, depth_limit, number_limit;
	json_level *levels; /* depth of them are open; first_levels as long as they do */
	uint32_t level_room;
	json_key *keys; /* of all open objects, outermost first; first_keys as long as they do */
	size_t key_count, key_room;
	json_level first_levels[JSON_FIRST_LEVELS];
	json_key first_keys[JSON_FIRST_KEYS];
	uint64_t seed; /* 0 until an object has many keys */
	shd_buf text;  /* the string unescaped last */
	shd_buf other; /* an earlier key, while it is compared */
};

/* A string between its quotes. */
typedef struct json_span {
	const uint8_t *from, *to;
	bool escaped;
} json_span;

__attribute__((format(printf, 5, 6), cold)) int shd_json_fail(const shd_json *j, const uint8_t *at, const char *reason,
                                                              sherd_error *err, const char *fmt, ...);
__attribute__((cold)) int shd_json_fail_end(const shd_json *j, sherd_error *err);

/* Checks the rest of a string from p, the first byte of it that is not plain, and fills to and escaped. */
int shd_json_scan_string(const shd_json *j, const uint8_t *p, json_span *out, sherd_error *err);
/* The text that a checked span stands for, in *buf if anything was escaped. */
int shd_json_unescape(const json_span *s, shd_buf *buf, shd_str *out, sherd_error *err);
/* Checks the number at p and fills *to with its end. */
int shd_json_scan_number(const shd_json *j, const uint8_t *p, const uint8_t **to, sherd_error *err);

/* Notes a key of the innermost object; "duplicate-key" when it has it already. */
int shd_json_keys_add(shd_json *j, shd_str key, const uint8_t *quote, sherd_error *err);
/* Forgets the keys of the innermost object. */
void shd_json_keys_drop(shd_json *j);

/* Numbers as text, in the "C" locale whatever the program's is. text ends with NUL. */
bool shd_double_parse(const char *text, double *out);
#define SHD_DOUBLE_TEXT 40
bool shd_double_format(double v, char out[SHD_DOUBLE_TEXT]);

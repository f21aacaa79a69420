/* codec/json_members.h - objects by tables: which members there are, where they go, and which must be there. */
#pragma once

#include "codec/seal.h"

#include <stddef.h>

/* Takes the value that comes next. arg is the caller's; field is where the member goes. */
typedef int shd_json_take_fn(void *arg, void *field, shd_json *j, sherd_error *err);

typedef enum shd_json_value {
	SHD_JSON_BY_FN,    /* what take() makes of it */
	SHD_JSON_U64,      /* uint64_t */
	SHD_JSON_U32,      /* uint32_t */
	SHD_JSON_BOOL,     /* bool */
	SHD_JSON_TIME,     /* int64_t, nanoseconds of a timestamp; else "bad-time" */
	SHD_JSON_SHA256,   /* uint8_t[32] in hexadecimal digits; else "bad-text" */
	SHD_JSON_FORMAT,   /* nothing is kept: it must be the text; else "unknown-format" */
	SHD_JSON_VERSION,  /* uint32_t from 1 to most; else SHERD_EVERSION, "bad-version" */
	SHD_JSON_VERSION_1 /* nothing is kept: it must be 1 */
} shd_json_value;

typedef struct shd_json_member {
	const char *key; /* NULL ends a table, which has at most 64 lines */
	shd_json_value value;
	size_t at; /* where it goes, from the start of out */
	bool needed;
	shd_json_take_fn *take;
	const char *text; /* of a format */
	uint32_t most;    /* of a version */
} shd_json_member;

/* Takes an object. Members that the table does not know are skipped; one that is needed and absent is "missing-key". */
int shd_json_members(shd_json *j, const shd_json_member *members, void *arg, void *out, sherd_error *err);
/* The same of a whole document. */
int shd_json_document(const void *data, size_t len, const sherd_limits *limits, const shd_json_member *members,
                      void *arg, void *out, sherd_error *err);
/* Of one that must be sealed; else "bad-seal". */
int shd_json_sealed(const void *data, size_t len, const sherd_limits *limits, const shd_json_member *members, void *arg,
                    void *out, sherd_error *err);
/* Takes an array: each item by take() with this field. */
int shd_json_items(shd_json *j, shd_json_take_fn *take, void *arg, void *field, sherd_error *err);

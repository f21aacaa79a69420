/* engine/publish/head.h - the small object that says a set exists, and which one it was when it was read. */
#ifndef SHERD_ENGINE_PUBLISH_HEAD_H
#define SHERD_ENGINE_PUBLISH_HEAD_H

#include "base/error.h"

#include <sherd/limits.h>
#include <sherd/store.h>

typedef struct sherd_head {
	char *text; /* free() it; NUL-terminated behind the last byte */
	size_t len;
	char identity[sizeof(((sherd_stat *)0)->identity)];
} sherd_head;

/* Reads it, at most limits->metadata_bytes; text and identity are those of one object. */
int sherd_head_read(sherd_head *out, sherd_store *store, const char *key, const sherd_limits *limits, sherd_error *err);
/* The same of an object that is open. */
int sherd_head_take(sherd_head *out, const sherd_reader *reader, const sherd_limits *limits, sherd_error *err);
/* Does another object stand there now? Not when that cannot be told. */
bool sherd_head_changed(const sherd_head *head, sherd_store *store, const char *key);

#endif

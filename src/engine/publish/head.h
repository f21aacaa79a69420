/* engine/publish/head.h - the small object that says a set exists, and which one it was when it was read. */
#ifndef SHD_ENGINE_PUBLISH_HEAD_H
#define SHD_ENGINE_PUBLISH_HEAD_H

#include "base/error.h"

#include <sherd/limits.h>
#include <sherd/store.h>

typedef struct shd_head {
	char *text; /* free() it; NUL-terminated behind the last byte */
	size_t len;
	char identity[sizeof(((sherd_stat *)0)->identity)];
} shd_head;

/* Reads it, at most limits->metadata_bytes; text and identity are those of one object. */
int shd_head_read(shd_head *out, sherd_store *store, const char *key, const sherd_limits *limits, sherd_error *err);
/* The same of an object that is open. */
int shd_head_take(shd_head *out, const sherd_reader *reader, const sherd_limits *limits, sherd_error *err);
/* Does another object stand there now? Not when that cannot be told. */
bool shd_head_changed(const shd_head *head, sherd_store *store, const char *key);

#endif

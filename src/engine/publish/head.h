/* engine/publish/head.h - the small object that says a set exists, and which one it was when it was read. */
#pragma once

#include "base/buf.h"

#include <sherd/limits.h>
#include <sherd/store.h>

typedef struct shd_head {
	char *text; /* free() it; NUL-terminated after the last byte */
	size_t len;
	char identity[sizeof(((sherd_stat *)0)->identity)];
} shd_head;

/* Frees the text. */
void shd_head_done(shd_head *head);

enum { SHD_ATTEMPT_TEXT = 17 }; /* 16 hexadecimal digits */
/* A random number that nobody else has. */
int shd_attempt(char out[SHD_ATTEMPT_TEXT], sherd_error *err);

/* Reads it, at most limits->metadata_bytes; text and identity are those of one object. SHERD_ENOTFOUND when there is
 * none, or a vacant one, {"vacant":"<attempt>"}, whose identity is told, as is that of one that is too long: "" when
 * there is none, or no object. */
int shd_head_read(shd_head *out, sherd_store *store, const char *key, const sherd_limits *limits, sherd_error *err);
/* The same of an object that is open. */
int shd_head_take(shd_head *out, const sherd_reader *reader, const sherd_limits *limits, sherd_error *err);
/* One write of a head. */
typedef struct shd_publication {
	sherd_store *store;
	const char *key;
	const char *base; /* the identity that it takes the place of; NULL or "": there must be none */
	const void *text;
	size_t len;
	/* Does this head name our parts, also one that came after ours? 1: yes, 0: no, < 0: nobody can tell. NULL: if
	 * it is this text. */
	int (*is_ours)(void *arg, const char *text, size_t len);
	void *arg;
} shd_publication;

/* What follows from how publishing ended. */
typedef struct shd_published {
	char identity[sizeof(
		((sherd_stat *)0)->identity)]; /* of the head that we wrote, if that is what stands there; else "" */
	bool kept; /* it failed, and the head may be ours, now or later: nothing that it names may be removed */
} shd_published;

/* The moment from which a set counts. SHERD_EEXIST and SHERD_ECONFLICT: another one is there, which stays as it is.
 * When the store does not answer, what is there tells; if that does not tell either, the write is repeated, and at last
 * it is SHERD_EUNKNOWN. *out is set in any case. */
int shd_head_publish(const shd_publication *p, shd_published *out, sherd_error *err);

/* Before parts of a save that counts as dead are removed, on stores that cannot lock, where it may only be slow: the
 * head, which was seen with this identity ("": there was none), changes, so that whoever began with it is refused from
 * now on. One that is there says the same in other bytes; an absent one becomes vacant. SHERD_ECONFLICT when it is
 * another one by now, or no JSON object that is whole. */
int shd_head_fence(sherd_store *store, const char *key, const char *seen, sherd_error *err);

/* Appends the same text in bytes that nobody has seen, since a server may know objects by a hash of theirs: 64 random
 * spaces and tabs follow the first brace of a JSON object, which is sealed anew if it was sealed, and the end of any
 * other text; instead of those that were there. SHERD_ECONFLICT when its seal is broken. */
int shd_head_rewrite(shd_buf *out, const shd_head *head, sherd_error *err);

/* Takes away the head that was seen with this identity. Where the store cannot lock it becomes vacant: somebody who
 * began when there was none may be about to publish. SHERD_ECONFLICT when it is another one by now, or none. */
int shd_head_remove(sherd_store *store, const char *key, const char *seen, sherd_error *err);

/* Does another object stand there now? Not when that cannot be told. */
bool shd_head_changed(const shd_head *head, sherd_store *store, const char *key);

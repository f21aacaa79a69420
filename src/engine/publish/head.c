#include "engine/publish/head.h"

#include "base/large.h"
#include "base/limits.h"
#include "codec/seal.h"
#include "codec/sha256.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)

/* Of a write that gets no answer. */
enum { MOST_WRITES = 4 };

int shd_attempt(char out[SHD_ATTEMPT_TEXT], sherd_error *err)
{
	uint8_t raw[(SHD_ATTEMPT_TEXT - 1) / 2];
	if (getrandom(raw, sizeof(raw), 0) != (ssize_t)sizeof(raw))
		return shd_fail_os(err, errno, "cannot get random bytes");
	shd_hex(raw, sizeof(raw), out);
	return SHERD_OK;
}

#define VACANT "{\"vacant\":\""
enum { VACANT_BYTES = sizeof(VACANT) - 1 + SHD_ATTEMPT_TEXT - 1 + sizeof("\"}\n") - 1 };

int shd_head_take(shd_head *out, const sherd_reader *reader, const sherd_limits *limits, sherd_error *err)
{
	uint64_t size = sherd_reader_size(reader), most = shd_limits_or_default(limits).metadata_bytes;
	const char *identity = sherd_reader_identity(reader);
	memcpy(out->identity, identity, strlen(identity) + 1);
	if (size > most)
		return shd_fail(err, SHERD_ELIMIT, "too-large", "%llu bytes, the limit is %llu",
		                (unsigned long long)size, (unsigned long long)most);
	SHD_AUTO_FREE void *text = shd_large_alloc((size_t)size + 1);
	if (!text)
		return shd_fail_nomem(err);
	TRY(sherd_reader_at(reader, 0, text, (size_t)size, err));
	((char *)text)[size] = 0;
	out->len = (size_t)size;
	out->text = TAKE(text);
	return SHERD_OK;
}

int shd_head_read(shd_head *out, sherd_store *store, const char *key, const sherd_limits *limits, sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	out->identity[0] = 0;
	TRY(sherd_store_read(&reader, store, key, err));
	TRY(shd_in_object(err, shd_head_take(out, reader, limits, err), key));
	if (out->len != VACANT_BYTES || memcmp(out->text, VACANT, sizeof(VACANT) - 1) != 0)
		return SHERD_OK;
	free(TAKE(out->text));
	out->len = 0;
	return shd_in_object(err, shd_fail(err, SHERD_ENOTFOUND, "not-found", "what was begun here was cleared away"),
	                     key);
}

void shd_head_done(shd_head *head)
{
	free(TAKE(head->text));
}

bool shd_head_changed(const shd_head *head, sherd_store *store, const char *key)
{
	sherd_stat now;
	return sherd_store_stat(&now, store, key, NULL) == SHERD_OK && strcmp(now.identity, head->identity) != 0;
}

/* ---- publishing */

/* What stands there after a write that failed. */
typedef enum found {
	IS_BASE = 0, /* as if nothing had been written */
	IS_OURS,
	IS_OTHER, /* on which our write cannot follow any more */
	IS_UNREADABLE,
} found;

static bool has_base(const shd_publication *p)
{
	return p->base && *p->base;
}

static bool is_text(const shd_publication *p, const char *text, size_t len)
{
	return len == p->len && memcmp(text, p->text, len) == 0;
}

static found look_at(const shd_publication *p, const shd_head *now)
{
	if (has_base(p) && strcmp(now->identity, p->base) == 0)
		return IS_BASE;
	int ours = p->is_ours ? p->is_ours(p->arg, now->text, now->len) : is_text(p, now->text, now->len);
	return ours < 0 ? IS_UNREADABLE : ours ? IS_OURS : IS_OTHER;
}

/* identity is that of our head as the store told it, or "". */
static found look_back(const shd_publication *p, char identity[sizeof(((shd_published *)0)->identity)])
{
	SHD_DONE(shd_head_done) shd_head now = {0};
	int rc = shd_head_read(&now, p->store, p->key, NULL, NULL);
	if (rc == SHERD_ENOTFOUND) {
		*identity = 0;
		return strcmp(now.identity, has_base(p) ? p->base : "") == 0 ? IS_BASE : IS_OTHER;
	}
	if (rc < 0 || !now.text)
		return IS_UNREADABLE;
	*identity = 0;
	found there = look_at(p, &now);
	/* Who comes after us must not be replaced by us. */
	if (there == IS_OURS && is_text(p, now.text, now.len))
		memcpy(identity, now.identity, sizeof(now.identity));
	return there;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): written through the options. */
static int put_head(const shd_publication *p, char *identity, sherd_error *err)
{
	sherd_writer *writer;
	const sherd_write_options options = {
		.mode = has_base(p) ? SHERD_WRITE_REPLACE : SHERD_WRITE_NEW,
		.if_identity = has_base(p) ? p->base : NULL,
		.size_hint = p->len,
		.identity = identity,
	};
	*identity = 0;
	TRY(sherd_store_write(&writer, p->store, p->key, &options, err));
	(void)sherd_writer_append(writer, p->text, p->len, NULL); /* which its commit tells */
	return sherd_writer_commit(writer, err);
}

/* One write, and after a failure what is there. SHERD_EUNKNOWN: another one may help. *lost: some write got no answer.
 */
static int head_publish_once(const shd_publication *p, shd_published *out, bool *lost, sherd_error *err)
{
	int rc = put_head(p, out->identity, err);
	bool refused = rc == SHERD_EEXIST || rc == SHERD_ECONFLICT;
	out->kept = false;
	if (refused) /* what the store says of an object that is none */
		out->identity[0] = 0;
	if (rc == SHERD_OK || (refused && !*lost))
		return rc;
	found there = look_back(p, out->identity);
	*lost = *lost || rc == SHERD_EUNKNOWN;
	if (*lost && there == IS_OURS)
		return SHERD_OK;
	out->kept = there == IS_OURS || there == IS_UNREADABLE || (*lost && there == IS_BASE);
	if (rc == SHERD_EUNKNOWN && there == IS_OTHER)
		return shd_fail(err, has_base(p) ? SHERD_ECONFLICT : SHERD_EEXIST, "replaced",
		                "somebody else was first");
	if (*lost && out->kept && rc != SHERD_EUNKNOWN)
		return shd_fail(err, SHERD_EUNKNOWN, "unknown-outcome", "a write before this one got no answer");
	return rc;
}

int shd_head_publish(const shd_publication *p, shd_published *out, sherd_error *err)
{
	bool lost = false;
	sherd_error failure = {0}; /* some come on the way to success */
	shd_published now = {0};   /* *out may be where the base is */
	int rc = SHERD_EUNKNOWN;
	for (int i = 0; i < MOST_WRITES && rc == SHERD_EUNKNOWN; i++)
		rc = head_publish_once(p, &now, &lost, &failure);
	*out = now;
	return shd_pass(err, rc, &failure);
}

static int fence_refused(sherd_error *err)
{
	return shd_fail(err, SHERD_ECONFLICT, "conflict", "somebody may still be about to write this");
}

enum { MARK = 64 }; /* bytes of white space, each of which is one of two */

static bool is_mark(const char *text, size_t len)
{
	size_t n = 0;
	while (n < len && n < MARK && (text[n] == ' ' || text[n] == '\t'))
		n++;
	return n == MARK;
}

int shd_head_rewrite(shd_buf *out, const shd_head *head, sherd_error *err)
{
	uint64_t bits;
	const char *text = head->text;
	size_t len = head->len;
	shd_seal seal = shd_seal_check(text, len);
	if (seal == SHD_SEAL_BROKEN)
		return fence_refused(err);
	if (getrandom(&bits, sizeof(bits), 0) != (ssize_t)sizeof(bits))
		return shd_fail_os(err, errno, "cannot get random bytes");
	size_t front = len && text[0] == '{' ? 1 : len >= MARK && is_mark(text + len - MARK, MARK) ? len - MARK : len;
	size_t back = is_mark(text + front, len - front) ? front + MARK : front;
	shd_buf_append(out, text, front);
	for (int i = 0; i < MARK; i++)
		shd_buf_u8(out, bits >> i & 1 ? '\t' : ' ');
	shd_buf_append(out, text + back, len - back);
	TRY(shd_buf_check(out, err));
	if (seal == SHD_SEAL_GOOD)
		shd_seal_again(out->data, out->len);
	return SHERD_OK;
}

static int fence_text(shd_buf *out, const shd_head *head, sherd_error *err)
{
	char attempt[SHD_ATTEMPT_TEXT];
	if (head->text)
		return head->text[0] == '{' ? shd_head_rewrite(out, head, err) : fence_refused(err);
	TRY(shd_attempt(attempt, err));
	shd_buf_printf(out, VACANT "%s\"}\n", attempt);
	return shd_buf_check(out, err);
}

static int head_fence(const shd_head *head, sherd_store *store, const char *key, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	shd_published now;
	TRY(fence_text(&text, head, err));
	const shd_publication p = {
		.store = store, .key = key, .base = head->identity, .text = text.data, .len = text.len};
	int rc = shd_head_publish(&p, &now, err);
	return rc == SHERD_EEXIST || rc == SHERD_ECONFLICT ? fence_refused(err) : rc;
}

int shd_head_fence(sherd_store *store, const char *key, const char *seen, sherd_error *err)
{
	SHD_DONE(shd_head_done) shd_head head = {0};
	sherd_error failure = {0};
	if (sherd_store_caps(store) & SHERD_CAP_LOCK)
		return SHERD_OK;
	int rc = shd_head_read(&head, store, key, NULL, &failure);
	if (rc == SHERD_OK || rc == SHERD_ENOTFOUND)
		rc = strcmp(head.identity, seen) == 0 ? head_fence(&head, store, key, &failure)
		                                      : fence_refused(&failure);
	return shd_pass(err, shd_in_object(&failure, rc, key), &failure);
}

int shd_head_remove(sherd_store *store, const char *key, const char *seen, sherd_error *err)
{
	shd_head head = {0};
	if (sherd_store_caps(store) & SHERD_CAP_LOCK)
		return sherd_store_remove_if(store, key, seen, err);
	memcpy(head.identity, seen, strlen(seen) + 1);
	return shd_in_object(err, head_fence(&head, store, key, err), key);
}

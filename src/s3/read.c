/* s3/read.c - ranges of one object. Each answer says which object it is of, so that bytes of two are never mixed. */
#include "read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READ_AT_ONCE = 8, OPEN_TRIES = 4 };
static const size_t read_piece = (size_t)8 << 20;

typedef struct s3_reader {
	sherd_reader base;
	shd_s3 *s;
	char *key;
	char etag[SHD_S3_MOST_ETAG], write_id[SHD_S3_WRITE_ID];
	char *first; /* the first bytes, fetched with the size */
	size_t first_len;
	int64_t modified;
	shd_s3_text elsewhere; /* where a plain server has sent us */
} s3_reader;

int shd_s3_reader_begin(const sherd_reader *reader, shd_s3_call *call, uint64_t offset, char *to, size_t len,
                        sherd_error *err)
{
	const s3_reader *r = (const s3_reader *)reader;
	*call = (shd_s3_call){.method = "GET", .key = r->key};
	shd_s3_text_add(&call->elsewhere, shd_s3_text_of(&r->elsewhere), r->elsewhere.len);
	call->http.sink = to;
	call->http.sink_len = len;
	shd_s3_call_header(call, "range", "bytes=%llu-%llu", (unsigned long long)offset,
	                   (unsigned long long)(offset + len - 1));
	return shd_s3_call_start(r->s, call, err);
}

/* Is it the range that was asked for? */
static int check_range(const shd_s3_call *call, uint64_t offset, uint64_t len, uint64_t size, sherd_error *err)
{
	char want[96], got[96];
	(void)snprintf(want, sizeof(want), "bytes %llu-%llu/%llu", (unsigned long long)offset,
	               (unsigned long long)(offset + len - 1), (unsigned long long)size);
	(void)shd_http_header(&call->http, "content-range", got, sizeof(got));
	if (strcmp(want, got) != 0)
		return sherd_fail(err, SHERD_EIO, "io", "the server sent another range than %s", want);
	return SHERD_OK;
}

/* Is it a piece of the object that was opened, and the one that was asked for? */
static int s3_reader_check(const s3_reader *r, const shd_s3_call *call, uint64_t offset, sherd_error *err)
{
	shd_s3_object object;
	if (call->http.status == 404)
		return sherd_fail(err, SHERD_ENOTFOUND, "not-found", "the object was removed while it was read");
	if (call->http.status == 200) /* all of it, and as long as was asked for: it is another one */
		return sherd_fail(err, SHERD_ECONFLICT, "replaced", "the object was replaced while it was read");
	if (call->http.status != 206 && call->http.status != 416)
		return shd_s3_call_refuse(r->s, call, err);
	shd_s3_call_object(call, &object);
	if (call->http.status == 416 || strcmp(object.etag, r->etag) != 0 || strcmp(object.write_id, r->write_id) != 0)
		return sherd_fail(err, SHERD_ECONFLICT, "replaced", "the object was replaced while it was read");
	return check_range(call, offset, call->http.sink_len, r->base.size, err);
}

int shd_s3_reader_end(const sherd_reader *reader, shd_s3_call *call, uint64_t offset, sherd_error *err)
{
	const s3_reader *r = (const s3_reader *)reader;
	int rc = shd_s3_call_finish(r->s, call, err);
	if (rc == SHERD_OK)
		rc = s3_reader_check(r, call, offset, err);
	if (rc < 0 && err && err->offset == SHERD_NO_OFFSET)
		err->offset = offset;
	return rc;
}

bool shd_s3_reader_has(const sherd_reader *reader, uint64_t offset, char *to, size_t len)
{
	const s3_reader *r = (const s3_reader *)reader;
	bool has = offset <= r->first_len && len <= r->first_len - offset;
	if (has)
		memcpy(to, r->first + offset, len);
	return has;
}

/* Several requests at a time, in order; all that began have ended when it returns. */
static int s3_reader_fetch(const s3_reader *r, uint64_t offset, char *to, size_t len, sherd_error *err)
{
	shd_s3_call *calls = calloc(READ_AT_ONCE, sizeof(*calls));
	if (!calls)
		return shd_s3_no_memory(err);
	size_t asked = 0, done = 0, begun = 0, ended = 0;
	int rc = SHERD_OK;
	while (rc == SHERD_OK && done < len) {
		while (rc == SHERD_OK && asked < len && begun - ended < READ_AT_ONCE) {
			size_t n = len - asked < read_piece ? len - asked : read_piece;
			rc = shd_s3_reader_begin(&r->base, &calls[begun++ % READ_AT_ONCE], offset + asked, to + asked,
			                         n, err);
			asked += n;
		}
		shd_s3_call *call = &calls[ended++ % READ_AT_ONCE];
		if (rc == SHERD_OK)
			rc = shd_s3_reader_end(&r->base, call, offset + done, err);
		done += call->http.sink_len;
		shd_s3_call_end(r->s, call);
	}
	for (size_t i = 0; i < READ_AT_ONCE; i++)
		shd_s3_call_end(r->s, &calls[i]);
	free(calls);
	return rc;
}

static int s3_reader_at(const sherd_reader *reader, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	const s3_reader *r = (const s3_reader *)reader;
	size_t have = offset < r->first_len ? r->first_len - (size_t)offset : 0;
	have = have < len ? have : len;
	if (have)
		memcpy(buf, r->first + offset, have);
	return have == len ? SHERD_OK : s3_reader_fetch(r, offset + have, (char *)buf + have, len - have, err);
}

static void s3_reader_close(sherd_reader *reader)
{
	s3_reader *r = (s3_reader *)reader;
	free(r->key);
	free(r->first);
	shd_s3_text_free(&r->elsewhere);
	free(r);
}

static bool s3_reader_cached(const sherd_reader *reader, uint64_t offset, uint64_t len)
{
	return offset + len <= ((const s3_reader *)reader)->first_len;
}

static const struct sherd_reader_ops s3_reader_ops = {
	.at = s3_reader_at, .close = s3_reader_close, .cached = s3_reader_cached};

/* Takes what the first answer says. */
static int s3_reader_take(s3_reader *r, shd_s3_call *call, const shd_s3_object *object, sherd_error *err)
{
	/* A plain server that knows no ranges sends all of it. */
	bool all = call->plain && call->http.status == 200;
	uint64_t size = all ? call->http.answer.len : object->size;
	size_t first = all || size < SHD_S3_FIRST ? (size_t)size : SHD_S3_FIRST;
	if (!object->there)
		return sherd_fail(err, SHERD_ENOTFOUND, "not-found", "no such object");
	if (!object->etag[0] && !object->write_id[0] && !all)
		return sherd_fail(err, SHERD_EIO, "io",
		                  "the server sent no ETag, so that this object cannot be told from another one");
	if (call->http.status == 206)
		TRY(check_range(call, 0, first, object->size, err));
	if (call->http.answer.len != first)
		return sherd_fail(err, SHERD_EIO, "io", "the server sent %zu bytes of %llu where %zu were asked for",
		                  call->http.answer.len, (unsigned long long)object->size, first);
	r->base.size = size;
	r->modified = object->modified;
	r->elsewhere = call->elsewhere;
	call->elsewhere = (shd_s3_text){0};
	shd_s3_identity(object, r->base.identity);
	memcpy(r->etag, object->etag, sizeof(r->etag));
	memcpy(r->write_id, object->write_id, sizeof(r->write_id));
	r->first = call->http.answer.data;
	r->first_len = first;
	call->http.answer = (shd_s3_text){0};
	return SHERD_OK;
}

/* *again: the answer was cut off, and another one may be whole. */
static int s3_reader_open_once(s3_reader *r, bool *again, sherd_error *err)
{
	shd_s3_call call = {.method = "GET", .key = r->key};
	shd_s3_object object = {0};
	shd_s3_call_header(&call, "range", "bytes=0-%zu", SHD_S3_FIRST - 1);
	int rc = shd_s3_call_make(r->s, &call, err);
	if (rc == SHERD_OK && call.http.status == 416) {
		/* No byte to be had: empty. */
		shd_s3_text_clear(&call.http.answer);
		rc = shd_s3_look(&object, r->s, r->key, err);
		if (rc == SHERD_OK && object.size)
			rc = sherd_fail(err, SHERD_ECONFLICT, "replaced",
			                "the object was replaced while it was opened");
	} else if (rc == SHERD_OK && (call.http.status == 206 || call.http.status == 200)) {
		shd_s3_call_object(&call, &object);
	} else if (rc == SHERD_OK) {
		rc = shd_s3_call_refuse(r->s, &call, err);
	}
	*again = false;
	if (rc == SHERD_OK) {
		rc = s3_reader_take(r, &call, &object, err);
		*again = rc == SHERD_EIO;
	}
	shd_s3_call_end(r->s, &call);
	return rc;
}

static int s3_reader_open(s3_reader *r, sherd_error *err)
{
	sherd_error failure = {0};
	bool again = true;
	int rc = SHERD_OK;
	for (int tries = 0; again && tries <= r->s->config.retries && tries < OPEN_TRIES; tries++)
		rc = s3_reader_open_once(r, &again, &failure);
	if (rc < 0 && err)
		*err = failure;
	return rc;
}

int shd_s3_stat_read(sherd_stat *out, sherd_store *store, const char *key, sherd_error *err)
{
	sherd_reader *reader;
	TRY(shd_s3_read(&reader, store, key, err));
	out->size = reader->size;
	out->mtime_ns = shd_s3_ns(((s3_reader *)reader)->modified);
	memcpy(out->identity, reader->identity, sizeof(out->identity));
	s3_reader_close(reader);
	return SHERD_OK;
}

int shd_s3_read(sherd_reader **out, sherd_store *store, const char *key, sherd_error *err)
{
	s3_reader *r = calloc(1, sizeof(*r));
	char *copy = strdup(key);
	if (!r || !copy) {
		free(r);
		free(copy);
		return shd_s3_no_memory(err);
	}
	r->s = (shd_s3 *)store;
	r->key = copy;
	r->base.ops = &s3_reader_ops;
	int rc = s3_reader_open(r, err);
	if (rc < 0)
		s3_reader_close(&r->base);
	else
		*out = &r->base;
	return rc;
}

#include "support/s3_objects.h"

#include "support/test.h"

#include "s3/call.h"

#include <openssl/evp.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_PARTS = 64 };

typedef struct stored {
	char *key, *bytes;
	size_t len;
	char etag[48], write_id[64], removed[8];
	time_t modified;
} stored;

typedef struct upload {
	bool open;
	char *key, write_id[64];
	struct {
		char *bytes;
		size_t len;
	} parts[MOST_PARTS];
	time_t begun;
} upload;

struct s3_objects {
	s3_quirks quirks;
	stored *list; /* in byte order of keys */
	size_t count;
	upload *uploads;
	size_t upload_count;
	unsigned checked;
};

s3_objects *s3_objects_new(const s3_quirks *quirks)
{
	s3_objects *o = calloc(1, sizeof(*o));
	assert_non_null(o);
	if (quirks)
		o->quirks = *quirks;
	return o;
}

static void upload_end(upload *u)
{
	for (size_t i = 0; i < MOST_PARTS; i++)
		free(u->parts[i].bytes);
	free(u->key);
	*u = (upload){0};
}

void s3_objects_free(s3_objects *o)
{
	for (size_t i = 0; i < o->count; i++) {
		free(o->list[i].key);
		free(o->list[i].bytes);
	}
	for (size_t i = 0; i < o->upload_count; i++)
		upload_end(&o->uploads[i]);
	free(o->uploads);
	free(o->list);
	free(o);
}

unsigned s3_objects_checked(const s3_objects *o)
{
	return o->checked;
}

unsigned s3_objects_uploads(const s3_objects *o)
{
	unsigned open = 0;
	for (size_t i = 0; i < o->upload_count; i++)
		open += o->uploads[i].open;
	return open;
}

bool s3_request_header(const s3_request *r, const char *name, char *out, size_t room)
{
	size_t len = strlen(name);
	for (const char *line = shd_s3_text_of(&r->headers); *line; line += strcspn(line, "\n") + 1)
		if (strncasecmp(line, name, len) == 0 && line[len] == ':') {
			const char *value = line + len + 1 + strspn(line + len + 1, " ");
			(void)snprintf(out, room, "%.*s", (int)strcspn(value, "\n"), value);
			return true;
		}
	out[0] = 0;
	return false;
}

void s3_request_range(const char *range, unsigned long long *from, unsigned long long *to)
{
	char *end = NULL;
	assert_int_equal(strncmp(range, "bytes=", 6), 0);
	*from = strtoull(range + 6, &end, 10);
	assert_int_equal(*end, '-');
	*to = strtoull(end + 1, &end, 10);
	assert_int_equal(*end, 0);
}

void s3_answer_error(s3_answer *a, int status, const char *code)
{
	a->status = status;
	shd_s3_text_clear(&a->body);
	shd_s3_text_say(&a->body,
	                "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>as the test wants it</Message></Error>",
	                code);
}

static void md5(const void *bytes, size_t len, char out[48])
{
	unsigned char hash[16];
	assert_int_equal(EVP_Digest(len ? bytes : "", len, hash, NULL, EVP_md5(), NULL), 1);
	for (int i = 0; i < 16; i++)
		(void)snprintf(out + 2 * i, 3, "%02x", hash[i]);
}

static char *unescape(const char *text, size_t len)
{
	char *out = malloc(len + 1), *to = out;
	assert_non_null(out);
	for (size_t i = 0; i < len; i++)
		if (text[i] == '%' && i + 2 < len) {
			*to++ = (char)strtol((char[]){text[i + 1], text[i + 2], 0}, NULL, 16);
			i += 2;
		} else {
			*to++ = text[i];
		}
	*to = 0;
	return out;
}

/* A value of the query, decoded; NULL when it is not there. */
static char *argument(const s3_request *r, const char *name)
{
	size_t len = strlen(name);
	for (const char *at = r->query; *at; at += strcspn(at, "&"), at += *at == '&')
		if (strncmp(at, name, len) == 0 && at[len] == '=')
			return unescape(at + len + 1, strcspn(at + len + 1, "&"));
	return NULL;
}

static size_t position(const s3_objects *o, const char *key)
{
	size_t i = 0;
	while (i < o->count && strcmp(o->list[i].key, key) < 0)
		i++;
	return i;
}

static stored *find(const s3_objects *o, const char *key)
{
	size_t i = position(o, key);
	return i < o->count && strcmp(o->list[i].key, key) == 0 ? &o->list[i] : NULL;
}

/* Takes bytes. */
static stored *place(s3_objects *o, const char *key, char *bytes, size_t len)
{
	stored *s = find(o, key);
	if (!s) {
		size_t at = position(o, key);
		o->list = realloc(o->list, (o->count + 1) * sizeof(*o->list));
		assert_non_null(o->list);
		memmove(&o->list[at + 1], &o->list[at], (o->count++ - at) * sizeof(*o->list));
		s = &o->list[at];
		*s = (stored){.key = strdup(key)};
	}
	free(s->bytes);
	*s = (stored){.key = s->key, .bytes = bytes, .len = len, .modified = time(NULL)};
	md5(bytes, len, s->etag);
	if (o->quirks.own_etags)
		s->etag[0] = s->etag[0] == 'f' ? 'e' : 'f';
	return s;
}

static void take_out(s3_objects *o, stored *s)
{
	free(s->key);
	free(s->bytes);
	size_t at = (size_t)(s - o->list);
	memmove(s, s + 1, (--o->count - at) * sizeof(*s));
}

static bool matches(const s3_objects *o, const stored *s, const char *value)
{
	char quoted[64];
	(void)snprintf(quoted, sizeof(quoted), o->quirks.unquoted ? "%s" : "\"%s\"", s->etag);
	return strcmp(value, quoted) == 0;
}

/* Is a condition of the request not met? Answers so. */
static bool unmet(s3_objects *o, const s3_request *r, const stored *s, bool deaf, s3_answer *a)
{
	char value[300];
	bool failed = s3_request_header(r, "if-none-match", value, sizeof(value)) && s;
	if (s3_request_header(r, "if-match", value, sizeof(value)) && (!s || !matches(o, s, value)))
		failed = true;
	if (!failed || deaf)
		return false;
	if (!s && o->quirks.gone_404) {
		s3_answer_error(a, 404, "NoSuchKey");
		return true;
	}
	s3_answer_error(a, o->quirks.angry ? 500 : 412, o->quirks.angry ? "InternalError" : "PreconditionFailed");
	return true;
}

static char *copy_of(const char *bytes, size_t len)
{
	char *copy = malloc(len + 1);
	assert_non_null(copy);
	if (len)
		memcpy(copy, bytes, len);
	return copy;
}

/* Says so when the checksum of the request is not that of the bytes; what is there of it, and right, is counted. */
static bool is_damaged(s3_objects *o, const s3_request *r, const char *bytes, size_t len, s3_answer *a)
{
	char given[32], want[SHD_S3_CRC_TEXT];
	if (o->quirks.deaf_crc || !s3_request_header(r, "x-amz-checksum-crc32", given, sizeof(given)))
		return false;
	shd_s3_crc_text(sherd_crc32(0, bytes, len), want);
	if (strcmp(given, want) != 0) {
		s3_answer_error(a, 400, "BadDigest");
		return true;
	}
	o->checked++;
	return false;
}

static void put_object(s3_objects *o, const s3_request *r, const char *key, s3_answer *a)
{
	if (is_damaged(o, r, r->body, r->len, a) || unmet(o, r, find(o, key), o->quirks.deaf_put, a))
		return;
	stored *s = place(o, key, copy_of(r->body, r->len), r->len);
	(void)s3_request_header(r, "x-amz-meta-sherd-write", s->write_id, sizeof(s->write_id));
	(void)s3_request_header(r, "x-amz-meta-sherd-removed", s->removed, sizeof(s->removed));
	a->status = 200;
	if (!o->quirks.no_etag)
		shd_s3_text_say(&a->headers, "ETag: \"%s\"\r\n", s->etag);
}

static void say_time(shd_s3_text *out, const char *format, time_t when)
{
	char text[64];
	struct tm t;
	(void)strftime(text, sizeof(text), format, gmtime_r(&when, &t));
	shd_s3_text_say(out, "%s", text);
}

static void get_object(const s3_request *r, const stored *s, s3_answer *a)
{
	char range[64];
	unsigned long long from = 0, to = s ? s->len : 0;
	if (!s) {
		s3_answer_error(a, 404, "NoSuchKey");
		return;
	}
	a->status = 200;
	if (s3_request_header(r, "range", range, sizeof(range))) {
		s3_request_range(range, &from, &to);
		to = to + 1 < s->len ? to + 1 : s->len;
		if (from >= s->len) {
			s3_answer_error(a, 416, "InvalidRange");
			return;
		}
		a->status = 206;
		shd_s3_text_say(&a->headers, "Content-Range: bytes %llu-%llu/%zu\r\n", from, to - 1, s->len);
	}
	shd_s3_text_say(&a->headers, "ETag: \"%s\"\r\nLast-Modified: ", s->etag);
	say_time(&a->headers, "%a, %d %b %Y %H:%M:%S GMT\r\n", s->modified);
	if (s->write_id[0])
		shd_s3_text_say(&a->headers, "x-amz-meta-sherd-write: %s\r\n", s->write_id);
	if (s->removed[0])
		shd_s3_text_say(&a->headers, "x-amz-meta-sherd-removed: %s\r\n", s->removed);
	a->length = (size_t)(to - from);
	if (strcmp(r->method, "GET") == 0)
		shd_s3_text_add(&a->body, s->bytes + from, a->length);
}

static void list_one(const stored *s, bool plain, s3_answer *a)
{
	shd_s3_text_say(&a->body, "<Contents><Key>");
	if (plain)
		shd_s3_text_say(&a->body, "%s", s->key);
	else
		shd_s3_text_encode(&a->body, s->key, true);
	shd_s3_text_say(&a->body, "</Key><LastModified>");
	say_time(&a->body, "%Y-%m-%dT%H:%M:%S.000Z", s->modified);
	shd_s3_text_say(&a->body, "</LastModified><ETag>&quot;%s&quot;</ETag><Size>%zu</Size></Contents>", s->etag,
	                s->len);
}

static void list_objects(s3_objects *o, const s3_request *r, s3_answer *a)
{
	char *prefix = argument(r, "prefix"), *after = argument(r, "start-after");
	char *token = argument(r, "continuation-token"), *from = token ? unescape(token + 1, strlen(token + 1)) : NULL;
	int most = o->quirks.page ? o->quirks.page : 1000, count = 0;
	bool more = false;
	const char *last = "";
	a->status = 200;
	shd_s3_text_say(&a->body, "<?xml version=\"1.0\"?><ListBucketResult>%s",
	                o->quirks.plain_lists ? "" : "<EncodingType>url</EncodingType>");
	if (o->quirks.endless)
		more = true;
	for (size_t n = 0; n < o->count && !more; n++) {
		const stored *s = &o->list[o->quirks.wild_lists ? o->count - 1 - n : n];
		if (strncmp(s->key, prefix, strlen(prefix)) != 0 || (after && strcmp(s->key, after) <= 0) ||
		    (from && strcmp(s->key, from) <= 0))
			continue;
		more = count == most;
		if (more)
			break;
		list_one(s, o->quirks.plain_lists, a);
		last = s->key;
		count++;
	}
	shd_s3_text_say(&a->body, "<IsTruncated>%s</IsTruncated>", more ? "true" : "false");
	if (more) {
		shd_s3_text_say(&a->body, "<NextContinuationToken>&amp;");
		shd_s3_text_encode(&a->body, last, false);
		shd_s3_text_say(&a->body, "</NextContinuationToken>");
	}
	shd_s3_text_say(&a->body, "</ListBucketResult>");
	free(prefix);
	free(after);
	free(token);
	free(from);
}

static void begin_upload(s3_objects *o, const s3_request *r, const char *key, s3_answer *a)
{
	o->uploads = realloc(o->uploads, (o->upload_count + 1) * sizeof(*o->uploads));
	assert_non_null(o->uploads);
	upload *u = &o->uploads[o->upload_count++];
	*u = (upload){.open = true, .key = strdup(key), .begun = time(NULL)};
	(void)s3_request_header(r, "x-amz-meta-sherd-write", u->write_id, sizeof(u->write_id));
	a->status = 200;
	shd_s3_text_say(&a->body,
	                "<InitiateMultipartUploadResult><UploadId>up/%zu</UploadId></InitiateMultipartUploadResult>",
	                o->upload_count - 1);
}

/* Two to a page. */
static void list_uploads(s3_objects *o, const s3_request *r, s3_answer *a)
{
	char *prefix = argument(r, "prefix"), *after = argument(r, "upload-id-marker");
	size_t from = after ? strtoul(after + 3, NULL, 10) + 1 : 0, told = 0, last = 0;
	a->status = 200;
	shd_s3_text_say(&a->body, "<ListMultipartUploadsResult>");
	for (size_t i = from; i < o->upload_count; i++) {
		const upload *u = &o->uploads[i];
		if (!u->open || strncmp(u->key, prefix ? prefix : "", prefix ? strlen(prefix) : 0) != 0)
			continue;
		if (told == 2) {
			shd_s3_text_say(&a->body, "<IsTruncated>true</IsTruncated><NextKeyMarker>");
			shd_s3_text_encode(&a->body, o->uploads[last].key, false);
			shd_s3_text_say(&a->body, "</NextKeyMarker><NextUploadIdMarker>up/%zu</NextUploadIdMarker>",
			                last);
			break;
		}
		shd_s3_text_say(&a->body, "<Upload><Key>");
		shd_s3_text_encode(&a->body, u->key, false);
		shd_s3_text_say(&a->body, "</Key><UploadId>up/%zu</UploadId><Initiated>", i);
		say_time(&a->body, "%Y-%m-%dT%H:%M:%S.000Z", u->begun);
		shd_s3_text_say(&a->body, "</Initiated></Upload>");
		last = i;
		told++;
	}
	shd_s3_text_say(&a->body, "</ListMultipartUploadsResult>");
	free(prefix);
	free(after);
}

static upload *find_upload(s3_objects *o, const char *id, const char *key)
{
	size_t number = strlen(id) > 3 ? strtoul(id + 3, NULL, 10) : o->upload_count;
	upload *u = number < o->upload_count ? &o->uploads[number] : NULL;
	return u && u->open && strcmp(u->key, key) == 0 ? u : NULL;
}

static void put_part(s3_objects *o, upload *u, const s3_request *r, s3_answer *a)
{
	char *number = argument(r, "partNumber"), etag[48];
	size_t n = strtoul(number, NULL, 10) - 1;
	assert_true(n < MOST_PARTS);
	if (is_damaged(o, r, r->body, r->len, a)) {
		free(number);
		return;
	}
	free(u->parts[n].bytes);
	u->parts[n].bytes = copy_of(r->body, r->len);
	u->parts[n].len = r->len;
	md5(r->body, r->len, etag);
	a->status = 200;
	shd_s3_text_say(&a->headers, "ETag: \"%s\"\r\n", etag);
	free(number);
}

static void complete_upload(s3_objects *o, upload *u, const s3_request *r, s3_answer *a)
{
	shd_s3_text all = {0};
	shd_s3_text_add(&all, "", 0);
	size_t wanted = 0;
	for (const char *at = r->body; (at = strstr(at, "<PartNumber>")); at++)
		assert_int_equal(strtoul(at + 12, NULL, 10), ++wanted);
	for (size_t i = 0; i < wanted; i++) {
		assert_non_null(u->parts[i].bytes);
		assert_true(i + 1 == wanted || u->parts[i].len >= 5u << 20);
		shd_s3_text_add(&all, u->parts[i].bytes, u->parts[i].len);
	}
	if (is_damaged(o, r, all.data, all.len, a)) {
		shd_s3_text_free(&all);
		return;
	}
	stored *s = place(o, u->key, all.data, all.len);
	(void)snprintf(s->etag + 32, sizeof(s->etag) - 32, "-%zu", wanted);
	memcpy(s->write_id, u->write_id, sizeof(s->write_id));
	upload_end(u);
	a->status = 200;
	shd_s3_text_say(&a->body,
	                "<CompleteMultipartUploadResult><ETag>&quot;%s&quot;</ETag></CompleteMultipartUploadResult>",
	                s->etag);
}

static void answer_upload(s3_objects *o, const s3_request *r, const char *key, const char *id, s3_answer *a)
{
	upload *u = find_upload(o, id, key);
	if (!u)
		s3_answer_error(a, 404, "NoSuchUpload");
	else if (strcmp(r->method, "PUT") == 0)
		put_part(o, u, r, a);
	else if (strcmp(r->method, "POST") == 0)
		complete_upload(o, u, r, a);
	else {
		upload_end(u);
		a->status = 204;
	}
}

static void answer_object(s3_objects *o, const s3_request *r, const char *key, s3_answer *a)
{
	stored *s = find(o, key);
	if (strcmp(r->method, "PUT") == 0)
		put_object(o, r, key, a);
	else if (strcmp(r->method, "DELETE") != 0)
		get_object(r, s, a);
	else if (!unmet(o, r, s, o->quirks.deaf_delete, a)) {
		if (s)
			take_out(o, s);
		a->status = 204;
	}
}

void s3_objects_answer(s3_objects *o, const s3_request *r, s3_answer *a)
{
	char *path = unescape(r->path, strlen(r->path)), *id = argument(r, "uploadId"),
	     *uploads = argument(r, "uploads");
	size_t bucket = strlen("/test");
	if (strncmp(path, "/test", bucket) != 0 || (path[bucket] && path[bucket] != '/'))
		s3_answer_error(a, 404, "NoSuchBucket");
	else if (strlen(path) <= bucket + 1 && uploads)
		list_uploads(o, r, a);
	else if (strlen(path) <= bucket + 1)
		list_objects(o, r, a);
	else if (uploads)
		begin_upload(o, r, path + bucket + 1, a);
	else if (id)
		answer_upload(o, r, path + bucket + 1, id, a);
	else
		answer_object(o, r, path + bucket + 1, a);
	free(path);
	free(id);
	free(uploads);
}

#include "upload.h"
#include "call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UPLOAD_AT_ONCE = 3, MOST_PARTS = 10000, SOME_PARTS = 9000 };
#define MOST_SIZE ((uint64_t)5 << 40) /* of an object */

typedef struct part {
	shd_s3_call call;
	char *bytes;
	size_t len;
	int number;
} part;

struct shd_s3_upload {
	shd_s3 *s;
	char *key, *id;
	char write_id[SHD_S3_WRITE_ID];
	size_t size;               /* of a part */
	part ring[UPLOAD_AT_ONCE]; /* number % UPLOAD_AT_ONCE */
	part *filling;             /* or NULL */
	int next;                  /* number of the next part; the first is 1 */
	char **etags;              /* by number less 1 */
	uint32_t *crcs;            /* the same */
	size_t *lens;
	bool crc; /* the server looks at them */
};

size_t shd_s3_upload_part(const shd_s3 *s, uint64_t size)
{
	uint64_t need = (size < MOST_SIZE ? size : MOST_SIZE) / SOME_PARTS;
	size_t page = (size_t)1 << 20;
	return need <= s->config.part ? s->config.part : (size_t)((need + page) / page * page);
}

static void upload_free(shd_s3_upload *u)
{
	for (size_t i = 0; i < UPLOAD_AT_ONCE; i++) {
		shd_s3_call_end(u->s, &u->ring[i].call);
		free(u->ring[i].bytes);
	}
	for (int i = 0; u->etags && i < MOST_PARTS; i++)
		free(u->etags[i]);
	free(u->etags);
	free(u->crcs);
	free(u->lens);
	free(u->key);
	free(u->id);
	free(u);
}

static void query_id(const shd_s3_upload *u, shd_s3_text *query)
{
	shd_s3_text_say(query, "uploadId=");
	shd_s3_text_encode(query, u->id, false);
}

static int upload_begin(shd_s3_upload *u, sherd_error *err)
{
	shd_s3_call call = {.method = "POST", .key = u->key};
	char id[1024];
	shd_s3_text_say(&call.query, "uploads=");
	shd_s3_call_header(&call, "x-amz-meta-sherd-write", "%s", u->write_id);
	if (u->crc) {
		shd_s3_call_header(&call, "x-amz-checksum-algorithm", "CRC32");
		shd_s3_call_header(&call, "x-amz-checksum-type", "FULL_OBJECT");
	}
	int rc = shd_s3_call_make(u->s, &call, err);
	if (rc == SHERD_OK && call.http.status != 200)
		rc = shd_s3_call_refuse(u->s, &call, err);
	shd_s3_call_element(&call, "UploadId", id, sizeof(id));
	if (rc == SHERD_OK && !*id)
		rc = sherd_fail(err, SHERD_EIO, "io", "the server began an upload without a name");
	if (rc == SHERD_OK && !(u->id = strdup(id)))
		rc = shd_s3_no_memory(err);
	shd_s3_call_end(u->s, &call);
	return rc;
}

int shd_s3_upload_open(shd_s3_upload **out, shd_s3 *s, const char *key, size_t part_size, sherd_error *err)
{
	shd_s3_upload *u = calloc(1, sizeof(*u));
	if (!u)
		return shd_s3_no_memory(err);
	u->s = s;
	u->size = part_size;
	u->next = 2;
	u->key = strdup(key);
	u->etags = calloc(MOST_PARTS, sizeof(*u->etags));
	u->crcs = calloc(MOST_PARTS, sizeof(*u->crcs));
	u->lens = calloc(MOST_PARTS, sizeof(*u->lens));
	shd_s3_new_write_id(u->write_id);
	shd_s3_manners manners = {0};
	int rc =
		u->key && u->etags && u->crcs && u->lens ? shd_s3_ask_manners(&manners, s, err) : shd_s3_no_memory(err);
	u->crc = manners.crc;
	if (rc == SHERD_OK)
		rc = upload_begin(u, err);
	if (rc < 0)
		upload_free(u);
	else
		*out = u;
	return rc;
}

static int part_start(shd_s3_upload *u, part *p, const char *bytes, sherd_error *err)
{
	p->call = (shd_s3_call){.method = "PUT", .key = u->key};
	shd_s3_text_say(&p->call.query, "partNumber=%d&", p->number);
	query_id(u, &p->call.query);
	p->call.http.body = bytes;
	p->call.http.body_len = p->len;
	u->crcs[p->number - 1] = shd_s3_call_vouch(u->s, &p->call, u->crc);
	u->lens[p->number - 1] = p->len;
	return shd_s3_call_start(u->s, &p->call, err);
}

/* Waits for a part that is on its way, if it is. */
static int part_finish(shd_s3_upload *u, part *p, sherd_error *err)
{
	shd_s3_object object;
	if (!p->call.under_way)
		return SHERD_OK;
	int rc = shd_s3_call_finish(u->s, &p->call, err);
	if (rc == SHERD_OK && p->call.http.status != 200)
		rc = shd_s3_call_refuse(u->s, &p->call, err);
	shd_s3_call_object(&p->call, &object);
	if (rc == SHERD_OK && !(u->etags[p->number - 1] = strdup(object.etag)))
		rc = shd_s3_no_memory(err);
	shd_s3_call_end(u->s, &p->call);
	return rc;
}

/* A buffer for the next part; the one that had it before has arrived then. */
static int part_open(shd_s3_upload *u, sherd_error *err)
{
	if (u->next > MOST_PARTS)
		return sherd_fail(err, SHERD_EUNSUPPORTED, "too-large",
		                  "more than %d parts of %zu bytes; the expected size of the object was not told",
		                  MOST_PARTS, u->size);
	part *p = &u->ring[u->next % UPLOAD_AT_ONCE];
	TRY(part_finish(u, p, err));
	if (!p->bytes && !(p->bytes = malloc(u->size)))
		return shd_s3_no_memory(err);
	p->number = u->next++;
	p->len = 0;
	u->filling = p;
	return SHERD_OK;
}

int shd_s3_upload_append(shd_s3_upload *u, const char *bytes, size_t len, sherd_error *err)
{
	while (len > 0) {
		if (!u->filling)
			TRY(part_open(u, err));
		part *p = u->filling;
		size_t n = len < u->size - p->len ? len : u->size - p->len;
		memcpy(p->bytes + p->len, bytes, n);
		p->len += n;
		bytes += n;
		len -= n;
		if (p->len == u->size) {
			u->filling = NULL;
			TRY(part_start(u, p, p->bytes, err));
		}
	}
	return SHERD_OK;
}

void shd_s3_upload_abort(shd_s3_upload *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < UPLOAD_AT_ONCE; i++)
		shd_s3_call_end(u->s, &u->ring[i].call);
	shd_s3_call call = {.method = "DELETE", .key = u->key};
	query_id(u, &call.query);
	(void)shd_s3_call_make(u->s, &call, NULL);
	shd_s3_call_end(u->s, &call);
	upload_free(u);
}

static int send_rest(shd_s3_upload *u, const char *first, sherd_error *err)
{
	part *last = u->filling;
	u->filling = NULL;
	if (last)
		TRY(part_start(u, last, last->bytes, err));
	part one = {.number = 1, .len = u->size};
	int rc = part_start(u, &one, first, err);
	if (rc == SHERD_OK)
		rc = part_finish(u, &one, err);
	for (size_t i = 0; i < UPLOAD_AT_ONCE && rc == SHERD_OK; i++)
		rc = part_finish(u, &u->ring[i], err);
	shd_s3_call_end(u->s, &one.call);
	return rc;
}

static void list_parts(const shd_s3_upload *u, shd_s3_text *body)
{
	shd_s3_text_say(body, "<CompleteMultipartUpload>");
	for (int i = 0; i + 1 < u->next; i++)
		shd_s3_text_say(body, "<Part><PartNumber>%d</PartNumber><ETag>&quot;%s&quot;</ETag></Part>", i + 1,
		                u->etags[i]);
	shd_s3_text_say(body, "</CompleteMultipartUpload>");
}

/* The object as the last answer tells it. */
static shd_s3_object upload_told(const shd_s3_upload *u, const shd_s3_call *call)
{
	shd_s3_object object = {.there = true};
	char text[SHD_S3_MOST_ETAG];
	size_t len = 0;
	shd_s3_call_element(call, "ETag", text, sizeof(text));
	for (const char *at = text; *at; at++) /* hexadecimal digits and '-', between quotes */
		if (strncmp(at, "&quot;", 6) == 0)
			at += 5;
		else if (strncmp(at, "&#34;", 5) == 0)
			at += 4;
		else if (*at != '"')
			object.etag[len++] = *at;
	memcpy(object.write_id, u->write_id, sizeof(object.write_id));
	return object;
}

/* Of the whole object, from those of its parts. */
static uint32_t upload_crc(const shd_s3_upload *u)
{
	uint32_t crc = 0;
	for (int i = 0; i + 1 < u->next; i++)
		crc = sherd_crc32_join(crc, u->crcs[i], u->lens[i]);
	return crc;
}

/* The answer may be a failure although its status is 200, and be lost: what is there decides. */
static int upload_complete(shd_s3_upload *u, char identity[SHD_S3_IDENTITY], sherd_error *err)
{
	shd_s3_call call = {.method = "POST", .key = u->key};
	shd_s3_text body = {0};
	shd_s3_object now = {0};
	list_parts(u, &body);
	query_id(u, &call.query);
	call.http.body = body.data;
	call.http.body_len = body.len;
	if (u->crc) {
		char text[SHD_S3_CRC_TEXT];
		shd_s3_crc_text(upload_crc(u), text);
		shd_s3_call_header(&call, "x-amz-checksum-crc32", "%s", text);
		shd_s3_call_header(&call, "x-amz-checksum-type", "FULL_OBJECT");
	}
	int rc = body.failed ? shd_s3_no_memory(err) : shd_s3_call_make(u->s, &call, err);
	bool said = rc == SHERD_OK && call.http.status == 200 && strstr(shd_s3_text_of(&call.http.answer), "</ETag>");
	shd_s3_object told = upload_told(u, &call);
	int looked = shd_s3_look(&now, u->s, u->key, NULL);
	if (looked == SHERD_OK && strcmp(now.write_id, u->write_id) == 0) {
		shd_s3_identity(&now, identity);
		rc = SHERD_OK;
	} else if (said) { /* and somebody has replaced it already, or it cannot be looked at */
		shd_s3_identity(&told, identity);
		rc = SHERD_OK;
	} else if (call.lost || looked < 0) {
		rc = sherd_fail(err, SHERD_EUNKNOWN, "unknown-outcome", "the last step of the upload got no answer");
	} else if (rc == SHERD_OK) {
		rc = shd_s3_call_refuse(u->s, &call, err);
	}
	shd_s3_call_end(u->s, &call);
	shd_s3_text_free(&body);
	return rc;
}

int shd_s3_upload_commit(shd_s3_upload *u, const char *first, char identity[SHD_S3_IDENTITY], sherd_error *err)
{
	int rc = send_rest(u, first, err);
	if (rc == SHERD_OK)
		rc = upload_complete(u, identity, err);
	if (rc < 0 && rc != SHERD_EUNKNOWN)
		shd_s3_upload_abort(u);
	else
		upload_free(u);
	return rc;
}

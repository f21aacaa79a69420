/* s3/manners.c - what a server does with conditions, found out on an object of our own. */
#include "call.h"
#include "put.h"

#include <stdio.h>
#include <string.h>

static const char nobody[] = "00000000000000000000000000000000"; /* no object's ETag */

/* Makes one request with one condition; *done: the server did it. Another answer than yes or no is a failure. */
static int manners_try(shd_s3 *s, const char *key, const char *method, const char *name, const char *value,
                       const char *body, shd_s3_object *object, bool *done, sherd_error *err)
{
	shd_s3_call call = {.method = method, .key = key};
	call.http.body = body;
	call.http.body_len = body ? strlen(body) : 0;
	if (name)
		shd_s3_call_header(&call, name, "%s", value);
	int rc = shd_s3_call_make(s, &call, err);
	long status = call.http.status;
	*done = rc == SHERD_OK && status >= 200 && status < 300;
	if (*done && object)
		shd_s3_call_object(&call, object);
	/* 501: conditions are not known there. */
	if (rc == SHERD_OK && !*done && status != 412 && status != 409 && status != 501 && status != 500)
		rc = shd_s3_call_refuse(s, &call, err);
	shd_s3_call_end(s, &call);
	return rc;
}

static int try_put(shd_s3 *s, const char *key, shd_s3_manners *m, sherd_error *err)
{
	shd_s3_object first, now;
	bool done, wrong;
	char quoted[SHD_S3_MOST_ETAG + 2];
	TRY(manners_try(s, key, "PUT", "if-none-match", "*", "one", &first, &done, err));
	if (!done)
		return SHERD_OK;
	TRY(manners_try(s, key, "PUT", "if-none-match", "*", "two", NULL, &done, err));
	TRY(manners_try(s, key, "PUT", "if-match", nobody, "two", NULL, &wrong, err));
	TRY(shd_s3_look(&now, s, key, err));
	if (done || wrong || strcmp(now.etag, first.etag) != 0)
		return SHERD_OK;
	shd_s3_condition(m, first.etag, quoted);
	TRY(manners_try(s, key, "PUT", "if-match", quoted, "two", NULL, &done, err));
	if (!done) {
		TRY(manners_try(s, key, "PUT", "if-match", first.etag, "two", NULL, &done, err));
		m->unquoted = done;
	}
	m->put = done;
	return SHERD_OK;
}

static int try_remove(shd_s3 *s, const char *key, shd_s3_manners *m, sherd_error *err)
{
	shd_s3_object now;
	bool done;
	char condition[SHD_S3_MOST_ETAG + 2];
	shd_s3_condition(m, nobody, condition);
	TRY(manners_try(s, key, "DELETE", "if-match", condition, NULL, NULL, &done, err));
	TRY(shd_s3_look(&now, s, key, err));
	m->remove = m->put && now.there;
	return SHERD_OK;
}

static int find_out(shd_s3 *s, shd_s3_manners *m, sherd_error *err)
{
	char id[SHD_S3_WRITE_ID], key[64];
	bool done;
	shd_s3_new_write_id(id);
	(void)snprintf(key, sizeof(key), ".sherd-tmp-probe-%s", id);
	int rc = try_put(s, key, m, err);
	if (rc == SHERD_OK)
		rc = try_remove(s, key, m, err);
	if (rc == SHERD_OK && !m->remove && !m->put)
		return SHERD_OK; /* the try was the removal */
	int swept = manners_try(s, key, "DELETE", NULL, NULL, NULL, NULL, &done, rc < 0 ? NULL : err);
	return rc < 0 ? rc : swept;
}

int shd_s3_ask_manners(shd_s3_manners *out, shd_s3 *s, sherd_error *err)
{
	int rc = SHERD_OK;
	(void)pthread_mutex_lock(&s->asking);
	shd_s3_manners m = s->manners;
	if (!m.known && s->config.aws)
		m = (shd_s3_manners){.put = true, .remove = true};
	else if (!m.known)
		rc = find_out(s, &m, err);
	m.known = rc == SHERD_OK;
	if (m.known)
		s->manners = m;
	(void)pthread_mutex_unlock(&s->asking);
	TRY(rc);
	if (!m.put && !s->config.alone)
		return sherd_fail(err, SHERD_EUNSUPPORTED, "no-exclusive",
		                  "the server ignores conditions, so that two writers could both win; "
		                  "SHERD_S3_ALONE=1 says that nobody else writes");
	*out = m;
	return SHERD_OK;
}

/* s3/manners.c - what a server does with conditions, found out on an object of our own. */
#include "call.h"
#include "put.h"

#include <stdio.h>
#include <string.h>

static const char nobody[] = "00000000000000000000000000000000"; /* no object's ETag */

typedef struct asking {
	shd_s3 *s;
	const char *key;
	shd_s3_object object; /* as the last PUT that was done left it */
} asking;

/* Makes one request with one condition; *done: the server did it. Another answer than yes or no is a failure. A request
 * that is to be refused is answered once: some servers say 500 to that. */
static int manners_try(asking *a, const char *method, const char *name, const char *value, bool again, bool *done,
                       sherd_error *err)
{
	shd_s3_call call = {.method = method, .key = a->key, .once = !again};
	if (*method == 'P') {
		call.http.body = value;
		call.http.body_len = strlen(value);
	}
	if (name)
		shd_s3_call_header(&call, name, "%s", value);
	int64_t since = shd_s3_clock_ms();
	int rc = shd_s3_call_make(a->s, &call, err);
	for (int tries = 0; rc < 0 && !again && shd_s3_call_pause(a->s, &call, tries, since); tries++)
		rc = shd_s3_call_make(a->s, &call, err);
	long status = call.http.status;
	*done = rc == SHERD_OK && status >= 200 && status < 300;
	if (*done && *method == 'P')
		shd_s3_call_object(&call, &a->object);
	/* 501: conditions are not known there. */
	if (rc == SHERD_OK && !*done && status != 412 && status != 409 && status != 501 && status != 500)
		rc = shd_s3_call_refuse(a->s, &call, err);
	shd_s3_call_end(a->s, &call);
	return rc;
}

/* Is the condition that names the object as it is met, with quotes or without? */
static int try_match(asking *a, shd_s3_manners *m, sherd_error *err)
{
	char condition[SHD_S3_MOST_ETAG + 2];
	for (int i = 0; i < 4 && !m->put; i++) {
		m->unquoted = i % 2 == 1;
		shd_s3_condition(m, a->object.etag, condition);
		TRY(manners_try(a, "PUT", "if-match", condition, false, &m->put, err));
	}
	return SHERD_OK;
}

static int try_put(asking *a, shd_s3_manners *m, sherd_error *err)
{
	bool made, twice, wrong;
	TRY(manners_try(a, "PUT", "if-none-match", "*", true, &made, err));
	TRY(shd_s3_look(&a->object, a->s, a->key, err));
	if (!a->object.there)
		return SHERD_OK;
	TRY(manners_try(a, "PUT", "if-none-match", "*", false, &twice, err));
	TRY(manners_try(a, "PUT", "if-match", nobody, false, &wrong, err));
	if (twice || wrong)
		return SHERD_OK;
	return try_match(a, m, err);
}

static int try_remove(asking *a, shd_s3_manners *m, sherd_error *err)
{
	shd_s3_object now;
	bool done;
	char condition[SHD_S3_MOST_ETAG + 2];
	shd_s3_condition(m, nobody, condition);
	TRY(manners_try(a, "DELETE", "if-match", condition, false, &done, err));
	TRY(shd_s3_look(&now, a->s, a->key, err));
	m->remove = m->put && now.there;
	return SHERD_OK;
}

static int find_out(shd_s3 *s, shd_s3_manners *m, sherd_error *err)
{
	char id[SHD_S3_WRITE_ID], key[64];
	bool done;
	shd_s3_new_write_id(id);
	(void)snprintf(key, sizeof(key), ".sherd-tmp-probe-%s", id);
	asking a = {.s = s, .key = key};
	int rc = try_put(&a, m, err);
	if (rc == SHERD_OK)
		rc = try_remove(&a, m, err);
	int swept = manners_try(&a, "DELETE", NULL, NULL, true, &done, rc < 0 ? NULL : err);
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

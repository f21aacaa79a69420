/* s3/manners.c - what a server does with conditions, found out on an object of our own. */
#include "call.h"
#include "put.h"

#include <stdio.h>
#include <string.h>

enum { FAILURES = 3 };                                           /* in a row that are no accident */
static const char nobody[] = "00000000000000000000000000000000"; /* no object's ETag */

/* What became of a request. */
typedef enum outcome { OPEN, DONE, REFUSED, FAILED, UNKNOWN_THERE } outcome;

typedef struct asking {
	shd_s3 *s;
	const char *key;
	shd_s3_object object; /* as the last PUT that was done left it */
	const char *method, *name, *value;
	char id[SHD_S3_WRITE_ID]; /* of the object that the request at hand writes, in all its tries */
	bool doubt;               /* some try may have been done, whatever was said */
	int failures;
} asking;

static int manners_look(asking *a, outcome *out, sherd_error *err)
{
	shd_s3_object now;
	TRY(shd_s3_look(&now, a->s, a->key, err));
	if (*a->method == 'P' ? strcmp(now.write_id, a->id) == 0 : !now.there) {
		a->object = now;
		*out = DONE;
	}
	return SHERD_OK;
}

/* Only 412 and 409 say that a condition is held to. Others say 500, which is said by accident too, and for what was
 * done: what is there decides then. OPEN: it has to be asked again. */
static int manners_judge(asking *a, const shd_s3_call *call, outcome *out, sherd_error *err)
{
	long status = call->http.status;
	bool put = *a->method == 'P';
	*out = OPEN;
	if (status >= 200 && status < 300) {
		*out = DONE;
		if (put)
			shd_s3_call_object(call, &a->object);
		return put && !a->object.etag[0] ? shd_s3_look(&a->object, a->s, a->key, err) : SHERD_OK;
	}
	bool refused = status == 412 || status == 409;
	a->doubt = a->doubt || call->lost || (!refused && status != 501);
	if (a->doubt)
		TRY(manners_look(a, out, err));
	a->failures = status == 500 ? a->failures + 1 : 0;
	if (*out == OPEN && refused)
		*out = REFUSED;
	else if (*out == OPEN && status == 501)
		*out = UNKNOWN_THERE;
	else if (*out == OPEN && a->failures == FAILURES)
		*out = FAILED;
	else if (*out == OPEN && !shd_s3_call_may_help(call))
		return shd_s3_call_refuse(a->s, call, err);
	return SHERD_OK;
}

static int manners_once(asking *a, shd_s3_call *call, outcome *out, sherd_error *err)
{
	*call = (shd_s3_call){.method = a->method, .key = a->key, .once = true};
	if (*a->method == 'P') {
		call->http.body = a->id;
		call->http.body_len = strlen(a->id);
		shd_s3_call_header(call, "x-amz-meta-sherd-write", "%s", a->id);
	}
	shd_s3_call_header(call, a->name, "%s", a->value);
	TRY(shd_s3_call_start(a->s, call, err));
	(void)shd_s3_call_finish(a->s, call, NULL);
	return manners_judge(a, call, out, err);
}

/* Makes a request with one condition until it is known what the server does with it. */
static int manners_try(asking *a, const char *method, const char *name, const char *value, outcome *out,
                       sherd_error *err)
{
	int64_t since = shd_http_clock_ms();
	shd_s3_new_write_id(a->id);
	a->method = method;
	a->name = name;
	a->value = value;
	a->doubt = false;
	a->failures = 0;
	*out = OPEN;
	int rc = SHERD_OK;
	for (int tries = 0; rc == SHERD_OK && *out == OPEN; tries++) {
		shd_s3_call call;
		rc = manners_once(a, &call, out, err);
		if (rc == SHERD_OK && *out == OPEN && !shd_s3_call_pause(a->s, &call, tries, since))
			rc = shd_s3_call_refuse(a->s, &call, err);
		shd_s3_call_end(a->s, &call);
	}
	a->value = NULL; /* the caller's */
	return rc;
}

static int probe_failed(sherd_error *err)
{
	return sherd_fail(err, SHERD_EIO, "io", "the server fails (status 500) where it is asked for its conditions");
}

static int try_put(asking *a, shd_s3_manners *m, sherd_error *err)
{
	char condition[SHD_S3_MOST_ETAG + 2];
	outcome made, twice, wrong, match = REFUSED;
	TRY(manners_try(a, "PUT", "if-none-match", "*", &made, err));
	if (made != DONE)
		return made == FAILED ? probe_failed(err) : SHERD_OK;
	TRY(manners_try(a, "PUT", "if-none-match", "*", &twice, err));
	if (twice != REFUSED && twice != FAILED)
		return SHERD_OK;
	TRY(manners_try(a, "PUT", "if-match", nobody, &wrong, err));
	if (wrong != REFUSED && wrong != FAILED)
		return SHERD_OK;
	/* Is the condition that names the object as it is met, with quotes or without? */
	for (int i = 0; i < 2 && match != DONE; i++) {
		m->unquoted = i == 1;
		shd_s3_condition(m, a->object.etag, condition);
		TRY(manners_try(a, "PUT", "if-match", condition, &match, err));
	}
	m->put = match == DONE;
	return match == FAILED ? probe_failed(err) : SHERD_OK;
}

/* Failures do not say here that it is held to the condition: with a mark instead nothing of others' is deleted. */
static int try_remove(asking *a, shd_s3_manners *m, sherd_error *err)
{
	char condition[SHD_S3_MOST_ETAG + 2];
	outcome removed;
	shd_s3_condition(m, nobody, condition);
	TRY(manners_try(a, "DELETE", "if-match", condition, &removed, err));
	m->remove = removed == REFUSED;
	return SHERD_OK;
}

/* A checksum that is wrong: who takes it does not look. Anything that is no refusal of it says nothing. */
static int try_checksum(asking *a, shd_s3_manners *m, sherd_error *err)
{
	shd_s3_call call = {.method = "PUT", .key = a->key};
	char text[SHD_S3_CRC_TEXT];
	shd_s3_new_write_id(a->id);
	call.http.body = a->id;
	call.http.body_len = strlen(a->id);
	shd_s3_crc_text(~sherd_crc32(0, call.http.body, call.http.body_len), text);
	shd_s3_call_header(&call, "x-amz-checksum-crc32", "%s", text);
	int rc = shd_s3_call_make(a->s, &call, err);
	m->crc = rc == SHERD_OK && call.http.status == 400;
	shd_s3_call_end(a->s, &call);
	return rc;
}

static int find_out(shd_s3 *s, shd_s3_manners *m, sherd_error *err)
{
	char id[SHD_S3_WRITE_ID], key[64];
	shd_s3_new_write_id(id);
	(void)snprintf(key, sizeof(key), ".sherd-tmp-probe-%s", id);
	asking a = {.s = s, .key = key};
	int rc = try_put(&a, m, err);
	if (rc == SHERD_OK)
		rc = try_checksum(&a, m, err);
	if (rc == SHERD_OK && m->put)
		rc = try_remove(&a, m, err);
	(void)shd_s3_remove(&s->base, key, NULL, NULL); /* one that is left is nobody's */
	return rc;
}

int shd_s3_ask_manners(shd_s3_manners *out, shd_s3 *s, sherd_error *err)
{
	int rc = SHERD_OK;
	TRY(shd_s3_check_process(s, err));
	(void)pthread_mutex_lock(&s->asking);
	shd_s3_manners m = s->manners;
	if (!m.known && s->config.aws)
		m = (shd_s3_manners){.put = true, .remove = true, .crc = true};
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

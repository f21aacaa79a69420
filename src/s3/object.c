/* s3/object.c - looking at an object, its identity, and removing it. */
#include "call.h"
#include "put.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char shd_s3_mark[] = "Removed by Sherd.\n";

int shd_s3_look_end(shd_s3_object *out, shd_s3 *s, shd_s3_call *call, sherd_error *err)
{
	int rc = shd_s3_call_finish(s, call, err);
	if (rc == SHERD_OK && call->http.status == 200)
		shd_s3_call_object(call, out);
	else if (rc == SHERD_OK && call->http.status != 404)
		rc = shd_s3_call_refuse(s, call, err);
	shd_s3_call_end(s, call);
	return rc;
}

int shd_s3_look(shd_s3_object *out, shd_s3 *s, const char *key, sherd_error *err)
{
	shd_s3_call call = {.method = "HEAD", .key = key};
	*out = (shd_s3_object){0};
	int rc = shd_s3_call_start(s, &call, err);
	if (rc == SHERD_OK)
		return shd_s3_look_end(out, s, &call, err);
	shd_s3_call_end(s, &call);
	return rc;
}

void shd_s3_identity(const shd_s3_object *object, char out[SHD_S3_IDENTITY])
{
	bool both = object->etag[0] && object->write_id[0];
	int most = both ? SHD_S3_IDENTITY - 2 - (int)strlen(object->write_id) : SHD_S3_IDENTITY - 1;
	(void)snprintf(out, SHD_S3_IDENTITY, "%.*s%s%s", most, object->etag, both ? "." : "", object->write_id);
}

bool shd_s3_is(const shd_s3_object *object, const char *identity)
{
	char whole[SHD_S3_IDENTITY], listed[SHD_S3_IDENTITY];
	shd_s3_object plain = *object;
	plain.write_id[0] = 0;
	shd_s3_identity(object, whole);
	shd_s3_identity(&plain, listed);
	return object->there && (strcmp(identity, whole) == 0 || strcmp(identity, listed) == 0);
}

int shd_s3_stat(sherd_stat *out, sherd_store *store, const char *key, sherd_error *err)
{
	shd_s3_object object;
	TRY(shd_s3_look(&object, (shd_s3 *)store, key, err));
	if (!object.there)
		return sherd_fail(err, SHERD_ENOTFOUND, "not-found", "no such object");
	out->size = object.size;
	out->mtime_ns = shd_s3_ns(object.modified);
	shd_s3_identity(&object, out->identity);
	return SHERD_OK;
}

static int object_replaced(sherd_error *err)
{
	return sherd_fail(err, SHERD_ECONFLICT, "replaced", "another object has taken its place");
}

/* A removal that was not answered, or by a failure: has it happened? */
static int delete_settle(shd_s3 *s, const shd_s3_call *call, int rc, sherd_error *err)
{
	shd_s3_object now;
	int looked = shd_s3_look(&now, s, call->key, NULL);
	if (looked == SHERD_OK && !now.there)
		return SHERD_OK;
	if (looked == SHERD_OK && !call->lost)
		return rc;
	return sherd_fail(err, SHERD_EUNKNOWN, "unknown-outcome",
	                  "the removal got no answer and may have happened%s%.100s", *call->http.trouble ? ": " : "",
	                  call->http.trouble);
}

/* The answer to a DELETE; *again: the condition was not met, by whatever there is now. */
static int delete_object(shd_s3 *s, const char *key, const char *if_match, bool *again, sherd_error *err)
{
	shd_s3_call call = {.method = "DELETE", .key = key};
	if (if_match)
		shd_s3_call_header(&call, "if-match", "%s", if_match);
	int rc = shd_s3_call_make(s, &call, err);
	long status = call.http.status;
	*again = rc == SHERD_OK && if_match && (status == 412 || status == 409);
	if (rc == SHERD_OK && !*again && status != 204 && status != 200 && status != 404)
		rc = shd_s3_call_refuse(s, &call, err);
	if (rc < 0 && (call.lost || status >= 500))
		rc = delete_settle(s, &call, rc, err);
	shd_s3_call_end(s, &call);
	return rc;
}

static int remove_if(shd_s3 *s, const char *key, const char *identity, sherd_error *err)
{
	shd_s3_manners manners;
	shd_s3_object object;
	bool again = true;
	TRY(shd_s3_ask_manners(&manners, s, err));
	for (int tries = 0; again && tries < 3; tries++) {
		TRY(shd_s3_look(&object, s, key, err));
		if (!object.there)
			return SHERD_OK;
		if (!shd_s3_is(&object, identity))
			return object_replaced(err);
		if (!manners.remove && manners.put) {
			int rc = shd_s3_put(s, &(shd_s3_putting){.key = key, .if_identity = identity, .mark = true},
			                    NULL, err);
			if (rc != SHERD_ECONFLICT)
				return rc;
			continue; /* another may have removed it */
		}
		char condition[SHD_S3_MOST_ETAG + 2];
		shd_s3_condition(&manners, object.etag, condition);
		TRY(delete_object(s, key, manners.remove ? condition : NULL, &again, err));
	}
	return again ? object_replaced(err) : SHERD_OK;
}

int shd_s3_remove(sherd_store *store, const char *key, const char *if_identity, sherd_error *err)
{
	bool again;
	if (if_identity)
		return remove_if((shd_s3 *)store, key, if_identity, err);
	return delete_object((shd_s3 *)store, key, NULL, &again, err);
}

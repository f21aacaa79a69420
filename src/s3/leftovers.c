/* s3/leftovers.c - uploads in parts that nobody finished. They are not listed among objects, and take room. */
#include "call.h"
#include "xml.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PAGES = 10000 };

typedef struct leftovers {
	shd_s3 *s;
	const char *prefix;
	int64_t before_ns; /* those that were begun later stay */
	bool dry_run;
	uint64_t count;
	shd_s3_text key, id;             /* of the upload at hand, the first with the root */
	shd_s3_text key_after, id_after; /* where the next page begins */
} leftovers;

static int abort_upload(leftovers *l, const char *key, sherd_error *err)
{
	shd_s3_call call = {.method = "DELETE", .key = key};
	shd_s3_text_say(&call.query, "uploadId=");
	shd_s3_text_encode(&call.query, l->id.data, false);
	int rc = shd_s3_call_make(l->s, &call, err);
	long status = call.http.status;
	if (rc == SHERD_OK && status != 204 && status != 200 && status != 404)
		rc = shd_s3_call_refuse(l->s, &call, err);
	shd_s3_call_end(l->s, &call);
	return rc;
}

static int see_upload(leftovers *l, const char *from, const char *to, sherd_error *err)
{
	const char *text;
	size_t len, root = strlen(l->s->root);
	if (!shd_s3_xml_element(from, to, "Key", &text, &len))
		return SHERD_OK;
	shd_s3_xml_decode(&l->key, text, len, true);
	if (!shd_s3_xml_element(from, to, "UploadId", &text, &len))
		return SHERD_OK;
	shd_s3_xml_decode(&l->id, text, len, false);
	int64_t begun = shd_s3_xml_element(from, to, "Initiated", &text, &len) ? shd_s3_xml_time(text, len) : 0;
	if (l->key.failed || l->id.failed)
		return shd_s3_no_memory(err);
	/* One that does not say when it began may have begun just now. */
	if (l->key.len <= root || strncmp(l->key.data, l->s->root, root) != 0 ||
	    strncmp(l->key.data + root, l->prefix, strlen(l->prefix)) != 0 || !begun || begun > l->before_ns)
		return SHERD_OK;
	l->count++;
	return l->dry_run ? SHERD_OK : abort_upload(l, l->key.data + root, err);
}

static void take_marker(const char *text, const char *end, const char *name, shd_s3_text *out)
{
	const char *value = "";
	size_t len = 0;
	(void)shd_s3_xml_element(text, end, name, &value, &len);
	shd_s3_xml_decode(out, value, len, strcmp(name, "NextKeyMarker") == 0);
}

static int see_page(leftovers *l, const shd_s3_call *call, bool *more, sherd_error *err)
{
	const char *text = shd_s3_text_of(&call->http.answer), *end = text + strlen(text), *value;
	size_t len;
	if (!strstr(text, "ListMultipartUploadsResult"))
		return sherd_fail(err, SHERD_EIO, "bad-list", "what the server sent is no list of uploads");
	for (const char *at = text; (at = strstr(at, "<Upload>"));) {
		const char *to = strstr(at, "</Upload>");
		if (!to)
			return sherd_fail(err, SHERD_EIO, "bad-list", "the server's list is cut off");
		TRY(see_upload(l, at, to, err));
		at = to;
	}
	*more = shd_s3_xml_element(text, end, "IsTruncated", &value, &len) && len == 4 && memcmp(value, "true", 4) == 0;
	take_marker(text, end, "NextKeyMarker", &l->key_after);
	take_marker(text, end, "NextUploadIdMarker", &l->id_after);
	if (*more && !l->key_after.len)
		return sherd_fail(err, SHERD_EIO, "bad-list", "the server's list goes on, but it does not say where");
	return l->key_after.failed || l->id_after.failed ? shd_s3_no_memory(err) : SHERD_OK;
}

static int list_uploads(leftovers *l, bool *more, sherd_error *err)
{
	shd_s3_call call = {.method = "GET"};
	shd_s3_text *q = &call.query;
	shd_s3_text_say(q, "encoding-type=url");
	if (l->key_after.len) {
		shd_s3_text_say(q, "&key-marker=");
		shd_s3_text_encode(q, l->key_after.data, false);
	}
	shd_s3_text_say(q, "&prefix=");
	shd_s3_text_encode(q, l->s->root, false);
	shd_s3_text_encode(q, l->prefix, false);
	if (l->key_after.len && l->id_after.len) {
		shd_s3_text_say(q, "&upload-id-marker=");
		shd_s3_text_encode(q, l->id_after.data, false);
	}
	shd_s3_text_say(q, "&uploads=");
	int rc = shd_s3_call_make(l->s, &call, err);
	if (rc == SHERD_OK && call.http.status != 200)
		rc = shd_s3_call_refuse(l->s, &call, err);
	if (rc == SHERD_OK)
		rc = see_page(l, &call, more, err);
	shd_s3_call_end(l->s, &call);
	return rc;
}

int shd_s3_abandon(uint64_t *count, sherd_store *store, const char *prefix, int64_t age_ns, bool dry_run,
                   sherd_error *err)
{
	leftovers l = {.s = (shd_s3 *)store, .prefix = prefix, .dry_run = dry_run};
	bool more = true;
	int rc = SHERD_OK;
	l.before_ns = shd_s3_now(store) - age_ns;
	for (int page = 0; rc == SHERD_OK && more && page < MOST_PAGES; page++)
		rc = list_uploads(&l, &more, err);
	shd_s3_text_free(&l.key);
	shd_s3_text_free(&l.id);
	shd_s3_text_free(&l.key_after);
	shd_s3_text_free(&l.id_after);
	*count = l.count;
	return rc;
}

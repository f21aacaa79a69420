/* s3/list.c - ListObjectsV2, page by page. */
#include "call.h"
#include "xml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_EMPTY = 10000, LOOKS = 32 };

typedef struct list_look {
	shd_s3_call call;
	shd_s3_text key;
} list_look;

typedef struct listing {
	shd_s3 *s;
	const char *prefix, *after;
	sherd_list_fn *each;
	void *arg;
	shd_s3_text token, key, last; /* where to go on; the key at hand, and the one before, with the root */
	bool stopped, encoded;        /* the second: keys are, as in a URL */
	int empty;                    /* pages in a row without a key */
	list_look *looks; /* at objects that may be marks, ahead of their turn, in their order; NULL: not yet */
	size_t begun, ended;
	const char *ahead; /* up to where the page was searched for such; NULL: to its end */
} listing;

/* Could it be a key of a store? Others, such as "dir/", are other programs'. */
static bool is_key(const char *key)
{
	if (!*key || strlen(key) > SHERD_MAX_KEY)
		return false;
	for (const char *part = key;; part++) {
		size_t len = strcspn(part, "/");
		bool dots = (len == 1 && part[0] == '.') || (len == 2 && part[0] == '.' && part[1] == '.');
		if (!len || len > 255 || dots || strncmp(part, ".sherd-tmp-", 11) == 0)
			return false;
		part += len;
		if (!*part)
			return true;
	}
}

static uint64_t list_size(const char *from, const char *to)
{
	const char *text;
	size_t len;
	return shd_s3_xml_element(from, to, "Size", &text, &len) ? strtoull(text, NULL, 10) : 0;
}

/* The key of the store in a name as it is listed; NULL if it is none that is asked for. */
static const char *list_key(const listing *l, const shd_s3_text *name)
{
	size_t root = strlen(l->s->root);
	const char *key = name->data + (name->len < root ? name->len : root);
	bool ours = strlen(name->data) == name->len && strncmp(name->data, l->s->root, root) == 0 && is_key(key) &&
	            strncmp(key, l->prefix, strlen(l->prefix)) == 0 && strcmp(key, l->after) > 0;
	return ours ? key : NULL;
}

/* Begins to look at the next objects that have the size of a mark. */
static int looks_begin(listing *l, sherd_error *err)
{
	const char *text;
	size_t len;
	while (l->ahead && l->begun - l->ended < LOOKS) {
		const char *from = strstr(l->ahead, "<Contents>"), *to = from ? strstr(from, "</Contents>") : NULL;
		l->ahead = to;
		if (!to || list_size(from, to) != strlen(shd_s3_mark) ||
		    !shd_s3_xml_element(from, to, "Key", &text, &len))
			continue;
		list_look *look = &l->looks[l->begun % LOOKS];
		shd_s3_xml_decode(&look->key, text, len, l->encoded);
		if (look->key.failed)
			return shd_s3_no_memory(err);
		const char *key = list_key(l, &look->key);
		if (!key)
			continue;
		look->call = (shd_s3_call){.method = "HEAD", .key = key};
		l->begun++;
		TRY(shd_s3_call_start(l->s, &look->call, err));
	}
	return SHERD_OK;
}

/* A list does not tell a mark from an object: is there one, at that place in the page? */
static int list_look_at(listing *l, const char *from, bool *there, sherd_error *err)
{
	shd_s3_object now = {0};
	if (!l->looks && !(l->looks = calloc(LOOKS, sizeof(*l->looks))))
		return shd_s3_no_memory(err);
	if (l->begun == l->ended)
		l->ahead = from;
	TRY(looks_begin(l, err));
	TRY(shd_s3_look_end(&now, l->s, &l->looks[l->ended++ % LOOKS].call, err));
	*there = now.there;
	return SHERD_OK;
}

static void looks_free(listing *l)
{
	for (size_t i = 0; l->looks && i < LOOKS; i++) {
		shd_s3_call_end(l->s, &l->looks[i].call);
		shd_s3_text_free(&l->looks[i].key);
	}
	free(l->looks);
}

static int list_object(listing *l, const char *from, const char *to, sherd_error *err)
{
	const char *text;
	size_t len;
	bool there = true;
	sherd_stat stat = {0};
	shd_s3_object object = {.there = true};
	if (!shd_s3_xml_element(from, to, "Key", &text, &len))
		return sherd_fail(err, SHERD_EIO, "bad-list", "the server's list has an object without a key");
	shd_s3_xml_decode(&l->key, text, len, l->encoded);
	if (l->key.failed)
		return shd_s3_no_memory(err);
	if (l->last.len && strcmp(l->key.data, l->last.data) <= 0)
		return sherd_fail(err, SHERD_EUNSUPPORTED, "bad-list", "the server lists keys in no order");
	shd_s3_text_clear(&l->last);
	shd_s3_text_add(&l->last, l->key.data, l->key.len);
	const char *key = list_key(l, &l->key);
	if (!key)
		return SHERD_OK;
	stat.size = list_size(from, to);
	stat.mtime_ns = shd_s3_xml_element(from, to, "LastModified", &text, &len) ? shd_s3_xml_time(text, len) : 0;
	if (shd_s3_xml_element(from, to, "ETag", &text, &len)) {
		shd_s3_text etag = {0};
		shd_s3_xml_decode(&etag, text, len, false);
		size_t quoted = etag.len >= 2 && etag.data[0] == '"' ? 1 : 0;
		(void)snprintf(object.etag, sizeof(object.etag), "%.*s", (int)(etag.len - 2 * quoted),
		               shd_s3_text_of(&etag) + quoted);
		shd_s3_text_free(&etag);
	}
	if (stat.size == strlen(shd_s3_mark))
		TRY(list_look_at(l, from, &there, err));
	if (!there)
		return SHERD_OK;
	shd_s3_identity(&object, stat.identity);
	l->stopped = !l->each(l->arg, key, &stat);
	return SHERD_OK;
}

/* Where the next page begins, which is further on. */
static int list_go_on(listing *l, const char *text, const char *end, sherd_error *err)
{
	const char *value = NULL;
	size_t len = 0;
	shd_s3_text next = {0};
	if (shd_s3_xml_element(text, end, "NextContinuationToken", &value, &len))
		shd_s3_xml_decode(&next, value, len, false);
	bool failed = next.failed, same = strcmp(shd_s3_text_of(&next), shd_s3_text_of(&l->token)) == 0;
	shd_s3_text_free(&l->token);
	l->token = next;
	if (failed)
		return shd_s3_no_memory(err);
	if (!next.len)
		return sherd_fail(err, SHERD_EIO, "bad-list", "the server's list goes on, but it does not say where");
	if (same || l->empty > MOST_EMPTY)
		return sherd_fail(err, SHERD_EIO, "bad-list", "the server's list goes on, but not further");
	return SHERD_OK;
}

static int list_page(listing *l, const shd_s3_call *call, bool *more, sherd_error *err)
{
	const char *text = shd_s3_text_of(&call->http.answer), *end = text + strlen(text), *value;
	size_t len;
	if (!strstr(text, "</ListBucketResult>"))
		return sherd_fail(err, SHERD_EIO, "bad-list", "what the server sent is no list");
	l->encoded =
		shd_s3_xml_element(text, end, "EncodingType", &value, &len) && len == 3 && memcmp(value, "url", 3) == 0;
	l->empty = strstr(text, "<Contents>") ? 0 : l->empty + 1;
	for (const char *at = text; !l->stopped && (at = strstr(at, "<Contents>"));) {
		const char *to = strstr(at, "</Contents>");
		if (!to)
			return sherd_fail(err, SHERD_EIO, "bad-list", "the server's list is cut off");
		TRY(list_object(l, at, to, err));
		at = to;
	}
	*more = shd_s3_xml_element(text, end, "IsTruncated", &value, &len) && len == 4 && memcmp(value, "true", 4) == 0;
	return *more ? list_go_on(l, text, end, err) : SHERD_OK;
}

static void list_query(const listing *l, shd_s3_text *query)
{
	if (l->token.len) {
		shd_s3_text_say(query, "continuation-token=");
		shd_s3_text_encode(query, l->token.data, false);
		shd_s3_text_add(query, "&", 1);
	}
	shd_s3_text_say(query, "encoding-type=url&list-type=2&prefix=");
	shd_s3_text_encode(query, l->s->root, false);
	shd_s3_text_encode(query, l->prefix, false);
	if (*l->after) {
		shd_s3_text_say(query, "&start-after=");
		shd_s3_text_encode(query, l->s->root, false);
		shd_s3_text_encode(query, l->after, false);
	}
}

int shd_s3_list(sherd_store *store, const char *prefix, const char *after, sherd_list_fn *each, void *arg,
                sherd_error *err)
{
	listing l = {.s = (shd_s3 *)store, .prefix = prefix, .after = after, .each = each, .arg = arg};
	bool more = true;
	int rc = SHERD_OK;
	while (rc == SHERD_OK && more && !l.stopped) {
		shd_s3_call call = {.method = "GET"};
		list_query(&l, &call.query);
		rc = shd_s3_call_make(l.s, &call, err);
		if (rc == SHERD_OK && call.http.status != 200)
			rc = shd_s3_call_refuse(l.s, &call, err);
		if (rc == SHERD_OK)
			rc = list_page(&l, &call, &more, err);
		shd_s3_call_end(l.s, &call);
	}
	looks_free(&l);
	shd_s3_text_free(&l.token);
	shd_s3_text_free(&l.key);
	shd_s3_text_free(&l.last);
	return rc;
}

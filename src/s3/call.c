#include "call.h"
#include "sign.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { LONGEST_PAUSE_MS = 10000, ROLE_MS = 30000, MOST_SENT_ON = 10 };

void shd_s3_call_header(shd_s3_call *call, const char *name, const char *fmt, ...)
{
	char *value = call->values[call->count];
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(value, sizeof(call->values[0]), fmt, ap);
	va_end(ap);
	call->headers[call->count++] = (sherd_pair){name, value};
}

void shd_s3_crc_text(uint32_t crc, char out[SHD_S3_CRC_TEXT])
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint64_t bits = (uint64_t)crc << 16; /* 48 bits, of which 16 are padding */
	for (int i = 0; i < 6; i++)
		out[i] = digits[bits >> (42 - 6 * i) & 63];
	memcpy(out + 6, "==", 3);
}

uint32_t shd_s3_call_vouch(const shd_s3 *s, shd_s3_call *call, bool crc)
{
	const shd_http_request *r = &call->http;
	if (!crc)
		return 0;
	char text[SHD_S3_CRC_TEXT];
	uint32_t value = sherd_crc32(0, r->body, r->body_len);
	shd_s3_crc_text(value, text);
	shd_s3_call_header(call, "x-amz-checksum-crc32", "%s", text);
	if (strncmp(s->config.origin, "https:", 6) == 0)
		(void)snprintf(call->hash, sizeof(call->hash), "UNSIGNED-PAYLOAD");
	return value;
}

/* Credentials of a role are asked for anew some minutes before they end, at most every ROLE_MS while they last: all
 * requests wait for that. Under the mutex of the credentials. */
static int call_credentials(shd_s3 *s, sherd_error *err)
{
	shd_s3_config *c = &s->config;
	if (!c->by_role || (c->credentials.id && (!c->credentials.until || c->credentials.until > time(NULL) + 300)))
		return SHERD_OK;
	int64_t now = shd_http_clock_ms();
	if (c->credentials.id && c->credentials.until > time(NULL) && now - s->asked_ms < ROLE_MS)
		return SHERD_OK;
	s->asked_ms = now;
	shd_s3_credentials fresh = {0};
	int rc = shd_s3_role_ask(&fresh, s->http, err);
	if (rc < 0) /* those that are there may do for a while */
		return c->credentials.id && c->credentials.until > time(NULL) ? SHERD_OK : rc;
	shd_s3_credentials_free(&c->credentials);
	c->credentials = fresh;
	return SHERD_OK;
}

/* Under the mutex of the credentials. */
static void call_authorize(const shd_s3 *s, shd_s3_call *call, const char *path)
{
	const shd_s3_config *c = &s->config;
	const shd_s3_credentials *own = &c->credentials;
	shd_s3_text *lines = &call->http.headers;
	sherd_pair all[SHD_S3_MOST_HEADERS + 5];
	char date[SHD_S3_DATE_TEXT];
	size_t count = call->count;
	memcpy(all, call->headers, count * sizeof(*all));
	shd_s3_date(time(NULL), date);
	all[count++] = (sherd_pair){"x-amz-content-sha256", call->hash};
	all[count++] = (sherd_pair){"x-amz-date", date};
	if (*call->method == 'P') /* PUT and POST have a body */
		all[count++] = (sherd_pair){"content-type", "application/octet-stream"};
	if (own->token)
		all[count++] = (sherd_pair){"x-amz-security-token", own->token};
	for (size_t i = 0; i < count; i++)
		shd_s3_text_say(lines, "%s: %s\n", all[i].key, all[i].value);
	if (!own->id)
		return;
	all[count++] = (sherd_pair){"host", c->host};
	shd_s3_text_say(lines, "Authorization: ");
	shd_s3_sign(lines,
	            &(shd_s3_signing){.method = call->method,
	                              .path = path,
	                              .query = shd_s3_text_of(&call->query),
	                              .hash = call->hash,
	                              .date = date,
	                              .region = c->region,
	                              .service = "s3",
	                              .headers = all,
	                              .count = count},
	            own->id, own->secret);
	shd_s3_text_add(lines, "\n", 1);
}

/* How many bytes the character at the front has, 0 if it is none in UTF-8. Surrogates and overlong forms pass here, and
 * are the server's to refuse. */
static size_t character(const unsigned char *text)
{
	size_t more = *text < 0x80 ? 0 : *text >= 0xc2 && *text < 0xe0 ? 1 : *text >= 0xe0 && *text < 0xf0 ? 2 : 3;
	if (*text >= 0xf5 || (*text >= 0x80 && *text < 0xc2))
		return 0;
	for (size_t i = 1; i <= more; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return more + 1;
}

static int check_call_key(const shd_s3 *s, const char *key, sherd_error *err)
{
	if (strlen(s->root) + strlen(key) > SHERD_MAX_KEY)
		return sherd_fail(err, SHERD_EINVAL, "bad-key",
		                  "with its folders a key in a bucket has at most %d bytes", SHERD_MAX_KEY);
	for (size_t n; *key; key += n)
		if ((n = character((const unsigned char *)key)) == 0)
			return sherd_fail(err, SHERD_EINVAL, "bad-key", "a key in a bucket is UTF-8");
	return SHERD_OK;
}

int shd_s3_check_process(const shd_s3 *s, sherd_error *err)
{
	if (!shd_http_is_forked(s->http))
		return SHERD_OK;
	return sherd_fail(err, SHERD_EIO, "forked",
	                  "this process was forked from the one that opened the store: it has to open it itself");
}

/* What another program's server is asked for: the URL as it was named, and the headers that are there. */
static int start_plain(shd_s3 *s, shd_s3_call *call, sherd_error *err)
{
	const shd_s3_config *c = &s->config;
	shd_http_request *r = &call->http;
	bool named = strcmp(call->key, c->named) == 0;
	r->method = call->method;
	call->plain = true;
	shd_s3_text_clear(&r->url);
	shd_s3_text_clear(&r->headers);
	if (call->elsewhere.len) {
		shd_s3_text_say(&r->url, "%s", call->elsewhere.data);
	} else {
		shd_s3_text_say(&r->url, "%s%s/%s", c->origin, c->base, s->root);
		if (named)
			shd_s3_text_say(&r->url, "%s%s", call->key, c->query ? c->query : "");
		else
			shd_s3_text_encode(&r->url, call->key, true);
	}
	shd_s3_text_say(&r->headers, "User-Agent: sherd\n");
	for (size_t i = 0; i < call->count; i++)
		shd_s3_text_say(&r->headers, "%s: %s\n", call->headers[i].key, call->headers[i].value);
	if (r->url.failed || r->headers.failed || call->elsewhere.failed)
		return shd_s3_no_memory(err);
	shd_http_start(s->http, r);
	call->under_way = true;
	return SHERD_OK;
}

int shd_s3_call_start(shd_s3 *s, shd_s3_call *call, sherd_error *err)
{
	TRY(shd_s3_check_process(s, err));
	if (s->config.plain)
		return start_plain(s, call, err);
	if (call->key)
		TRY(check_call_key(s, call->key, err));
	shd_http_request *r = &call->http;
	shd_s3_text path = {0};
	r->method = call->method;
	shd_s3_text_say(&path, "%s/", s->config.base);
	if (call->key) {
		shd_s3_text_encode(&path, s->root, true);
		shd_s3_text_encode(&path, call->key, true);
	}
	shd_s3_text_clear(&r->url);
	shd_s3_text_say(&r->url, "%s%s%s%s", s->config.origin, shd_s3_text_of(&path), call->query.len ? "?" : "",
	                shd_s3_text_of(&call->query));
	if (!call->hash[0])
		shd_s3_hash(r->body, r->body_len, call->hash);
	shd_s3_text_clear(&r->headers);
	shd_s3_text_say(&r->headers, "Host: %s\nExpect:\nAccept:\n", s->config.host);
	(void)pthread_mutex_lock(&s->identifying);
	int rc = call_credentials(s, err);
	if (rc == SHERD_OK)
		call_authorize(s, call, shd_s3_text_of(&path));
	(void)pthread_mutex_unlock(&s->identifying);
	bool failed = path.failed || r->url.failed || r->headers.failed || call->query.failed;
	shd_s3_text_free(&path);
	TRY(rc);
	if (failed)
		return shd_s3_no_memory(err);
	shd_http_start(s->http, r);
	call->under_way = true;
	return SHERD_OK;
}

/* Every answer tells the time there, at least: the header leaves the fraction out. */
static void learn_time(shd_s3 *s, const shd_s3_call *call)
{
	int64_t date = call->http.status ? shd_http_time(&call->http, "date") : 0;
	if (!date)
		return;
	int64_t ahead = date * 1000 - call->http.came_ms;
	(void)pthread_mutex_lock(&s->mutex);
	/* The clock there was put back when an answer is far behind. */
	if (!s->clock_known || ahead > s->clock || ahead < s->clock - 10000)
		s->clock = ahead;
	s->clock_known = true;
	(void)pthread_mutex_unlock(&s->mutex);
}

bool shd_s3_call_may_help(const shd_s3_call *call)
{
	char code[64];
	switch (call->http.status) {
	case 0:
	case 408:
	case 429:
	case 500:
	case 502:
	case 503:
	case 504: return true;
	case 400:
		shd_s3_call_element(call, "Code", code, sizeof(code));
		return strcmp(code, "RequestTimeout") == 0 || strcmp(code, "SlowDown") == 0;
	default: return false;
	}
}

static bool has_answered(shd_s3 *s)
{
	(void)pthread_mutex_lock(&s->mutex);
	bool known = s->clock_known;
	(void)pthread_mutex_unlock(&s->mutex);
	return known;
}

bool shd_s3_call_pause(shd_s3 *s, const shd_s3_call *call, int tries, int64_t since_ms)
{
	/* Who has never answered, and cannot be reached, is most likely another than was meant. */
	bool stranger = !call->http.status && !call->http.sent && !has_answered(s);
	if (tries >= s->config.retries || (stranger && tries >= 2) || call->http.hopeless)
		return false;
	int64_t most = s->config.delay_ms;
	for (int i = 0; i < tries && most < LONGEST_PAUSE_MS; i++)
		most *= 2;
	most = most < LONGEST_PAUSE_MS ? most : LONGEST_PAUSE_MS;
	uint32_t random = 0;
	(void)getrandom(&random, sizeof(random), 0);
	int64_t pause = most / 2 + (most > 1 ? random % (most / 2 + 1) : 0);
	char after[16];
	if (shd_http_header(&call->http, "retry-after", after, sizeof(after))) {
		long asked = strtol(after, NULL, 10) * 1000;
		if (asked > pause)
			pause = asked < LONGEST_PAUSE_MS ? asked : LONGEST_PAUSE_MS;
	}
	if (shd_http_clock_ms() - since_ms + pause > s->config.timeout_ms + shd_http_bytes_ms(&call->http))
		return false;
	struct timespec t = {.tv_sec = pause / 1000, .tv_nsec = pause % 1000 * 1000000};
	(void)nanosleep(&t, NULL);
	return true;
}

/* Does the server say that the credentials of a role have ended? Then they are forgotten. HEAD is not told why. */
static bool call_expired(shd_s3 *s, const shd_s3_call *call)
{
	char code[64];
	long status = call->http.status;
	if (!s->config.by_role || (status != 400 && status != 403))
		return false;
	shd_s3_call_element(call, "Code", code, sizeof(code));
	if (strcmp(code, "ExpiredToken") != 0 && (status != 400 || strcmp(call->method, "HEAD") != 0))
		return false;
	(void)pthread_mutex_lock(&s->identifying);
	s->config.credentials.until = 1;
	(void)pthread_mutex_unlock(&s->identifying);
	return true;
}

/* Does the answer of a plain server send elsewhere? Then the next one is asked there: 1. Another scheme is not
 * followed: what was asked for encrypted comes so, and nobody is led from the network to this machine's files. */
static int call_sent_on(const shd_s3 *s, shd_s3_call *call, sherd_error *err)
{
	char location[8192];
	long status = call->http.status;
	const char *url = shd_s3_text_of(&call->http.url);
	if (!s->config.plain)
		return 0;
	if (call->elsewhere.len && !call->went_back &&
	    (status == 401 || status == 403 || status == 404 || status == 410)) {
		call->went_back = true; /* such places are good for a while */
		shd_s3_text_clear(&call->elsewhere);
		return 1;
	}
	if (status < 301 || status > 308 || status == 304 ||
	    !shd_http_header(&call->http, "location", location, sizeof(location)))
		return 0;
	shd_s3_text next = {0};
	bool good = shd_http_resolve(url, location, &next);
	if (good && strcspn(url, ":") == strcspn(next.data, ":") && ++call->sent_on <= MOST_SENT_ON) {
		shd_s3_text_free(&call->elsewhere);
		call->elsewhere = next;
		return 1;
	}
	int rc;
	if (call->sent_on > MOST_SENT_ON)
		rc = sherd_fail(err, SHERD_EIO, "redirect", "the server sends from place to place");
	else if (good)
		rc = sherd_fail(err, SHERD_EIO, "redirect",
		                "the server sends to another scheme, which is not followed: %.*s",
		                (int)strcspn(next.data, "?#"), next.data);
	else
		rc = sherd_fail(err, SHERD_EIO, "redirect", "the server sends to what is no URL of http or https");
	shd_s3_text_free(&next);
	return rc;
}

int shd_s3_call_finish(shd_s3 *s, shd_s3_call *call, sherd_error *err)
{
	int64_t since = shd_http_clock_ms();
	bool renewed = false;
	for (int tries = 0;; tries++) {
		shd_http_wait(s->http, &call->http);
		call->under_way = false;
		/* Behind a gateway that gives up the server may act yet. */
		call->lost = call->lost || call->http.lost || call->http.status == 502 || call->http.status == 504;
		learn_time(s, call);
		if (!renewed && call_expired(s, call)) {
			renewed = true;
			TRY(shd_s3_call_start(s, call, err));
			continue;
		}
		int sent_on = call_sent_on(s, call, err);
		TRY(sent_on);
		if (sent_on) {
			TRY(shd_s3_call_start(s, call, err));
			tries--;
			continue;
		}
		if (!shd_s3_call_may_help(call))
			return SHERD_OK;
		if (call->once || !shd_s3_call_pause(s, call, tries, since))
			return call->http.status ? SHERD_OK : shd_s3_call_refuse(s, call, err);
		TRY(shd_s3_call_start(s, call, err));
	}
}

int shd_s3_call_make(shd_s3 *s, shd_s3_call *call, sherd_error *err)
{
	TRY(shd_s3_call_start(s, call, err));
	return shd_s3_call_finish(s, call, err);
}

void shd_s3_call_end(shd_s3 *s, shd_s3_call *call)
{
	if (call->under_way)
		shd_http_cancel(s->http, &call->http);
	shd_http_clean(&call->http);
	shd_s3_text_free(&call->query);
	shd_s3_text_free(&call->elsewhere);
	*call = (shd_s3_call){0};
}

void shd_s3_call_element(const shd_s3_call *call, const char *name, char *out, size_t room)
{
	char opening[64];
	int len = snprintf(opening, sizeof(opening), "<%s>", name);
	const char *at = strstr(shd_s3_text_of(&call->http.answer), opening);
	const char *end = at ? strchr(at + len, '<') : NULL;
	size_t used = 0;
	for (const char *p = at ? at + len : NULL; end && p < end && used + 1 < room; p++)
		out[used++] = (unsigned char)*p < ' ' ? ' ' : *p;
	out[used] = 0;
}

static int refuse_place(const shd_s3 *s, const shd_s3_call *call, sherd_error *err)
{
	char region[64];
	if (shd_http_header(&call->http, "x-amz-bucket-region", region, sizeof(region)) &&
	    strcmp(region, s->config.region) != 0)
		return sherd_fail(err, SHERD_EINVAL, "bad-setting", "the bucket %.63s is in region %s, and not in %s",
		                  s->config.bucket, region, s->config.region);
	return sherd_fail(err, SHERD_EIO, "io", "%.80s sends elsewhere, which is not followed (status %ld)",
	                  s->config.origin, call->http.status);
}

/* Names who was asked last, which may be another server than the user's; without what may be a secret. */
static int refuse_silence(const shd_s3 *s, const shd_s3_call *call, sherd_error *err)
{
	const char *asked = call->elsewhere.len ? shd_s3_text_of(&call->elsewhere) : s->config.origin;
	const char *start = strstr(asked, "://"), *host = start ? start + 3 : asked;
	size_t scheme = (size_t)(host - asked), len = strcspn(host, "/?#");
	const char *at = memrchr(host, '@', len);
	size_t hidden = at ? (size_t)(at + 1 - host) : 0;
	bool sent_on =
		call->elsewhere.len && (len != strlen(s->config.host) || strncmp(host, s->config.host, len) != 0);
	return sherd_fail(err, SHERD_EIO, call->http.timed_out ? "timed-out" : "io", "no answer from %.*s%.*s%s: %s",
	                  (int)scheme, asked, (int)(len - hidden < 80 ? len - hidden : 80), host + hidden,
	                  sent_on ? ", where the server sends to" : "", call->http.trouble);
}

int shd_s3_call_refuse(const shd_s3 *s, const shd_s3_call *call, sherd_error *err)
{
	long status = call->http.status;
	char code[64], message[128];
	if (!status && call->http.too_long)
		return sherd_fail(err, SHERD_EUNSUPPORTED, "no-ranges",
		                  "the server sends all of it where a part was asked for, which is more than 64 MiB");
	if (!status)
		return refuse_silence(s, call, err);
	shd_s3_call_element(call, "Code", code, sizeof(code));
	shd_s3_call_element(call, "Message", message, sizeof(message));
	const char *gap = *code && *message ? ": " : "";
	if (strcmp(code, "NoSuchBucket") == 0)
		return sherd_fail(err, SHERD_ENOTFOUND, "not-found", "there is no bucket %.63s", s->config.bucket);
	if ((status >= 300 && status < 400) || strcmp(code, "AuthorizationHeaderMalformed") == 0)
		return refuse_place(s, call, err);
	if (status == 404)
		return sherd_fail(err, SHERD_ENOTFOUND, "not-found", "no such object");
	if (status == 401 || status == 403)
		return sherd_fail(err, SHERD_EIO, "permission", "the server refuses (status %ld) %s%s%s", status, code,
		                  gap, message);
	if (status == 507 || strcmp(code, "QuotaExceeded") == 0)
		return sherd_fail(err, SHERD_EIO, "no-space", "the server has no room (status %ld) %s%s%s", status,
		                  code, gap, message);
	if (!*code && !*message)
		return sherd_fail(err, SHERD_EIO, "io", "the server failed (status %ld)", status);
	return sherd_fail(err, SHERD_EIO, "io", "the server failed (status %ld) %s%s%s", status, code, gap, message);
}

void shd_s3_call_object(const shd_s3_call *call, shd_s3_object *out)
{
	char text[SHD_S3_MOST_ETAG], gone[8];
	*out = (shd_s3_object){.there = true, .modified = shd_http_time(&call->http, "last-modified")};
	(void)shd_http_header(&call->http, "etag", text, sizeof(text));
	size_t len = strlen(text);
	bool quoted = len >= 2 && text[0] == '"' && text[len - 1] == '"';
	(void)snprintf(out->etag, sizeof(out->etag), "%.*s", (int)(quoted ? len - 2 : len), text + (quoted ? 1 : 0));
	/* A weak one may stay the same while bytes change, and some servers have none: then the time counts, which is
	 * weak as well (sherd/sys/backend.h). */
	if (call->plain && !quoted && out->modified)
		(void)snprintf(out->etag, sizeof(out->etag), "W/%lld%.200s", (long long)out->modified, text);
	(void)shd_http_header(&call->http, "x-amz-meta-sherd-write", out->write_id, sizeof(out->write_id));
	if (shd_http_header(&call->http, "x-amz-meta-sherd-removed", gone, sizeof(gone)) && strcmp(gone, "1") == 0) {
		out->there = false;
		out->marked = true;
	}
	if (shd_http_header(&call->http, "content-range", text, sizeof(text)) && strchr(text, '/'))
		out->size = strtoull(strchr(text, '/') + 1, NULL, 10);
	else if (shd_http_header(&call->http, "content-length", text, sizeof(text)))
		out->size = strtoull(text, NULL, 10);
}

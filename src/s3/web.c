/* s3/web.c - stores of http:// and https://: single objects of any server, read by ranges.
 *
 * The host is the user's word alone: nothing that is read names one. What is asked for beside the object that was
 * named, such as the shards of an index, lies in the same folder of the same host. */
#include "read.h"
#include "sign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse_writing(sherd_error *err)
{
	return sherd_fail(err, SHERD_EUNSUPPORTED, "read-only", "what http:// and https:// name can only be read");
}

static int web_write(sherd_writer **out, sherd_store *store, const char *key, const sherd_write_options *options,
                     sherd_error *err)
{
	(void)out, (void)store, (void)key, (void)options;
	return refuse_writing(err);
}

static int web_remove(sherd_store *store, const char *key, const char *if_identity, sherd_error *err)
{
	(void)store, (void)key, (void)if_identity;
	return refuse_writing(err);
}

static int web_list(sherd_store *store, const char *prefix, const char *after, sherd_list_fn *each, void *arg,
                    sherd_error *err)
{
	(void)store, (void)after, (void)each, (void)arg;
	if (*prefix) /* who looks whether more than one object has a name finds that none has */
		return SHERD_OK;
	return sherd_fail(err, SHERD_EUNSUPPORTED, "no-list",
	                  "a server of http:// or https:// cannot be asked what there is: name the file itself");
}

static const struct sherd_store_ops web_ops = {
	.scheme = "http",
	.caps = SHERD_CAP_REMOTE,
	.read = shd_s3_read,
	.write = web_write,
	.list = web_list,
	.stat = shd_s3_stat_read,
	.remove = web_remove,
	.close = shd_s3_close,
	.queue = shd_s3_queue,
	.now = shd_s3_now,
	.place = shd_s3_place_name,
};

/* Takes a URL apart: "scheme://host[:port]", "/folder" as base, and the object with what stands behind it. */
static int web_parse(shd_s3 *s, const char *uri, sherd_error *err)
{
	shd_s3_config *c = &s->config;
	char host[300];
	bool encrypted;
	const char *after = strstr(uri, "://") + 3;
	size_t authority = strcspn(after, "/?#");
	const char *path = after + authority;
	size_t len = strcspn(path, "?#");
	const char *query = path + len;
	size_t folder = len;
	while (folder > 0 && path[folder - 1] != '/')
		folder--;
	if (memchr(after, '@', authority))
		return sherd_fail(err, SHERD_EINVAL, "bad-path", "a URL with a name or a password in it is not taken");
	if (!authority || !shd_http_host(uri, &encrypted, host, sizeof(host)) || strpbrk(uri, " \t\r\n"))
		return sherd_fail(err, SHERD_EINVAL, "bad-path", "this is no URL of a file");
	if (folder == len)
		return sherd_fail(err, SHERD_EINVAL, "bad-path", "this names no file, but a server or a folder there");
	c->origin = strndup(uri, (size_t)(after - uri) + authority);
	c->base = strdup("");
	c->host = strndup(after, authority);
	c->named = strndup(path + folder, len - folder);
	c->query = *query == '?' ? strndup(query, strcspn(query, "#")) : NULL;
	s->root = folder ? strndup(path + 1, folder - 1) : strdup("");
	bool whole = c->origin && c->base && c->host && c->named && s->root && (c->query || *query != '?');
	return whole ? SHERD_OK : shd_s3_no_memory(err);
}

static int web_make(shd_s3 *s, const char *uri, const sherd_store_options *options, sherd_error *err)
{
	TRY(shd_s3_config_plain(&s->config, options, err));
	TRY(web_parse(s, uri, err));
	/* What stands behind the key may be a secret: no message has it. */
	if (asprintf(&s->base.label, "%s/%s", s->config.origin, s->root) < 0) {
		s->base.label = NULL;
		return shd_s3_no_memory(err);
	}
	/* But it tells one object from another, and so does its hash. */
	char hash[SHD_S3_HASH_HEX] = "";
	if (s->config.query)
		shd_s3_hash(s->config.query, strlen(s->config.query), hash);
	if (asprintf(&s->place, "%s%s%s", s->base.label, *hash ? "?" : "", hash) < 0) {
		s->place = NULL;
		return shd_s3_no_memory(err);
	}
	const shd_http_options http = {.ca_bundle = s->config.ca_bundle, .request_ms = s->config.request_ms};
	return shd_http_open(&s->http, &http, err);
}

static int web_open(sherd_store **out, char **key, const char *uri, const sherd_store_options *options,
                    sherd_error *err)
{
	shd_s3 *s = calloc(1, sizeof(*s));
	if (!s)
		return shd_s3_no_memory(err);
	s->base.ops = &web_ops;
	shd_s3_init(s);
	int rc = web_make(s, uri, options, err);
	if (rc == SHERD_OK && !(*key = strdup(s->config.named)))
		rc = shd_s3_no_memory(err);
	if (rc == SHERD_OK) {
		*out = &s->base;
		return SHERD_OK;
	}
	/* Without what may be a secret: a name and a password, and what stands behind the path. */
	const char *host = strstr(uri, "://") + 3, *at = memchr(host, '@', strcspn(host, "/?#"));
	host = at ? at + 1 : host;
	if (err)
		(void)snprintf(err->object, sizeof(err->object), "%.*s://%.*s", (int)strcspn(uri, ":"), uri,
		               (int)strcspn(host, "?#"), host);
	free(s->base.label);
	shd_s3_close(&s->base);
	return rc;
}

static const char *const web_settings[] = {"ca-bundle", "timeout", "request-timeout", "retries", "retry-delay", NULL};

const sherd_scheme shd_scheme_http = {.name = "http", .settings = web_settings, .open = web_open};
const sherd_scheme shd_scheme_https = {.name = "https", .settings = web_settings, .open = web_open};

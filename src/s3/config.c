#include "config.h"
#include "profile.h"
#include "s3.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a setting is found, in this order: by itself, in the environment, in the profile. */
typedef struct source {
	const char *setting, *variables[2], *line;
} source;

enum {
	ENDPOINT,
	REGION,
	PROFILE,
	PATH_STYLE,
	CA_BUNDLE,
	UNSIGNED,
	ALONE,
	TIMEOUT,
	REQUEST_TIMEOUT,
	RETRIES,
	DELAY,
	PART_SIZE
};

static const source sources[] = {
	[ENDPOINT] = {"endpoint", {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}, "endpoint_url"},
	[REGION] = {"region", {"AWS_REGION", "AWS_DEFAULT_REGION"}, "region"},
	[PROFILE] = {"profile", {"AWS_PROFILE", "AWS_DEFAULT_PROFILE"}, NULL},
	[PATH_STYLE] = {"path-style", {"SHERD_S3_PATH_STYLE", NULL}, NULL},
	[CA_BUNDLE] = {"ca-bundle", {"AWS_CA_BUNDLE", NULL}, "ca_bundle"},
	[UNSIGNED] = {"unsigned", {"SHERD_S3_UNSIGNED", NULL}, NULL},
	[ALONE] = {"alone", {"SHERD_S3_ALONE", NULL}, NULL},
	[TIMEOUT] = {"timeout", {"SHERD_S3_TIMEOUT", NULL}, NULL},
	[REQUEST_TIMEOUT] = {"request-timeout", {"SHERD_S3_REQUEST_TIMEOUT", NULL}, NULL},
	[RETRIES] = {"retries", {"SHERD_S3_RETRIES", NULL}, NULL},
	[DELAY] = {"retry-delay", {"SHERD_S3_RETRY_DELAY", NULL}, NULL},
	[PART_SIZE] = {"part-size", {"SHERD_S3_PART_SIZE", NULL}, NULL},
};

const char *const shd_s3_settings[] = {"endpoint",    "region",    "profile", "path-style",      "ca-bundle",
                                       "unsigned",    "alone",     "timeout", "request-timeout", "retries",
                                       "retry-delay", "part-size", NULL};

typedef struct finding {
	const sherd_store_options *options;
	shd_s3_profile *profile; /* NULL while it is looked for */
} finding;

static const char *variable(const char *name)
{
	const char *value = name ? getenv(name) : NULL;
	return value && *value ? value : NULL;
}

static const char *setting(const finding *f, int which)
{
	const source *s = &sources[which];
	const char *value = sherd_store_setting(f->options, s->setting);
	for (size_t i = 0; !value && i < 2; i++)
		value = variable(s->variables[i]);
	if (!value && s->line && f->profile)
		value = shd_s3_profile_get(f->profile, s->line);
	return value;
}

static int bad_setting(int which, const char *value, sherd_error *err)
{
	return sherd_fail(err, SHERD_EINVAL, "bad-setting", "%s cannot be \"%.100s\"", sources[which].setting, value);
}

static int read_switch(bool *out, const finding *f, int which, bool usual, sherd_error *err)
{
	const char *value = setting(f, which);
	bool on = value && (strcmp(value, "true") == 0 || strcmp(value, "1") == 0);
	if (value && !on && strcmp(value, "false") != 0 && strcmp(value, "0") != 0)
		return bad_setting(which, value, err);
	*out = value ? on : usual;
	return SHERD_OK;
}

static int read_number(double *out, const finding *f, int which, double usual, double most, sherd_error *err)
{
	const char *value = setting(f, which);
	char *end = NULL;
	double number = value ? strtod(value, &end) : usual;
	if (value && (end == value || *end || !(number >= 0 && number <= most)))
		return bad_setting(which, value, err);
	*out = number;
	return SHERD_OK;
}

static int read_times(shd_s3_config *c, const finding *f, sherd_error *err)
{
	double total, request, retries, delay, part;
	TRY(read_number(&total, f, TIMEOUT, 300, 86400, err));
	TRY(read_number(&request, f, REQUEST_TIMEOUT, 60, 86400, err));
	TRY(read_number(&retries, f, RETRIES, 8, 1000, err));
	TRY(read_number(&delay, f, DELAY, 0.1, 60, err));
	TRY(read_number(&part, f, PART_SIZE, 16 << 20, 1 << 30, err));
	if (part < 5 << 20)
		return sherd_fail(err, SHERD_EINVAL, "bad-setting", "part-size is at least 5 MiB, 5242880");
	c->part = (size_t)part;
	c->timeout_ms = (long)(total * 1000);
	c->request_ms = request * 1000 < 1 ? 1 : (long)(request * 1000);
	c->delay_ms = (long)(delay * 1000);
	c->retries = (int)retries;
	return SHERD_OK;
}

static int copy(char **out, const char *text, sherd_error *err)
{
	*out = text ? strdup(text) : NULL;
	return *out || !text ? SHERD_OK : shd_s3_no_memory(err);
}

/* A name that can stand in front of a host without looking like more of it. */
static bool suits_host(const char *bucket)
{
	return strspn(bucket, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(bucket);
}

/* Takes an endpoint apart, "scheme://host[:port][/path]". */
static int place_endpoint(shd_s3_config *c, const char *endpoint, bool in_path, sherd_error *err)
{
	size_t scheme = strncmp(endpoint, "https://", 8) == 0 ? 8 : strncmp(endpoint, "http://", 7) == 0 ? 7 : 0;
	size_t host = strcspn(endpoint + scheme, "/?#@ \t\r\n");
	const char *rest = endpoint + scheme + host;
	size_t len = strlen(rest);
	while (len > 0 && rest[len - 1] == '/')
		len--;
	if (!scheme || !host || memchr(rest, '?', len) || strpbrk(rest, "#@ \t\r\n"))
		return sherd_fail(err, SHERD_EINVAL, "bad-setting",
		                  "endpoint is not http:// or https:// and a host, without a name or password in it");
	shd_s3_text name = {0}, base = {0}, origin = {0};
	shd_s3_text_say(&name, "%s%s%.*s", in_path ? "" : c->bucket, in_path ? "" : ".", (int)host, endpoint + scheme);
	shd_s3_text_say(&base, "%.*s%s%s", (int)len, rest, in_path ? "/" : "", in_path ? c->bucket : "");
	shd_s3_text_say(&origin, "%.*s%s", (int)scheme, endpoint, shd_s3_text_of(&name));
	c->host = name.data;
	c->base = base.data;
	c->origin = origin.data;
	return name.failed || base.failed || origin.failed ? shd_s3_no_memory(err) : SHERD_OK;
}

static int find_server(shd_s3_config *c, const finding *f, sherd_error *err)
{
	const char *endpoint = setting(f, ENDPOINT), *region = setting(f, REGION);
	const char *style = shd_s3_profile_get(f->profile, "s3.addressing_style");
	bool in_path = endpoint || !suits_host(c->bucket);
	char own[160];
	region = region ? region : "us-east-1";
	if (strlen(region) > 64 ||
	    strspn(region, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != strlen(region))
		return bad_setting(REGION, region, err);
	if (style && strcmp(style, "auto") != 0)
		in_path = strcmp(style, "path") == 0;
	TRY(read_switch(&in_path, f, PATH_STYLE, in_path, err));
	TRY(copy(&c->region, region, err));
	TRY(copy(&c->ca_bundle, setting(f, CA_BUNDLE), err));
	c->aws = !endpoint || strstr(endpoint, ".amazonaws.com");
	(void)snprintf(own, sizeof(own), "https://s3.%s.amazonaws.com%s", region,
	               strncmp(region, "cn-", 3) == 0 ? ".cn" : "");
	return place_endpoint(c, endpoint ? endpoint : own, in_path, err);
}

/* The environment first, unless a profile was asked for by its setting. */
static int find_credentials(shd_s3_config *c, const finding *f, sherd_error *err)
{
	bool without;
	TRY(read_switch(&without, f, UNSIGNED, false, err));
	if (without)
		return SHERD_OK;
	const char *id = variable("AWS_ACCESS_KEY_ID"), *secret = variable("AWS_SECRET_ACCESS_KEY");
	const char *token = variable("AWS_SESSION_TOKEN");
	if (!id || !secret || sherd_store_setting(f->options, "profile")) {
		id = shd_s3_profile_get(f->profile, "aws_access_key_id");
		secret = shd_s3_profile_get(f->profile, "aws_secret_access_key");
		token = shd_s3_profile_get(f->profile, "aws_session_token");
	}
	c->by_role = !id || !secret;
	if (c->by_role)
		return SHERD_OK;
	if (strpbrk(id, "\r\n/, ") || (token && strpbrk(token, "\r\n")))
		return sherd_fail(err, SHERD_EINVAL, "bad-setting",
		                  "the access key id or session token cannot be sent");
	TRY(copy(&c->credentials.id, id, err));
	TRY(copy(&c->credentials.secret, secret, err));
	return copy(&c->credentials.token, token, err);
}

static int find_all(shd_s3_config *c, const finding *f, sherd_error *err)
{
	TRY(read_switch(&c->alone, f, ALONE, false, err));
	TRY(read_times(c, f, err));
	TRY(find_server(c, f, err));
	return find_credentials(c, f, err);
}

int shd_s3_config_find(shd_s3_config *out, const char *bucket, const sherd_store_options *options, sherd_error *err)
{
	finding f = {.options = options};
	out->bucket = strdup(bucket);
	if (!out->bucket)
		return shd_s3_no_memory(err);
	TRY(shd_s3_profile_read(&f.profile, setting(&f, PROFILE), err));
	int rc = find_all(out, &f, err);
	shd_s3_profile_free(f.profile);
	return rc;
}

int shd_s3_config_plain(shd_s3_config *out, const sherd_store_options *options, sherd_error *err)
{
	finding f = {.options = options};
	out->plain = true;
	TRY(read_times(out, &f, err));
	TRY(copy(&out->ca_bundle, setting(&f, CA_BUNDLE), err));
	TRY(copy(&out->bucket, "", err));
	return copy(&out->region, "", err);
}

void shd_s3_config_free(shd_s3_config *c)
{
	free(c->query);
	free(c->named);
	free(c->bucket);
	free(c->origin);
	free(c->host);
	free(c->base);
	free(c->region);
	free(c->ca_bundle);
	shd_s3_credentials_free(&c->credentials);
	*c = (shd_s3_config){0};
}

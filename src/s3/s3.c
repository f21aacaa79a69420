#include "s3.h"
#include "read.h"

#include <sherd/s3.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void shd_s3_close(sherd_store *store)
{
	shd_s3 *s = (shd_s3 *)store;
	shd_http_close(s->http);
	shd_s3_config_free(&s->config);
	(void)pthread_mutex_destroy(&s->mutex);
	(void)pthread_mutex_destroy(&s->asking);
	(void)pthread_mutex_destroy(&s->identifying);
	free(s->root);
	free(s->place);
	free(s);
}

/* In whole seconds, as the times of objects are; never ahead of the server. */
int64_t shd_s3_now(sherd_store *store)
{
	shd_s3 *s = (shd_s3 *)store;
	shd_s3_object object;
	struct timespec t = {0};
	(void)pthread_mutex_lock(&s->mutex);
	bool known = s->clock_known;
	(void)pthread_mutex_unlock(&s->mutex);
	if (!known)
		(void)shd_s3_look(&object, s, ".sherd-tmp-clock", NULL); /* any answer tells */
	(void)pthread_mutex_lock(&s->mutex);
	int64_t ahead = s->clock;
	known = s->clock_known;
	(void)pthread_mutex_unlock(&s->mutex);
	(void)clock_gettime(known ? CLOCK_MONOTONIC : CLOCK_REALTIME, &t);
	return shd_s3_ns(((int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000 + (known ? ahead : 0)) / 1000);
}

const char *shd_s3_place_name(const sherd_store *store)
{
	return ((const shd_s3 *)store)->place;
}

static const struct sherd_store_ops s3_ops = {
	.scheme = "s3",
	.caps = SHERD_CAP_DURABLE | SHERD_CAP_REMOTE,
	.read = shd_s3_read,
	.write = shd_s3_write,
	.list = shd_s3_list,
	.stat = shd_s3_stat,
	.remove = shd_s3_remove,
	.close = shd_s3_close,
	.queue = shd_s3_queue,
	.now = shd_s3_now,
	.abandon = shd_s3_abandon,
	.place = shd_s3_place_name,
};

/* What a URI says: the bucket, and the path without '/' at its ends. */
typedef struct s3_name {
	char *bucket, *path;
	bool slash; /* it ended with one */
} s3_name;

static int name_parse(s3_name *out, const char *uri, sherd_error *err)
{
	const char *bucket = uri + strlen("s3://");
	size_t len = strcspn(bucket, "/");
	if (len < 3 || len > 63 ||
	    strspn(bucket, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") < len ||
	    bucket[0] == '.' || bucket[len - 1] == '.')
		return sherd_fail(err, SHERD_EINVAL, "bad-path",
		                  "a bucket has 3 to 63 letters, digits, dots and hyphens");
	const char *path = bucket + len + (bucket[len] == '/');
	size_t rest = strlen(path);
	out->slash = rest == 0;
	while (rest > 0 && path[rest - 1] == '/') {
		rest--;
		out->slash = true;
	}
	out->bucket = strndup(bucket, len);
	out->path = strndup(path, rest);
	return out->bucket && out->path ? SHERD_OK : shd_s3_no_memory(err);
}

void shd_s3_init(shd_s3 *s)
{
	(void)pthread_mutex_init(&s->mutex, NULL);
	(void)pthread_mutex_init(&s->asking, NULL);
	(void)pthread_mutex_init(&s->identifying, NULL);
}

static int s3_make(shd_s3 **out, const char *bucket, const sherd_store_options *options, sherd_error *err)
{
	shd_s3 *s = calloc(1, sizeof(*s));
	if (!s)
		return shd_s3_no_memory(err);
	s->base.ops = &s3_ops;
	shd_s3_init(s);
	int rc = shd_s3_config_find(&s->config, bucket, options, err);
	if (rc == SHERD_OK)
		rc = shd_http_open(
			&s->http,
			&(shd_http_options){.ca_bundle = s->config.ca_bundle, .request_ms = s->config.request_ms}, err);
	if (rc < 0)
		shd_s3_close(&s->base);
	else
		*out = s;
	return rc;
}

static bool note_any(void *arg, const char *key, const sherd_stat *stat)
{
	(void)key, (void)stat;
	*(bool *)arg = true;
	return false;
}

/* Does anything lie below the path? Who may not list is told that nothing does. */
static int s3_is_folder(bool *out, shd_s3 *s, const char *path, sherd_error *err)
{
	sherd_error failure = {0};
	if (asprintf(&s->root, "%s/", path) < 0) {
		s->root = NULL;
		return shd_s3_no_memory(err);
	}
	int rc = shd_s3_list(&s->base, "", "", note_any, out, &failure);
	if (rc < 0 && strcmp(failure.reason, "permission") != 0) {
		if (err)
			*err = failure;
		return rc;
	}
	return SHERD_OK;
}

/* Sets the root, and finds the key in it. */
static int s3_place(shd_s3 *s, char **key, const s3_name *name, bool beside, sherd_error *err)
{
	bool folder = name->slash;
	if (beside && !*name->path)
		return sherd_fail(err, SHERD_ENOTFOUND, "is-folder", "this is a whole bucket");
	if (!beside && !folder)
		TRY(s3_is_folder(&folder, s, name->path, err));
	free(s->root);
	const char *last = strrchr(name->path, '/');
	size_t root = !beside && folder ? strlen(name->path) : last ? (size_t)(last - name->path) + 1 : 0;
	bool slash = root && name->path[root - 1] != '/';
	if (asprintf(&s->root, "%.*s%s", (int)root, name->path, slash ? "/" : "") < 0)
		s->root = NULL;
	if (s->root && asprintf(&s->place, "%s%s/%s", s->config.origin, s->config.base, s->root) < 0)
		s->place = NULL;
	*key = strdup(name->path + root);
	return s->root && s->place && *key ? SHERD_OK : shd_s3_no_memory(err);
}

static int s3_open(sherd_store **out, char **key, const char *uri, const sherd_store_options *options, sherd_error *err)
{
	s3_name name = {0};
	shd_s3 *s = NULL;
	char *found = NULL;
	int rc = name_parse(&name, uri, err);
	if (rc == SHERD_OK)
		rc = s3_make(&s, name.bucket, options, err);
	if (rc == SHERD_OK)
		rc = s3_place(s, &found, &name, options->beside, err);
	free(name.bucket);
	free(name.path);
	if (rc < 0) {
		free(found);
		if (s)
			shd_s3_close(&s->base);
		return rc;
	}
	*out = &s->base;
	*key = found;
	return SHERD_OK;
}

static const sherd_scheme s3_scheme = {.name = "s3", .settings = shd_s3_settings, .open = s3_open};
static const sherd_scheme *const s3_schemes[] = {&s3_scheme, &shd_scheme_http, &shd_scheme_https, NULL};

const sherd_component *sherd_s3_component(void)
{
	static const sherd_component component = {.name = "s3", .with = shd_http_library, .schemes = s3_schemes};
	return &component;
}

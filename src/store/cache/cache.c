#include "store/cache/cache.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const uint64_t usual_most = (uint64_t)16 << 30;

static sherd_store *inner_of(sherd_store *store)
{
	return ((shd_cache *)store)->inner;
}

/* ---- what is not read goes straight to the inner store */

static int cache_write(sherd_writer **out, sherd_store *store, const char *key, const sherd_write_options *options,
                       sherd_error *err)
{
	sherd_store *inner = inner_of(store);
	return inner->ops->write(out, inner, key, options, err);
}

static int cache_list(sherd_store *store, const char *prefix, const char *after, sherd_list_fn *each, void *arg,
                      sherd_error *err)
{
	sherd_store *inner = inner_of(store);
	return inner->ops->list(inner, prefix, after, each, arg, err);
}

static int cache_stat(sherd_stat *out, sherd_store *store, const char *key, sherd_error *err)
{
	sherd_store *inner = inner_of(store);
	return inner->ops->stat(out, inner, key, err);
}

static int cache_remove(sherd_store *store, const char *key, const char *if_identity, sherd_error *err)
{
	sherd_store *inner = inner_of(store);
	return inner->ops->remove(inner, key, if_identity, err);
}

static int cache_mkdir(sherd_store *store, const char *key, sherd_error *err)
{
	sherd_store *inner = inner_of(store);
	return inner->ops->mkdir(inner, key, err);
}

static int cache_rmdir(sherd_store *store, const char *key, sherd_error *err)
{
	sherd_store *inner = inner_of(store);
	return inner->ops->rmdir(inner, key, err);
}

static int cache_lock(sherd_lock **out, sherd_store *store, const char *key, sherd_lock_mode mode, sherd_error *err)
{
	sherd_store *inner = inner_of(store);
	return inner->ops->lock(out, inner, key, mode, err);
}

static int cache_create_locked(sherd_lock **out, sherd_store *store, const char *key, const void *data, size_t len,
                               sherd_lock_mode mode, sherd_error *err)
{
	sherd_store *inner = inner_of(store);
	return inner->ops->create_locked(out, inner, key, data, len, mode, err);
}

static int cache_link(sherd_store *store, const char *key, const char *second, sherd_error *err)
{
	sherd_store *inner = inner_of(store);
	return inner->ops->link(inner, key, second, err);
}

static int cache_abandon(uint64_t *count, sherd_store *store, const char *prefix, int64_t age_ns, bool dry_run,
                         sherd_error *err)
{
	sherd_store *inner = inner_of(store);
	return inner->ops->abandon(count, inner, prefix, age_ns, dry_run, err);
}

static int64_t cache_now(sherd_store *store)
{
	return sherd_store_now(inner_of(store));
}

static const char *cache_place(const sherd_store *store)
{
	const sherd_store *inner = ((const shd_cache *)store)->inner;
	return inner->ops->place(inner);
}

static void cache_close(sherd_store *store)
{
	shd_cache *c = (shd_cache *)store;
	sherd_store_close(c->inner);
	sherd_store_close(c->folder);
	(void)pthread_mutex_destroy(&c->mutex);
	free(c->path);
	free(c);
}

/* What the inner one has not, it has not either. There is no queue: what it brings would not be kept. */
static struct sherd_store_ops cache_ops(const struct sherd_store_ops *inner)
{
	return (struct sherd_store_ops){
		.scheme = inner->scheme,
		.caps = (inner->caps & ~SHERD_CAP_HELD) | SHERD_CAP_MAP,
		.read = shd_cache_read,
		.write = cache_write,
		.list = cache_list,
		.stat = cache_stat,
		.remove = cache_remove,
		.close = cache_close,
		.mkdir = inner->mkdir ? cache_mkdir : NULL,
		.rmdir = inner->rmdir ? cache_rmdir : NULL,
		.lock = inner->lock ? cache_lock : NULL,
		.create_locked = inner->create_locked ? cache_create_locked : NULL,
		.link = inner->link ? cache_link : NULL,
		.now = inner->now ? cache_now : NULL,
		.abandon = inner->abandon ? cache_abandon : NULL,
		.place = inner->place ? cache_place : NULL,
	};
}

static bool add_held(void *arg, const char *key, const sherd_stat *stat)
{
	(void)key;
	*(uint64_t *)arg += stat->size;
	return true;
}

/* Nobody else is to read what lies there, nor to put something there. */
static int open_folder(shd_cache *c, const char *folder, sherd_error *err)
{
	const sherd_local_options options = {.create = true};
	uint64_t held = 0;
	(void)mkdir(folder, 0700); /* its parents are made with the usual mode */
	TRY(sherd_store_open_local(&c->folder, folder, &options, err));
	TRY(sherd_store_list(c->folder, "", "", add_held, &held, err));
	atomic_store(&c->held, held);
	return SHERD_OK;
}

int sherd_store_open_cache(sherd_store **out, sherd_store *inner, const char *folder,
                           const sherd_cache_options *options, sherd_error *err)
{
	shd_cache *c = calloc(1, sizeof(*c));
	char *path = strdup(folder), *label = strdup(sherd_store_label(inner));
	if (!c || !path || !label) {
		free(c);
		free(path);
		free(label);
		return shd_fail_nomem(err);
	}
	(void)pthread_mutex_init(&c->mutex, NULL);
	c->path = path;
	c->most = options && options->bytes ? options->bytes : usual_most;
	c->ops = cache_ops(inner->ops);
	c->base.ops = &c->ops;
	c->base.label = label;
	int rc = open_folder(c, folder, err);
	if (rc < 0) {
		sherd_store_close(&c->base);
		if (err) { /* about a folder, and in no store that the caller knows */
			err->store = NULL;
			(void)snprintf(err->object, sizeof(err->object), "%s", folder);
		}
		return rc;
	}
	if (c->held > c->most)
		shd_cache_grown(c, 0);
	c->inner = inner;
	inner->around = &c->base; /* errors name the store that the caller knows */
	*out = &c->base;
	return SHERD_OK;
}

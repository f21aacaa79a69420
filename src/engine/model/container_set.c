#include "engine/model/container_set.h"

#include <stdlib.h>

SHERD_AUTO_DEFINE(container_file, sherd_container_file_close)

typedef struct listing {
	sherd_arena *arena;
	sherd_buf files; /* of container_listed */
	size_t base;
	bool failed;
} listing;

static bool see(const char *key, const sherd_stat *stat, void *arg)
{
	(void)stat;
	listing *l = arg;
	container_listed file = {0};
	if (!sherd_container_name_parse(key, &file.name) || file.name.base != l->base)
		return true;
	file.key = sherd_arena_str(l->arena, sherd_str_of(key));
	l->failed = !file.key;
	sherd_buf_append(&l->files, &file, sizeof(file));
	return !l->failed;
}

int sherd_container_list(sherd_store *store, const char *base, sherd_arena *arena, container_listing *out,
                         sherd_error *err)
{
	SHERD_AUTO_BUF prefix = {0};
	listing l = {.arena = arena, .base = strlen(base)};
	sherd_buf_str(&prefix, base);
	sherd_buf_append(&prefix, SHERD_CONTAINER_SHARD, sizeof(SHERD_CONTAINER_SHARD));
	TRY(sherd_buf_check(&prefix, err));
	int rc = sherd_store_list(store, (const char *)prefix.data, "", see, &l, err);
	if (rc == SHERD_OK && l.failed)
		rc = sherd_fail_nomem(err);
	if (rc == SHERD_OK)
		rc = sherd_buf_check(&l.files, err);
	container_listing list = {.count = l.files.len / sizeof(container_listed)};
	if (rc == SHERD_OK && list.count) {
		list.files = sherd_arena_copy(arena, l.files.data, l.files.len);
		rc = list.files ? SHERD_OK : sherd_fail_nomem(err);
	}
	sherd_buf_done(&l.files);
	TRY(rc);
	*out = list;
	return SHERD_OK;
}

int sherd_container_is_of_set(const char *base, const sherd_container_shards *set, const container_listed *file,
                              bool *out, sherd_error *err)
{
	SHERD_AUTO_BUF name = {0};
	sherd_container_name_put(&name, base, file->name.shard, set->count, set->generation);
	TRY(sherd_buf_check(&name, err));
	*out = file->name.shard < set->count && strcmp((const char *)name.data, file->key) == 0;
	return SHERD_OK;
}

int sherd_container_base(sherd_store *store, const char *key, sherd_arena *arena, const char **out, sherd_error *err)
{
	container_listing list;
	sherd_str base = sherd_str_of(key), ending = sherd_str_of(SHERD_CONTAINER_SUFFIX);
	if (base.len > ending.len && sherd_str_ends(base, SHERD_CONTAINER_SUFFIX) &&
	    key[base.len - ending.len - 1] != '/') {
		TRY(sherd_container_list(store, key, arena, &list, err));
		base.len -= list.count ? 0 : ending.len;
	}
	*out = sherd_arena_str(arena, base);
	return *out ? SHERD_OK : sherd_fail_nomem(err);
}

/* Does the first set say that it replaces the second? */
static int replaces(sherd_store *store, const char *first, const char *second, sherd_arena *arena, bool *out,
                    sherd_error *err)
{
	SHERD_AUTO(container_file, sherd_container_file_close) a = NULL;
	SHERD_AUTO(container_file, sherd_container_file_close) b = NULL;
	sherd_container_shards info;
	TRY(sherd_container_file_open(&a, store, first, NULL, err));
	TRY(sherd_container_file_open(&b, store, second, NULL, err));
	TRY(sherd_container_file_shards(a, arena, &info, err));
	*out = memcmp(info.replaces, b->head.set, sizeof(info.replaces)) == 0;
	return SHERD_OK;
}

static int choose(sherd_store *store, const char *first, const char *second, sherd_arena *arena, const char **out,
                  sherd_error *err)
{
	bool newer = false, older = false;
	TRY(replaces(store, first, second, arena, &newer, err));
	TRY(replaces(store, second, first, arena, &older, err));
	if (newer == older)
		return sherd_fail(err, SHERD_ECORRUPT, "two-sets", "two sets stand under one base: %.100s and %.100s",
		                  first, second);
	*out = newer ? first : second;
	return SHERD_OK;
}

int sherd_container_find_set(sherd_store *store, const char *base, sherd_arena *arena, const char **key,
                             sherd_error *err)
{
	container_listing list;
	const char *found = NULL;
	TRY(sherd_container_list(store, base, arena, &list, err));
	for (size_t i = 0; list.files && i < list.count; i++) {
		if (list.files[i].name.shard != 0)
			continue;
		if (!found)
			found = list.files[i].key;
		else
			TRY(choose(store, found, list.files[i].key, arena, &found, err));
	}
	if (!list.files)
		return sherd_fail(err, SHERD_ENOTFOUND, "not-found", "no shard of a model is there");
	if (!found)
		return sherd_fail(err, SHERD_EINCOMPLETE, "incomplete",
		                  "shards of a model that was never committed: there is no shard 0, but %.128s",
		                  list.files[0].key);
	*key = found;
	return SHERD_OK;
}

static bool add_print(const char *key, const sherd_stat *stat, void *arg)
{
	sherd_container_name name;
	if (sherd_container_name_parse(key, &name)) {
		sherd_sha256_add(arg, key, strlen(key) + 1);
		sherd_sha256_add(arg, stat->identity, strlen(stat->identity) + 1);
	}
	return true;
}

static int add_prints(sherd_store *store, sherd_str base, sherd_sha256 *sha, sherd_error *err)
{
	SHERD_AUTO_BUF prefix = {0};
	sherd_buf_append(&prefix, base.ptr, base.len);
	sherd_buf_append(&prefix, SHERD_CONTAINER_SHARD, sizeof(SHERD_CONTAINER_SHARD));
	TRY(sherd_buf_check(&prefix, err));
	return sherd_store_list(store, (const char *)prefix.data, "", add_print, sha, err);
}

int sherd_container_fingerprint(sherd_store *store, const char *key, uint8_t out[SHERD_SHA256_BYTES], sherd_error *err)
{
	sherd_arena arena = {0};
	sherd_stat stat;
	sherd_container_name name;
	sherd_sha256 sha;
	const char *base;
	sherd_sha256_init(&sha);
	int there = sherd_store_stat(store, key, &stat, err);
	if (there == SHERD_OK)
		sherd_sha256_add(&sha, stat.identity, strlen(stat.identity) + 1);
	else if (there == SHERD_ENOMEM || there == SHERD_EIO)
		return there;
	if (sherd_container_name_parse(key, &name)) {
		TRY(add_prints(store, (sherd_str){key, name.base}, &sha, err));
	} else {
		int rc = sherd_container_base(store, key, &arena, &base, err);
		if (rc == SHERD_OK)
			rc = add_prints(store, sherd_str_of(base), &sha, err);
		sherd_arena_done(&arena);
		TRY(rc);
	}
	sherd_sha256_finish(&sha, out);
	return SHERD_OK;
}

#include "engine/model/container_set.h"

#include <stdlib.h>

enum { MOST_SETS = 64 }; /* that are told apart */

typedef struct listing {
	shd_arena *arena;
	SHD_VEC(container_listed) files;
	size_t base;
	bool failed;
} listing;

static bool container_set_see(void *arg, const char *key, const sherd_stat *stat)
{
	listing *l = arg;
	container_listed file = {0};
	if (!shd_container_name_parse(key, &file.name) || file.name.base != l->base)
		return true;
	file.key = shd_arena_str(l->arena, shd_str_of(key));
	file.identity = shd_arena_str(l->arena, shd_str_of(stat->identity));
	l->failed = !file.key || !file.identity;
	shd_vec_push(&l->files, file);
	return !l->failed;
}

int shd_container_list(sherd_store *store, const char *base, shd_arena *arena, container_listing *out, sherd_error *err)
{
	SHD_AUTO_BUF prefix = {0};
	listing l = {.arena = arena, .base = strlen(base)};
	shd_buf_str(&prefix, base);
	shd_buf_append(&prefix, SHD_CONTAINER_SHARD, sizeof(SHD_CONTAINER_SHARD));
	TRY(shd_buf_check(&prefix, err));
	int rc = sherd_store_list(store, (const char *)prefix.data, "", container_set_see, &l, err);
	if (rc == SHERD_OK && l.failed)
		rc = shd_fail_nomem(err);
	if (rc == SHERD_OK)
		rc = shd_vec_check(&l.files, err);
	container_listing list = {.count = l.files.count};
	if (rc == SHERD_OK && list.count) {
		list.files = shd_vec_copy(&l.files, arena);
		rc = list.files ? SHERD_OK : shd_fail_nomem(err);
	}
	shd_vec_done(&l.files);
	TRY(rc);
	*out = list;
	return SHERD_OK;
}

int shd_container_is_of_set(const char *base, const shd_container_shards *set, const container_listed *file, bool *out,
                            sherd_error *err)
{
	SHD_AUTO_BUF name = {0};
	shd_container_name_put(&name, base, file->name.shard, set->count, set->generation);
	TRY(shd_buf_check(&name, err));
	*out = file->name.shard < set->count && strcmp((const char *)name.data, file->key) == 0;
	return SHERD_OK;
}

int shd_container_base(sherd_store *store, const char *key, shd_arena *arena, const char **out, sherd_error *err)
{
	container_listing list;
	shd_str base = shd_str_of(key), ending = shd_str_of(SHD_CONTAINER_SUFFIX);
	if (base.len > ending.len && shd_str_ends(base, SHD_CONTAINER_SUFFIX) &&
	    key[base.len - ending.len - 1] != '/') {
		TRY(shd_container_list(store, key, arena, &list, err));
		base.len -= list.count ? 0 : ending.len;
	}
	*out = shd_arena_str(arena, base);
	return *out ? SHERD_OK : shd_fail_nomem(err);
}

/* A shard 0: which set it is of, and which one it stands for. */
typedef struct first_shard {
	const char *key;
	uint8_t set[SHD_CONTAINER_SET_BYTES], replaces[SHD_CONTAINER_SET_BYTES];
} first_shard;

static int container_set_look_at(sherd_store *store, const char *key, shd_arena *arena, first_shard *out,
                                 sherd_error *err)
{
	SHD_AUTO(container_file, shd_container_file_close) f = NULL;
	shd_container_shards info;
	TRY(shd_container_file_open(&f, store, key, NULL, err));
	TRY(shd_container_file_shards(f, arena, &info, err));
	out->key = key;
	memcpy(out->set, f->head.set, sizeof(out->set));
	memcpy(out->replaces, info.replaces, sizeof(out->replaces));
	return SHERD_OK;
}

/* The one that none of the others stands for; there must be one such. */
static int container_set_choose(const first_shard *list, size_t count, const char **out, sherd_error *err)
{
	const char *found = NULL;
	for (size_t i = 0; i < count; i++) {
		bool replaced = false;
		for (size_t k = 0; k < count && !replaced; k++)
			replaced = k != i && memcmp(list[k].replaces, list[i].set, sizeof(list[i].set)) == 0;
		if (!replaced && found)
			return shd_fail(err, SHERD_ECORRUPT, "two-sets",
			                "two sets stand under one base: %.100s and %.100s", found, list[i].key);
		found = replaced ? found : list[i].key;
	}
	if (!found)
		return shd_fail(err, SHERD_ECORRUPT, "two-sets",
		                "two sets stand under one base, each for the other: %.100s and %.100s", list[0].key,
		                list[1].key);
	*out = found;
	return SHERD_OK;
}

static int choose_first(sherd_store *store, const container_listing *list, shd_arena *arena, size_t firsts,
                        const char **out, sherd_error *err)
{
	first_shard *found = shd_arena_alloc(arena, firsts, sizeof(*found));
	size_t n = 0;
	if (!found)
		return shd_fail_nomem(err);
	if (firsts > MOST_SETS)
		return shd_fail(err, SHERD_ECORRUPT, "two-sets", "%zu sets stand under one base", firsts);
	for (size_t i = 0; i < list->count; i++)
		if (list->files[i].name.shard == 0)
			TRY(container_set_look_at(store, list->files[i].key, arena, &found[n++], err));
	return container_set_choose(found, n, out, err);
}

int shd_container_find_set(sherd_store *store, const char *base, shd_arena *arena, const char **key, sherd_error *err)
{
	container_listing list;
	size_t firsts = 0;
	const char *first = NULL;
	TRY(shd_container_list(store, base, arena, &list, err));
	for (size_t i = 0; list.files && i < list.count; i++) {
		firsts += list.files[i].name.shard == 0;
		first = list.files[i].name.shard == 0 ? list.files[i].key : first;
	}
	if (!list.files)
		return shd_fail(err, SHERD_ENOTFOUND, "not-found", "no shard of a model is there");
	if (!firsts)
		return shd_fail(err, SHERD_EINCOMPLETE, "incomplete",
		                "shards of a model that was never committed: there is no shard 0, but %.128s",
		                list.files[0].key);
	if (firsts > 1)
		return choose_first(store, &list, arena, firsts, key, err);
	*key = first;
	return SHERD_OK;
}

static bool add_print(void *arg, const char *key, const sherd_stat *stat)
{
	shd_container_name name;
	if (shd_container_name_parse(key, &name)) {
		shd_sha256_add(arg, key, strlen(key) + 1);
		shd_sha256_add(arg, stat->identity, strlen(stat->identity) + 1);
	}
	return true;
}

static int add_prints(sherd_store *store, shd_str base, shd_sha256 *sha, sherd_error *err)
{
	SHD_AUTO_BUF prefix = {0};
	shd_buf_append(&prefix, base.ptr, base.len);
	shd_buf_append(&prefix, SHD_CONTAINER_SHARD, sizeof(SHD_CONTAINER_SHARD));
	TRY(shd_buf_check(&prefix, err));
	return sherd_store_list(store, (const char *)prefix.data, "", add_print, sha, err);
}

int shd_container_fingerprint(sherd_store *store, const char *key, uint8_t out[SHD_SHA256_BYTES], sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	sherd_stat stat;
	shd_container_name name;
	shd_sha256 sha;
	const char *base;
	shd_sha256_init(&sha);
	int there = sherd_store_stat(&stat, store, key, err);
	if (there == SHERD_OK)
		shd_sha256_add(&sha, stat.identity, strlen(stat.identity) + 1);
	else if (there == SHERD_ENOMEM || there == SHERD_EIO)
		return there;
	if (shd_container_name_parse(key, &name)) {
		TRY(add_prints(store, (shd_str){key, name.base}, &sha, err));
	} else {
		TRY(shd_container_base(store, key, &arena, &base, err));
		TRY(add_prints(store, shd_str_of(base), &sha, err));
	}
	shd_sha256_finish(&sha, out);
	return SHERD_OK;
}

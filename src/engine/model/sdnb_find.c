#include "engine/model/sdnb.h"

#include "base/buf.h"
#include "base/limits.h"

#include <stdlib.h>

/* A file that was found under the base. */
typedef struct found {
	uint32_t index, count;
	const char *key;
} found;

typedef struct search {
	shd_str base;
	uint32_t count; /* only sets of so many; 0: of any number */
	uint64_t most;
	shd_arena *arena;
	SHD_VEC(found) files;
	bool failed, too_many;
} search;

static bool sdnb_find_see(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat;
	search *s = arg;
	shd_sdnb_name name;
	if (!shd_sdnb_name_parse(shd_str_of(key), &name) || name.base.len != s->base.len ||
	    (s->count && name.count != s->count))
		return true;
	found f = {name.index, name.count, shd_arena_str(s->arena, shd_str_of(key))};
	shd_vec_push(&s->files, f);
	s->failed = !f.key || s->files.failed;
	s->too_many = s->files.count > s->most;
	return !s->failed && !s->too_many;
}

static int by_set(const void *a, const void *b)
{
	const found *x = a, *y = b;
	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return strcmp(x->key, y->key);
}

static int list_files(search *s, sherd_store *store, sherd_error *err)
{
	SHD_AUTO_BUF prefix = {0};
	shd_buf_append(&prefix, s->base.ptr, s->base.len);
	shd_buf_append(&prefix, ".shard", sizeof(".shard"));
	TRY(shd_buf_check(&prefix, err));
	TRY(sherd_store_list(store, (const char *)prefix.data, "", sdnb_find_see, s, err));
	if (s->failed)
		return shd_fail_nomem(err);
	if (s->too_many)
		return shd_fail(err, SHERD_ELIMIT, "too-many-shards", "more than %llu shards",
		                (unsigned long long)s->most);
	if (s->files.count)
		qsort(s->files.items, s->files.count, sizeof(found), by_set);
	return SHERD_OK;
}

/* The lowest index that the files of one set lack; their count when they lack none. */
static int first_missing(const found *set, size_t n, uint32_t *missing, sherd_error *err)
{
	uint32_t want = 0;
	for (size_t i = 0; i < n; i++) {
		if (i && set[i].index == set[i - 1].index)
			return shd_fail(err, SHERD_ECORRUPT, "duplicate-name", "%.100s and %.100s are the same shard",
			                set[i - 1].key, set[i].key);
		want += set[i].index == want;
	}
	*missing = want;
	return SHERD_OK;
}

/* Chooses the one whole set. */
static int sdnb_find_choose(const search *s, const found **set, size_t *count, sherd_error *err)
{
	const found *files = s->files.items, *whole = NULL, *lacking = NULL;
	size_t n = s->files.count, whole_count = 0;
	uint32_t missing = 0;
	for (size_t i = 0, next; i < n; i = next) {
		uint32_t want = 0;
		for (next = i + 1; next < n && files[next].count == files[i].count;)
			next++;
		TRY(first_missing(files + i, next - i, &want, err));
		if (want < files[i].count) {
			missing = lacking ? missing : want;
			lacking = lacking ? lacking : files + i;
		} else if (whole) {
			return shd_fail(err, SHERD_ECORRUPT, "two-sets", "%.100s and %.100s are both of a whole set",
			                whole->key, files[i].key);
		} else {
			whole = files + i;
			whole_count = next - i;
		}
	}
	if (!whole && lacking)
		return shd_fail(err, SHERD_EINCOMPLETE, "missing-shard", "%.*s.shard%u-of-%u.sdnb is not there",
		                s->base.len < 150 ? (int)s->base.len : 150, s->base.ptr, missing, lacking->count);
	*set = whole;
	*count = whole_count;
	return SHERD_OK;
}

/* Leaves out as it is when there are no files at all. */
static int find_set(search *s, sherd_store *store, shd_sdnb_files *out, sherd_error *err)
{
	const found *set = NULL;
	size_t count = 0;
	TRY(list_files(s, store, err));
	TRY(sdnb_find_choose(s, &set, &count, err));
	if (!set)
		return SHERD_OK;
	const char **keys = shd_arena_alloc(s->arena, count, sizeof(*keys));
	if (!keys)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		keys[i] = set[i].key;
	*out = (shd_sdnb_files){.count = count, .keys = keys, .sharded = true};
	return SHERD_OK;
}

static shd_str base_of(const char *key)
{
	shd_str base = shd_str_of(key);
	if (shd_str_ends(base, SHD_SDNB_SUFFIX))
		base.len -= strlen(SHD_SDNB_SUFFIX);
	return base;
}

static int find_file(sherd_store *store, const char *key, shd_arena *arena, shd_sdnb_files *out, sherd_error *err)
{
	sherd_stat stat;
	TRY(sherd_store_stat(&stat, store, key, err));
	const char **keys = shd_arena_alloc(arena, 1, sizeof(*keys));
	if (!keys || !(keys[0] = shd_arena_str(arena, shd_str_of(key))))
		return shd_fail_nomem(err);
	*out = (shd_sdnb_files){.count = 1, .keys = keys};
	return SHERD_OK;
}

int shd_sdnb_find(sherd_store *store, const char *key, const sherd_limits *limits, shd_arena *arena,
                  shd_sdnb_files *out, sherd_error *err)
{
	search s = {.arena = arena, .most = shd_limits_or_default(limits).shards};
	shd_sdnb_name name;
	shd_sdnb_files files = {0};
	sherd_error failure;
	bool is_shard = shd_sdnb_name_parse(shd_str_of(key), &name);
	int rc = is_shard ? SHERD_ENOTFOUND : find_file(store, key, arena, &files, &failure);
	if (rc == SHERD_ENOTFOUND) {
		s.base = is_shard ? name.base : base_of(key);
		s.count = is_shard ? name.count : 0;
		rc = find_set(&s, store, &files, &failure);
		shd_vec_done(&s.files);
	}
	if (rc == SHERD_OK && !files.count)
		rc = shd_fail(&failure, SHERD_ENOTFOUND, "not-found", "nothing is there");
	if (rc < 0)
		return shd_pass(err, rc, &failure);
	*out = files;
	return SHERD_OK;
}

int shd_sdnb_has_shards(sherd_store *store, const char *key, bool *out, sherd_error *err)
{
	shd_arena arena = {0};
	sherd_error failure;
	search s = {.arena = &arena, .base = base_of(key), .most = 0};
	int rc = list_files(&s, store, &failure);
	*out = s.too_many;
	shd_vec_done(&s.files);
	shd_arena_done(&arena);
	if (rc == SHERD_OK || rc == SHERD_ELIMIT || rc == SHERD_EINVAL) /* none, one, or too long for a key: none */
		return SHERD_OK;
	return shd_pass(err, rc, &failure);
}

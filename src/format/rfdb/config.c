/* The small JSON files of a graph database: db_config.json, current.json and manifest_index.json. */
#include "format/rfdb/manifest_read.h"

#include <inttypes.h>

/* ---- current.json */

static int take_current_member(shd_json *j, shd_str key, shd_rfdb_current *c, bool *has, sherd_error *err)
{
	bool ours = c->seal == SHD_SEAL_GOOD;
	if (shd_str_is(key, "version")) {
		*has = true;
		return shd_json_u64(j, &c->version, err);
	}
	if (ours && shd_str_is(key, "fence"))
		return shd_json_u64(j, &c->fence, err);
	if (ours && shd_str_is(key, "making"))
		return shd_json_bool(j, &c->making, err);
	if (ours && !shd_str_is(key, "sha256"))
		return shd_fail_at(err, SHERD_ECORRUPT, "not-current", shd_json_offset(j),
		                   "another document of a database: \"%.*s\" does not belong into it",
		                   key.len > 64 ? 64 : (int)key.len, key.len ? key.ptr : "");
	return shd_json_skip(j, err);
}

int shd_rfdb_current_decode(const void *data, size_t len, shd_rfdb_current *out, sherd_error *err)
{
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	shd_rfdb_current c = {0};
	shd_str key;
	bool has = false;
	int rc;
	TRY(shd_rfdb_take_seal(data, len, &c.seal, err));
	TRY(shd_json_open(&j, data, len, NULL, err));
	TRY(shd_json_object(j, err));
	while ((rc = shd_json_key(j, &key, err)) > 0)
		TRY(take_current_member(j, key, &c, &has, err));
	TRY(rc);
	TRY(shd_json_end(j, err));
	if (!has)
		return shd_fail(err, SHERD_ECORRUPT, "missing-key", "no version is named");
	*out = c;
	return SHERD_OK;
}

/* ---- db_config.json */

static int config_take_shards(shd_json *j, uint16_t *out, sherd_error *err)
{
	uint32_t v;
	TRY(shd_json_u32(j, &v, err));
	if (!v || v > UINT16_MAX)
		return shd_fail_at(err, SHERD_ECORRUPT, "out-of-range", shd_json_offset(j), "%" PRIu32 " shards", v);
	*out = (uint16_t)v;
	return SHERD_OK;
}

static int take_planner(shd_json *j, shd_rfdb_planner *out, sherd_error *err)
{
	shd_str s;
	TRY(shd_json_string(j, &s, err));
	if (shd_str_is(s, "directory"))
		*out = SHD_RFDB_DIRECTORY;
	else if (!shd_str_is(s, "hash"))
		return shd_fail_at(err, SHERD_EUNSUPPORTED, "bad-argument", shd_json_offset(j),
		                   "planner %.*s is not known", s.len > 64 ? 64 : (int)s.len, s.len ? s.ptr : "");
	return SHERD_OK;
}

static int take_config_member(shd_json *j, shd_str key, shd_rfdb_config *c, sherd_error *err)
{
	if (shd_str_is(key, "shard_count"))
		return config_take_shards(j, &c->shards, err);
	if (shd_str_is(key, "planner"))
		return take_planner(j, &c->planner, err);
	/* In files of others it may be anything. */
	if (shd_str_is(key, "created_at") && c->seal == SHD_SEAL_GOOD)
		return shd_json_u64(j, &c->created_at, err);
	return shd_json_skip(j, err);
}

int shd_rfdb_config_decode(const void *data, size_t len, shd_rfdb_config *out, sherd_error *err)
{
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	shd_rfdb_config c = {0};
	shd_str key;
	int rc;
	TRY(shd_rfdb_take_seal(data, len, &c.seal, err));
	TRY(shd_json_open(&j, data, len, NULL, err));
	TRY(shd_json_object(j, err));
	while ((rc = shd_json_key(j, &key, err)) > 0)
		TRY(take_config_member(j, key, &c, err));
	TRY(rc);
	TRY(shd_json_end(j, err));
	if (!c.shards)
		return shd_fail(err, SHERD_ECORRUPT, "missing-key", "no shard_count is named");
	*out = c;
	return SHERD_OK;
}

/* ---- manifest_index.json */

enum { HAS_LATEST = 1, HAS_SNAPSHOTS = 2, HAS_ALL = 3 };

typedef struct lists {
	SHD_VEC(shd_rfdb_snapshot) snapshots;
	SHD_VEC(struct shd_rfdb_tagged) tagged;
} lists;

static int take_snapshot(shd_rfdb_reading *r, lists *l, sherd_error *err)
{
	shd_rfdb_snapshot s = {0};
	shd_str key;
	int rc;
	TRY(shd_json_object(r->json, err));
	while ((rc = shd_json_key(r->json, &key, err)) > 0) {
		if (shd_str_is(key, "version"))
			TRY(shd_json_u64(r->json, &s.version, err));
		else if (shd_str_is(key, "created_at"))
			TRY(shd_json_u64(r->json, &s.created_at, err));
		else if (shd_str_is(key, "tags"))
			TRY(shd_rfdb_take_tags(r, &s.tags, err));
		else if (shd_str_is(key, "stats"))
			TRY(shd_rfdb_take_stats(r, &s.stats, err));
		else
			TRY(shd_json_skip(r->json, err));
	}
	TRY(rc);
	shd_vec_push(&l->snapshots, s);
	return shd_vec_check(&l->snapshots, err);
}

static int take_snapshots(shd_rfdb_reading *r, lists *l, sherd_error *err)
{
	int rc;
	TRY(shd_json_array(r->json, err));
	while ((rc = shd_json_item(r->json, err)) > 0)
		TRY(take_snapshot(r, l, err));
	return rc;
}

/* {"key": {"value": version}} */
static int take_tag_index(shd_rfdb_reading *r, lists *l, sherd_error *err)
{
	struct shd_rfdb_tagged t;
	shd_str key;
	int rc, inner;
	TRY(shd_json_object(r->json, err));
	while ((rc = shd_json_key(r->json, &key, err)) > 0) {
		TRY(shd_rfdb_keep_text(r, key, &t.key, err));
		TRY(shd_json_object(r->json, err));
		while ((inner = shd_json_key(r->json, &key, err)) > 0) {
			TRY(shd_rfdb_keep_text(r, key, &t.value, err));
			TRY(shd_json_u64(r->json, &t.version, err));
			shd_vec_push(&l->tagged, t);
		}
		TRY(inner);
	}
	TRY(rc);
	return shd_vec_check(&l->tagged, err);
}

static int take_index_member(shd_rfdb_reading *r, shd_str key, shd_rfdb_index *x, lists *l, unsigned *has,
                             sherd_error *err)
{
	if (shd_str_is(key, "latest_version")) {
		*has |= HAS_LATEST;
		return shd_json_u64(r->json, &x->latest, err);
	}
	if (shd_str_is(key, "snapshots")) {
		*has |= HAS_SNAPSHOTS;
		return take_snapshots(r, l, err);
	}
	if (shd_str_is(key, "tag_index"))
		return take_tag_index(r, l, err);
	if (shd_str_is(key, "referenced_segments"))
		return shd_rfdb_take_numbers(r, &x->segments, err);
	return shd_json_skip(r->json, err);
}

static int take_index(shd_rfdb_reading *r, shd_rfdb_index *x, lists *l, sherd_error *err)
{
	unsigned has = 0;
	shd_str key;
	int rc;
	TRY(shd_json_object(r->json, err));
	while ((rc = shd_json_key(r->json, &key, err)) > 0)
		TRY(take_index_member(r, key, x, l, &has, err));
	TRY(rc);
	TRY(shd_json_end(r->json, err));
	if (has != HAS_ALL)
		return shd_fail(err, SHERD_ECORRUPT, "missing-key", "latest_version and snapshots are needed");
	x->count = l->snapshots.count;
	x->tagged_count = l->tagged.count;
	x->snapshots = shd_vec_copy(&l->snapshots, r->arena);
	x->tagged = shd_vec_copy(&l->tagged, r->arena);
	return x->snapshots && x->tagged ? SHERD_OK : shd_fail_nomem(err);
}

int shd_rfdb_index_decode(const void *data, size_t len, const sherd_limits *limits, shd_arena *arena,
                          shd_rfdb_index *out, sherd_error *err)
{
	SHD_AUTO(shd_json, shd_json_close) json = NULL;
	shd_rfdb_index x = {0};
	lists l = {0};
	TRY(shd_rfdb_take_seal(data, len, &x.seal, err));
	TRY(shd_json_open(&json, data, len, limits, err));
	shd_rfdb_reading r = {.json = json, .data = data, .len = len, .arena = arena};
	int rc = take_index(&r, &x, &l, err);
	shd_vec_done(&l.snapshots);
	shd_vec_done(&l.tagged);
	TRY(rc);
	*out = x;
	return SHERD_OK;
}

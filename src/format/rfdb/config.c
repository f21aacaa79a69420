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
		return shd_json_bool(j, &c->vacant, err);
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

static int config_take_shards(void *arg, void *field, shd_json *j, sherd_error *err)
{
	uint32_t v;
	(void)arg;
	TRY(shd_json_u32(j, &v, err));
	if (!v || v > UINT16_MAX)
		return shd_fail_at(err, SHERD_ECORRUPT, "out-of-range", shd_json_offset(j), "%" PRIu32 " shards", v);
	*(uint16_t *)field = (uint16_t)v;
	return SHERD_OK;
}

static int take_planner(void *arg, void *field, shd_json *j, sherd_error *err)
{
	shd_str s;
	(void)arg;
	TRY(shd_json_string(j, &s, err));
	if (shd_str_is(s, "directory"))
		*(shd_rfdb_planner *)field = SHD_RFDB_DIRECTORY;
	else if (!shd_str_is(s, "hash"))
		return shd_fail_at(err, SHERD_EUNSUPPORTED, "bad-argument", shd_json_offset(j),
		                   "planner %.*s is not known", s.len > 64 ? 64 : (int)s.len, s.len ? s.ptr : "");
	return SHERD_OK;
}

/* In files of others it may be anything. */
static int take_created(void *arg, void *field, shd_json *j, sherd_error *err)
{
	const shd_rfdb_config *c = arg;
	return c->seal == SHD_SEAL_GOOD ? shd_json_u64(j, field, err) : shd_json_skip(j, err);
}

int shd_rfdb_config_decode(const void *data, size_t len, shd_rfdb_config *out, sherd_error *err)
{
	static const shd_json_member members[] = {
		{"shard_count", .take = config_take_shards, .at = offsetof(shd_rfdb_config, shards), .needed = true},
		{"planner", .take = take_planner, .at = offsetof(shd_rfdb_config, planner)},
		{"created_at", .take = take_created, .at = offsetof(shd_rfdb_config, created_at)},
		{0},
	};
	shd_rfdb_config c = {0};
	TRY(shd_rfdb_take_seal(data, len, &c.seal, err));
	TRY(shd_json_document(data, len, NULL, members, &c, &c, err));
	*out = c;
	return SHERD_OK;
}

/* ---- manifest_index.json */

typedef struct index_decoder {
	shd_rfdb_reading r;
	shd_rfdb_index x;
	SHD_VEC(shd_rfdb_snapshot) snapshots;
	SHD_VEC(struct shd_rfdb_tagged) tagged;
} index_decoder;

static int take_snapshot(void *arg, void *field, shd_json *j, sherd_error *err)
{
	static const shd_json_member members[] = {
		{"version", SHD_JSON_U64, offsetof(shd_rfdb_snapshot, version)},
		{"created_at", SHD_JSON_U64, offsetof(shd_rfdb_snapshot, created_at)},
		{"tags", .take = shd_rfdb_take_tags, .at = offsetof(shd_rfdb_snapshot, tags)},
		{"stats", .take = shd_rfdb_take_stats, .at = offsetof(shd_rfdb_snapshot, stats)},
		{0},
	};
	index_decoder *d = field;
	shd_rfdb_snapshot s = {0};
	TRY(shd_json_members(j, members, arg, &s, err));
	shd_vec_push(&d->snapshots, s);
	return shd_vec_check(&d->snapshots, err);
}

static int take_snapshots(void *arg, void *field, shd_json *j, sherd_error *err)
{
	return shd_json_items(j, take_snapshot, arg, field, err);
}

/* {"key": {"value": version}} */
static int take_tag_index(void *arg, void *field, shd_json *j, sherd_error *err)
{
	shd_rfdb_reading *r = arg;
	index_decoder *d = field;
	struct shd_rfdb_tagged t;
	shd_str key;
	int rc, inner;
	TRY(shd_json_object(j, err));
	while ((rc = shd_json_key(j, &key, err)) > 0) {
		TRY(shd_rfdb_keep_text(r, key, &t.key, err));
		TRY(shd_json_object(j, err));
		while ((inner = shd_json_key(j, &key, err)) > 0) {
			TRY(shd_rfdb_keep_text(r, key, &t.value, err));
			TRY(shd_json_u64(j, &t.version, err));
			shd_vec_push(&d->tagged, t);
		}
		TRY(inner);
	}
	TRY(rc);
	return shd_vec_check(&d->tagged, err);
}

static int take_index(const void *data, size_t len, const sherd_limits *limits, index_decoder *d, sherd_error *err)
{
	static const shd_json_member members[] = {
		{"latest_version", SHD_JSON_U64, offsetof(index_decoder, x.latest), .needed = true},
		{"snapshots", .take = take_snapshots, .needed = true},
		{"tag_index", .take = take_tag_index},
		{"referenced_segments", .take = shd_rfdb_take_numbers, .at = offsetof(index_decoder, x.segments)},
		{0},
	};
	TRY(shd_json_document(data, len, limits, members, &d->r, d, err));
	d->x.count = d->snapshots.count;
	d->x.tagged_count = d->tagged.count;
	d->x.snapshots = shd_vec_copy(&d->snapshots, d->r.arena);
	d->x.tagged = shd_vec_copy(&d->tagged, d->r.arena);
	return d->x.snapshots && d->x.tagged ? SHERD_OK : shd_fail_nomem(err);
}

int shd_rfdb_index_decode(const void *data, size_t len, const sherd_limits *limits, shd_arena *arena,
                          shd_rfdb_index *out, sherd_error *err)
{
	index_decoder d = {.r = {.data = data, .len = len, .arena = arena}};
	TRY(shd_rfdb_take_seal(data, len, &d.x.seal, err));
	int rc = take_index(data, len, limits, &d, err);
	shd_vec_done(&d.snapshots);
	shd_vec_done(&d.tagged);
	TRY(rc);
	*out = d.x;
	return SHERD_OK;
}

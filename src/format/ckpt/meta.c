#include "format/ckpt/meta.h"

#include "base/dtype.h"
#include "base/limits.h"
#include "base/time.h"
#include "codec/sha256.h"
#include "format/ckpt/about.h"
#include "format/ckpt/dtype.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct reader {
	shd_json *j;
	shd_arena *arena;
	sherd_limits limits;
	shd_ckpt_meta meta;
	shd_ckpt_about_reader about;
	SHD_VEC(shd_ckpt_meta_shard) shards;
	SHD_VEC(shd_ckpt_entry) entries;
	uint64_t world_where;
	bool has_world;
} reader;

static int ckpt_meta_keep(reader *r, shd_str s, const char **out, sherd_error *err)
{
	if (s.len && memchr(s.ptr, 0, s.len))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-text", shd_json_offset(r->j), "text holds NUL");
	*out = shd_arena_str(r->arena, s);
	return *out ? SHERD_OK : shd_fail_nomem(err);
}

static int ckpt_meta_take_text(reader *r, const char **out, sherd_error *err)
{
	shd_str s;
	TRY(shd_json_string(r->j, &s, err));
	return ckpt_meta_keep(r, s, out, err);
}

/* A text, or null for absent. */
static int take_text_or_null(reader *r, const char **out, sherd_error *err)
{
	int type = shd_json_peek(r->j, err);
	TRY(type);
	return type == SHD_JSON_NULL ? shd_json_null(r->j, err) : ckpt_meta_take_text(r, out, err);
}

static int ckpt_meta_take_dtype(reader *r, sherd_tensor *t, sherd_error *err)
{
	int type = shd_json_peek(r->j, err);
	TRY(type);
	if (type == SHD_JSON_NUMBER) {
		uint32_t number;
		TRY(shd_json_u32(r->j, &number, err));
		t->dtype = shd_ckpt_dtype_by_number(number);
		if (t->dtype == SHERD_DTYPE_NONE)
			return shd_fail_at(err, SHERD_EUNSUPPORTED, "bad-dtype", shd_json_offset(r->j),
			                   "dataType %" PRIu32 " is unknown", number);
		return SHERD_OK;
	}
	shd_str name;
	TRY(shd_json_string(r->j, &name, err));
	if (name.len > strlen(SHD_CKPT_OPAQUE) && memcmp(name.ptr, SHD_CKPT_OPAQUE, strlen(SHD_CKPT_OPAQUE)) == 0) {
		t->dtype = SHERD_OPAQUE;
		name = (shd_str){name.ptr + strlen(SHD_CKPT_OPAQUE), name.len - strlen(SHD_CKPT_OPAQUE)};
		TRY(ckpt_meta_keep(r, name, &t->type_name, err));
	} else {
		t->dtype = shd_ckpt_dtype_by_name(name);
	}
	if (!shd_tensor_is_typed(t))
		return shd_fail_at(err, SHERD_EUNSUPPORTED, "bad-dtype", shd_json_offset(r->j),
		                   "dataType '%.*s' is unknown", (int)(name.len < 40 ? name.len : 40), name.ptr);
	return SHERD_OK;
}

static int ckpt_meta_take_dims(reader *r, const uint64_t **out, uint32_t *ndim, sherd_error *err)
{
	uint64_t dims[SHERD_MAX_DIMS];
	uint32_t n = 0;
	int rc;
	TRY(shd_json_array(r->j, err));
	while ((rc = shd_json_item(r->j, err)) > 0) {
		if (n == r->limits.dims)
			return shd_fail_at(err, SHERD_ELIMIT, "too-many-dims", shd_json_offset(r->j),
			                   "more than %" PRIu32 " dimensions", r->limits.dims);
		TRY(shd_json_u64(r->j, &dims[n++], err));
	}
	TRY(rc);
	*out = shd_arena_copy(r->arena, dims, n * sizeof(dims[0]));
	*ndim = n;
	return *out ? SHERD_OK : shd_fail_nomem(err);
}

static int check_name(const reader *r, const shd_ckpt_entry *e, sherd_error *err)
{
	if (!e->tensor.name)
		return shd_fail_at(err, SHERD_ECORRUPT, "missing-key", e->where, "a tensor has no name");
	if (strlen(e->tensor.name) > r->limits.name_bytes)
		return shd_fail_at(err, SHERD_ELIMIT, "name-too-long", e->where, "a tensor's name has %zu bytes",
		                   strlen(e->tensor.name));
	return SHERD_OK;
}

typedef struct entry_parts {
	shd_buf extra;
	uint32_t global_dims, offset_dims;
	bool has_size;
} entry_parts;

static int take_entry_member(reader *r, shd_str key, shd_ckpt_entry *e, entry_parts *p, sherd_error *err)
{
	if (shd_str_is(key, "name"))
		return ckpt_meta_take_text(r, &e->tensor.name, err);
	if (shd_str_is(key, "shape"))
		return ckpt_meta_take_dims(r, &e->tensor.shape, &e->tensor.ndim, err);
	if (shd_str_is(key, "dataType"))
		return ckpt_meta_take_dtype(r, &e->tensor, err);
	if (shd_str_is(key, "offset"))
		return shd_json_u64(r->j, &e->offset, err);
	if (shd_str_is(key, "size")) {
		p->has_size = true;
		return shd_json_u64(r->j, &e->tensor.bytes, err);
	}
	if (shd_str_is(key, "globalShape"))
		return ckpt_meta_take_dims(r, &e->global_shape, &p->global_dims, err);
	if (shd_str_is(key, "globalOffset"))
		return ckpt_meta_take_dims(r, &e->global_offset, &p->offset_dims, err);
	return shd_ckpt_members_take(&p->extra, r->j, key, err);
}

static int ckpt_meta_check_entry(const reader *r, const shd_ckpt_entry *e, const entry_parts *p, sherd_error *err)
{
	TRY(check_name(r, e, err));
	if (!e->tensor.shape || e->tensor.dtype == SHERD_DTYPE_NONE || !p->has_size)
		return shd_fail_at(err, SHERD_ECORRUPT, "missing-key", e->where,
		                   "tensor '%.80s' has no shape, dataType or size", e->tensor.name);
	if (!e->global_shape != !e->global_offset ||
	    (e->global_shape && (p->global_dims != e->tensor.ndim || p->offset_dims != e->tensor.ndim)))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-piece", e->where,
		                   "tensor '%.80s': globalShape, globalOffset and shape do not go together",
		                   e->tensor.name);
	return shd_ckpt_entry_check(e, err);
}

static int take_entry_parts(reader *r, shd_ckpt_entry *e, entry_parts *p, sherd_error *err)
{
	shd_str key;
	int rc;
	TRY(shd_json_object(r->j, err));
	e->where = shd_json_offset(r->j);
	while ((rc = shd_json_key(r->j, &key, err)) > 0)
		TRY(take_entry_member(r, key, e, p, err));
	TRY(rc);
	if (p->extra.len)
		TRY(ckpt_meta_keep(r, (shd_str){(const char *)p->extra.data, p->extra.len}, &e->extra, err));
	return ckpt_meta_check_entry(r, e, p, err);
}

static int take_entry(reader *r, sherd_error *err)
{
	shd_ckpt_entry e = {0};
	entry_parts p = {0};
	int rc = take_entry_parts(r, &e, &p, err);
	shd_buf_done(&p.extra);
	TRY(rc);
	shd_vec_push(&r->entries, e);
	return shd_vec_check(&r->entries, err);
}

static int take_entries(reader *r, shd_ckpt_meta_shard *s, sherd_error *err)
{
	int rc = shd_json_peek(r->j, err);
	TRY(rc);
	if (rc == SHD_JSON_NULL)
		return shd_json_null(r->j, err);
	r->entries.count = 0;
	TRY(shd_json_array(r->j, err));
	while ((rc = shd_json_item(r->j, err)) > 0)
		TRY(take_entry(r, err));
	TRY(rc);
	s->listed = true;
	s->count = r->entries.count;
	s->entries = shd_vec_copy(&r->entries, r->arena);
	return s->entries ? SHERD_OK : shd_fail_nomem(err);
}

static bool is_dots(const char *part)
{
	return strcmp(part, ".") == 0 || strcmp(part, "..") == 0;
}

/* Only the last component counts, and it must be beside the metadata. Paths of other systems have '\', which ours may
 * have in a name: who opens the file tries both. */
static int ckpt_meta_take_file(reader *r, shd_ckpt_meta_shard *s, sherd_error *err)
{
	const char *path = NULL;
	TRY(take_text_or_null(r, &path, err));
	if (!path || !*path)
		return SHERD_OK;
	const char *last = shd_str_leaf(path), *behind = shd_ckpt_meta_file_behind(last);
	bool climbs = strstr(path, "../") || strstr(path, "..\\") || is_dots(last) || is_dots(behind ? behind : last);
	if (climbs || !*last || (behind && !*behind))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-path", shd_json_offset(r->j),
		                   "filePath '%.100s' is no file beside the metadata", path);
	s->file = last;
	return SHERD_OK;
}

/* Of others, whatever else may stand there is ignored. */
static int take_sha256(reader *r, shd_ckpt_meta_shard *s, sherd_error *err)
{
	uint8_t hash[SHD_SHA256_BYTES];
	shd_str text;
	int type = shd_json_peek(r->j, err);
	TRY(type);
	if (type != SHD_JSON_STRING)
		return shd_json_skip(r->j, err);
	TRY(shd_json_string(r->j, &text, err));
	return shd_unhex(text.ptr, text.len, hash, sizeof(hash)) ? ckpt_meta_keep(r, text, &s->sha256, err) : SHERD_OK;
}

static int ckpt_meta_take_shard(reader *r, sherd_error *err)
{
	shd_ckpt_meta_shard s = {.checksum = ""};
	bool has_rank = false, has_size = false;
	shd_str key;
	int rc;
	TRY(shd_json_object(r->j, err));
	s.where = shd_json_offset(r->j);
	while ((rc = shd_json_key(r->j, &key, err)) > 0) {
		if (shd_str_is(key, "rank")) {
			TRY(shd_json_u32(r->j, &s.rank, err));
			has_rank = true;
		} else if (shd_str_is(key, "filePath"))
			TRY(ckpt_meta_take_file(r, &s, err));
		else if (shd_str_is(key, "fileSize")) {
			TRY(shd_json_u64(r->j, &s.file_size, err));
			has_size = true;
		} else if (shd_str_is(key, "tensors"))
			TRY(take_entries(r, &s, err));
		else if (shd_str_is(key, "checksum"))
			TRY(take_text_or_null(r, &s.checksum, err));
		else if (shd_str_is(key, "sha256"))
			TRY(take_sha256(r, &s, err));
		else
			TRY(shd_json_skip(r->j, err));
	}
	TRY(rc);
	if (!has_rank || !has_size)
		return shd_fail_at(err, SHERD_ECORRUPT, "missing-key", s.where, "a shard has no rank or no fileSize");
	if (r->shards.count >= r->limits.shards)
		return shd_fail_at(err, SHERD_ELIMIT, "too-many-shards", s.where, "more than %" PRIu32 " shards",
		                   r->limits.shards);
	shd_vec_push(&r->shards, s);
	return shd_vec_check(&r->shards, err);
}

static int ckpt_meta_take_shards(reader *r, sherd_error *err)
{
	int rc;
	TRY(shd_json_array(r->j, err));
	while ((rc = shd_json_item(r->j, err)) > 0)
		TRY(ckpt_meta_take_shard(r, err));
	return rc;
}

static int ckpt_meta_take_version(reader *r, sherd_error *err)
{
	TRY(ckpt_meta_take_text(r, &r->meta.version, err));
	if (r->meta.version[0] == '1' && (r->meta.version[1] == '.' || !r->meta.version[1]))
		return SHERD_OK;
	return shd_fail_at(err, SHERD_EVERSION, "bad-version", shd_json_offset(r->j),
	                   "metadata version '%.40s', this library reads 1", r->meta.version);
}

/* Some writers leave the zone out, and mean UTC. */
static bool parse_zoneless(const char *text, int64_t *ns)
{
	char zoned[SHD_TIME_TEXT + 2];
	size_t len = strlen(text);
	if (!len || len >= SHD_TIME_TEXT)
		return false;
	(void)snprintf(zoned, sizeof(zoned), "%sZ", text);
	return shd_time_parse((shd_str){zoned, len + 1}, ns);
}

static int take_timestamp(reader *r, sherd_error *err)
{
	TRY(ckpt_meta_take_text(r, &r->meta.timestamp, err));
	const char *text = r->meta.timestamp;
	if (!shd_time_parse(shd_str_of(text), &r->meta.time_ns) && !parse_zoneless(text, &r->meta.time_ns))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-time", shd_json_offset(r->j),
		                   "timestamp '%.40s' is no time", r->meta.timestamp);
	return SHERD_OK;
}

static int take_set_id(reader *r, sherd_error *err)
{
	shd_str s;
	TRY(shd_json_string(r->j, &s, err));
	if (!shd_unhex(s.ptr, s.len, r->meta.set_id.bytes, sizeof(r->meta.set_id.bytes)))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-set-id", shd_json_offset(r->j),
		                   "setId is not 32 lower-case hexadecimal digits");
	r->meta.has_set_id = true;
	return SHERD_OK;
}

static int ckpt_meta_take_member(reader *r, shd_str key, sherd_error *err)
{
	if (shd_str_is(key, "version"))
		return ckpt_meta_take_version(r, err);
	if (shd_str_is(key, "timestamp"))
		return take_timestamp(r, err);
	if (shd_str_is(key, "worldSize")) {
		TRY(shd_json_u32(r->j, &r->meta.world, err));
		r->world_where = shd_json_offset(r->j);
		r->has_world = true;
		return SHERD_OK;
	}
	if (shd_str_is(key, "shards"))
		return ckpt_meta_take_shards(r, err);
	if (shd_str_is(key, "setId"))
		return take_set_id(r, err);
	if (shd_str_is(key, "sha256"))
		return shd_json_skip(r->j, err);
	return shd_ckpt_about_member(&r->about, r->j, key, err);
}

static int by_rank(const void *a, const void *b)
{
	const shd_ckpt_meta_shard *x = a, *y = b;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static int check_shards(const reader *r, const shd_ckpt_meta *m, sherd_error *err)
{
	for (size_t i = 1; i < m->count; i++)
		if (m->shards[i].rank == m->shards[i - 1].rank)
			return shd_fail_at(err, SHERD_ECORRUPT, "duplicate-rank", m->shards[i].where,
			                   "rank %" PRIu32 " is listed twice", m->shards[i].rank);
	/* Foreign sets may have fewer shards than ranks; they say so by shardCount. */
	bool by_count = r->about.has_shard_count && !m->has_set_id;
	uint64_t want = by_count ? r->about.shard_count : m->world;
	uint64_t where = by_count ? r->about.shard_count_where : r->world_where;
	if (m->count != want || !want || (r->about.has_shard_count && r->about.shard_count != m->count))
		return shd_fail_at(err, SHERD_ECORRUPT, "missing-shards", where,
		                   "%zu shards are listed, %" PRIu64 " expected", m->count,
		                   r->about.has_shard_count ? r->about.shard_count : want);
	for (size_t i = 0; m->has_set_id && i < m->count; i++)
		if (m->shards[i].rank != i)
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-rank", m->shards[i].where,
			                   "rank %" PRIu32 " of %" PRIu32, m->shards[i].rank, m->world);
	return SHERD_OK;
}

static int ckpt_meta_finish(reader *r, sherd_error *err)
{
	shd_ckpt_meta *m = &r->meta;
	if (!m->version || !r->has_world)
		return shd_fail_at(err, SHERD_ECORRUPT, "missing-key", 0, "metadata has no version or no worldSize");
	if (m->has_set_id && m->seal == SHD_SEAL_ABSENT)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-seal", 0, "metadata has lost the hash of itself");
	if (!m->timestamp)
		m->timestamp = "";
	TRY(shd_ckpt_about_finish(&r->about, err));
	m->about = r->about.about;
	m->count = r->shards.count;
	m->shards = shd_vec_copy(&r->shards, r->arena);
	if (!m->shards)
		return shd_fail_nomem(err);
	if (m->count)
		qsort(m->shards, m->count, sizeof(*m->shards), by_rank);
	return check_shards(r, m, err);
}

static int ckpt_meta_decode(reader *r, sherd_error *err)
{
	shd_str key;
	int rc;
	TRY(shd_json_object(r->j, err));
	while ((rc = shd_json_key(r->j, &key, err)) > 0)
		TRY(ckpt_meta_take_member(r, key, err));
	TRY(rc);
	TRY(shd_json_end(r->j, err));
	return ckpt_meta_finish(r, err);
}

int shd_ckpt_meta_decode(const char *text, size_t len, const sherd_limits *limits, shd_arena *arena, shd_ckpt_meta *out,
                         sherd_error *err)
{
	reader r = {.arena = arena, .limits = shd_limits_or_default(limits), .about = {.arena = arena}};
	r.meta.seal = shd_seal_check(text, len);
	int rc = shd_json_open(&r.j, text, len, &r.limits, err);
	if (rc == SHERD_OK)
		rc = ckpt_meta_decode(&r, err);
	/* A document that cannot be read says more by where it cannot than by its hash. */
	if (rc == SHERD_OK && r.meta.seal == SHD_SEAL_BROKEN)
		rc = shd_fail_at(err, SHERD_ECORRUPT, "bad-seal", 0, "metadata does not match the hash of itself");
	if (rc == SHERD_OK)
		*out = r.meta;
	shd_json_close(r.j);
	shd_ckpt_about_done(&r.about);
	shd_vec_done(&r.shards);
	shd_vec_done(&r.entries);
	return rc;
}

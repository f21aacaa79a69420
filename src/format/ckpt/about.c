#include "format/ckpt/about.h"

#include "base/limits.h"
#include "base/map.h"

#include <math.h>

static const sherd_limits generous = {.metadata_bytes = 512u << 20, .depth = 64};

/* Keys that we write, by object. */
static const char *const own_keys[][12] = {
	[SHD_CKPT_OBJECT_TOP] = {"version", "timestamp", "worldSize", "ddpRank", "sharding", "shardingStrategy",
                                 "shards", "training", "customFields", "setId", "sha256"},
	[SHD_CKPT_OBJECT_SHARDING] = {"strategy", "shardCount", "precision", "strategySpecificInfo"},
	[SHD_CKPT_OBJECT_TRAINING] = {"epoch", "step", "learningRate", "optimizerType", "optimizerState"},
	[SHD_CKPT_OBJECT_TENSOR] = {"name", "shape", "dataType", "offset", "size", "globalShape", "globalOffset"},
};

/* How deep the object lies in the metadata, whose own braces count as one. */
static const uint32_t object_depth[] = {
	[SHD_CKPT_OBJECT_TOP] = 1,
	[SHD_CKPT_OBJECT_SHARDING] = 2,
	[SHD_CKPT_OBJECT_TRAINING] = 2,
	[SHD_CKPT_OBJECT_TENSOR] = 5,
};
enum { VALUE_DEPTH = 3 }; /* of an object that is a value in one of those in the middle */

/* What text may nest by itself so that the metadata, with it at this depth, is within the limits. */
static sherd_limits limits_at(const sherd_limits *limits, uint32_t depth)
{
	sherd_limits l = limits ? *limits : generous;
	l = shd_limits_or_default(&l);
	l.depth = l.depth > depth ? l.depth - (depth - 1) : 1;
	return l;
}

static bool is_too_deep(const sherd_error *e)
{
	return e->code == SHERD_ELIMIT && strcmp(e->reason, "too-deep") == 0;
}

static bool is_own_key(shd_ckpt_object object, shd_str key)
{
	for (const char *const *own = own_keys[object]; *own; own++)
		if (shd_str_is(key, *own))
			return true;
	return false;
}

static int check_keys(shd_json *j, shd_ckpt_object object, sherd_status code, sherd_error *err)
{
	shd_str key;
	int rc;
	TRY(shd_json_object(j, err));
	while ((rc = shd_json_key(j, &key, err)) > 0) {
		if (is_own_key(object, key))
			return shd_fail(err, code, "duplicate-key", "further members bring '%.*s', which is ours",
			                (int)key.len, key.ptr);
		TRY(shd_json_skip(j, err));
	}
	TRY(rc);
	return shd_json_end(j, err);
}

int shd_ckpt_members_check(const char *members, shd_ckpt_object object, const sherd_limits *limits, sherd_status code,
                           sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	sherd_error inner = {0};
	shd_json *j = NULL;
	if (!members)
		return SHERD_OK;
	shd_buf_printf(&text, "{%s}", members);
	TRY(shd_buf_check(&text, err));
	sherd_limits within = limits_at(limits, object_depth[object]);
	int rc = shd_json_open(&j, text.data, text.len, &within, &inner);
	if (rc == SHERD_OK)
		rc = check_keys(j, object, code, &inner);
	shd_json_close(j);
	if (rc == SHERD_OK || rc == SHERD_ENOMEM)
		return rc == SHERD_OK ? rc : shd_fail_nomem(err);
	if (is_too_deep(&inner))
		return shd_fail(err, code, "too-deep", "further members are %s levels", inner.message);
	if (rc == (int)code && strcmp(inner.reason, "duplicate-key") == 0)
		return shd_fail(err, code, "duplicate-key", "%s", inner.message);
	return shd_fail(err, code, "bad-json", "further members are no JSON: %s", inner.message);
}

/* A string, or null for absent, into the arena. */
static int take_string(shd_ckpt_about_reader *r, shd_json *j, const char **out, sherd_error *err)
{
	int type = shd_json_peek(j, err);
	TRY(type);
	if (type == SHD_JSON_NULL)
		return shd_json_null(j, err);
	shd_str s;
	TRY(shd_json_string(j, &s, err));
	if (memchr(s.ptr, 0, s.len))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-text", shd_json_offset(j), "text holds NUL");
	char *copy = shd_arena_str(r->arena, s);
	if (!copy)
		return shd_fail_nomem(err);
	*out = copy;
	return SHERD_OK;
}

/* Numbers, or null for absent. */
static int take_integer(shd_json *j, int64_t *out, bool *has, sherd_error *err)
{
	int type = shd_json_peek(j, err);
	TRY(type);
	if (type == SHD_JSON_NULL)
		return shd_json_null(j, err);
	*has = true;
	return shd_json_i64(j, out, err);
}

static int take_real(shd_json *j, double *out, bool *has, sherd_error *err)
{
	int type = shd_json_peek(j, err);
	TRY(type);
	if (type == SHD_JSON_NULL)
		return shd_json_null(j, err);
	*has = true;
	return shd_json_double(j, out, err);
}

/* An object as it stands, or null for absent. */
static int take_object(shd_ckpt_about_reader *r, shd_json *j, const char **out, sherd_error *err)
{
	int type = shd_json_peek(j, err);
	TRY(type);
	shd_str raw;
	TRY(shd_json_raw(j, &raw, err));
	if (type == SHD_JSON_NULL)
		return SHERD_OK;
	if (type != SHD_JSON_OBJECT)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-type", shd_json_offset(j), "an object is expected here");
	char *copy = shd_arena_str(r->arena, raw);
	if (!copy)
		return shd_fail_nomem(err);
	*out = copy;
	return SHERD_OK;
}

int shd_ckpt_members_take(shd_buf *members, shd_json *j, shd_str key, sherd_error *err)
{
	shd_json_writer w;
	shd_str raw;
	if (members->len)
		shd_buf_str(members, ", ");
	shd_json_writer_init(&w, members);
	shd_json_put_string(&w, key);
	shd_buf_str(members, ": ");
	TRY(shd_json_raw(j, &raw, err));
	shd_buf_append(members, raw.ptr, raw.len);
	return shd_buf_check(members, err);
}

static int keep_members(shd_arena *arena, const shd_buf *members, const char **out, sherd_error *err)
{
	if (!members->len)
		return SHERD_OK;
	*out = shd_arena_str(arena, (shd_str){(const char *)members->data, members->len});
	return *out ? SHERD_OK : shd_fail_nomem(err);
}

/* Takes '{'; 1 when there is an object, 0 when there was null instead. */
static int enter_or_null(shd_json *j, sherd_error *err)
{
	int type = shd_json_peek(j, err);
	TRY(type);
	if (type == SHD_JSON_NULL) {
		TRY(shd_json_null(j, err));
		return 0;
	}
	TRY(shd_json_object(j, err));
	return 1;
}

static int take_sharding(shd_ckpt_about_reader *r, shd_json *j, sherd_error *err)
{
	SHD_AUTO_BUF extra = {0};
	shd_str key;
	int rc = enter_or_null(j, err);
	if (rc <= 0)
		return rc;
	r->has_sharding = true;
	while ((rc = shd_json_key(j, &key, err)) > 0) {
		if (shd_str_is(key, "strategy"))
			TRY(take_string(r, j, &r->about.strategy, err));
		else if (shd_str_is(key, "precision"))
			TRY(take_string(r, j, &r->about.precision, err));
		else if (shd_str_is(key, "strategySpecificInfo"))
			TRY(take_object(r, j, &r->about.strategy_info, err));
		else if (shd_str_is(key, "shardCount")) {
			TRY(shd_json_u64(j, &r->shard_count, err));
			r->has_shard_count = true;
			r->shard_count_where = shd_json_offset(j);
		} else
			TRY(shd_ckpt_members_take(&extra, j, key, err));
	}
	TRY(rc);
	return keep_members(r->arena, &extra, &r->about.sharding_extra, err);
}

static int take_training(shd_ckpt_about_reader *r, shd_json *j, sherd_error *err)
{
	SHD_AUTO_BUF extra = {0};
	shd_str key;
	int rc = enter_or_null(j, err);
	if (rc <= 0)
		return rc;
	while ((rc = shd_json_key(j, &key, err)) > 0) {
		if (shd_str_is(key, "epoch"))
			TRY(take_integer(j, &r->about.epoch, &r->about.has_epoch, err));
		else if (shd_str_is(key, "step"))
			TRY(take_integer(j, &r->about.step, &r->about.has_step, err));
		else if (shd_str_is(key, "learningRate"))
			TRY(take_real(j, &r->about.learning_rate, &r->about.has_learning_rate, err));
		else if (shd_str_is(key, "optimizerType"))
			TRY(take_string(r, j, &r->about.optimizer_type, err));
		else if (shd_str_is(key, "optimizerState"))
			TRY(take_object(r, j, &r->about.optimizer_state, err));
		else
			TRY(shd_ckpt_members_take(&extra, j, key, err));
	}
	TRY(rc);
	return keep_members(r->arena, &extra, &r->about.training_extra, err);
}

typedef SHD_VEC(sherd_pair) pair_vec;

static int take_field(shd_ckpt_about_reader *r, shd_json *j, shd_str key, pair_vec *pairs, sherd_error *err)
{
	if (memchr(key.ptr, 0, key.len))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-text", shd_json_offset(j),
		                   "a custom field's name holds NUL");
	sherd_pair pair = {.key = shd_arena_str(r->arena, key), .value = ""};
	if (!pair.key)
		return shd_fail_nomem(err);
	TRY(take_string(r, j, &pair.value, err));
	shd_vec_push(pairs, pair);
	return shd_vec_check(pairs, err);
}

static int about_take_fields(shd_ckpt_about_reader *r, shd_json *j, sherd_error *err)
{
	SHD_AUTO_VEC pair_vec pairs = {0};
	shd_str key;
	int rc = enter_or_null(j, err);
	if (rc <= 0)
		return rc;
	while ((rc = shd_json_key(j, &key, err)) > 0)
		TRY(take_field(r, j, key, &pairs, err));
	TRY(rc);
	r->about.field_count = pairs.count;
	r->about.fields = shd_vec_copy(&pairs, r->arena);
	return r->about.fields ? SHERD_OK : shd_fail_nomem(err);
}

int shd_ckpt_about_member(shd_ckpt_about_reader *r, shd_json *j, shd_str key, sherd_error *err)
{
	if (shd_str_is(key, "ddpRank"))
		return take_integer(j, &r->about.ddp_rank, &r->about.has_ddp_rank, err);
	if (shd_str_is(key, "sharding"))
		return take_sharding(r, j, err);
	/* Another name of the same that some writers add; whichever is there and not null counts. */
	if (shd_str_is(key, "shardingStrategy"))
		return r->has_sharding ? shd_json_skip(j, err) : take_sharding(r, j, err);
	if (shd_str_is(key, "training"))
		return take_training(r, j, err);
	if (shd_str_is(key, "customFields"))
		return about_take_fields(r, j, err);
	return shd_ckpt_members_take(&r->extra, j, key, err);
}

int shd_ckpt_about_finish(shd_ckpt_about_reader *r, sherd_error *err)
{
	return keep_members(r->arena, &r->extra, &r->about.extra, err);
}

void shd_ckpt_about_done(shd_ckpt_about_reader *r)
{
	shd_buf_done(&r->extra);
}

static int decode_object(shd_ckpt_about_reader *r, shd_json *j, sherd_error *err)
{
	shd_str key;
	int rc;
	TRY(shd_json_object(j, err));
	while ((rc = shd_json_key(j, &key, err)) > 0)
		TRY(shd_ckpt_about_member(r, j, key, err));
	TRY(rc);
	TRY(shd_json_end(j, err));
	TRY(shd_ckpt_about_finish(r, err));
	/* What stands in an index goes into the metadata some day. */
	return shd_ckpt_members_check(r->about.extra, SHD_CKPT_OBJECT_TOP, NULL, SHERD_ECORRUPT, err);
}

int shd_ckpt_about_decode(shd_str text, const sherd_limits *limits, shd_arena *arena, sherd_ckpt_about *out,
                          sherd_error *err)
{
	shd_ckpt_about_reader r = {.arena = arena};
	shd_json *j = NULL;
	int rc = shd_json_open(&j, text.ptr, text.len, limits, err);
	if (rc == SHERD_OK)
		rc = decode_object(&r, j, err);
	if (rc == SHERD_OK)
		*out = r.about;
	shd_json_close(j);
	shd_ckpt_about_done(&r);
	return rc;
}

static void about_put_text(shd_json_writer *w, const char *key, const char *text)
{
	if (!text)
		return;
	shd_json_put_key_text(w, key, text);
}

static void put_object_text(shd_json_writer *w, const char *key, const char *json)
{
	if (!json)
		return;
	shd_json_put_key(w, key);
	shd_json_put_raw(w, shd_str_of(json));
}

static void put_integer(shd_json_writer *w, const char *key, bool has, int64_t value)
{
	if (!has)
		return;
	shd_json_put_key(w, key);
	shd_json_put_i64(w, value);
}

static int put_members(shd_json *j, shd_json_writer *w)
{
	shd_str key, raw;
	int rc;
	TRY(shd_json_object(j, NULL));
	while ((rc = shd_json_key(j, &key, NULL)) > 0) {
		shd_json_put_key_str(w, key);
		TRY(shd_json_raw(j, &raw, NULL));
		shd_json_put_raw(w, raw);
	}
	return rc;
}

void shd_ckpt_members_put(const char *members, shd_json_writer *w)
{
	if (!members || !*members)
		return;
	SHD_AUTO_BUF object = {0};
	shd_buf_printf(&object, "{%s}", members);
	shd_json *j = NULL;
	if (object.failed || shd_json_open(&j, object.data, object.len, &generous, NULL) < 0 || put_members(j, w) < 0)
		w->buf->failed = true; /* members were checked before: only memory can be out */
	shd_json_close(j);
}

void shd_ckpt_about_put_front(const sherd_ckpt_about *a, uint64_t shard_count, shd_json_writer *w)
{
	put_integer(w, "ddpRank", a->has_ddp_rank, a->ddp_rank);
	if (!shard_count && !a->strategy && !a->precision && !a->strategy_info && !a->sharding_extra)
		return;
	shd_json_put_key_object(w, "sharding", false);
	about_put_text(w, "strategy", a->strategy);
	if (shard_count) {
		shd_json_put_key_u64(w, "shardCount", shard_count);
	}
	about_put_text(w, "precision", a->precision);
	put_object_text(w, "strategySpecificInfo", a->strategy_info);
	shd_ckpt_members_put(a->sharding_extra, w);
	shd_json_put_object_end(w);
}

static void put_training(const sherd_ckpt_about *a, shd_json_writer *w)
{
	if (!a->has_epoch && !a->has_step && !a->has_learning_rate && !a->optimizer_type && !a->optimizer_state &&
	    !a->training_extra)
		return;
	shd_json_put_key_object(w, "training", false);
	put_integer(w, "epoch", a->has_epoch, a->epoch);
	put_integer(w, "step", a->has_step, a->step);
	if (a->has_learning_rate) {
		shd_json_put_key(w, "learningRate");
		shd_json_put_double(w, a->learning_rate);
	}
	about_put_text(w, "optimizerType", a->optimizer_type);
	put_object_text(w, "optimizerState", a->optimizer_state);
	shd_ckpt_members_put(a->training_extra, w);
	shd_json_put_object_end(w);
}

void shd_ckpt_about_put_back(const sherd_ckpt_about *a, shd_json_writer *w)
{
	put_training(a, w);
	if (a->field_count) {
		shd_json_put_key_object(w, "customFields", false);
		for (size_t i = 0; i < a->field_count; i++)
			about_put_text(w, a->fields[i].key, a->fields[i].value);
		shd_json_put_object_end(w);
	}
	shd_ckpt_members_put(a->extra, w);
}

void shd_ckpt_about_encode(const sherd_ckpt_about *about, shd_buf *out)
{
	shd_json_writer w;
	shd_json_writer_init(&w, out);
	shd_json_put_object(&w, true);
	shd_ckpt_about_put_front(about, 0, &w);
	shd_ckpt_about_put_back(about, &w);
	shd_json_put_object_end(&w);
}

static int about_check_text(const char *what, const char *text, sherd_error *err)
{
	size_t bad;
	if (text && !shd_utf8_valid(text, strlen(text), &bad))
		return shd_fail(err, SHERD_EINVAL, "bad-utf8", "%s is not UTF-8", what);
	return SHERD_OK;
}

static int check_object(const char *what, const char *json, sherd_error *err)
{
	if (!json)
		return SHERD_OK;
	sherd_error inner = {0};
	sherd_limits within = limits_at(NULL, VALUE_DEPTH);
	int rc = shd_json_check(json, strlen(json), &within, &inner);
	if (rc == SHERD_ENOMEM)
		return shd_pass(err, rc, &inner);
	if (rc < 0 && is_too_deep(&inner))
		return shd_fail(err, SHERD_EINVAL, "too-deep", "%s is %s levels", what, inner.message);
	if (json[0] != '{' || rc < 0)
		return shd_fail(err, SHERD_EINVAL, "bad-json", "%s is no JSON object", what);
	return SHERD_OK;
}

static int check_fields(const sherd_ckpt_about *a, shd_map *names, sherd_error *err)
{
	for (size_t i = 0; i < a->field_count; i++) {
		bool ok;
		TRY(about_check_text("a custom field's name", a->fields[i].key, err));
		TRY(about_check_text(a->fields[i].key, a->fields[i].value, err));
		if (shd_map_add(names, shd_str_of(a->fields[i].key), i, &ok) != SHD_MAP_NONE)
			return shd_fail(err, SHERD_EINVAL, "duplicate-key", "two custom fields are called '%.80s'",
			                a->fields[i].key);
		if (!ok)
			return shd_fail_nomem(err);
	}
	return SHERD_OK;
}

int shd_ckpt_about_check(const sherd_ckpt_about *a, sherd_error *err)
{
	TRY(about_check_text("strategy", a->strategy, err));
	TRY(about_check_text("precision", a->precision, err));
	TRY(about_check_text("optimizer type", a->optimizer_type, err));
	TRY(check_object("strategy info", a->strategy_info, err));
	TRY(check_object("optimizer state", a->optimizer_state, err));
	TRY(shd_ckpt_members_check(a->extra, SHD_CKPT_OBJECT_TOP, NULL, SHERD_EINVAL, err));
	TRY(shd_ckpt_members_check(a->sharding_extra, SHD_CKPT_OBJECT_SHARDING, NULL, SHERD_EINVAL, err));
	TRY(shd_ckpt_members_check(a->training_extra, SHD_CKPT_OBJECT_TRAINING, NULL, SHERD_EINVAL, err));
	if (a->has_learning_rate && !isfinite(a->learning_rate))
		return shd_fail(err, SHERD_EINVAL, "bad-number", "the learning rate is not finite");
	SHD_DONE(shd_map_done) shd_map names = {0};
	return check_fields(a, &names, err);
}

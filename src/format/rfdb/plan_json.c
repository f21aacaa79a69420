#include "format/rfdb/plan.h"

#include "codec/json.h"
#include "codec/seal.h"
#include "format/rfdb/plan_state.h"

#include <inttypes.h>
#include <stdlib.h>

#define FORMAT "sherd-shard-plan"

enum { HAS_FORMAT = 1, HAS_VERSION = 2, HAS_MIN_FILES = 4, HAS_SHARDS = 8, HAS_DIRECTORIES = 16, HAS_ALL = 31 };

/* ---- reading */

static int take_format(shd_json *j, sherd_error *err)
{
	shd_str s;
	TRY(shd_json_string(j, &s, err));
	if (!shd_str_is(s, FORMAT))
		return shd_fail_at(err, SHERD_EUNSUPPORTED, "unknown-format", shd_json_offset(j),
		                   "not a plan of shards");
	return SHERD_OK;
}

static int plan_json_take_version(shd_json *j, sherd_error *err)
{
	uint64_t version;
	TRY(shd_json_u64(j, &version, err));
	if (version != 1)
		return shd_fail_at(err, SHERD_EVERSION, "bad-version", shd_json_offset(j),
		                   "version %" PRIu64 ", only 1 is known", version);
	return SHERD_OK;
}

static int take_min_files(shd_json *j, shd_rfdb_plan *plan, sherd_error *err)
{
	TRY(shd_json_u32(j, &plan->min_files, err));
	if (!plan->min_files)
		return shd_fail_at(err, SHERD_ECORRUPT, "out-of-range", shd_json_offset(j), "min_files is 0");
	return SHERD_OK;
}

static int plan_json_take_shard(shd_json *j, shd_rfdb_plan *plan, sherd_error *err)
{
	shd_str s;
	bool taken;
	TRY(shd_json_string(j, &s, err));
	if (plan->shard_count >= SHD_RFDB_MAX_SHARDS)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-count", shd_json_offset(j), "more than %d shards",
		                   SHD_RFDB_MAX_SHARDS);
	const char *name = shd_arena_str(&plan->arena, s);
	if (!name)
		return shd_fail_nomem(err);
	TRY(shd_rfdb_plan_add_shard(plan, name, &taken, err));
	if (taken)
		return shd_fail_at(err, SHERD_ECORRUPT, "duplicate-name", shd_json_offset(j),
		                   "two shards have one name");
	return SHERD_OK;
}

static int plan_json_take_shards(shd_json *j, shd_rfdb_plan *plan, sherd_error *err)
{
	int rc;
	TRY(shd_json_array(j, err));
	while ((rc = shd_json_item(j, err)) > 0)
		TRY(plan_json_take_shard(j, plan, err));
	return rc;
}

static int take_directories(shd_json *j, shd_rfdb_plan *plan, sherd_error *err)
{
	shd_str key;
	int rc;
	TRY(shd_json_object(j, err));
	while ((rc = shd_json_key(j, &key, err)) > 0) {
		TRY(shd_rfdb_plan_add_place(plan, key, 0, err));
		uint32_t *shard = &plan->places[plan->place_count - 1].shard;
		TRY(shd_json_u32(j, shard, err));
		if (*shard >= SHD_RFDB_MAX_SHARDS)
			return shd_fail_at(err, SHERD_ECORRUPT, "out-of-range", shd_json_offset(j), "shard %" PRIu32,
			                   *shard);
	}
	return rc;
}

static int plan_json_take_member(shd_json *j, shd_str key, shd_rfdb_plan *plan, unsigned *has, sherd_error *err)
{
	if (shd_str_is(key, "format")) {
		*has |= HAS_FORMAT;
		return take_format(j, err);
	}
	if (shd_str_is(key, "version")) {
		*has |= HAS_VERSION;
		return plan_json_take_version(j, err);
	}
	if (shd_str_is(key, "min_files")) {
		*has |= HAS_MIN_FILES;
		return take_min_files(j, plan, err);
	}
	if (shd_str_is(key, "shards")) {
		*has |= HAS_SHARDS;
		return plan_json_take_shards(j, plan, err);
	}
	if (shd_str_is(key, "directories")) {
		*has |= HAS_DIRECTORIES;
		return take_directories(j, plan, err);
	}
	return shd_json_skip(j, err);
}

static int plan_json_check(const shd_rfdb_plan *plan, unsigned has, sherd_error *err)
{
	if (has != HAS_ALL)
		return shd_fail(err, SHERD_ECORRUPT, "missing-key",
		                "format, version, min_files, shards and directories are needed");
	for (size_t i = 0; i < plan->place_count; i++)
		if (plan->places[i].shard >= plan->shard_count)
			return shd_fail(err, SHERD_ECORRUPT, "out-of-range",
			                "a directory is in shard %" PRIu32 " of %" PRIu32, plan->places[i].shard,
			                plan->shard_count);
	return SHERD_OK;
}

int shd_rfdb_plan_decode(const void *data, size_t len, const sherd_limits *limits, shd_rfdb_plan *plan,
                         sherd_error *err)
{
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	shd_str key;
	unsigned has = 0;
	int rc;
	if (shd_seal_check(data, len) != SHD_SEAL_GOOD)
		return shd_fail(err, SHERD_ECORRUPT, "bad-seal", "the document does not end with the hash of itself");
	TRY(shd_json_open(&j, data, len, limits, err));
	TRY(shd_json_object(j, err));
	while ((rc = shd_json_key(j, &key, err)) > 0)
		TRY(plan_json_take_member(j, key, plan, &has, err));
	TRY(rc);
	TRY(shd_json_end(j, err));
	return plan_json_check(plan, has, err);
}

/* ---- writing */

static int plan_json_compare(const void *a, const void *b)
{
	const struct shd_rfdb_plan_place *x = a, *y = b;
	return shd_str_compare(x->directory, y->directory);
}

static void put_directories(const shd_rfdb_plan *plan, shd_json_writer *w)
{
	SHD_AUTO_VEC SHD_VEC(struct shd_rfdb_plan_place) sorted = {0};
	shd_vec_append(&sorted, plan->places, plan->place_count);
	w->buf->failed |= sorted.failed;
	struct shd_rfdb_plan_place *places = sorted.items;
	if (places)
		qsort(places, plan->place_count, sizeof(*places), plan_json_compare);
	shd_json_put_object(w, false);
	for (size_t i = 0; places && i < plan->place_count; i++) {
		shd_json_put_key_str(w, places[i].directory);
		shd_json_put_u64(w, places[i].shard);
	}
	shd_json_put_object_end(w);
}

void shd_rfdb_plan_encode(const shd_rfdb_plan *plan, shd_buf *out)
{
	shd_json_writer w;
	shd_json_writer_init(&w, out);
	shd_json_put_object(&w, false);
	shd_json_put_key(&w, "format");
	shd_json_put_string(&w, SHD_STR(FORMAT));
	shd_json_put_key(&w, "version");
	shd_json_put_u64(&w, 1);
	shd_json_put_key(&w, "min_files");
	shd_json_put_u64(&w, plan->min_files);
	shd_json_put_key(&w, "shards");
	shd_json_put_array(&w, false);
	for (uint32_t i = 0; i < plan->shard_count; i++)
		shd_json_put_string(&w, shd_str_of(plan->shards[i].name));
	shd_json_put_array_end(&w);
	shd_json_put_key(&w, "directories");
	put_directories(plan, &w);
	shd_seal_put(&w);
}

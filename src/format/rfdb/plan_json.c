#include "format/rfdb/plan.h"

#include "codec/json.h"
#include "codec/seal.h"
#include "format/rfdb/plan_state.h"

#include <inttypes.h>
#include <stdlib.h>

SHERD_AUTO_DEFINE(sherd_json, sherd_json_close)

#define FORMAT "sherd-shard-plan"

enum { HAS_FORMAT = 1, HAS_VERSION = 2, HAS_MIN_FILES = 4, HAS_SHARDS = 8, HAS_DIRECTORIES = 16, HAS_ALL = 31 };

/* ---- reading */

static int take_format(sherd_json *j, sherd_error *err)
{
	sherd_str s;
	TRY(sherd_json_string(j, &s, err));
	if (!sherd_str_is(s, FORMAT))
		return sherd_fail_at(err, SHERD_EUNSUPPORTED, "unknown-format", sherd_json_offset(j),
		                     "not a plan of shards");
	return SHERD_OK;
}

static int take_version(sherd_json *j, sherd_error *err)
{
	uint64_t version;
	TRY(sherd_json_u64(j, &version, err));
	if (version != 1)
		return sherd_fail_at(err, SHERD_EVERSION, "bad-version", sherd_json_offset(j),
		                     "version %" PRIu64 ", only 1 is known", version);
	return SHERD_OK;
}

static int take_min_files(sherd_json *j, sherd_rfdb_plan *plan, sherd_error *err)
{
	TRY(sherd_json_u32(j, &plan->min_files, err));
	if (!plan->min_files)
		return sherd_fail_at(err, SHERD_ECORRUPT, "out-of-range", sherd_json_offset(j), "min_files is 0");
	return SHERD_OK;
}

static int take_shard(sherd_json *j, sherd_rfdb_plan *plan, sherd_error *err)
{
	sherd_str s;
	bool taken;
	TRY(sherd_json_string(j, &s, err));
	if (plan->shard_count >= SHERD_RFDB_MAX_SHARDS)
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-count", sherd_json_offset(j), "more than %d shards",
		                     SHERD_RFDB_MAX_SHARDS);
	const char *name = sherd_arena_str(&plan->arena, s);
	if (!name)
		return sherd_fail_nomem(err);
	TRY(sherd_rfdb_plan_add_shard(plan, name, &taken, err));
	if (taken)
		return sherd_fail_at(err, SHERD_ECORRUPT, "duplicate-name", sherd_json_offset(j),
		                     "two shards have one name");
	return SHERD_OK;
}

static int take_shards(sherd_json *j, sherd_rfdb_plan *plan, sherd_error *err)
{
	int rc;
	TRY(sherd_json_array(j, err));
	while ((rc = sherd_json_item(j, err)) > 0)
		TRY(take_shard(j, plan, err));
	return rc;
}

static int take_directories(sherd_json *j, sherd_rfdb_plan *plan, sherd_error *err)
{
	sherd_str key;
	int rc;
	TRY(sherd_json_object(j, err));
	while ((rc = sherd_json_key(j, &key, err)) > 0) {
		TRY(sherd_rfdb_plan_add_place(plan, key, 0, err));
		uint32_t *shard = &plan->places[plan->place_count - 1].shard;
		TRY(sherd_json_u32(j, shard, err));
		if (*shard >= SHERD_RFDB_MAX_SHARDS)
			return sherd_fail_at(err, SHERD_ECORRUPT, "out-of-range", sherd_json_offset(j),
			                     "shard %" PRIu32, *shard);
	}
	return rc;
}

static int take_member(sherd_json *j, sherd_str key, sherd_rfdb_plan *plan, unsigned *has, sherd_error *err)
{
	if (sherd_str_is(key, "format")) {
		*has |= HAS_FORMAT;
		return take_format(j, err);
	}
	if (sherd_str_is(key, "version")) {
		*has |= HAS_VERSION;
		return take_version(j, err);
	}
	if (sherd_str_is(key, "min_files")) {
		*has |= HAS_MIN_FILES;
		return take_min_files(j, plan, err);
	}
	if (sherd_str_is(key, "shards")) {
		*has |= HAS_SHARDS;
		return take_shards(j, plan, err);
	}
	if (sherd_str_is(key, "directories")) {
		*has |= HAS_DIRECTORIES;
		return take_directories(j, plan, err);
	}
	return sherd_json_skip(j, err);
}

static int check(const sherd_rfdb_plan *plan, unsigned has, sherd_error *err)
{
	if (has != HAS_ALL)
		return sherd_fail(err, SHERD_ECORRUPT, "missing-key",
		                  "format, version, min_files, shards and directories are needed");
	for (size_t i = 0; i < plan->place_count; i++)
		if (plan->places[i].shard >= plan->shard_count)
			return sherd_fail(err, SHERD_ECORRUPT, "out-of-range",
			                  "a directory is in shard %" PRIu32 " of %" PRIu32, plan->places[i].shard,
			                  plan->shard_count);
	return SHERD_OK;
}

int sherd_rfdb_plan_decode(const void *data, size_t len, const sherd_limits *limits, sherd_rfdb_plan *plan,
                           sherd_error *err)
{
	SHERD_AUTO(sherd_json, sherd_json_close) j = NULL;
	sherd_str key;
	unsigned has = 0;
	int rc;
	if (sherd_seal_check(data, len) != SHERD_SEAL_GOOD)
		return sherd_fail(err, SHERD_ECORRUPT, "bad-seal", "the document does not end with the hash of itself");
	TRY(sherd_json_open(&j, data, len, limits, err));
	TRY(sherd_json_object(j, err));
	while ((rc = sherd_json_key(j, &key, err)) > 0)
		TRY(take_member(j, key, plan, &has, err));
	TRY(rc);
	TRY(sherd_json_end(j, err));
	return check(plan, has, err);
}

/* ---- writing */

static int compare(const void *a, const void *b)
{
	const struct sherd_rfdb_plan_place *x = a, *y = b;
	return sherd_str_compare(x->directory, y->directory);
}

static void put_directories(const sherd_rfdb_plan *plan, sherd_json_writer *w)
{
	SHERD_AUTO_BUF sorted = {0};
	sherd_buf_append(&sorted, plan->places, plan->place_count * sizeof(*plan->places));
	w->buf->failed |= sorted.failed;
	struct sherd_rfdb_plan_place *places = (struct sherd_rfdb_plan_place *)(void *)sorted.data;
	if (places)
		qsort(places, plan->place_count, sizeof(*places), compare);
	sherd_json_put_object(w, false);
	for (size_t i = 0; places && i < plan->place_count; i++) {
		sherd_json_put_key_str(w, places[i].directory);
		sherd_json_put_u64(w, places[i].shard);
	}
	sherd_json_put_object_end(w);
}

void sherd_rfdb_plan_encode(const sherd_rfdb_plan *plan, sherd_buf *out)
{
	sherd_json_writer w;
	sherd_json_writer_init(&w, out);
	sherd_json_put_object(&w, false);
	sherd_json_put_key(&w, "format");
	sherd_json_put_string(&w, SHERD_STR(FORMAT));
	sherd_json_put_key(&w, "version");
	sherd_json_put_u64(&w, 1);
	sherd_json_put_key(&w, "min_files");
	sherd_json_put_u64(&w, plan->min_files);
	sherd_json_put_key(&w, "shards");
	sherd_json_put_array(&w, false);
	for (uint32_t i = 0; i < plan->shard_count; i++)
		sherd_json_put_string(&w, sherd_str_of(plan->shards[i].name));
	sherd_json_put_array_end(&w);
	sherd_json_put_key(&w, "directories");
	put_directories(plan, &w);
	sherd_seal_put(&w);
}

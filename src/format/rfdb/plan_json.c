#include "format/rfdb/plan.h"

#include "codec/json_members.h"
#include "format/rfdb/plan_state.h"

#include <inttypes.h>
#include <stdlib.h>

#define FORMAT "sherd-shard-plan"

/* ---- reading */

static int take_min_files(void *arg, void *field, shd_json *j, sherd_error *err)
{
	shd_rfdb_plan *plan = arg;
	TRY(shd_json_u32(j, field, err));
	if (!plan->min_files)
		return shd_fail_at(err, SHERD_ECORRUPT, "out-of-range", shd_json_offset(j), "min_files is 0");
	return SHERD_OK;
}

static int plan_json_take_shard(void *arg, void *field, shd_json *j, sherd_error *err)
{
	shd_rfdb_plan *plan = arg;
	shd_str s;
	bool taken;
	(void)field;
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

static int plan_json_take_shards(void *arg, void *field, shd_json *j, sherd_error *err)
{
	return shd_json_items(j, plan_json_take_shard, arg, field, err);
}

static int take_directories(void *arg, void *field, shd_json *j, sherd_error *err)
{
	shd_rfdb_plan *plan = arg;
	shd_str key;
	int rc;
	(void)field;
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

int shd_rfdb_plan_decode(const void *data, size_t len, const sherd_limits *limits, shd_rfdb_plan *plan,
                         sherd_error *err)
{
	static const shd_json_member members[] = {
		{"format", SHD_JSON_FORMAT, .text = FORMAT, .needed = true},
		{"version", SHD_JSON_VERSION_1, .needed = true},
		{"min_files", .take = take_min_files, .at = offsetof(shd_rfdb_plan, min_files), .needed = true},
		{"shards", .take = plan_json_take_shards, .needed = true},
		{"directories", .take = take_directories, .needed = true},
		{0},
	};
	TRY(shd_json_sealed(data, len, limits, members, plan, plan, err));
	for (size_t i = 0; i < plan->place_count; i++)
		if (plan->places[i].shard >= plan->shard_count)
			return shd_fail(err, SHERD_ECORRUPT, "out-of-range",
			                "a directory is in shard %" PRIu32 " of %" PRIu32, plan->places[i].shard,
			                plan->shard_count);
	return SHERD_OK;
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
	shd_json_put_key_text(&w, "format", FORMAT);
	shd_json_put_key_u64(&w, "version", 1);
	shd_json_put_key_u64(&w, "min_files", plan->min_files);
	shd_json_put_key_array(&w, "shards", false);
	for (uint32_t i = 0; i < plan->shard_count; i++)
		shd_json_put_string(&w, shd_str_of(plan->shards[i].name));
	shd_json_put_array_end(&w);
	shd_json_put_key(&w, "directories");
	put_directories(plan, &w);
	shd_seal_put(&w);
}

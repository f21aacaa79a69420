/* engine/graph/create.c - a new database: folders and configuration first, current.json last. */
#include "engine/graph/create.h"

#include "engine/graph/open.h"

#include <stdlib.h>

SHERD_AUTO_DEFINE(sherd_lock, sherd_lock_release)

enum { DEFAULT_SHARDS = 8 };

static int check_layout(const sherd_graph_layout *l, sherd_error *err)
{
	if (l->planner != SHERD_GRAPH_HASH && l->planner != SHERD_GRAPH_DIRECTORY)
		return sherd_fail(err, SHERD_EINVAL, "bad-argument", "no such planner");
	if (l->shards > SHERD_RFDB_MAX_SHARDS)
		return sherd_fail(err, SHERD_EINVAL, "too-many-shards", "at most %d shards", SHERD_RFDB_MAX_SHARDS);
	return SHERD_OK;
}

static int make_folder(const graph_place *p, const char *name, sherd_error *err)
{
	graph_key key;
	if (!(sherd_store_caps(p->store) & SHERD_CAP_MKDIR))
		return SHERD_OK;
	TRY(sherd_graph_place_key(p, name, &key, err));
	return sherd_in_object(err, sherd_store_mkdir(p->store, key.text, err), key.text);
}

int sherd_graph_make_shards(const graph_place *p, uint32_t from, uint32_t to, sherd_error *err)
{
	for (uint32_t shard = from; shard < to; shard++) {
		char name[SHERD_RFDB_NAME_MAX];
		sherd_rfdb_folder_name(shard, name);
		TRY(make_folder(p, name, err));
	}
	return SHERD_OK;
}

int sherd_graph_write_config(const graph_place *p, const sherd_rfdb_config *config, sherd_error *err)
{
	SHERD_AUTO_BUF text = {0};
	sherd_rfdb_config_encode(config, &text);
	return sherd_graph_place_put(p, SHERD_RFDB_CONFIG, SHERD_WRITE_REPLACE, &text, err);
}

int sherd_graph_write_plan(const graph_place *p, const sherd_rfdb_plan *plan, sherd_error *err)
{
	SHERD_AUTO_BUF text = {0};
	sherd_rfdb_plan_encode(plan, &text);
	return sherd_graph_place_put(p, SHERD_RFDB_PLAN, SHERD_WRITE_REPLACE, &text, err);
}

static int write_empty_plan(const graph_place *p, uint32_t min_files, sherd_error *err)
{
	sherd_rfdb_plan plan;
	sherd_rfdb_plan_init(&plan, min_files);
	int rc = sherd_graph_write_plan(p, &plan, err);
	sherd_rfdb_plan_done(&plan);
	return rc;
}

static int write_first_version(const graph_place *p, uint64_t created_at, sherd_error *err)
{
	SHERD_AUTO_BUF manifest = {0};
	SHERD_AUTO_BUF index = {0};
	SHERD_AUTO_BUF current = {0};
	char name[SHERD_RFDB_NAME_MAX];
	const sherd_rfdb_manifest m = {
		.version = 1, .created_at = created_at, .counts = {.known = true, .placed = true}};
	const sherd_rfdb_snapshot snapshot = {.version = 1, .created_at = created_at};
	const sherd_rfdb_index x = {.latest = 1, .snapshots = &snapshot, .count = 1};
	sherd_rfdb_manifest_name(1, false, name);
	sherd_rfdb_manifest_encode(&m, &manifest);
	sherd_rfdb_index_encode(&x, &index);
	sherd_rfdb_current_encode(1, &current);
	TRY(sherd_graph_place_put(p, name, SHERD_WRITE_REPLACE, &manifest, err));
	TRY(sherd_graph_place_put(p, SHERD_RFDB_INDEX, SHERD_WRITE_REPLACE, &index, err));
	return sherd_graph_place_put(p, SHERD_RFDB_CURRENT, SHERD_WRITE_NEW, &current, err);
}

static int create(const graph_place *p, const sherd_graph_layout *layout, uint64_t created_at, sherd_error *err)
{
	SHERD_AUTO(sherd_lock, sherd_lock_release) lock = NULL;
	bool hash = layout->planner == SHERD_GRAPH_HASH;
	const sherd_rfdb_config config = {.shards = (uint16_t)(!hash            ? 1
	                                                       : layout->shards ? layout->shards
	                                                                        : DEFAULT_SHARDS),
	                                  .planner = hash ? SHERD_RFDB_HASH : SHERD_RFDB_DIRECTORY,
	                                  .created_at = created_at};
	int there = sherd_graph_place_has(p, SHERD_RFDB_CURRENT, err);
	TRY(there);
	if (!there) {
		TRY(sherd_graph_lock_writer(p, &lock, err));
		there = sherd_graph_place_has(p, SHERD_RFDB_CURRENT, err);
		TRY(there);
	}
	if (there)
		return sherd_fail(err, SHERD_EEXIST, "exists", "the folder holds a database");
	TRY(make_folder(p, "manifests", err));
	TRY(sherd_graph_make_shards(p, 0, config.shards, err));
	TRY(sherd_graph_write_config(p, &config, err));
	if (!hash)
		TRY(write_empty_plan(p, layout->min_files, err));
	return write_first_version(p, created_at, err);
}

int sherd_graph_create(sherd_store *store, const char *folder, const sherd_graph_layout *layout, int64_t time_ms,
                       sherd_error *err)
{
	static const sherd_graph_layout defaults = {0};
	graph_place place;
	if (!layout)
		layout = &defaults;
	TRY(check_layout(layout, err));
	TRY(sherd_graph_place_init(&place, store, folder, NULL, err));
	int rc = sherd_in_object(err, create(&place, layout, time_ms > 0 ? (uint64_t)time_ms / 1000 : 0, err), folder);
	sherd_graph_place_done(&place);
	return rc;
}

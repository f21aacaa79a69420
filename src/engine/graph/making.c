#include "engine/graph/making.h"

#include "engine/graph/create.h"
#include "engine/graph/open.h"

enum { DEFAULT_SHARDS = 8 };

static int check_layout(const sherd_graph_layout *l, sherd_error *err)
{
	if (l->planner != SHERD_GRAPH_HASH && l->planner != SHERD_GRAPH_DIRECTORY)
		return sherd_fail(err, SHERD_EINVAL, "bad-argument", "no such planner");
	if (l->shards > SHERD_RFDB_MAX_SHARDS)
		return sherd_fail(err, SHERD_EINVAL, "too-many-shards", "at most %d shards", SHERD_RFDB_MAX_SHARDS);
	return SHERD_OK;
}

/* ---- what is there */

static bool is_part(const char *name)
{
	sherd_str s = sherd_str_of(name);
	sherd_rfdb_file file;
	uint64_t number, version;
	bool edit;
	return sherd_rfdb_manifest_parse(s, &version, &edit) || sherd_rfdb_held_parse(s, &version, &number) ||
	       sherd_rfdb_file_parse(s, &file);
}

static const char *const documents[] = {SHERD_RFDB_INDEX, SHERD_RFDB_PLAN, SHERD_RFDB_CONFIG};

static bool note_part(void *arg, const char *name, const sherd_stat *stat)
{
	(void)stat;
	sherd_buf *names = arg;
	if (is_part(name))
		sherd_buf_append(names, name, strlen(name) + 1);
	return !names->failed;
}

static bool find_part(void *arg, const char *name, const sherd_stat *stat)
{
	(void)stat;
	*(bool *)arg = is_part(name);
	return !*(bool *)arg;
}

/* 1 when there is any part of a database, 0 when not. */
static int has_parts(const graph_place *p, sherd_error *err)
{
	bool found = false;
	TRY(sherd_graph_place_list(p, SHERD_RFDB_MANIFESTS, find_part, &found, err));
	if (!found)
		TRY(sherd_graph_place_list(p, SHERD_RFDB_SEGMENTS, find_part, &found, err));
	for (size_t i = 0; !found && i < COUNT_OF(documents); i++) {
		int rc = sherd_graph_place_has(p, documents[i], err);
		TRY(rc);
		found = rc;
	}
	return found;
}

/* Was it there before? A folder alone is no object. */
static bool has_folder(const graph_place *p)
{
	char name[SHERD_MAX_KEY + 1];
	sherd_error found = {0};
	sherd_stat stat;
	size_t len = strlen(p->folder);
	if (!len || len >= sizeof(name) || !(sherd_store_caps(p->store) & SHERD_CAP_MKDIR))
		return true;
	memcpy(name, p->folder, len);
	name[len - 1] = 0;
	return sherd_store_stat(p->store, name, &stat, &found) != SHERD_ENOTFOUND ||
	       strcmp(found.reason, "not-found") != 0;
}

/* ---- clearing */

/* Not the database any more before anything of it goes. */
static int clear(const graph_place *p, sherd_error *err)
{
	SHERD_AUTO_BUF names = {0};
	TRY(sherd_graph_place_remove(p, SHERD_RFDB_CURRENT, err));
	TRY(sherd_graph_place_list(p, SHERD_RFDB_MANIFESTS, note_part, &names, err));
	TRY(sherd_graph_place_list(p, SHERD_RFDB_SEGMENTS, note_part, &names, err));
	TRY(sherd_buf_check(&names, err));
	for (size_t at = 0; at < names.len; at += strlen((const char *)names.data + at) + 1)
		TRY(sherd_graph_place_remove(p, (const char *)names.data + at, err));
	for (size_t i = 0; i < COUNT_OF(documents); i++)
		TRY(sherd_graph_place_remove(p, documents[i], err));
	return SHERD_OK;
}

static int remove_folders(const graph_making *m, sherd_error *err)
{
	const graph_place *p = m->place;
	char name[SHERD_MAX_KEY + 1];
	for (uint32_t shard = 0; shard < m->shards; shard++) {
		sherd_rfdb_folder_name(shard, name);
		TRY(sherd_graph_place_rmdir(p, name, err));
	}
	TRY(sherd_graph_place_rmdir(p, "segments", err));
	TRY(sherd_graph_place_rmdir(p, "manifests", err));
	memcpy(name, p->folder, strlen(p->folder));
	name[strlen(p->folder) - 1] = 0;
	return sherd_store_rmdir(p->store, name, err);
}

/* graph.making goes last but for LOCK, so that what cannot be removed is known for what it is. */
static int undo(const graph_making *m, sherd_error *err)
{
	if (m->claimed) {
		TRY(clear(m->place, err));
		TRY(sherd_graph_place_remove(m->place, SHERD_RFDB_MAKING, err));
	}
	if (m->made_lock)
		TRY(sherd_graph_place_remove(m->place, SHERD_RFDB_LOCK, err));
	return m->made_folder ? remove_folders(m, err) : SHERD_OK;
}

/* ---- making */

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
	char name[SHERD_RFDB_NAME_MAX];
	const sherd_rfdb_manifest m = {
		.version = 1, .created_at = created_at, .counts = {.known = true, .placed = true}};
	const sherd_rfdb_snapshot snapshot = {.version = 1, .created_at = created_at};
	const sherd_rfdb_index x = {.latest = 1, .snapshots = &snapshot, .count = 1};
	sherd_rfdb_manifest_name(1, false, name);
	sherd_rfdb_manifest_encode(&m, &manifest);
	sherd_rfdb_index_encode(&x, &index);
	TRY(sherd_graph_place_put(p, name, SHERD_WRITE_REPLACE, &manifest, err));
	return sherd_graph_place_put(p, SHERD_RFDB_INDEX, SHERD_WRITE_REPLACE, &index, err);
}

static int make(graph_making *m, const sherd_graph_layout *layout, uint64_t created_at, sherd_error *err)
{
	const graph_place *p = m->place;
	bool hash = layout->planner == SHERD_GRAPH_HASH;
	m->shards = !hash ? 1 : layout->shards ? layout->shards : DEFAULT_SHARDS;
	const sherd_rfdb_config config = {.shards = (uint16_t)m->shards,
	                                  .planner = hash ? SHERD_RFDB_HASH : SHERD_RFDB_DIRECTORY,
	                                  .created_at = created_at};
	TRY(sherd_graph_place_mkdir(p, "manifests", err));
	TRY(sherd_graph_make_shards(p, 0, config.shards, err));
	TRY(sherd_graph_write_config(p, &config, err));
	if (!hash)
		TRY(write_empty_plan(p, layout->min_files, err));
	return write_first_version(p, created_at, err);
}

static int check_absent(const graph_place *p, sherd_error *err)
{
	int there = sherd_graph_place_has(p, SHERD_RFDB_CURRENT, err);
	TRY(there);
	return there ? sherd_fail(err, SHERD_EEXIST, "exists", "the folder holds a database") : SHERD_OK;
}

/* Never a LOCK of somebody else, who might hold it by now, is taken for ours. */
static int take_lock(graph_making *m, sherd_error *err)
{
	graph_key key;
	sherd_error failure = {0};
	if (!(sherd_store_caps(m->place->store) & SHERD_CAP_LOCK))
		return SHERD_OK;
	TRY(sherd_graph_place_key(m->place, SHERD_RFDB_LOCK, &key, err));
	int rc = sherd_store_create_locked(m->place->store, key.text, "", 0, SHERD_LOCK_EXCLUSIVE, &m->lock, &failure);
	if (rc == SHERD_EEXIST)
		return sherd_graph_lock_writer(m->place, &m->lock, err);
	m->made_lock = rc == SHERD_OK;
	if (rc < 0 && err)
		*err = failure;
	return rc;
}

/* Under the lock: whoever left graph.making is dead. */
static int claim(graph_making *m, sherd_error *err)
{
	const graph_place *p = m->place;
	const sherd_buf nothing = {0};
	TRY(check_absent(p, err));
	int there = sherd_graph_place_has(p, SHERD_RFDB_MAKING, err);
	TRY(there);
	if (there) {
		m->claimed = true;
		return clear(p, err);
	}
	there = has_parts(p, err);
	TRY(there);
	if (there)
		return sherd_fail(err, SHERD_EEXIST, "leftovers",
		                  "parts of a database, but no " SHERD_RFDB_CURRENT ": remove them first");
	m->claimed = true;
	return sherd_graph_place_put(p, SHERD_RFDB_MAKING, SHERD_WRITE_NEW, &nothing, err);
}

int sherd_graph_making_begin(graph_making *m, const graph_place *p, const sherd_graph_layout *layout, int64_t time_ms,
                             sherd_error *err)
{
	static const sherd_graph_layout defaults = {0};
	layout = layout ? layout : &defaults;
	*m = (graph_making){.place = p};
	TRY(check_layout(layout, err));
	TRY(check_absent(p, err));
	m->made_folder = !has_folder(p);
	int rc = take_lock(m, err);
	if (rc == SHERD_OK)
		rc = claim(m, err);
	if (rc == SHERD_OK)
		rc = make(m, layout, time_ms > 0 ? (uint64_t)time_ms / 1000 : 0, err);
	return rc < 0 ? sherd_graph_making_end(m, rc) : SHERD_OK;
}

int sherd_graph_making_publish(graph_making *m, sherd_error *err)
{
	SHERD_AUTO_BUF current = {0};
	sherd_rfdb_current_encode(1, &current);
	int rc = sherd_graph_place_put(m->place, SHERD_RFDB_CURRENT, SHERD_WRITE_NEW, &current, err);
	/* On a store that cannot lock somebody else was quicker, and it is theirs. */
	if (rc == SHERD_EEXIST)
		m->claimed = false;
	return rc;
}

int sherd_graph_making_end(graph_making *m, int rc)
{
	/* A graph.making beside current.json means nothing, and the collector removes it. */
	if (rc == SHERD_OK)
		(void)sherd_graph_place_remove(m->place, SHERD_RFDB_MAKING, NULL);
	else
		(void)undo(m, NULL);
	sherd_lock_release(TAKE(m->lock));
	return rc;
}

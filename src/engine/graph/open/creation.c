#include "engine/graph/open/creation.h"

#include "engine/graph/open/create.h"
#include "engine/graph/open/open.h"
#include "engine/tensors/folder.h"

#include <stdlib.h>

enum { DEFAULT_SHARDS = 8 };

static int check_layout(const sherd_graph_layout *l, sherd_error *err)
{
	if (l->planner != SHERD_GRAPH_HASH && l->planner != SHERD_GRAPH_DIRECTORY)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "no such planner");
	if (l->shards > SHD_RFDB_MAX_SHARDS)
		return shd_fail(err, SHERD_EINVAL, "too-many-shards", "at most %d shards", SHD_RFDB_MAX_SHARDS);
	return SHERD_OK;
}

/* ---- what is there */

static bool is_part(const char *name)
{
	shd_str s = shd_str_of(name);
	shd_rfdb_file file;
	uint64_t number, version;
	bool edit;
	return shd_rfdb_manifest_parse(s, &version, &edit) || shd_rfdb_held_parse(s, &version, &number) ||
	       shd_rfdb_file_parse(s, &file) || shd_rfdb_run_parse(s, &number);
}

static const char *const documents[] = {SHD_RFDB_INDEX, SHD_RFDB_PLAN, SHD_RFDB_CONFIG};

static bool note_part(void *arg, const char *name, const sherd_stat *stat)
{
	shd_buf *parts = arg;
	if (is_part(name))
		shd_graph_note(parts, name, stat);
	return !parts->failed;
}

/* Everything but current.json, graph.making and LOCK. */
static int note_parts(const graph_place *p, shd_buf *parts, sherd_error *err)
{
	TRY(shd_graph_place_list(p, SHD_RFDB_MANIFESTS, note_part, parts, err));
	TRY(shd_graph_place_list(p, SHD_RFDB_SEGMENTS, note_part, parts, err));
	TRY(shd_buf_check(parts, err));
	TRY(shd_graph_note_again(p, parts, err));
	for (size_t i = 0; i < COUNT_OF(documents); i++)
		TRY(shd_graph_note_now(p, parts, documents[i], err));
	return shd_buf_check(parts, err);
}

/* ---- clearing */

static int remove_folders(const graph_creation *m, sherd_error *err)
{
	char name[SHD_RFDB_NAME_MAX];
	for (uint32_t shard = 0; shard < m->shards; shard++) {
		shd_rfdb_folder_name(shard, name);
		TRY(shd_graph_place_rmdir(m->place, name, err));
	}
	TRY(shd_graph_place_rmdir(m->place, "segments", err));
	return shd_graph_place_rmdir(m->place, "manifests", err);
}

/* What is there is ours as long as the head is: it is noted, then the head is taken so that nobody else can be about to
 * publish it, then it goes. graph.making and the head go last, so that what cannot be removed is known for what it is.
 * All that happens under the lock: who has it next makes the same folders. Who never had the claim has made none. */
static int creation_undo(graph_creation *m, sherd_error *err)
{
	if (m->has_head) {
		SHD_AUTO_BUF parts = {0};
		TRY(note_parts(m->place, &parts, err));
		TRY(shd_graph_head_vacate(m->place, &m->head, err));
		TRY(shd_graph_remove_noted(m->place, &parts, err));
		if (m->missing)
			TRY(remove_folders(m, err));
		TRY(shd_graph_place_remove(m->place, SHD_RFDB_CLAIM, err));
		TRY(shd_graph_place_remove_if(m->place, SHD_RFDB_CURRENT, m->head.identity, err));
	} else if (m->claimed) {
		TRY(shd_graph_place_remove(m->place, SHD_RFDB_CLAIM, err));
	}
	if (!m->lock.joined)
		TRY(shd_claim_drop(&m->lock, err));
	shd_folder_remove_made(m->place->store, m->place->folder, m->missing);
	return SHERD_OK;
}

/* ---- creation */

static int write_empty_plan(graph_creation *m, uint32_t min_files, sherd_error *err)
{
	shd_rfdb_plan plan;
	shd_rfdb_plan_init(&plan, min_files);
	int rc = shd_graph_write_plan(m->place, &plan, m->plan_identity, err);
	shd_rfdb_plan_done(&plan);
	return rc;
}

static int write_first_version(graph_creation *creation, uint64_t created_at, sherd_error *err)
{
	SHD_AUTO_BUF manifest = {0};
	SHD_AUTO_BUF index = {0};
	char name[SHD_RFDB_NAME_MAX];
	const shd_rfdb_manifest m = {.version = 1, .created_at = created_at, .counts = {.known = true, .placed = true}};
	const shd_rfdb_snapshot snapshot = {.version = 1, .created_at = created_at};
	const shd_rfdb_index x = {.latest = 1, .snapshots = &snapshot, .count = 1};
	const sherd_write_options o = {.mode = SHERD_WRITE_NEW, .identity = creation->manifest_identity};
	shd_rfdb_manifest_name(1, false, name);
	shd_rfdb_manifest_encode(&m, &manifest);
	shd_rfdb_index_encode(&x, &index);
	int rc = shd_graph_place_write(creation->place, name, &o, &manifest, err);
	if (rc == SHERD_EEXIST)
		return shd_graph_head_fail(err);
	TRY(rc);
	return shd_graph_place_put(creation->place, SHD_RFDB_INDEX, SHERD_WRITE_REPLACE, &index, err);
}

static int creation_make(graph_creation *m, const sherd_graph_layout *layout, uint64_t created_at, sherd_error *err)
{
	const graph_place *p = m->place;
	bool hash = layout->planner == SHERD_GRAPH_HASH;
	m->shards = !hash ? 1 : layout->shards ? layout->shards : DEFAULT_SHARDS;
	const shd_rfdb_config config = {.shards = (uint16_t)m->shards,
	                                .planner = hash ? SHD_RFDB_HASH : SHD_RFDB_DIRECTORY,
	                                .created_at = created_at};
	TRY(shd_graph_place_mkdir(p, "manifests", err));
	TRY(shd_graph_make_shards(p, 0, config.shards, err));
	TRY(shd_graph_write_config(p, &config, m->config_identity, err));
	if (!hash)
		TRY(write_empty_plan(m, layout->min_files, err));
	return write_first_version(m, created_at, err);
}

/* Is there a head? 1: of one that is being made; 0: no. Whatever else is there is not touched. */
static int check_absent(const graph_place *p, graph_head *head, sherd_error *err)
{
	int rc = shd_graph_head_look(p, head, NULL);
	if (rc == SHERD_OK && head->current.vacant)
		return 1;
	if (rc != SHERD_OK) {
		rc = shd_graph_place_has(p, SHD_RFDB_CURRENT, err);
		if (rc <= 0)
			return rc;
	}
	return shd_fail(err, SHERD_EEXIST, "exists", "the folder holds a database");
}

/* The head becomes ours. Parts were noted before: whoever wrote them cannot publish them any more. */
static int creation_take_head(graph_creation *m, bool there, bool parts, sherd_error *err)
{
	const graph_place *p = m->place;
	const shd_buf nothing = {0};
	if (there)
		return shd_graph_head_fence(p, &m->head, err);
	int rc = shd_graph_place_has(p, SHD_RFDB_CLAIM, err);
	TRY(rc);
	if (!rc && parts)
		return shd_fail(err, SHERD_EEXIST, "leftovers",
		                "parts of a database, but no " SHD_RFDB_CURRENT ": remove them first");
	if (!rc) {
		sherd_error failure = {0};
		rc = shd_graph_place_put(p, SHD_RFDB_CLAIM, SHERD_WRITE_NEW, &nothing, &failure);
		m->claimed = rc == SHERD_OK;
		if (rc < 0 && rc != SHERD_EEXIST)
			return shd_pass(err, rc, &failure);
	}
	rc = shd_graph_head_create(p, &m->head, err);
	if (rc < 0 && *m->head.identity)
		(void)shd_graph_place_remove_if(p, SHD_RFDB_CURRENT, m->head.identity, NULL);
	return rc;
}

/* Whoever left a head without a version is dead, or will be refused. */
static int creation_claim(graph_creation *m, sherd_error *err)
{
	SHD_AUTO_BUF parts = {0};
	int there = check_absent(m->place, &m->head, err);
	TRY(there);
	TRY(note_parts(m->place, &parts, err));
	TRY(creation_take_head(m, there, parts.len, err));
	m->has_head = true;
	return shd_graph_remove_noted(m->place, &parts, err);
}

int shd_graph_creation_begin(graph_creation *m, const graph_place *p, const sherd_graph_layout *layout, int64_t time_ns,
                             sherd_error *err)
{
	static const sherd_graph_layout defaults = {0};
	layout = layout ? layout : &defaults;
	*m = (graph_creation){.place = p};
	TRY(check_layout(layout, err));
	TRY(check_absent(p, &m->head, err));
	TRY(shd_folder_missing(p->store, p->folder, &m->missing, err));
	int rc = shd_graph_claim_writer(&m->lock, p, err);
	if (rc == SHERD_OK)
		rc = creation_claim(m, err);
	if (rc == SHERD_OK)
		rc = shd_graph_head_judge(
			p, &m->head, creation_make(m, layout, time_ns > 0 ? (uint64_t)time_ns / 1000000000 : 0, err),
			err);
	return rc < 0 ? shd_graph_creation_end(m, rc) : SHERD_OK;
}

int shd_graph_creation_publish(graph_creation *m, sherd_error *err)
{
	char name[SHD_RFDB_NAME_MAX];
	bool unknown;
	shd_rfdb_manifest_name(1, false, name);
	return shd_graph_head_advance(m->place, &m->head, 1, &(graph_made){name, m->manifest_identity}, &unknown, err);
}

int shd_graph_creation_end(graph_creation *m, int rc)
{
	/* A graph.making beside current.json means nothing, and the collector removes it. */
	if (rc == SHERD_OK)
		(void)shd_graph_place_remove(m->place, SHD_RFDB_CLAIM, NULL);
	else
		(void)creation_undo(m, NULL);
	shd_claim_leave(&m->lock);
	return rc;
}

/* engine/graph/shards/plan.c - planning shards without a database. */
#include "engine/graph/graph.h"
#include "format/rfdb/path.h"

#include <stdlib.h>

struct sherd_graph_plan {
	sherd_graph_planner planner;
	uint16_t shards; /* HASH */
	shd_map known;   /* HASH: shards of the directories of files that were added */
	shd_arena arena; /* of their names */
	shd_rfdb_plan plan;
	bool broken;
};

enum { DEFAULT_SHARDS = 8 };

int sherd_graph_plan_open(sherd_graph_plan **out, const sherd_graph_layout *layout, sherd_error *err)
{
	static const sherd_graph_layout defaults = {0};
	const sherd_graph_layout *l = layout ? layout : &defaults;
	if (l->shards > SHD_RFDB_MAX_SHARDS)
		return shd_fail(err, SHERD_EINVAL, "too-many-shards", "at most %d shards", SHD_RFDB_MAX_SHARDS);
	sherd_graph_plan *p = calloc(1, sizeof(*p));
	if (!p)
		return shd_fail_nomem(err);
	p->planner = l->planner;
	p->shards = (uint16_t)(l->shards ? l->shards : DEFAULT_SHARDS);
	shd_rfdb_plan_init(&p->plan, l->min_files);
	*out = p;
	return SHERD_OK;
}

void sherd_graph_plan_close(sherd_graph_plan *p)
{
	if (!p)
		return;
	shd_rfdb_plan_done(&p->plan);
	shd_map_done(&p->known);
	shd_arena_done(&p->arena);
	free(p);
}

/* Hashing a directory costs more than finding it. */
static int know_directories(sherd_graph_plan *p, const sherd_graph_text *files, size_t count, sherd_error *err)
{
	shd_str last = {NULL, 0};
	for (size_t i = 0; i < count; i++) {
		bool ok;
		shd_str file = graph_text_in(files[i]), parent = shd_rfdb_path_parent(file);
		if (last.ptr && shd_str_compare(last, parent) == 0)
			continue;
		last = parent;
		if (shd_map_find(&p->known, parent) != SHD_MAP_NONE)
			continue;
		const shd_str mine = {shd_arena_str(&p->arena, parent), parent.len};
		if (!mine.ptr)
			return shd_fail_nomem(err);
		(void)shd_map_add(&p->known, mine, shd_rfdb_hash_shard(file, p->shards), &ok);
		if (!ok)
			return shd_fail_nomem(err);
	}
	return SHERD_OK;
}

int sherd_graph_plan_add(sherd_graph_plan *p, const sherd_graph_text *files, size_t count, sherd_error *err)
{
	if (p->planner == SHERD_GRAPH_HASH)
		return know_directories(p, files, count, err);
	if (p->broken)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "the plan failed before");
	shd_str *list = malloc((count + 1) * sizeof(*list));
	if (!list)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		list[i] = graph_text_in(files[i]);
	int rc = shd_rfdb_plan_extend(&p->plan, list, count, NULL, err);
	p->broken = rc < 0;
	free(list);
	return rc;
}

uint32_t sherd_graph_plan_shards(const sherd_graph_plan *p)
{
	return p->planner == SHERD_GRAPH_HASH ? p->shards : p->plan.shard_count;
}

uint32_t sherd_graph_plan_shard(const sherd_graph_plan *p, sherd_graph_text file)
{
	uint16_t shard;
	if (p->planner == SHERD_GRAPH_HASH) {
		size_t known = shd_map_find(&p->known, shd_rfdb_path_parent(graph_text_in(file)));
		return known != SHD_MAP_NONE ? (uint32_t)known : shd_rfdb_hash_shard(graph_text_in(file), p->shards);
	}
	return shd_rfdb_plan_find(&p->plan, graph_text_in(file), &shard) ? shard : p->plan.shard_count;
}

const char *sherd_graph_plan_name(const sherd_graph_plan *p, uint32_t shard)
{
	const char *name = p->planner == SHERD_GRAPH_HASH ? NULL : shd_rfdb_plan_name(&p->plan, shard);
	return name ? name : "";
}

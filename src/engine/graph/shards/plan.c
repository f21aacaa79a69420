/* engine/graph/shards/plan.c - planning shards without a database. */
#include "engine/graph/graph.h"
#include "format/rfdb/path.h"

#include <stdlib.h>

struct sherd_graph_plan {
	sherd_graph_planner planner;
	uint16_t shards;   /* HASH */
	sherd_map known;   /* HASH: shards of the directories of files that were added */
	sherd_arena arena; /* of their names */
	sherd_rfdb_plan plan;
	bool broken;
};

enum { DEFAULT_SHARDS = 8 };

int sherd_graph_plan_open(sherd_graph_plan **out, const sherd_graph_layout *layout, sherd_error *err)
{
	static const sherd_graph_layout defaults = {0};
	const sherd_graph_layout *l = layout ? layout : &defaults;
	if (l->shards > SHERD_RFDB_MAX_SHARDS)
		return sherd_fail(err, SHERD_EINVAL, "too-many-shards", "at most %d shards", SHERD_RFDB_MAX_SHARDS);
	sherd_graph_plan *p = calloc(1, sizeof(*p));
	if (!p)
		return sherd_fail_nomem(err);
	p->planner = l->planner;
	p->shards = (uint16_t)(l->shards ? l->shards : DEFAULT_SHARDS);
	sherd_rfdb_plan_init(&p->plan, l->min_files);
	*out = p;
	return SHERD_OK;
}

void sherd_graph_plan_close(sherd_graph_plan *p)
{
	if (!p)
		return;
	sherd_rfdb_plan_done(&p->plan);
	sherd_map_done(&p->known);
	sherd_arena_done(&p->arena);
	free(p);
}

/* Hashing a directory costs more than finding it. */
static int know_directories(sherd_graph_plan *p, const sherd_graph_text *files, size_t count, sherd_error *err)
{
	sherd_str last = {NULL, 0};
	for (size_t i = 0; i < count; i++) {
		bool ok;
		sherd_str file = graph_text_in(files[i]), parent = sherd_rfdb_path_parent(file);
		if (last.ptr && sherd_str_compare(last, parent) == 0)
			continue;
		last = parent;
		if (sherd_map_find(&p->known, parent) != SHERD_MAP_NONE)
			continue;
		const sherd_str mine = {sherd_arena_str(&p->arena, parent), parent.len};
		if (!mine.ptr)
			return sherd_fail_nomem(err);
		(void)sherd_map_add(&p->known, mine, sherd_rfdb_hash_shard(file, p->shards), &ok);
		if (!ok)
			return sherd_fail_nomem(err);
	}
	return SHERD_OK;
}

int sherd_graph_plan_add(sherd_graph_plan *p, const sherd_graph_text *files, size_t count, sherd_error *err)
{
	if (p->planner == SHERD_GRAPH_HASH)
		return know_directories(p, files, count, err);
	if (p->broken)
		return sherd_fail(err, SHERD_EINVAL, "bad-argument", "the plan failed before");
	sherd_str *list = malloc((count + 1) * sizeof(*list));
	if (!list)
		return sherd_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		list[i] = graph_text_in(files[i]);
	int rc = sherd_rfdb_plan_extend(&p->plan, list, count, NULL, err);
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
		size_t known = sherd_map_find(&p->known, sherd_rfdb_path_parent(graph_text_in(file)));
		return known != SHERD_MAP_NONE ? (uint32_t)known
		                               : sherd_rfdb_hash_shard(graph_text_in(file), p->shards);
	}
	return sherd_rfdb_plan_find(&p->plan, graph_text_in(file), &shard) ? shard : p->plan.shard_count;
}

const char *sherd_graph_plan_name(const sherd_graph_plan *p, uint32_t shard)
{
	const char *name = p->planner == SHERD_GRAPH_HASH ? NULL : sherd_rfdb_plan_name(&p->plan, shard);
	return name ? name : "";
}

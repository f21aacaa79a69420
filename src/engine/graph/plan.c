/* engine/graph/plan.c - planning shards without a database. */
#include "engine/graph/graph.h"

#include <stdlib.h>

struct sherd_graph_plan {
	sherd_graph_planner planner;
	uint16_t shards; /* HASH */
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
	free(p);
}

/* The planner wants each file once. */
static int distinct(const sherd_graph_text *files, size_t count, sherd_str *out, size_t *kept, sherd_error *err)
{
	sherd_map map = {0};
	bool ok = sherd_map_reserve(&map, count);
	*kept = 0;
	for (size_t i = 0; ok && i < count; i++) {
		out[*kept] = graph_text_in(files[i]);
		if (sherd_map_add(&map, out[*kept], i, &ok) == SHERD_MAP_NONE)
			(*kept)++;
	}
	sherd_map_done(&map);
	return ok ? SHERD_OK : sherd_fail_nomem(err);
}

int sherd_graph_plan_add(sherd_graph_plan *p, const sherd_graph_text *files, size_t count, sherd_error *err)
{
	size_t kept;
	if (p->planner == SHERD_GRAPH_HASH)
		return SHERD_OK;
	if (p->broken)
		return sherd_fail(err, SHERD_EINVAL, "bad-argument", "the plan failed before");
	sherd_str *list = malloc((count + 1) * sizeof(*list));
	if (!list)
		return sherd_fail_nomem(err);
	int rc = distinct(files, count, list, &kept, err);
	if (rc == SHERD_OK) {
		rc = sherd_rfdb_plan_extend(&p->plan, list, kept, NULL, err);
		p->broken = rc < 0;
	}
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
	if (p->planner == SHERD_GRAPH_HASH)
		return sherd_rfdb_hash_shard(graph_text_in(file), p->shards);
	return sherd_rfdb_plan_find(&p->plan, graph_text_in(file), &shard) ? shard : p->plan.shard_count;
}

const char *sherd_graph_plan_name(const sherd_graph_plan *p, uint32_t shard)
{
	const char *name = p->planner == SHERD_GRAPH_HASH ? NULL : sherd_rfdb_plan_name(&p->plan, shard);
	return name ? name : "";
}

/* engine/graph/shards/held.h - which files the segments of nodes hold, and where else the planner would put them. */
#pragma once

#include "engine/graph/graph.h"

/* The rows of one file in one segment. */
typedef struct graph_held {
	size_t place; /* of the segment, in the list of nodes */
	shd_str file;
	shd_rfdb_rows rows;
} graph_held;

/* Calls each() for every file of the segment at a place of the list, of dead rows too. */
typedef int graph_held_fn(void *arg, const graph_held *held, sherd_error *err);
int shd_graph_held_each(const sherd_graph *g, size_t place, graph_held_fn *each, void *arg, sherd_error *err);
/* The next row from *at on that lives, and that the buffer neither replaces nor deletes: 1, and *at stands after it;
 * or 0. */
int shd_graph_held_next(const sherd_graph *g, const graph_held *held, uint64_t *at, uint64_t *row, sherd_error *err);

/* Does the planner put the file into this shard? One that has no shard yet belongs to none. */
static inline bool shd_graph_belongs(const sherd_graph *g, shd_str file, uint32_t shard)
{
	uint16_t planned;
	if (g->config.planner == SHD_RFDB_HASH)
		return shd_rfdb_hash_shard(file, g->config.shards) == shard;
	return shd_rfdb_plan_find(&g->plan, file, &planned) && planned == shard;
}

/* What a shard holds, as a text of at most room bytes with its NUL: the planner's name as long as it is true; else the
 * directories of its live nodes. "" for an empty shard, and where the planner names none. */
int shd_graph_held_name(const sherd_graph *g, uint32_t shard, char *name, size_t room, sherd_error *err);

/* Nodes of the version that lie in another shard than the planner says, to that shard: what the buffer replaces or
 * deletes is not among them. Plans directories that have no shard yet. Costs the lists of files when there are none. */
int shd_graph_held_moves(sherd_graph *g, graph_ids *moves, sherd_error *err);

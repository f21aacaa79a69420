/* engine/graph/flush/flush.h - the making of a version.
 *
 * For every shard and kind that changes one segment is written: it holds what the buffer has for it, and the live rows
 * of the segments that are merged into it, which then go. Every row in it is the live one of its key, so it may stand
 * in front of all others, whichever were merged. */
#pragma once

#include "base/meter.h"
#include "engine/graph/query/counts.h"

typedef struct graph_target {
	uint32_t shard;
	shd_rfdb_kind kind;
	uint64_t id;                    /* of the segment */
	char segment[72], sidecar[72];  /* identities of what was written; "" when nothing was */
	SHD_VEC(uint32_t) fresh;        /* live nodes of the buffer; the first of each run of edges */
	uint64_t fresh_rows;            /* entries of the buffer in all */
	SHD_VEC(size_t) merged;         /* places in the list of the view, ascending */
	uint64_t rows;                  /* at most so many */
	bool is_piece;                  /* it waits for others to be merged with */
	shd_rfdb_id_vec unburied_nodes; /* keys with tombstones whose rows were left out */
	graph_segment *made;            /* NULL when nothing was left to write */
	graph_tally counts;             /* how the numbers of live records change; without nodes that are deleted */
	shd_rfdb_edge_key_vec dead_edges, undead_edges; /* tombstones that come and go */
} graph_target;

typedef enum graph_purpose {
	GRAPH_COMMIT,
	GRAPH_SPILL,   /* segments are written, no version is made */
	GRAPH_COMPACT, /* all segments are merged, into L1 */
} graph_purpose;

typedef struct graph_flush {
	sherd_graph *graph;
	graph_purpose purpose;
	SHD_VEC(graph_target) targets; /* by shard, then kind */
	graph_target **by_size;        /* the largest first: whoever is last should not have much to do */
	uint32_t *slots;               /* for shard * 2 + kind: the target's place plus one, 0 when there is none */
	bool *merge[2];                /* for each segment of the view: it goes into a target */
	uint16_t *node_shards;         /* for each node of the buffer */
	bool *known;                   /* the same: a segment may have rows of it */
	uint32_t shards;
	bool scattered; /* a key of the buffer may have rows in another shard: the buffer is settled, and asked */
	bool placed;    /* of the version to come, as in the view */
	const graph_ids *moves; /* nodes that go to another shard with the edges from them, and to which */
	graph_counts counts;    /* of the version to come */
	shd_rfdb_id_vec dead_nodes, undead_nodes; /* tombstones that come and go */
	shd_rfdb_edge_key_vec dead_edges, undead_edges;
	shd_meter meter;
	uint64_t time_ns;
} graph_flush;

/* The target of a shard, made if there is none; NULL when memory is out. */
graph_target *shd_graph_flush_target(graph_flush *f, uint32_t shard, shd_rfdb_kind kind);

/* Where everything in the buffer goes, and which segments must be merged so that each key stays in one shard. */
int shd_graph_flush_route(graph_flush *f, sherd_error *err);
/* Which segments are merged to keep their number small. */
int shd_graph_flush_fold(graph_flush *f, sherd_error *err);
/* Writes the segment of a target and its sidecar, durably. */
int shd_graph_flush_emit(graph_flush *f, graph_target *t, sherd_error *err);
/* The counts of the version to come, after the targets are written. */
int shd_graph_flush_count(graph_flush *f, sherd_error *err);
/* Which tombstones come and go, after the targets are written. */
int shd_graph_flush_bury(graph_flush *f, sherd_error *err);
/* Writes the manifest, makes it current, and changes the open graph accordingly. */
int shd_graph_flush_commit(graph_flush *f, sherd_error *err);

/* Where a row of a segment that is merged goes: with its node (source). */
static inline uint32_t shd_graph_flush_shard(const graph_flush *f, const graph_segment *s, shd_u128 id)
{
	uint32_t shard = f->moves ? shd_graph_ids_find(f->moves, id) : GRAPH_IDS_NONE;
	return shard == GRAPH_IDS_NONE ? s->shard : shard;
}

/* Does any segment of the view that stays hold a row with this key, alive or not? 1, or 0. */
int shd_graph_flush_has_node(const graph_flush *f, shd_u128 id, sherd_error *err);
int shd_graph_flush_has_edge(const graph_flush *f, const shd_rfdb_edge_key *key, sherd_error *err);

graph_written shd_graph_flush_written(const graph_target *t);
void shd_graph_remove_written(const graph_place *p, const graph_written *w);
/* Removes files that were spilled: all of them, or those that the version just made does not name. */
void shd_graph_drop_spilled(sherd_graph *g, bool all);

/* The whole of it. moves: of GRAPH_COMPACT, nodes that are put elsewhere; else NULL. */
int shd_graph_flush_run(sherd_graph *g, graph_purpose purpose, const graph_ids *moves,
                        const sherd_graph_commit_options *commit, sherd_error *err);

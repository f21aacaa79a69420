/* engine/graph/graph.h - an open database. */
#pragma once

#include "engine/graph/buffer/buffer.h"
#include "engine/graph/disk/head.h"
#include "engine/graph/disk/version.h"
#include "engine/graph/flush/fresh.h"
#include "engine/graph/view/view.h"
#include "format/rfdb/plan.h"

#include <sherd/graph.h>

/* Live records by type, ascending. */
typedef struct graph_counts {
	bool known;
	shd_arena arena;      /* of the types */
	shd_rfdb_types of[2]; /* SHD_RFDB_NODES, SHD_RFDB_EDGES */
} graph_counts;

/* A segment and its sidecar that we wrote. Identities are "" while they are not there. */
typedef struct graph_written {
	shd_rfdb_file file;
	char segment[72], sidecar[72];
} graph_written;

/* From which sizes on things are done differently. Tests make them small, before anything is opened. */
typedef struct graph_tuning {
	/* Rows that no run covers and that are worth one; and fewer, when they are in so many segments. */
	uint64_t run_rows, run_some_rows, run_segments;
	/* Pieces of a load are merged when they have so many rows, or files: see flush/fold.c. */
	uint64_t full_nodes, full_edges, full_files;
} graph_tuning;
extern graph_tuning shd_graph_tuning;

typedef enum graph_mode {
	GRAPH_READER,
	GRAPH_WRITER,
	GRAPH_AHEAD,  /* a writer that has spilled: its view is not that of the version */
	GRAPH_BROKEN, /* a writer whose buffer is not whole any more, or who cannot tell whether it committed */
} graph_mode;

struct sherd_graph {
	graph_mode mode;
	graph_place place;
	sherd_store *owned; /* the store of an ephemeral graph */
	sherd_pool *pool;

	shd_rfdb_config config;
	shd_rfdb_plan plan; /* DIRECTORY only */

	graph_version loaded; /* as it was when opened; segments of that time borrow from it */
	uint64_t version;
	shd_rfdb_compaction compaction;
	graph_view view;
	graph_runs runs; /* the newest first */
	graph_counts counts;
	pthread_mutex_t counting; /* of counts, when they are counted anew */

	sherd_lock *lock;                            /* the writer's on LOCK, or a reader's on its manifest */
	graph_head head;                             /* a writer's: what it began with, or wrote since */
	char config_identity[72], plan_identity[72]; /* of the objects that were read; "" when there is none */

	/* A writer's. */
	graph_buffer buffer;
	uint64_t next_segment; /* a number that no file has; 0: not known yet */
	uint64_t next_age;
	size_t plan_written;            /* assignments that are on disk */
	SHD_VEC(graph_written) spilled; /* since the version, and not part of it */
	graph_fresh fresh;              /* the nodes of these */
};

static inline shd_u128 graph_id_in(sherd_graph_id id)
{
	return (shd_u128)id.hi << 64 | id.lo;
}

static inline sherd_graph_id graph_id_out(shd_u128 id)
{
	return (sherd_graph_id){.lo = (uint64_t)id, .hi = (uint64_t)(id >> 64)};
}

static inline shd_str graph_text_in(sherd_graph_text t)
{
	return (shd_str){t.ptr ? t.ptr : "", t.len};
}

static inline sherd_graph_text graph_text_out(shd_str s)
{
	return (sherd_graph_text){s.ptr, s.len};
}

static inline bool graph_is_dirty(const sherd_graph *g)
{
	return g->buffer.node_count || g->buffer.edge_count;
}

/* SHERD_EINVAL, "read-only", or what broke the buffer. */
int shd_graph_check_writable(const sherd_graph *g, sherd_error *err);
/* After memory ran out while the buffer was changed. */
int shd_graph_break(sherd_graph *g, sherd_error *err);

void shd_graph_node_out(const shd_rfdb_node *from, sherd_graph_node *to);
void shd_graph_edge_out(const shd_rfdb_edge *from, sherd_graph_edge *to);

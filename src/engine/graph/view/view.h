/* engine/graph/view/view.h - what is alive in one version.
 *
 * Of each key the newest row counts, unless it has a tombstone. Newer is, within a shard, what stands later
 * in L0, and L0 before L1. Our writers keep every key in one shard; others may leave an old row in another one: then
 * the segment with the higher number wins. A view never changes; a writer makes the next one. */
#pragma once

#include "engine/graph/view/ids.h"
#include "engine/graph/view/keys.h"
#include "engine/graph/view/cover.h"
#include "engine/graph/view/locate.h"
#include "engine/graph/disk/segment.h"

/* Segments of one kind: by shard, within a shard the newest first. */
typedef struct graph_list {
	graph_segment **items; /* and the filters after them, in one piece */
	size_t count;
	/* The filters of the items' ids (sources) side by side, since they are all asked for every id; and those of the
	 * destinations. */
	shd_rfdb_bloom *blooms, *dst_blooms;
} graph_list;

typedef struct graph_view {
	graph_list lists[2];  /* SHD_RFDB_NODES, SHD_RFDB_EDGES */
	bool one_shard;       /* no key has rows in two shards */
	bool placed;          /* every live edge lies in the shard of its source, and has one */
	shd_u128 *dead_nodes; /* tombstones, ascending */
	size_t dead_node_count;
	shd_rfdb_edge_key *dead_edges;
	size_t dead_edge_count;
	shd_arena dead_arena;    /* of their types */
	graph_ids dead_node_set; /* to places */
	graph_keys dead_edge_set;
	graph_locator locator;
	graph_cover cover;
} graph_view;

/* A row of a segment of a view. */
typedef struct graph_row {
	const graph_segment *segment; /* NULL: none */
	uint64_t row;
} graph_row;

/* Room for so many items. */
int shd_graph_list_make(graph_list *list, size_t room, sherd_error *err);
/* Puts the items in order, by shard, level and age. */
void shd_graph_list_sort(graph_list *list);
/* Tells each item of a sorted list where its shard begins in it: from now on it belongs to this list. */
void shd_graph_list_link(graph_list *list);
/* Where the shard begins in a sorted list, and ends. */
typedef struct graph_range {
	size_t from, to;
} graph_range;
graph_range shd_graph_list_shard(const graph_list *list, uint32_t shard);
/* Copies the tombstones. */
int shd_graph_view_bury(graph_view *v, const shd_rfdb_ids *nodes, const shd_rfdb_edge_keys *edges, sherd_error *err);
void shd_graph_view_done(graph_view *v, bool close_segments);

/* The live row: 1, or 0. */
int shd_graph_view_node(const graph_view *v, shd_u128 id, graph_row *out, sherd_error *err);
int shd_graph_view_edge(const graph_view *v, const shd_rfdb_edge_key *key, graph_row *out, sherd_error *err);

/* Is this row of the item at place i the live one of its key? 1, or 0. */
int shd_graph_view_node_lives(const graph_view *v, size_t i, uint64_t row, sherd_error *err);
int shd_graph_view_edge_lives(const graph_view *v, size_t i, uint64_t row, const shd_rfdb_edge_key *key,
                              sherd_error *err);

/* The newest row of the item at place i with this id, alive or not: 1, or 0. */
int shd_graph_list_node(const graph_list *list, size_t i, shd_u128 id, uint64_t *row, sherd_error *err);
/* Has the item at place i any row with this key, alive or not? 1, or 0. */
int shd_graph_list_has_node(const graph_list *list, size_t i, shd_u128 id, sherd_error *err);
int shd_graph_list_has_edge(const graph_list *list, size_t i, const shd_rfdb_edge_key *key, sherd_error *err);

/* Has another shard a row with this key that wins over that row? 1, or 0. */
int shd_graph_view_is_stray(const graph_view *v, shd_rfdb_kind kind, size_t i, uint64_t row, sherd_error *err);
/* Is there any such row? 1 and one of them, or 0. */
int shd_graph_view_find_stray(const graph_view *v, shd_rfdb_kind kind, graph_row *out, sherd_error *err);

/* Is what was read of the segments what their files hold? Asks the system for each. */
int shd_graph_view_check(const graph_view *v, sherd_error *err);
/* The same at the end of a call that only read, for the price of a load unless some map of the process has failed: then
 * what the files say goes before what was made of zeros. */
int shd_graph_view_settle(const graph_view *v, int rc, sherd_error *err);

/* Has every row of the item at place i no rival, so that it need not be asked for? */
bool shd_graph_view_is_plain(const graph_view *v, shd_rfdb_kind kind, size_t i);

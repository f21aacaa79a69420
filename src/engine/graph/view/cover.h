/* engine/graph/view/cover.h - which segments of a view an index over many of them answers for, and asking it.
 *
 * What no run covers is asked segment by segment. A run counts for a segment only if it names it with its size and
 * SHA-256, as the manifest does; so runs that are left over from other versions change nothing. As soon as one turns
 * out to be damaged all segments are asked. */
#pragma once

#include "engine/graph/disk/run.h"
#include "engine/graph/disk/segment.h"

struct graph_view;
struct graph_list;
struct graph_row;

typedef struct graph_cover {
	graph_run **runs; /* that cover any; borrowed */
	size_t count;
	uint32_t **places; /* of each run: for each member its place in the list plus one; 0: not in the view, or
	                      another run has it */
	uint32_t *by[2];   /* for each place of a list the number of its run plus one; 0: none */
	size_t *bare[2];   /* places that no run covers, ascending */
	size_t bare_count[2];
	void *memory; /* of all these */
} graph_cover;

/* Of the two lists of a view, nodes first; the newest runs first. */
int shd_graph_cover_make(graph_cover *c, const struct graph_list *lists, const graph_runs *runs, sherd_error *err);
void shd_graph_cover_done(graph_cover *c);

/* May it be asked? */
static inline bool shd_graph_cover_holds(const graph_cover *c)
{
	bool whole = c->count > 0;
	for (size_t i = 0; i < c->count; i++)
		whole = whole && !atomic_load_explicit(&c->runs[i]->broken, memory_order_relaxed);
	return whole;
}

/* One row of either kind: nodes have an id, edges a key. */
typedef struct graph_wanted {
	shd_rfdb_kind kind;
	shd_u128 id; /* of the node, or the source */
	const shd_rfdb_edge_key *key;
} graph_wanted;

/* A row of the item at a place of a list. */
typedef struct graph_spot {
	size_t place;
	uint64_t row;
} graph_spot;

/* Mostly there is one. */
typedef struct graph_spots {
	graph_spot few[4];
	graph_spot *items; /* few, or more in memory of its own */
	size_t count, room;
} graph_spots;

static inline void shd_graph_spots_done(graph_spots *s)
{
	if (s->items != s->few)
		free(s->items);
}

/* Where rows of a node stand, or the first rows of a source, one for each segment that has any; places ascend. Whether
 * or not a run covers them. To be done with in any case. */
int shd_graph_view_spots(const struct graph_view *v, shd_rfdb_kind kind, shd_u128 id, graph_spots *out,
                         sherd_error *err);
/* Those of a node in segments that are not young. */
int shd_graph_view_old_spots(const struct graph_view *v, shd_u128 id, graph_spots *out, sherd_error *err);

/* Rows by what a table is of, among those that are covered; places ascend, and rows within. 1, or 0 when runs cannot be
 * asked. The list is emptied first. Of texts, others may be among them. */
typedef SHD_VEC(graph_spot) graph_spot_vec;
int shd_graph_cover_destinations(const struct graph_view *v, shd_u128 dst, graph_spot_vec *out, sherd_error *err);
int shd_graph_cover_texts(const struct graph_view *v, shd_rfdb_run_table table, shd_str text, graph_spot_vec *out,
                          sherd_error *err);

/* What view.h says, for views that are covered. */
int shd_graph_cover_find(const struct graph_view *v, const graph_wanted *w, struct graph_row *out, sherd_error *err);
int shd_graph_cover_is_newest(const struct graph_view *v, const graph_wanted *w, size_t place, sherd_error *err);
/* Has another shard a row with the key in a segment with a higher number than this one? 1, or 0. */
int shd_graph_cover_loses(const struct graph_view *v, const graph_wanted *w, const graph_segment *s, sherd_error *err);

/* engine/graph/view/strays.c - a key with rows in two shards, among all of a view. Segments are walked side by side by
 * id (edges: by source), so that it costs the rows, however many segments there are. */
#include "engine/graph/view/view.h"

#include <stdlib.h>

/* A segment, and the first of its rows that were not walked over. */
typedef struct lane {
	size_t item; /* place in the list */
	const graph_segment *segment;
	const shd_rfdb_sidecar *index;
	uint64_t at; /* in the order by id */
	shd_u128 id;
} lane;

typedef struct walk {
	lane *lanes; /* a heap by id; after it those that were taken out of it */
	size_t heap, count;
} walk;

static uint64_t row_at(const lane *l, uint64_t at)
{
	return l->index->sorted ? at : shd_rfdb_rows_at(l->index->by_id, at);
}

/* False when there are no rows any more. A number of a row that is not there is not ours to tell. */
static bool strays_look(lane *l)
{
	while (l->at < l->segment->rows.rows && row_at(l, l->at) >= l->segment->rows.rows)
		l->at++;
	if (l->at >= l->segment->rows.rows)
		return false;
	l->id = shd_rfdb_segment_id(&l->segment->rows, row_at(l, l->at));
	return true;
}

static void swap(lane *a, lane *b)
{
	lane kept = *a;
	*a = *b;
	*b = kept;
}

static void strays_push(walk *w)
{
	size_t i = w->heap++;
	for (; i && w->lanes[i].id < w->lanes[(i - 1) / 2].id; i = (i - 1) / 2)
		swap(&w->lanes[i], &w->lanes[(i - 1) / 2]);
}

/* Puts the lane with the lowest id after the heap. */
static void pop(walk *w)
{
	swap(&w->lanes[0], &w->lanes[--w->heap]);
	for (size_t i = 0, child; (child = 2 * i + 1) < w->heap; i = child) {
		if (child + 1 < w->heap && w->lanes[child + 1].id < w->lanes[child].id)
			child++;
		if (w->lanes[i].id <= w->lanes[child].id)
			break;
		swap(&w->lanes[i], &w->lanes[child]);
	}
}

/* Steps over the rows with the id that the lane stands at; tests each when asked to. 1: a stray. */
static int pass(const graph_view *v, lane *l, bool test, graph_row *out, sherd_error *err)
{
	const shd_u128 id = l->id;
	do {
		uint64_t row = row_at(l, l->at++);
		int rc = test ? shd_graph_view_is_stray(v, l->segment->rows.kind, l->item, row, err) : 0;
		if (rc) {
			*out = (graph_row){l->segment, row};
			return rc;
		}
	} while (strays_look(l) && l->id == id);
	return 0;
}

/* Walks over all rows with the lowest id. */
static int strays_step(const graph_view *v, walk *w, graph_row *out, sherd_error *err)
{
	const shd_u128 id = w->lanes[0].id;
	const uint32_t shard = w->lanes[0].segment->shard;
	bool shared = false;
	while (w->heap && w->lanes[0].id == id) {
		shared = shared || w->lanes[0].segment->shard != shard;
		pop(w);
	}
	while (w->heap < w->count) {
		int rc = pass(v, &w->lanes[w->heap], shared, out, err);
		if (rc)
			return rc;
		if (w->lanes[w->heap].at < w->lanes[w->heap].segment->rows.rows)
			strays_push(w);
		else
			swap(&w->lanes[w->heap], &w->lanes[--w->count]);
	}
	return 0;
}

int shd_graph_view_find_stray(const graph_view *v, shd_rfdb_kind kind, graph_row *out, sherd_error *err)
{
	const graph_list *list = &v->lists[kind];
	walk w = {.lanes = malloc((list->count + 1) * sizeof(*w.lanes))};
	int rc = w.lanes ? SHERD_OK : shd_fail_nomem(err);
	for (size_t i = 0; rc == SHERD_OK && i < list->count; i++) {
		lane *l = &w.lanes[w.count];
		*l = (lane){.item = i, .segment = list->items[i]};
		rc = shd_graph_segment_index(l->segment, GRAPH_BY_ID, &l->index, err);
		if (rc == SHERD_OK && strays_look(l)) {
			w.count++;
			strays_push(&w);
		}
	}
	while (rc == SHERD_OK && w.heap)
		rc = strays_step(v, &w, out, err);
	free(w.lanes);
	return rc;
}

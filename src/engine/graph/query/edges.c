/* engine/graph/query/edges.c - edges from a node, to a node, and all of them. */
#include "engine/graph/query/edges.h"

#include "engine/graph/buffer/write.h"

typedef struct walk {
	const sherd_graph *graph;
	const sherd_graph_types *types;
	graph_edge_fn *each;
	void *arg;
	bool stopped;
} walk;

static bool wants(const walk *w, shd_str type)
{
	if (!w->types || !w->types->count)
		return true;
	for (size_t i = 0; i < w->types->count; i++)
		if (w->types->list[i].len == type.len && memcmp(w->types->list[i].ptr, type.ptr, type.len) == 0)
			return true;
	return false;
}

/* Row of the item at place i of the list. */
static int try_row(walk *w, size_t i, bool plain, uint64_t row, sherd_error *err)
{
	const graph_segment *segment = w->graph->view.lists[SHD_RFDB_EDGES].items[i];
	shd_rfdb_edge edge;
	TRY(shd_graph_segment_read_edge(segment, row, &edge, err));
	if (!wants(w, edge.type))
		return SHERD_OK;
	const shd_rfdb_edge_key key = {.src = edge.src, .dst = edge.dst, .type = edge.type};
	if (w->graph->buffer.edge_count && shd_graph_buffer_edge(&w->graph->buffer, &key))
		return SHERD_OK;
	if (!plain) {
		int rc = shd_graph_view_edge_lives(&w->graph->view, i, row, &key, err);
		if (rc <= 0)
			return rc;
	}
	w->stopped = !w->each(w->arg, &edge);
	return SHERD_OK;
}

/* Rows of a source, of a segment that is sorted, from the first one on. */
static int from_spot(walk *w, const graph_spot *spot, shd_u128 id, sherd_error *err)
{
	const graph_segment *segment = w->graph->view.lists[SHD_RFDB_EDGES].items[spot->place];
	const shd_rfdb_sidecar *x;
	shd_rfdb_run run = {.first = spot->row};
	TRY(shd_graph_segment_index(segment, GRAPH_BY_ID, &x, err));
	while (x->sorted && run.first + run.count < segment->rows.rows &&
	       shd_rfdb_segment_id(&segment->rows, run.first + run.count) == id)
		run.count++;
	if (!x->sorted)
		TRY(shd_graph_segment_sources(segment, id, &run, err));
	bool plain = shd_graph_view_is_plain(&w->graph->view, SHD_RFDB_EDGES, spot->place);
	for (uint64_t k = 0; k < run.count && !w->stopped; k++)
		TRY(try_row(w, spot->place, plain, shd_rfdb_run_at(&run, k), err));
	return SHERD_OK;
}

static int from_spots(walk *w, shd_u128 id, sherd_error *err)
{
	SHD_DONE(shd_graph_spots_done) graph_spots spots;
	TRY(shd_graph_view_spots(&w->graph->view, SHD_RFDB_EDGES, id, &spots, err));
	for (size_t i = 0; i < spots.count && !w->stopped; i++)
		TRY(from_spot(w, &spots.items[i], id, err));
	return SHERD_OK;
}

static int from_segment(walk *w, size_t i, shd_u128 id, sherd_error *err)
{
	const graph_segment *segment = w->graph->view.lists[SHD_RFDB_EDGES].items[i];
	shd_rfdb_run run;
	if (!shd_rfdb_bloom_has(&w->graph->view.lists[SHD_RFDB_EDGES].blooms[i], id))
		return SHERD_OK;
	TRY(shd_graph_segment_sources(segment, id, &run, err));
	if (!run.count)
		return SHERD_OK;
	bool plain = shd_graph_view_is_plain(&w->graph->view, SHD_RFDB_EDGES, i);
	for (uint64_t k = 0; k < run.count && !w->stopped; k++)
		TRY(try_row(w, i, plain, shd_rfdb_run_at(&run, k), err));
	return SHERD_OK;
}

/* A segment that may have rows with the destination, and near which place. */
typedef struct lead {
	size_t item;
	uint64_t near;
} lead;

static int to_segment(walk *w, const lead *l, shd_u128 id, sherd_error *err)
{
	size_t i = l->item;
	const graph_segment *segment = w->graph->view.lists[SHD_RFDB_EDGES].items[i];
	shd_rfdb_rows rows = shd_graph_segment_destinations(segment, id, l->near);
	bool plain = shd_graph_view_is_plain(&w->graph->view, SHD_RFDB_EDGES, i);
	for (uint64_t k = 0; k < rows.count && !w->stopped; k++)
		TRY(try_row(w, i, plain, shd_rfdb_rows_at(rows, k), err));
	return SHERD_OK;
}

/* Segments from *next on that may have the destination, few at a time. */
enum { TOGETHER = 16 };

static int find_leads(const walk *w, shd_u128 id, size_t *next, lead *leads, size_t *count, sherd_error *err)
{
	const graph_list *list = &w->graph->view.lists[SHD_RFDB_EDGES];
	size_t aimed = 0;
	for (; *next < list->count && aimed < TOGETHER; ++*next) {
		const graph_segment *segment = list->items[*next];
		if (!shd_graph_segment_filters(segment) && !shd_rfdb_bloom_has(&list->dst_blooms[*next], id))
			continue;
		TRY(shd_graph_segment_aim(segment, id, err));
		leads[aimed++].item = *next;
	}
	*count = 0;
	for (size_t k = 0; k < aimed; k++) {
		lead l = leads[k];
		bool any = shd_graph_segment_near(list->items[l.item], id, &l.near);
		leads[*count] = l;
		*count += any;
	}
	return SHERD_OK;
}

/* All are asked for memory before the first is waited for. */
static int to_segments(walk *w, shd_u128 id, sherd_error *err)
{
	const graph_list *list = &w->graph->view.lists[SHD_RFDB_EDGES];
	lead leads[TOGETHER];
	size_t next = 0, count;
	while (next < list->count && !w->stopped) {
		TRY(find_leads(w, id, &next, leads, &count, err));
		for (size_t k = 0; k < count; k++)
			shd_graph_segment_fetch(list->items[leads[k].item], leads[k].near);
		for (size_t k = 0; k < count && !w->stopped; k++)
			TRY(to_segment(w, &leads[k], id, err));
	}
	return SHERD_OK;
}

static int to_bare(walk *w, size_t place, shd_u128 id, sherd_error *err)
{
	const graph_list *list = &w->graph->view.lists[SHD_RFDB_EDGES];
	lead l = {.item = place};
	if (!shd_graph_segment_filters(list->items[place]) && !shd_rfdb_bloom_has(&list->dst_blooms[place], id))
		return SHERD_OK;
	TRY(shd_graph_segment_aim(list->items[place], id, err));
	return shd_graph_segment_near(list->items[place], id, &l.near) ? to_segment(w, &l, id, err) : SHERD_OK;
}

/* Rows that runs lead to, and those of segments that none covers, in the order of the segments. */
static int to_spots(walk *w, shd_u128 id, const graph_spot_vec *spots, sherd_error *err)
{
	const graph_view *v = &w->graph->view;
	size_t at = 0;
	for (size_t i = 0; i <= v->cover.bare_count[SHD_RFDB_EDGES] && !w->stopped; i++) {
		bool last = i == v->cover.bare_count[SHD_RFDB_EDGES];
		size_t until = last ? SIZE_MAX : v->cover.bare[SHD_RFDB_EDGES][i];
		for (; at < spots->count && spots->items[at].place < until && !w->stopped; at++)
			TRY(try_row(w, spots->items[at].place,
			            shd_graph_view_is_plain(v, SHD_RFDB_EDGES, spots->items[at].place),
			            spots->items[at].row, err));
		if (!last && !w->stopped)
			TRY(to_bare(w, until, id, err));
	}
	return SHERD_OK;
}

static int to_all(walk *w, shd_u128 id, sherd_error *err)
{
	SHD_AUTO_VEC graph_spot_vec spots = {0};
	int rc = shd_graph_cover_destinations(&w->graph->view, id, &spots, err);
	TRY(rc);
	return rc ? to_spots(w, id, &spots, err) : to_segments(w, id, err);
}

static int from_segments(walk *w, shd_u128 id, sherd_error *err)
{
	if (shd_graph_cover_holds(&w->graph->view.cover))
		return from_spots(w, id, err);
	for (size_t i = 0; i < w->graph->view.lists[SHD_RFDB_EDGES].count && !w->stopped; i++)
		TRY(from_segment(w, i, id, err));
	return SHERD_OK;
}

static void try_fresh(walk *w, const graph_new_edge *e)
{
	if (graph_edge_is_dead(e) || !wants(w, e->key.type))
		return;
	const shd_rfdb_edge edge = {.src = e->key.src, .dst = e->key.dst, .type = e->key.type, .metadata = e->metadata};
	w->stopped = !w->each(w->arg, &edge);
}

int shd_graph_each_edge(const sherd_graph *g, shd_u128 id, bool incoming, const sherd_graph_types *types,
                        graph_edge_fn *each, void *arg, sherd_error *err)
{
	walk w = {.graph = g, .types = types, .each = each, .arg = arg};
	TRY(shd_graph_settle(g, err));
	int rc = incoming ? to_all(&w, id, err) : from_segments(&w, id, err);
	TRY(shd_graph_view_settle(&g->view, rc, err));
	if (!g->buffer.edge_count || w.stopped)
		return SHERD_OK;
	/* A writer belongs to one thread: chaining what it added is not seen by anybody. */
	graph_buffer *b = (graph_buffer *)(uintptr_t)&g->buffer;
	if (!shd_graph_buffer_chain(b))
		return shd_fail_nomem(err);
	uint32_t at = shd_graph_buffer_first(b, id, incoming);
	while (at != GRAPH_IDS_NONE && !w.stopped) {
		try_fresh(&w, &b->edges[at]);
		at = shd_graph_buffer_next(b, at, incoming);
	}
	return SHERD_OK;
}

/* Does the manifest say that the segment has none of the types? */
static bool is_excluded(const walk *w, const graph_segment *segment)
{
	const shd_rfdb_texts *types = &segment->about.types;
	if (!w->types || !w->types->count || !types->count)
		return false;
	for (size_t i = 0; i < types->count; i++)
		if (wants(w, types->items[i]))
			return false;
	return true;
}

static int by_type(walk *w, size_t i, sherd_error *err)
{
	const graph_segment *segment = w->graph->view.lists[SHD_RFDB_EDGES].items[i];
	const shd_rfdb_sidecar *x;
	TRY(shd_graph_segment_index(segment, GRAPH_BY_TYPE, &x, err));
	bool plain = shd_graph_view_is_plain(&w->graph->view, SHD_RFDB_EDGES, i);
	for (uint32_t n = 0; n < x->by_type.count && !w->stopped; n++) {
		shd_str key;
		shd_rfdb_rows rows;
		if (!shd_rfdb_groups_at(&x->by_type, &segment->rows, n, &key, &rows) || !wants(w, key))
			continue;
		for (uint64_t k = 0; k < rows.count && !w->stopped; k++)
			TRY(try_row(w, i, plain, shd_rfdb_rows_at(rows, k), err));
	}
	return SHERD_OK;
}

static int every_row(walk *w, size_t i, sherd_error *err)
{
	const graph_segment *segment = w->graph->view.lists[SHD_RFDB_EDGES].items[i];
	bool plain = shd_graph_view_is_plain(&w->graph->view, SHD_RFDB_EDGES, i);
	int rc = SHERD_OK;
	shd_graph_segment_scan(segment);
	for (uint64_t row = 0; row < segment->rows.rows && !w->stopped && rc == SHERD_OK; row++)
		rc = try_row(w, i, plain, row, err);
	shd_graph_segment_scanned(segment);
	return rc;
}

static int in_segments(walk *w, sherd_error *err)
{
	const graph_list *list = &w->graph->view.lists[SHD_RFDB_EDGES];
	for (size_t i = 0; i < list->count && !w->stopped; i++) {
		if (is_excluded(w, list->items[i]))
			continue;
		if (w->types && w->types->count) {
			TRY(by_type(w, i, err));
			continue;
		}
		TRY(every_row(w, i, err));
	}
	return SHERD_OK;
}

int shd_graph_every_edge(const sherd_graph *g, const sherd_graph_types *types, graph_edge_fn *each, void *arg,
                         sherd_error *err)
{
	walk w = {.graph = g, .types = types, .each = each, .arg = arg};
	TRY(shd_graph_settle(g, err));
	TRY(shd_graph_view_settle(&g->view, in_segments(&w, err), err));
	for (size_t i = 0; i < g->buffer.edge_count && !w.stopped; i++)
		try_fresh(&w, &g->buffer.edges[i]);
	return SHERD_OK;
}

/* Hands records on in the form of the public header. */
typedef struct handing {
	sherd_graph_edge_fn *each;
	void *arg;
} handing;

static bool hand_on(void *arg, const shd_rfdb_edge *edge)
{
	const handing *h = arg;
	sherd_graph_edge out;
	shd_graph_edge_out(edge, &out);
	return h->each(h->arg, &out);
}

int sherd_graph_outgoing(const sherd_graph *g, sherd_graph_id id, const sherd_graph_types *types,
                         sherd_graph_edge_fn *each, void *arg, sherd_error *err)
{
	handing h = {each, arg};
	return shd_graph_each_edge(g, graph_id_in(id), false, types, hand_on, &h, err);
}

int sherd_graph_incoming(const sherd_graph *g, sherd_graph_id id, const sherd_graph_types *types,
                         sherd_graph_edge_fn *each, void *arg, sherd_error *err)
{
	handing h = {each, arg};
	return shd_graph_each_edge(g, graph_id_in(id), true, types, hand_on, &h, err);
}

int sherd_graph_edges(const sherd_graph *g, const sherd_graph_types *types, sherd_graph_edge_fn *each, void *arg,
                      sherd_error *err)
{
	handing h = {each, arg};
	return shd_graph_every_edge(g, types, hand_on, &h, err);
}

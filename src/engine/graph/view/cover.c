#include "engine/graph/view/cover.h"

#include "engine/graph/disk/want.h"
#include "engine/graph/view/view.h"

#include <stdlib.h>

/* ---- which segments are covered */

static bool is_member(const graph_segment *s, const shd_rfdb_member *m)
{
	return s->about.has_sha256 && s->about.id == m->id && s->shard == m->shard && s->rows.rows == m->rows &&
	       s->rows.size == m->size && memcmp(s->about.sha256, m->sha256, sizeof(m->sha256)) == 0;
}

/* A number of a segment, and its place. */
typedef struct numbered {
	uint64_t id;
	size_t place;
} numbered;

static int cover_compare(const void *left, const void *right)
{
	const numbered *a = left, *b = right;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* All memory of a cover, in one piece. */
static int cover_alloc(graph_cover *c, const graph_list *lists, const graph_runs *runs, sherd_error *err)
{
	size_t nodes = lists[SHD_RFDB_NODES].count, edges = lists[SHD_RFDB_EDGES].count, members = 0;
	for (size_t i = 0; i < runs->count; i++)
		members += runs->items[i]->head.member_count;
	size_t pointers = runs->count * (sizeof(*c->runs) + sizeof(*c->places));
	char *p = calloc(1, pointers + (nodes + edges) * sizeof(size_t) + (nodes + edges + members) * sizeof(uint32_t) +
	                            1);
	if (!p)
		return shd_fail_nomem(err);
	c->memory = p;
	c->runs = (graph_run **)(void *)p;
	c->places = (uint32_t **)(void *)(p + runs->count * sizeof(*c->runs));
	c->bare[SHD_RFDB_NODES] = (size_t *)(void *)(p + pointers);
	c->bare[SHD_RFDB_EDGES] = c->bare[SHD_RFDB_NODES] + nodes;
	c->by[SHD_RFDB_NODES] = (uint32_t *)(void *)(c->bare[SHD_RFDB_EDGES] + edges);
	c->by[SHD_RFDB_EDGES] = c->by[SHD_RFDB_NODES] + nodes;
	return SHERD_OK;
}

/* The members of one run; how many of them are in the view. */
static size_t cover_by_run(graph_cover *c, const graph_list *lists, const graph_run *r, numbered *const order[2],
                           uint32_t *places)
{
	size_t covered = 0;
	for (size_t i = 0; i < r->head.member_count; i++) {
		const shd_rfdb_member *m = &r->head.members[i];
		const numbered key = {.id = m->id}, *found = NULL;
		if (lists[m->kind].count)
			found = bsearch(&key, order[m->kind], lists[m->kind].count, sizeof(key), cover_compare);
		if (!found || c->by[m->kind][found->place] || !is_member(lists[m->kind].items[found->place], m))
			continue;
		c->by[m->kind][found->place] = (uint32_t)c->count + 1;
		places[i] = (uint32_t)found->place + 1;
		covered++;
	}
	return covered;
}

static void cover_fill(graph_cover *c, const graph_list *lists, const graph_runs *runs, numbered *const order[2])
{
	uint32_t *places = c->by[SHD_RFDB_EDGES] + lists[SHD_RFDB_EDGES].count;
	for (size_t i = 0; i < runs->count; i++) {
		graph_run *r = runs->items[i];
		if (atomic_load(&r->broken) || !cover_by_run(c, lists, r, order, places))
			continue;
		c->runs[c->count] = r;
		c->places[c->count++] = places;
		places += r->head.member_count;
	}
	for (unsigned kind = 0; kind < 2; kind++)
		for (size_t i = 0; i < lists[kind].count; i++)
			if (!c->by[kind][i])
				c->bare[kind][c->bare_count[kind]++] = i;
}

int shd_graph_cover_make(graph_cover *c, const graph_list *lists, const graph_runs *runs, sherd_error *err)
{
	size_t nodes = lists[SHD_RFDB_NODES].count, edges = lists[SHD_RFDB_EDGES].count;
	*c = (graph_cover){0};
	if (!runs->count)
		return SHERD_OK;
	SHD_AUTO_FREE numbered *list = malloc((nodes + edges + 1) * sizeof(*list));
	if (!list)
		return shd_fail_nomem(err);
	TRY(cover_alloc(c, lists, runs, err));
	numbered *const order[2] = {list, list + nodes};
	for (unsigned kind = 0; kind < 2; kind++) {
		for (size_t i = 0; i < lists[kind].count; i++)
			order[kind][i] = (numbered){lists[kind].items[i]->about.id, i};
		if (lists[kind].count)
			qsort(order[kind], lists[kind].count, sizeof(*list), cover_compare);
	}
	cover_fill(c, lists, runs, order);
	return SHERD_OK;
}

void shd_graph_cover_done(graph_cover *c)
{
	free(c->memory);
	*c = (graph_cover){0};
}

/* ---- rows of an id */

static bool cover_push(graph_spots *out, graph_spot spot)
{
	if (out->count == out->room) {
		size_t room = 2 * out->room + COUNT_OF(out->few);
		graph_spot *items = malloc(room * sizeof(*items));
		if (!items)
			return false;
		memcpy(items, out->items, out->count * sizeof(*items));
		shd_graph_spots_done(out);
		out->items = items;
		out->room = room;
	}
	out->items[out->count++] = spot;
	return true;
}

static int compare_spots(const void *left, const void *right)
{
	const graph_spot *a = left, *b = right;
	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

typedef struct cover_asking {
	const graph_view *view;
	size_t run;
	shd_rfdb_kind kind;
	shd_u128 id;
	graph_spots *spots; /* or */
	graph_spot_vec *list;
	bool by_text;
} cover_asking;

/* An entry: does its row, which may be any, have the id? */
static int cover_take(void *arg, const shd_rfdb_member *member, uint64_t row, sherd_error *err)
{
	const cover_asking *a = arg;
	const graph_run *r = a->view->cover.runs[a->run];
	uint32_t place = a->view->cover.places[a->run][member - r->head.members];
	if (!place)
		return SHERD_OK;
	const shd_rfdb_segment *s = &a->view->lists[a->kind].items[place - 1]->rows;
	if (row >= s->rows)
		return SHERD_OK;
	shd_graph_segment_want(a->view->lists[a->kind].items[place - 1], row);
	/* Those of a list are looked at when all have been asked for. */
	if (!a->list && shd_rfdb_segment_id(s, row) != a->id)
		return SHERD_OK;
	const graph_spot spot = {place - 1, row};
	if (a->list) {
		shd_vec_push(a->list, spot);
		return shd_vec_check(a->list, err);
	}
	return cover_push(a->spots, spot) ? SHERD_OK : shd_fail_nomem(err);
}

/* In one segment, of which no run tells. */
static int bare_spot(const graph_view *v, shd_rfdb_kind kind, size_t place, shd_u128 id, graph_spots *out,
                     sherd_error *err)
{
	const graph_list *list = &v->lists[kind];
	graph_spot spot = {.place = place};
	shd_rfdb_run run = {0};
	if (!shd_rfdb_bloom_has(&list->blooms[place], id))
		return SHERD_OK;
	int rc = 0;
	if (kind == SHD_RFDB_NODES) {
		rc = shd_graph_segment_node(list->items[place], id, &spot.row, err);
	} else {
		TRY(shd_graph_segment_sources(list->items[place], id, &run, err));
		rc = run.count > 0;
		spot.row = rc ? shd_rfdb_run_at(&run, 0) : 0;
	}
	if (rc > 0 && !cover_push(out, spot))
		return shd_fail_nomem(err);
	return rc < 0 ? rc : SHERD_OK;
}

/* From all runs but one: 1, or 0. */
static int covered_spots(const graph_view *v, shd_rfdb_kind kind, shd_u128 id, size_t but, graph_spots *out,
                         sherd_error *err)
{
	shd_rfdb_run_table table = kind == SHD_RFDB_NODES ? SHD_RFDB_RUN_IDS : SHD_RFDB_RUN_SOURCES;
	cover_asking a = {.view = v, .kind = kind, .id = id, .spots = out};
	for (; a.run < v->cover.count; a.run++) {
		graph_run *r = v->cover.runs[a.run];
		if (a.run == but)
			continue;
		int rc = shd_graph_run_each(r, table, shd_rfdb_run_hash_id(r->head.seed, id), cover_take, &a, err);
		if (rc <= 0)
			return rc;
	}
	return 1;
}

static void spots_begin(graph_spots *out)
{
	out->items = out->few;
	out->count = 0;
	out->room = COUNT_OF(out->few);
}

/* but: a run that need not be asked, or SIZE_MAX. */
static int spots_but(const graph_view *v, shd_rfdb_kind kind, shd_u128 id, size_t but, graph_spots *out,
                     sherd_error *err)
{
	const graph_cover *c = &v->cover;
	int held = shd_graph_cover_holds(c) ? covered_spots(v, kind, id, but, out, err) : 0;
	TRY(held);
	if (!held)
		out->count = 0;
	size_t count = held ? c->bare_count[kind] : v->lists[kind].count;
	for (size_t i = 0; i < count; i++)
		TRY(bare_spot(v, kind, held ? c->bare[kind][i] : i, id, out, err));
	if (out->count > 1)
		qsort(out->items, out->count, sizeof(*out->items), compare_spots);
	return SHERD_OK;
}

int shd_graph_view_old_spots(const graph_view *v, shd_u128 id, graph_spots *out, sherd_error *err)
{
	const graph_cover *c = &v->cover;
	const graph_list *list = &v->lists[SHD_RFDB_NODES];
	spots_begin(out);
	int held = shd_graph_cover_holds(c) ? covered_spots(v, SHD_RFDB_NODES, id, SIZE_MAX, out, err) : 0;
	TRY(held);
	if (!held)
		out->count = 0;
	size_t count = held ? c->bare_count[SHD_RFDB_NODES] : list->count;
	for (size_t i = 0; i < count; i++) {
		size_t place = held ? c->bare[SHD_RFDB_NODES][i] : i;
		if (!list->items[place]->young)
			TRY(bare_spot(v, SHD_RFDB_NODES, place, id, out, err));
	}
	return SHERD_OK;
}

int shd_graph_view_spots(const graph_view *v, shd_rfdb_kind kind, shd_u128 id, graph_spots *out, sherd_error *err)
{
	spots_begin(out);
	return spots_but(v, kind, id, SIZE_MAX, out, err);
}

/* ---- rows of a key */

/* Leaves those that have the key, with its row. */
static int keep_key(const graph_view *v, const graph_wanted *w, graph_spots *spots, sherd_error *err)
{
	size_t kept = 0;
	for (size_t i = 0; i < spots->count && w->kind == SHD_RFDB_EDGES; i++) {
		graph_spot spot = spots->items[i];
		int rc = shd_graph_segment_edge_from(v->lists[w->kind].items[spot.place], w->key, &spot.row, err);
		TRY(rc);
		if (rc)
			spots->items[kept++] = spot;
	}
	if (w->kind == SHD_RFDB_EDGES)
		spots->count = kept;
	return SHERD_OK;
}

static int key_spots(const graph_view *v, const graph_wanted *w, size_t but, graph_spots *out, sherd_error *err)
{
	spots_begin(out);
	TRY(spots_but(v, w->kind, w->id, but, out, err));
	return keep_key(v, w, out, err);
}

int shd_graph_cover_find(const graph_view *v, const graph_wanted *w, graph_row *out, sherd_error *err)
{
	SHD_DONE(shd_graph_spots_done) graph_spots spots;
	TRY(key_spots(v, w, SIZE_MAX, &spots, err));
	const graph_list *list = &v->lists[w->kind];
	graph_row best = {0};
	uint32_t shard = UINT32_MAX;
	/* The newest row of each shard, and of these the one in the segment with the highest number. */
	for (size_t i = 0; i < spots.count; i++) {
		const graph_segment *s = list->items[spots.items[i].place];
		if (s->shard == shard)
			continue;
		shard = s->shard;
		if (!best.segment || s->about.id > best.segment->about.id)
			best = (graph_row){s, spots.items[i].row};
	}
	*out = best;
	return best.segment != NULL;
}

static bool wins_over(const graph_list *list, const graph_spot *spot, const graph_segment *s)
{
	const graph_segment *rival = list->items[spot->place];
	return rival->shard != s->shard && rival->about.id > s->about.id;
}

int shd_graph_cover_loses(const graph_view *v, const graph_wanted *w, const graph_segment *s, sherd_error *err)
{
	SHD_DONE(shd_graph_spots_done) graph_spots spots;
	TRY(key_spots(v, w, SIZE_MAX, &spots, err));
	uint32_t shard = UINT32_MAX;
	for (size_t i = 0; i < spots.count; i++) {
		const graph_segment *rival = v->lists[w->kind].items[spots.items[i].place];
		if (rival->shard == shard)
			continue;
		shard = rival->shard;
		if (wins_over(&v->lists[w->kind], &spots.items[i], s))
			return 1;
	}
	return 0;
}

int shd_graph_cover_is_newest(const graph_view *v, const graph_wanted *w, size_t place, sherd_error *err)
{
	const graph_list *list = &v->lists[w->kind];
	const graph_segment *s = list->items[place];
	uint32_t by = v->cover.by[w->kind][place];
	/* A run that has every key in one segment need not be asked for another one. */
	bool alone = by && v->cover.runs[by - 1]->head.unique[w->kind];
	SHD_DONE(shd_graph_spots_done) graph_spots spots;
	TRY(key_spots(v, w, alone ? by - 1 : SIZE_MAX, &spots, err));
	for (size_t i = 0; i < spots.count; i++)
		if (spots.items[i].place >= s->first && spots.items[i].place < place)
			return 0;
	if (v->one_shard)
		return 1;
	int rc = shd_graph_cover_loses(v, w, s, err);
	return rc < 0 ? rc : !rc;
}

/* ---- rows by other things */

static void keep_destination(const cover_asking *a)
{
	const graph_list *list = &a->view->lists[a->kind];
	size_t kept = 0;
	for (size_t i = 0; i < a->list->count; i++) {
		const graph_spot spot = a->list->items[i];
		if (shd_rfdb_segment_dst(&list->items[spot.place]->rows, spot.row) == a->id)
			a->list->items[kept++] = spot;
	}
	a->list->count = kept;
}

static int ask_all(const graph_view *v, cover_asking *a, shd_rfdb_run_table table, shd_str text, sherd_error *err)
{
	if (!shd_graph_cover_holds(&v->cover))
		return 0;
	a->list->count = 0;
	for (a->run = 0; a->run < v->cover.count; a->run++) {
		graph_run *r = v->cover.runs[a->run];
		uint64_t hash = a->by_text ? shd_rfdb_run_hash_text(r->head.seed, text)
		                           : shd_rfdb_run_hash_id(r->head.seed, a->id);
		int rc = shd_graph_run_each(r, table, hash, cover_take, a, err);
		if (rc <= 0)
			return rc;
	}
	if (!a->by_text)
		keep_destination(a);
	if (a->list->count > 1)
		qsort(a->list->items, a->list->count, sizeof(graph_spot), compare_spots);
	return 1;
}

int shd_graph_cover_destinations(const graph_view *v, shd_u128 dst, graph_spot_vec *out, sherd_error *err)
{
	cover_asking a = {.view = v, .kind = SHD_RFDB_EDGES, .id = dst, .list = out};
	return ask_all(v, &a, SHD_RFDB_RUN_DESTINATIONS, (shd_str){"", 0}, err);
}

int shd_graph_cover_texts(const graph_view *v, shd_rfdb_run_table table, shd_str text, graph_spot_vec *out,
                          sherd_error *err)
{
	cover_asking a = {.view = v, .kind = SHD_RFDB_NODES, .list = out, .by_text = true};
	return ask_all(v, &a, table, text, err);
}

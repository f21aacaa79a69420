#include "engine/graph/view/view.h"

#include "store/guard.h"

#include <stdlib.h>

static int view_compare(const void *left, const void *right)
{
	const graph_segment *a = *(graph_segment *const *)left, *b = *(graph_segment *const *)right;
	if (a->shard != b->shard)
		return a->shard < b->shard ? -1 : 1;
	if (a->level1 != b->level1)
		return a->level1 ? 1 : -1;
	return a->age > b->age ? -1 : a->age < b->age;
}

int shd_graph_list_make(graph_list *list, size_t room, sherd_error *err)
{
	list->items = calloc(room + 1, sizeof(*list->items) + 2 * sizeof(*list->blooms));
	if (!list->items)
		return shd_fail_nomem(err);
	list->blooms = (shd_rfdb_bloom *)(void *)(list->items + room + 1);
	list->dst_blooms = list->blooms + room + 1;
	return SHERD_OK;
}

void shd_graph_list_sort(graph_list *list)
{
	if (list->count)
		qsort(list->items, list->count, sizeof(graph_segment *), view_compare);
}

/* The first item of the shard or of a later one. */
static size_t begin_of(const graph_list *list, uint64_t shard)
{
	size_t low = 0, high = list->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (list->items[middle]->shard < shard)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

graph_range shd_graph_list_shard(const graph_list *list, uint32_t shard)
{
	return (graph_range){begin_of(list, shard), begin_of(list, (uint64_t)shard + 1)};
}

void shd_graph_list_link(graph_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		bool begins = i == 0 || list->items[i]->shard != list->items[i - 1]->shard;
		list->items[i]->first = begins ? i : list->items[i - 1]->first;
		list->blooms[i] = list->items[i]->rows.bloom;
		list->dst_blooms[i] = list->items[i]->rows.dst_bloom;
	}
}

static int bury_nodes(graph_view *v, const shd_rfdb_ids *nodes, sherd_error *err)
{
	v->dead_nodes = malloc((nodes->count + 1) * sizeof(shd_u128));
	if (!v->dead_nodes || !shd_graph_ids_reserve(&v->dead_node_set, nodes->count))
		return shd_fail_nomem(err);
	for (size_t i = 0; i < nodes->count; i++) {
		bool ok;
		v->dead_nodes[i] = nodes->items[i];
		(void)shd_graph_ids_add(&v->dead_node_set, nodes->items[i], (uint32_t)i, &ok);
	}
	v->dead_node_count = nodes->count;
	return SHERD_OK;
}

static int bury_edges(graph_view *v, const shd_rfdb_edge_keys *edges, sherd_error *err)
{
	shd_str last = {"", 0}; /* types repeat: neighbours share a copy */
	v->dead_edges = malloc((edges->count + 1) * sizeof(*v->dead_edges));
	if (!v->dead_edges || !shd_graph_keys_reserve(&v->dead_edge_set, edges->count))
		return shd_fail_nomem(err);
	for (size_t i = 0; i < edges->count; i++) {
		shd_rfdb_edge_key key = edges->items[i];
		if (key.type.len != last.len || memcmp(key.type.ptr, last.ptr, last.len) != 0) {
			last = (shd_str){shd_arena_str(&v->dead_arena, key.type), key.type.len};
			if (!last.ptr)
				return shd_fail_nomem(err);
		}
		key.type = last;
		v->dead_edges[i] = key;
		bool ok;
		(void)shd_graph_keys_add(&v->dead_edge_set, v->dead_edges, &key, (uint32_t)i, &ok);
	}
	v->dead_edge_count = edges->count;
	return SHERD_OK;
}

int shd_graph_view_bury(graph_view *v, const shd_rfdb_ids *nodes, const shd_rfdb_edge_keys *edges, sherd_error *err)
{
	v->dead_edge_set.stride = sizeof(shd_rfdb_edge_key);
	if (nodes->count >= UINT32_MAX || edges->count >= UINT32_MAX)
		return shd_fail(err, SHERD_ELIMIT, "too-large", "too many tombstones");
	TRY(bury_nodes(v, nodes, err));
	return bury_edges(v, edges, err);
}

void shd_graph_view_done(graph_view *v, bool close_segments)
{
	for (unsigned kind = 0; kind < 2; kind++) {
		for (size_t i = 0; close_segments && i < v->lists[kind].count; i++)
			shd_graph_segment_close(v->lists[kind].items[i]);
		free(v->lists[kind].items);
	}
	free(v->dead_nodes);
	free(v->dead_edges);
	shd_arena_done(&v->dead_arena);
	shd_graph_ids_done(&v->dead_node_set);
	shd_graph_keys_done(&v->dead_edge_set);
	shd_graph_locator_done(&v->locator);
	shd_graph_cover_done(&v->cover);
	*v = (graph_view){0};
}

static int check_segment(const graph_segment *s, sherd_error *err)
{
	TRY(sherd_reader_check(s->reader, err));
	return s->index_reader ? sherd_reader_check(s->index_reader, err) : SHERD_OK;
}

int shd_graph_view_check(const graph_view *v, sherd_error *err)
{
	for (unsigned kind = 0; kind < 2; kind++)
		for (size_t i = 0; i < v->lists[kind].count; i++)
			TRY(check_segment(v->lists[kind].items[i], err));
	/* What a run seemed not to have may be there: the next question does without it. */
	for (size_t i = 0; i < v->cover.count; i++) {
		int rc = sherd_reader_check(v->cover.runs[i]->reader, err);
		if (rc < 0)
			atomic_store(&v->cover.runs[i]->broken, true);
		TRY(rc);
	}
	return SHERD_OK;
}

int shd_graph_view_settle(const graph_view *v, int rc, sherd_error *err)
{
	if (shd_guard_any_broken())
		TRY(shd_graph_view_check(v, err));
	return rc;
}

static bool node_is_dead(const graph_view *v, shd_u128 id)
{
	return v->dead_node_count && shd_graph_ids_find(&v->dead_node_set, id) != GRAPH_IDS_NONE;
}

static bool edge_is_dead(const graph_view *v, const shd_rfdb_edge_key *key)
{
	return v->dead_edge_count && shd_graph_keys_find(&v->dead_edge_set, v->dead_edges, key) != GRAPH_KEYS_NONE;
}

/* In the item at place i. */
static int find_in(const graph_list *list, size_t i, const graph_wanted *w, uint64_t *row, sherd_error *err)
{
	if (!shd_rfdb_bloom_has(&list->blooms[i], w->id))
		return 0;
	return w->kind == SHD_RFDB_NODES ? shd_graph_segment_node(list->items[i], w->id, row, err)
	                                 : shd_graph_segment_edge(list->items[i], w->key, row, err);
}

int shd_graph_list_node(const graph_list *list, size_t i, shd_u128 id, uint64_t *row, sherd_error *err)
{
	const graph_wanted w = {.kind = SHD_RFDB_NODES, .id = id};
	return find_in(list, i, &w, row, err);
}

int shd_graph_list_has_node(const graph_list *list, size_t i, shd_u128 id, sherd_error *err)
{
	uint64_t row;
	return shd_graph_list_node(list, i, id, &row, err);
}

int shd_graph_list_has_edge(const graph_list *list, size_t i, const shd_rfdb_edge_key *key, sherd_error *err)
{
	uint64_t row;
	const graph_wanted w = {.kind = SHD_RFDB_EDGES, .id = key->src, .key = key};
	return find_in(list, i, &w, &row, err);
}

/* The newest row of each shard, and of these the one in the segment with the highest number. */
static int view_find(const graph_view *v, const graph_wanted *w, graph_row *out, sherd_error *err)
{
	const graph_list *list = &v->lists[w->kind];
	graph_row best = {0};
	if (shd_graph_cover_holds(&v->cover))
		return shd_graph_cover_find(v, w, out, err);
	for (size_t i = 0; i < list->count; i++) {
		const graph_segment *s = list->items[i];
		uint64_t row;
		int rc = find_in(list, i, w, &row, err);
		TRY(rc);
		if (!rc)
			continue;
		if (!best.segment || s->about.id > best.segment->about.id)
			best = (graph_row){s, row};
		if (v->one_shard)
			break;
		while (i + 1 < list->count && list->items[i + 1]->shard == s->shard)
			i++;
	}
	*out = best;
	return best.segment != NULL;
}

int shd_graph_view_node(const graph_view *v, shd_u128 id, graph_row *out, sherd_error *err)
{
	const graph_wanted w = {.kind = SHD_RFDB_NODES, .id = id};
	int rc = shd_graph_locate(v, id, out);
	if (rc < 0)
		rc = view_find(v, &w, out, err);
	return rc > 0 && node_is_dead(v, id) ? 0 : rc;
}

int shd_graph_view_edge(const graph_view *v, const shd_rfdb_edge_key *key, graph_row *out, sherd_error *err)
{
	const graph_wanted w = {.kind = SHD_RFDB_EDGES, .id = key->src, .key = key};
	int rc = view_find(v, &w, out, err);
	return rc > 0 && edge_is_dead(v, key) ? 0 : rc;
}

/* Does another shard have the key, in a segment with a higher number? */
static int other_shard_wins(const graph_view *v, const graph_wanted *w, const graph_segment *s, sherd_error *err)
{
	const graph_list *list = &v->lists[w->kind];
	if (shd_graph_cover_holds(&v->cover))
		return shd_graph_cover_loses(v, w, s, err);
	for (size_t i = 0; i < list->count; i++) {
		const graph_segment *rival = list->items[i];
		uint64_t row;
		if (rival->shard == s->shard)
			continue;
		int rc = find_in(list, i, w, &row, err);
		if (rc < 0 || (rc && rival->about.id > s->about.id))
			return rc;
		while (rc && i + 1 < list->count && list->items[i + 1]->shard == rival->shard)
			i++;
	}
	return 0;
}

/* Is there no later row with the key in the segment itself, in a newer one of its shard, in another shard? */
static int is_newest(const graph_view *v, const graph_wanted *w, size_t i, uint64_t row, sherd_error *err)
{
	const graph_list *list = &v->lists[w->kind];
	const graph_segment *s = list->items[i];
	const shd_rfdb_sidecar *x;
	uint64_t other;
	TRY(shd_graph_segment_index(s, GRAPH_BY_ID, &x, err));
	if (!x->sorted) {
		int rc = find_in(list, i, w, &other, err);
		TRY(rc);
		if (rc && other != row)
			return 0;
	}
	if (shd_graph_cover_holds(&v->cover))
		return shd_graph_cover_is_newest(v, w, i, err);
	for (size_t j = s->first; j < i; j++) {
		int rc = find_in(list, j, w, &other, err);
		if (rc)
			return rc < 0 ? rc : 0;
	}
	int rc = v->one_shard ? 0 : other_shard_wins(v, w, s, err);
	return rc < 0 ? rc : !rc;
}

int shd_graph_view_node_lives(const graph_view *v, size_t i, uint64_t row, sherd_error *err)
{
	const graph_wanted w = {.kind = SHD_RFDB_NODES,
	                        .id = shd_rfdb_segment_id(&v->lists[SHD_RFDB_NODES].items[i]->rows, row)};
	return node_is_dead(v, w.id) ? 0 : is_newest(v, &w, i, row, err);
}

int shd_graph_view_edge_lives(const graph_view *v, size_t i, uint64_t row, const shd_rfdb_edge_key *key,
                              sherd_error *err)
{
	const graph_wanted w = {.kind = SHD_RFDB_EDGES, .id = key->src, .key = key};
	return edge_is_dead(v, key) ? 0 : is_newest(v, &w, i, row, err);
}

int shd_graph_view_is_stray(const graph_view *v, shd_rfdb_kind kind, size_t i, uint64_t row, sherd_error *err)
{
	const graph_segment *s = v->lists[kind].items[i];
	shd_rfdb_edge edge;
	if (kind == SHD_RFDB_NODES) {
		const graph_wanted w = {.kind = kind, .id = shd_rfdb_segment_id(&s->rows, row)};
		return other_shard_wins(v, &w, s, err);
	}
	TRY(shd_graph_segment_read_edge(s, row, &edge, err));
	const shd_rfdb_edge_key key = {.src = edge.src, .dst = edge.dst, .type = edge.type};
	const graph_wanted w = {.kind = kind, .id = key.src, .key = &key};
	return other_shard_wins(v, &w, s, err);
}

bool shd_graph_view_is_plain(const graph_view *v, shd_rfdb_kind kind, size_t i)
{
	const graph_list *list = &v->lists[kind];
	const graph_segment *s = list->items[i];
	size_t dead = kind == SHD_RFDB_NODES ? v->dead_node_count : v->dead_edge_count;
	const shd_rfdb_sidecar *x = atomic_load(&s->index);
	return !dead && s->first == i && x && x->sorted && (v->one_shard || list->count == 1);
}

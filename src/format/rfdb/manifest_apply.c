/* What a chain of edits makes of a manifest. Of all that is said about one tombstone or one segment the last word
 * counts, so the edits are gone through from the newest to the oldest, and the first word heard about each is kept. */
#include "base/map.h"
#include "format/rfdb/manifest.h"

#include <inttypes.h>
#include <stdlib.h>

static int follow(const shd_rfdb_manifest *base, const shd_rfdb_edit *edits, size_t count, sherd_error *err)
{
	uint64_t version = base->version;
	for (size_t i = 0; i < count; i++) {
		if (version == UINT64_MAX || edits[i].version != version + 1 || edits[i].parent != version)
			return shd_fail(err, SHERD_ECORRUPT, "bad-version",
			                "an edit makes version %" PRIu64 " of %" PRIu64 ", but %" PRIu64
			                " is in front of it",
			                edits[i].version, edits[i].parent, version);
		version = edits[i].version;
	}
	return SHERD_OK;
}

/* ---- sets of plain keys: ids of nodes and of segments, found by their bytes */

typedef struct heard {
	shd_map map;
	bool ok;
} heard;

/* Was nothing said about the key before? */
static bool is_news(heard *h, const void *key, size_t len)
{
	bool ok;
	size_t at = shd_map_add(&h->map, (shd_str){key, len}, 0, &ok);
	h->ok &= ok;
	return at == SHD_MAP_NONE;
}

static bool was_said(const heard *h, const void *key, size_t len)
{
	return shd_map_find(&h->map, (shd_str){key, len}) != SHD_MAP_NONE;
}

static int compare_ids(const void *a, const void *b)
{
	shd_u128 x = *(const shd_u128 *)a, y = *(const shd_u128 *)b;
	return (x > y) - (x < y);
}

static void keep_news(heard *h, const shd_rfdb_ids *ids, shd_rfdb_id_vec *out)
{
	for (size_t i = 0; i < ids->count; i++)
		if (is_news(h, &ids->items[i], sizeof(ids->items[i])) && out)
			shd_vec_push(out, ids->items[i]);
}

static int apply_nodes(const shd_rfdb_manifest *base, const shd_rfdb_edit *edits, size_t count, shd_arena *arena,
                       shd_rfdb_ids *out, sherd_error *err)
{
	SHD_AUTO_VEC shd_rfdb_id_vec list = {0};
	heard h = {.ok = true};
	for (size_t i = count; i-- > 0;) {
		keep_news(&h, &edits[i].undead_nodes, NULL);
		keep_news(&h, &edits[i].dead_nodes, &list);
	}
	keep_news(&h, &base->dead_nodes, &list);
	shd_map_done(&h.map);
	if (list.count)
		qsort(list.items, list.count, sizeof(*list.items), compare_ids);
	list.failed |= !h.ok;
	return shd_vec_keep(&list, arena, out, err);
}

/* ---- keys of edges: sorted with their place, since they are not one run of bytes */

typedef struct word {
	shd_rfdb_edge_key key;
	size_t order; /* the lower, the later it was said */
	bool dead;
} word;
typedef SHD_VEC(word) word_vec;

int shd_rfdb_edge_key_compare(const shd_rfdb_edge_key *a, const shd_rfdb_edge_key *b)
{
	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	if (a->dst != b->dst)
		return a->dst < b->dst ? -1 : 1;
	return shd_str_compare(a->type, b->type);
}

static int compare_words(const void *a, const void *b)
{
	const word *x = a, *y = b;
	int order = shd_rfdb_edge_key_compare(&x->key, &y->key);
	return order ? order : (x->order > y->order) - (x->order < y->order);
}

static void say(word_vec *words, const shd_rfdb_edge_keys *keys, size_t order, bool dead)
{
	for (size_t i = 0; i < keys->count; i++)
		shd_vec_push(words, (word){.key = keys->items[i], .order = order, .dead = dead});
}

static int apply_edges(const shd_rfdb_manifest *base, const shd_rfdb_edit *edits, size_t count, shd_arena *arena,
                       shd_rfdb_edge_keys *out, sherd_error *err)
{
	SHD_AUTO_VEC word_vec words = {0};
	SHD_AUTO_VEC shd_rfdb_edge_key_vec list = {0};
	for (size_t i = count; i-- > 0;) {
		say(&words, &edits[i].undead_edges, 2 * (count - i), false);
		say(&words, &edits[i].dead_edges, 2 * (count - i) + 1, true);
	}
	say(&words, &base->dead_edges, SIZE_MAX, true);
	TRY(shd_vec_check(&words, err));
	const word *w = words.items;
	size_t said = words.count;
	if (said)
		qsort(words.items, said, sizeof(*w), compare_words);
	for (size_t i = 0; i < said; i++) {
		bool first = !i || shd_rfdb_edge_key_compare(&w[i - 1].key, &w[i].key) != 0;
		if (first && w[i].dead)
			shd_vec_push(&list, w[i].key);
	}
	return shd_vec_keep(&list, arena, out, err);
}

/* ---- segments */

static const shd_rfdb_descriptors *added(const shd_rfdb_edit *e, shd_rfdb_kind kind)
{
	return kind == SHD_RFDB_NODES ? &e->added_nodes : &e->added_edges;
}

typedef SHD_VEC(const shd_rfdb_descriptor *) descriptor_refs;

static void manifest_apply_mark(descriptor_refs *kept, const heard *removed, const shd_rfdb_descriptors *list)
{
	for (size_t i = list->count; i-- > 0;) {
		const shd_rfdb_descriptor *d = &list->items[i];
		if (!was_said(removed, &d->id, sizeof(d->id)))
			shd_vec_push(kept, d);
	}
}

/* What was removed by an edit is gone from all in front of it, but not from what it adds itself. */
static int apply_segments(const shd_rfdb_descriptors *base, const shd_rfdb_edit *edits, size_t count,
                          shd_rfdb_kind kind, shd_arena *arena, shd_rfdb_descriptors *out, sherd_error *err)
{
	SHD_AUTO_VEC descriptor_refs kept = {0}; /* newest first */
	heard removed = {.ok = true};
	for (size_t i = count; i-- > 0;) {
		const shd_rfdb_numbers *ids =
			kind == SHD_RFDB_NODES ? &edits[i].removed_nodes : &edits[i].removed_edges;
		manifest_apply_mark(&kept, &removed, added(&edits[i], kind));
		for (size_t k = 0; k < ids->count; k++)
			(void)is_news(&removed, &ids->items[k], sizeof(ids->items[k]));
	}
	manifest_apply_mark(&kept, &removed, base);
	shd_map_done(&removed.map);
	size_t n = kept.count;
	shd_rfdb_descriptor *list = n ? shd_arena_alloc(arena, n, sizeof(*list)) : NULL;
	if (!removed.ok || kept.failed || (n && !list))
		return shd_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		list[i] = *kept.items[n - 1 - i];
	*out = (shd_rfdb_descriptors){list, n};
	return SHERD_OK;
}

/* ---- all of it */

int shd_rfdb_manifest_apply(const shd_rfdb_manifest *base, const shd_rfdb_edit *edits, size_t count, shd_arena *arena,
                            shd_rfdb_manifest *out, sherd_error *err)
{
	shd_rfdb_manifest m = *base;
	TRY(follow(base, edits, count, err));
	TRY(apply_segments(&base->nodes, edits, count, SHD_RFDB_NODES, arena, &m.nodes, err));
	TRY(apply_segments(&base->edges, edits, count, SHD_RFDB_EDGES, arena, &m.edges, err));
	TRY(apply_nodes(base, edits, count, arena, &m.dead_nodes, err));
	TRY(apply_edges(base, edits, count, arena, &m.dead_edges, err));
	for (size_t i = 0; i < count; i++) {
		const shd_rfdb_edit *e = &edits[i];
		m.version = e->version;
		m.created_at = e->created_at;
		m.has_parent = true;
		m.parent = e->parent;
		m.l1_nodes = e->has_l1_nodes ? e->l1_nodes : m.l1_nodes;
		m.l1_edges = e->has_l1_edges ? e->l1_edges : m.l1_edges;
		m.compaction = e->compaction.version ? e->compaction : m.compaction;
		m.tags = e->tags;
		m.stats = e->stats;
		m.counts = e->counts;
		m.seal = e->seal;
	}
	*out = m;
	return SHERD_OK;
}

const shd_rfdb_descriptor *shd_rfdb_manifest_segment(const shd_rfdb_manifest *m, size_t number)
{
	const shd_rfdb_descriptors *lists[] = {&m->nodes, &m->edges, &m->l1_nodes, &m->l1_edges};
	for (size_t l = 0; l < COUNT_OF(lists); number -= lists[l++]->count)
		if (number < lists[l]->count)
			return &lists[l]->items[number];
	return NULL;
}

int shd_rfdb_manifest_check(const shd_rfdb_manifest *m, sherd_error *err)
{
	heard seen = {.ok = true};
	const shd_rfdb_descriptor *d;
	size_t i = 0;
	while ((d = shd_rfdb_manifest_segment(m, i)) && is_news(&seen, &d->id, sizeof(d->id)) && seen.ok)
		i++;
	shd_map_done(&seen.map);
	if (!seen.ok)
		return shd_fail_nomem(err);
	return d ? shd_fail(err, SHERD_ECORRUPT, "duplicate-id", "segment %" PRIu64 " is named twice", d->id)
	         : SHERD_OK;
}

shd_rfdb_stats shd_rfdb_stats_of(const shd_rfdb_descriptor *nodes, size_t node_count, const shd_rfdb_descriptor *edges,
                                 size_t edge_count)
{
	shd_rfdb_stats s = {.node_segments = (uint32_t)node_count, .edge_segments = (uint32_t)edge_count};
	for (size_t i = 0; i < node_count; i++)
		s.nodes += nodes[i].rows;
	for (size_t i = 0; i < edge_count; i++)
		s.edges += edges[i].rows;
	return s;
}

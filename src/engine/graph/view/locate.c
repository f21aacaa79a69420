#include "engine/graph/view/locate.h"

#include "base/large.h"
#include "base/map.h"
#include "engine/graph/view/view.h"

#include <stdlib.h>

enum { SHARE_ASKED = 4 };                /* it pays when so many-th part of the nodes was asked for */
#define MOST_ROWS ((uint64_t)500 * 1000) /* 12 MB */
#define MOST_ITEMS (UINT16_MAX - 1)
#define NEVER UINT64_MAX /* asked, of a view that it does not suit */

typedef struct place {
	uint32_t row;
	uint16_t item; /* of the list, plus one; 0 is empty */
	uint16_t tag;  /* of the hash, so that few rows are looked at in vain */
	/* Of the row's first string: its number, and where its text begins. Only to ask for this memory in time, since
	 * the others mostly lie beside it. */
	uint32_t string, text;
} place;

typedef struct graph_places {
	uint64_t seed;
	uint64_t count;
	place *slots;
} graph_places;

static uint64_t locate_rows_of(const graph_list *list)
{
	uint64_t rows = 0;
	for (size_t i = 0; i < list->count; i++)
		rows += list->items[i]->rows.rows;
	return rows;
}

static uint64_t locate_home(const graph_places *p, uint64_t hash)
{
	return (hash >> 32) * p->count >> 32;
}

static place place_of(const shd_rfdb_segment *s, uint64_t row, size_t item, uint64_t hash)
{
	place p = {.row = (uint32_t)row, .item = (uint16_t)(item + 1), .tag = (uint16_t)hash};
	uint32_t string = shd_rfdb_segment_string(s, SHD_RFDB_SEMANTIC_ID, row);
	shd_str text;
	if (shd_rfdb_strings_get(&s->strings, string, &text)) {
		p.string = string;
		p.text = (uint32_t)(text.ptr - s->strings.text);
	}
	return p;
}

static void locate_fetch(const shd_rfdb_segment *s, const place *at)
{
	const char *text = s->strings.text + at->text;
	__builtin_prefetch(s->strings.entries + 8 * (size_t)at->string);
	__builtin_prefetch(text);
	__builtin_prefetch(text + 64);
	for (int c = 0; c < SHD_RFDB_COLUMNS; c++)
		__builtin_prefetch(s->text[c] + 4 * (size_t)at->row);
}

static bool stands_at(const graph_list *list, const place *at, shd_u128 id)
{
	locate_fetch(&list->items[at->item - 1]->rows, at);
	return shd_rfdb_segment_id(&list->items[at->item - 1]->rows, at->row) == id;
}

/* The slot of the id, or the empty one where it belongs. */
static place *locate_slot_of(const graph_places *p, const graph_list *list, shd_u128 id, uint64_t hash)
{
	uint64_t i = locate_home(p, hash);
	while (p->slots[i].item && (p->slots[i].tag != (uint16_t)hash || !stands_at(list, &p->slots[i], id)))
		i = i + 1 < p->count ? i + 1 : 0;
	return &p->slots[i];
}

/* A shard's segments stand the newest first: of several rows with one id the first is the one that counts. */
static void locate_fill(const graph_places *p, const graph_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const shd_rfdb_segment *s = &list->items[i]->rows;
		for (uint64_t row = 0; row < s->rows; row++) {
			shd_u128 id = shd_rfdb_segment_id(s, row);
			uint64_t hash = shd_graph_ids_hash(p->seed, id);
			place *slot = locate_slot_of(p, list, id, hash);
			if (!slot->item)
				*slot = place_of(s, row, i, hash);
		}
	}
}

static void places_free(graph_places *p)
{
	if (p)
		free(p->slots);
	free(p);
}

/* NULL when memory is out: then it is done without. */
static graph_places *locate_make(const graph_list *list, uint64_t rows)
{
	graph_places *p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->count = rows + rows / 2 + 1;
	p->seed = shd_hash_seed() | 1;
	p->slots = shd_large_alloc(p->count * sizeof(*p->slots));
	if (!p->slots) {
		places_free(p);
		return NULL;
	}
	memset(p->slots, 0, p->count * sizeof(*p->slots));
	locate_fill(p, list);
	return p;
}

static bool suits(const graph_view *v, uint64_t rows)
{
	const graph_list *list = &v->lists[SHD_RFDB_NODES];
	if (!v->one_shard || rows > MOST_ROWS || list->count > MOST_ITEMS)
		return false;
	for (size_t i = 0; i < list->count; i++) {
		const shd_rfdb_sidecar *x = atomic_load(&list->items[i]->index);
		if (!x || !x->sorted)
			return false;
	}
	return true;
}

/* Another thread may have been quicker. */
static graph_places *locate_publish(graph_locator *l, graph_places *p)
{
	graph_places *there = NULL;
	if (!p || atomic_compare_exchange_strong(&l->places, &there, p))
		return p;
	places_free(p);
	return there;
}

static graph_places *consider(const graph_view *v)
{
	/* Making it changes nothing that a caller can see. */
	graph_locator *l = (graph_locator *)(uintptr_t)&v->locator;
	/* Threads that ask at the same time may count as one: nothing depends on it. */
	uint64_t asked = atomic_load_explicit(&l->asked, memory_order_relaxed);
	if (asked == NEVER)
		return NULL;
	atomic_store_explicit(&l->asked, ++asked, memory_order_relaxed);
	/* The rows are counted seldom. */
	if (asked & (asked - 1))
		return NULL;
	uint64_t rows = locate_rows_of(&v->lists[SHD_RFDB_NODES]);
	if (asked < rows / SHARE_ASKED)
		return NULL;
	if (suits(v, rows))
		return locate_publish(l, locate_make(&v->lists[SHD_RFDB_NODES], rows));
	atomic_store_explicit(&l->asked, NEVER, memory_order_relaxed);
	return NULL;
}

int shd_graph_locate(const graph_view *v, shd_u128 id, graph_row *out)
{
	const graph_places *p = atomic_load_explicit(&v->locator.places, memory_order_acquire);
	if (!p && !(p = consider(v)))
		return -1;
	const graph_list *list = &v->lists[SHD_RFDB_NODES];
	const place *slot = locate_slot_of(p, list, id, shd_graph_ids_hash(p->seed, id));
	if (!slot->item)
		return 0;
	*out = (graph_row){list->items[slot->item - 1], slot->row};
	return 1;
}

void shd_graph_locator_done(graph_locator *l)
{
	places_free(atomic_load(&l->places));
	atomic_store(&l->places, NULL);
}

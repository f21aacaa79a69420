#include "engine/graph/view/ids.h"

#include "base/large.h"
#include "base/map.h"

#include <stdlib.h>

struct graph_ids_slot {
	uint64_t lo, hi;
	uint32_t used;
	uint32_t value;
};

static size_t ids_home(const graph_ids *t, shd_u128 id)
{
	return (size_t)(shd_graph_ids_hash(t->seed, id) >> 20) & (t->cap - 1);
}

static struct graph_ids_slot *ids_slot_of(const graph_ids *t, shd_u128 id)
{
	size_t mask = t->cap - 1;
	uint64_t lo = (uint64_t)id, hi = (uint64_t)(id >> 64);
	size_t i = ids_home(t, id);
	while (t->slots[i].used && (t->slots[i].lo != lo || t->slots[i].hi != hi))
		i = (i + 1) & mask;
	return &t->slots[i];
}

static bool ids_grow(graph_ids *t, size_t cap)
{
	graph_ids larger = {.cap = cap, .seed = t->seed ? t->seed : shd_hash_seed() | 1};
	if (cap > SIZE_MAX / sizeof(*larger.slots))
		return false;
	larger.slots = shd_large_alloc(cap * sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	memset(larger.slots, 0, cap * sizeof(*larger.slots));
	for (size_t i = 0; i < t->cap; i++) {
		const struct graph_ids_slot *s = &t->slots[i];
		if (s->used)
			*ids_slot_of(&larger, (shd_u128)s->hi << 64 | s->lo) = *s;
	}
	larger.count = t->count;
	free(t->slots);
	*t = larger;
	return true;
}

bool shd_graph_ids_reserve(graph_ids *t, size_t count)
{
	if (count <= t->cap - t->cap / 4)
		return true;
	size_t cap = t->cap ? t->cap : 64;
	while (cap - cap / 4 < count) {
		if (cap > SIZE_MAX / 2)
			return false;
		cap *= 2;
	}
	return ids_grow(t, cap);
}

uint32_t shd_graph_ids_add(graph_ids *t, shd_u128 id, uint32_t value, bool *ok)
{
	*ok = shd_graph_ids_reserve(t, t->count + 1);
	if (!*ok)
		return GRAPH_IDS_NONE;
	struct graph_ids_slot *s = ids_slot_of(t, id);
	if (s->used)
		return s->value;
	*s = (struct graph_ids_slot){.lo = (uint64_t)id, .hi = (uint64_t)(id >> 64), .used = 1, .value = value};
	t->count++;
	return GRAPH_IDS_NONE;
}

uint32_t shd_graph_ids_find(const graph_ids *t, shd_u128 id)
{
	if (!t->count)
		return GRAPH_IDS_NONE;
	const struct graph_ids_slot *s = ids_slot_of(t, id);
	return s->used ? s->value : GRAPH_IDS_NONE;
}

void shd_graph_ids_fetch(const graph_ids *t, shd_u128 id)
{
	if (t->cap)
		__builtin_prefetch(&t->slots[ids_home(t, id)]);
}

void shd_graph_ids_done(graph_ids *t)
{
	free(t->slots);
	*t = (graph_ids){0};
}

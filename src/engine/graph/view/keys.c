#include "engine/graph/view/keys.h"

#include "base/large.h"
#include "base/map.h"
#include "engine/graph/view/ids.h"

#include <stdlib.h>

struct graph_keys_slot {
	uint32_t hash;
	uint32_t place; /* plus one; 0 is empty */
};

static uint32_t keys_hash_of(uint64_t seed, const shd_rfdb_edge_key *k)
{
	uint64_t h = shd_graph_ids_hash(seed, k->src);
	h ^= shd_graph_ids_hash(h | 1, k->dst);
	return (uint32_t)((h ^ shd_hash(seed, k->type.ptr, k->type.len)) >> 16);
}

static bool same(const shd_rfdb_edge_key *a, const shd_rfdb_edge_key *b)
{
	return a->src == b->src && a->dst == b->dst && a->type.len == b->type.len &&
	       (a->type.ptr == b->type.ptr || memcmp(a->type.ptr, b->type.ptr, a->type.len) == 0);
}

static size_t keys_home(const graph_keys *t, uint32_t hash)
{
	return hash & (t->cap - 1);
}

static void keys_put(graph_keys *t, uint32_t hash, uint32_t place)
{
	size_t i = keys_home(t, hash);
	while (t->slots[i].place)
		i = (i + 1) & (t->cap - 1);
	t->slots[i] = (struct graph_keys_slot){.hash = hash, .place = place};
}

bool shd_graph_keys_reserve(graph_keys *t, size_t count)
{
	if (count <= t->cap - t->cap / 4)
		return true;
	size_t cap = t->cap ? t->cap : 64;
	while (cap - cap / 4 < count) {
		if (cap > SIZE_MAX / 2)
			return false;
		cap *= 2;
	}
	graph_keys larger = *t;
	larger.cap = cap;
	larger.seed = t->seed ? t->seed : shd_hash_seed() | 1;
	if (cap > SIZE_MAX / sizeof(*t->slots))
		return false;
	larger.slots = shd_large_alloc(cap * sizeof(*t->slots));
	if (!larger.slots)
		return false;
	memset(larger.slots, 0, cap * sizeof(*t->slots));
	for (size_t i = 0; i < t->cap; i++)
		if (t->slots[i].place)
			keys_put(&larger, t->slots[i].hash, t->slots[i].place);
	free(t->slots);
	*t = larger;
	return true;
}

/* The slot of the key, or the empty one where it belongs. */
static struct graph_keys_slot *keys_slot_of(const graph_keys *t, const void *entries, const shd_rfdb_edge_key *key,
                                            uint32_t hash)
{
	size_t i = keys_home(t, hash);
	for (; t->slots[i].place; i = (i + 1) & (t->cap - 1)) {
		const void *entry = (const char *)entries + (size_t)(t->slots[i].place - 1) * t->stride;
		if (t->slots[i].hash == hash && same((const shd_rfdb_edge_key *)entry, key))
			break;
	}
	return &t->slots[i];
}

uint32_t shd_graph_keys_find(const graph_keys *t, const void *entries, const shd_rfdb_edge_key *key)
{
	if (!t->count)
		return GRAPH_KEYS_NONE;
	const struct graph_keys_slot *s = keys_slot_of(t, entries, key, keys_hash_of(t->seed, key));
	return s->place ? s->place - 1 : GRAPH_KEYS_NONE;
}

uint32_t shd_graph_keys_add(graph_keys *t, const void *entries, const shd_rfdb_edge_key *key, uint32_t place, bool *ok)
{
	*ok = shd_graph_keys_reserve(t, t->count + 1);
	if (!*ok)
		return GRAPH_KEYS_NONE;
	uint32_t hash = keys_hash_of(t->seed, key);
	struct graph_keys_slot *s = keys_slot_of(t, entries, key, hash);
	if (s->place)
		return s->place - 1;
	*s = (struct graph_keys_slot){.hash = hash, .place = place + 1};
	t->count++;
	return GRAPH_KEYS_NONE;
}

void shd_graph_keys_fetch(const graph_keys *t, const shd_rfdb_edge_key *key)
{
	if (t->cap)
		__builtin_prefetch(&t->slots[keys_home(t, keys_hash_of(t->seed, key))]);
}

void shd_graph_keys_done(graph_keys *t)
{
	free(t->slots);
	*t = (graph_keys){.stride = t->stride};
}

/* engine/graph/disk/segment_keys.c - the newest row of every key in a segment of edges that is not sorted.
 *
 * Its order by source leads to the rows of a source, and a hub has many. Without this each of them would be held
 * against all others. */
#include "base/large.h"
#include "base/map.h"
#include "engine/graph/view/ids.h"
#include "engine/graph/disk/segment.h"

#include <stdlib.h>

/* Open addressing; rows plus one, 0 is empty. */
struct graph_segment_keys {
	uint64_t seed;
	size_t mask;
	uint32_t slots[];
};

static uint64_t segment_keys_hash_of(uint64_t seed, const shd_rfdb_edge_key *k)
{
	uint64_t h = shd_graph_ids_hash(seed, k->src);
	h ^= shd_graph_ids_hash(h | 1, k->dst);
	return h ^ shd_hash(seed, k->type.ptr, k->type.len);
}

static shd_rfdb_edge_key key_of(const graph_segment *s, uint64_t row)
{
	shd_rfdb_edge_key k = {
		.src = shd_rfdb_segment_id(&s->rows, row), .dst = shd_rfdb_segment_dst(&s->rows, row), .type = {"", 0}};
	(void)shd_rfdb_segment_text(&s->rows, SHD_RFDB_EDGE_TYPE, row, &k.type);
	return k;
}

/* The slot of the key, or the empty one where it belongs. */
static size_t segment_keys_find(const graph_segment *s, const graph_segment_keys *t, const shd_rfdb_edge_key *key)
{
	size_t at = (size_t)(segment_keys_hash_of(t->seed, key) >> 16) & t->mask;
	for (; t->slots[at]; at = (at + 1) & t->mask) {
		const shd_rfdb_edge_key there = key_of(s, t->slots[at] - 1);
		if (shd_rfdb_edge_key_compare(&there, key) == 0)
			break;
	}
	return at;
}

static int segment_keys_build(graph_segment *s, sherd_error *err)
{
	size_t cap = 64;
	while (cap / 2 < s->rows.rows)
		cap *= 2;
	graph_segment_keys *t = shd_large_alloc(sizeof(*t) + cap * sizeof(*t->slots));
	if (!t)
		return shd_fail_nomem(err);
	memset(t->slots, 0, cap * sizeof(*t->slots));
	t->seed = shd_hash_seed() | 1;
	t->mask = cap - 1;
	for (uint64_t row = 0; row < s->rows.rows; row++) {
		const shd_rfdb_edge_key key = key_of(s, row);
		t->slots[segment_keys_find(s, t, &key)] = (uint32_t)row + 1;
	}
	atomic_store(&s->keys, t);
	return SHERD_OK;
}

int shd_graph_segment_newest(const graph_segment *segment, const shd_rfdb_edge_key *key, uint64_t *row,
                             sherd_error *err)
{
	/* Preparing changes nothing that a caller can see. */
	graph_segment *s = (graph_segment *)(uintptr_t)segment;
	if (!atomic_load_explicit(&s->keys, memory_order_acquire)) {
		pthread_mutex_lock(&s->making);
		int rc = atomic_load(&s->keys) ? SHERD_OK : segment_keys_build(s, err);
		pthread_mutex_unlock(&s->making);
		TRY(rc);
	}
	const graph_segment_keys *t = atomic_load(&s->keys);
	uint32_t found = t->slots[segment_keys_find(s, t, key)];
	*row = (uint64_t)found - 1;
	return found != 0;
}

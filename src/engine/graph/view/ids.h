/* engine/graph/view/ids.h - 128-bit ids to small numbers: an open-addressing table. */
#pragma once

#include "base/u128.h"

typedef struct graph_ids {
	struct graph_ids_slot *slots;
	size_t count;
	size_t cap; /* a power of two, or 0 */
	uint64_t seed;
} graph_ids;

#define GRAPH_IDS_NONE UINT32_MAX

/* Room for so many ids in all; false when memory is out. */
bool shd_graph_ids_reserve(graph_ids *t, size_t count);
/* Returns the value that stands under the id already, or GRAPH_IDS_NONE after adding this one; *ok is false when
 * memory is out. */
uint32_t shd_graph_ids_add(graph_ids *t, shd_u128 id, uint32_t value, bool *ok);
uint32_t shd_graph_ids_find(const graph_ids *t, shd_u128 id);
/* Asks for the memory that an id will need soon. */
void shd_graph_ids_fetch(const graph_ids *t, shd_u128 id);
void shd_graph_ids_done(graph_ids *t);

/* Keyed: ids may be chosen by who wrote the file. */
static inline uint64_t shd_graph_ids_hash(uint64_t seed, shd_u128 id)
{
	shd_u128 product = (shd_u128)((uint64_t)id ^ seed) * ((uint64_t)(id >> 64) ^ (seed | 1));
	uint64_t h = (uint64_t)product ^ (uint64_t)(product >> 64);
	return (h ^ (uint64_t)id ^ (h >> 32)) * 0x9e3779b97f4a7c15u;
}

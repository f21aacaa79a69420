/* engine/graph/view/keys.h - keys of edges to places in an array: an open-addressing table.
 *
 * The keys stand in the array, each at the front of its entry; the table holds only hashes and places. */
#pragma once

#include "format/rfdb/manifest.h"

typedef struct graph_keys {
	struct graph_keys_slot *slots;
	size_t count;
	size_t cap; /* a power of two, or 0 */
	uint64_t seed;
	size_t stride; /* bytes of an entry; set by the owner */
} graph_keys;

#define GRAPH_KEYS_NONE UINT32_MAX

bool shd_graph_keys_reserve(graph_keys *t, size_t count);
/* The place of the key among entries, or GRAPH_KEYS_NONE. */
uint32_t shd_graph_keys_find(const graph_keys *t, const void *entries, const shd_rfdb_edge_key *key);
/* The place of the key, or GRAPH_KEYS_NONE after noting that the caller puts it at this one; *ok is false when memory
 * is out. */
uint32_t shd_graph_keys_add(graph_keys *t, const void *entries, const shd_rfdb_edge_key *key, uint32_t place, bool *ok);
/* Asks for the memory that a key will need soon. */
void shd_graph_keys_fetch(const graph_keys *t, const shd_rfdb_edge_key *key);
void shd_graph_keys_done(graph_keys *t);

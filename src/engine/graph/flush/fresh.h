/* engine/graph/flush/fresh.h - which nodes a load may have spilled before: a filter over all of them.
 *
 * A load spills piece after piece, and every node has to be asked for in all of them, mostly in vain. One look here
 * instead. It begins when a load has become long, and takes the same memory for each; far beyond 50 million nodes it
 * says "perhaps" more often, and pieces are asked. */
#pragma once

#include "base/u128.h"

typedef struct graph_fresh {
	uint64_t *blocks; /* NULL: nobody knows yet */
	uint64_t seed;
} graph_fresh;

/* False when memory is out. */
bool shd_graph_fresh_begin(graph_fresh *f);
void shd_graph_fresh_add(const graph_fresh *f, shd_u128 id);
/* Was it surely not added? Not to be asked before it has begun. */
bool shd_graph_fresh_is_new(const graph_fresh *f, shd_u128 id);
void shd_graph_fresh_done(graph_fresh *f);

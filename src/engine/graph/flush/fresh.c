#include "engine/graph/flush/fresh.h"

#include "base/large.h"
#include "base/map.h"
#include "engine/graph/view/ids.h"

#include <stdlib.h>
#include <string.h>

/* Blocks of 512 bits, one of which an id sets six bits in: one place in memory to wait for. */
enum { WORDS = 8, PROBES = 6 };
#define BLOCKS ((uint64_t)1 << 20) /* 64 MiB */

bool shd_graph_fresh_begin(graph_fresh *f)
{
	if (f->blocks)
		return true;
	const size_t size = BLOCKS * WORDS * sizeof(uint64_t);
	f->blocks = shd_large_alloc(size);
	if (!f->blocks)
		return false;
	memset(f->blocks, 0, size);
	f->seed = shd_hash_seed() | 1;
	return true;
}

void shd_graph_fresh_done(graph_fresh *f)
{
	free(f->blocks);
	*f = (graph_fresh){0};
}

static uint64_t *block_of(const graph_fresh *f, uint64_t hash)
{
	return f->blocks + hash % BLOCKS * WORDS;
}

/* Nine bits of the hash for each probe. */
static unsigned fresh_probe(uint64_t hash, int i)
{
	return (unsigned)(hash >> (20 + 7 * i)) & 511u;
}

void shd_graph_fresh_add(const graph_fresh *f, shd_u128 id)
{
	uint64_t hash = shd_graph_ids_hash(f->seed, id), *block = block_of(f, hash);
	for (int i = 0; i < PROBES; i++)
		block[fresh_probe(hash, i) / 64] |= (uint64_t)1 << fresh_probe(hash, i) % 64;
}

bool shd_graph_fresh_is_new(const graph_fresh *f, shd_u128 id)
{
	uint64_t hash = shd_graph_ids_hash(f->seed, id);
	const uint64_t *block = block_of(f, hash);
	for (int i = 0; i < PROBES; i++)
		if (!(block[fresh_probe(hash, i) / 64] >> fresh_probe(hash, i) % 64 & 1))
			return true;
	return false;
}

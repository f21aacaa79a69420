/* format/dcp/tiles.c - do the chunks of a tensor cover it, each element once? They do when they are the cells of a
 * grid, as all real ones are; others are compared pair by pair, up to a limit. */
#include "format/dcp/metadata.h"

#include <stdlib.h>

enum { MOST_PAIRWISE = 4096 };

static bool volume(const uint64_t *shape, uint32_t ndim, uint64_t *out)
{
	*out = 1;
	for (uint32_t d = 0; d < ndim; d++)
		if (__builtin_mul_overflow(*out, shape[d], out))
			return false;
	return true;
}

static int tiles_by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* Where cells begin in one dimension, in order and without doubles, and its end. Empty chunks do not count. */
static size_t find_cuts(const shd_dcp_entry *e, uint32_t d, uint64_t *cuts)
{
	size_t n = 0, kept = 0;
	for (size_t i = 0; i < e->chunk_count; i++) {
		uint64_t elements;
		if (volume(e->chunks[i].shape, e->ndim, &elements) && elements)
			cuts[n++] = e->chunks[i].at[d];
	}
	qsort(cuts, n, sizeof(*cuts), tiles_by_number);
	for (size_t i = 0; i < n; i++)
		if (!kept || cuts[i] != cuts[kept - 1])
			cuts[kept++] = cuts[i];
	cuts[kept] = e->shape[d];
	return kept;
}

/* Is every chunk one cell, and are there as many as cells? Two chunks never begin at one place. */
static bool is_grid(const shd_dcp_entry *e, uint64_t *cuts, size_t filled)
{
	size_t cells = 1;
	for (uint32_t d = 0; d < e->ndim; d++) {
		size_t n = find_cuts(e, d, cuts);
		if (!n || cuts[0] || __builtin_mul_overflow(cells, n, &cells))
			return false;
		for (size_t i = 0; i < e->chunk_count; i++) {
			const shd_dcp_chunk *c = &e->chunks[i];
			uint64_t elements;
			if (!volume(c->shape, e->ndim, &elements) || !elements)
				continue;
			const uint64_t *cut = bsearch(&c->at[d], cuts, n, sizeof(*cuts), tiles_by_number);
			if (!cut || cut[1] - cut[0] != c->shape[d])
				return false;
		}
	}
	return cells == filled;
}

static bool are_disjoint(const shd_dcp_entry *e, const shd_dcp_chunk *a, const shd_dcp_chunk *b)
{
	for (uint32_t d = 0; d < e->ndim; d++)
		if (a->at[d] + a->shape[d] <= b->at[d] || b->at[d] + b->shape[d] <= a->at[d])
			return true;
	return false;
}

static int check_pairs(const shd_dcp_entry *e, sherd_error *err)
{
	if (e->chunk_count > MOST_PAIRWISE)
		return shd_fail(err, SHERD_ELIMIT, "too-many-pieces",
		                "%.128s is cut into %zu chunks that make no grid; the limit is %u", e->name,
		                e->chunk_count, MOST_PAIRWISE);
	for (size_t i = 0; i < e->chunk_count; i++)
		for (size_t k = i + 1; k < e->chunk_count; k++)
			if (!are_disjoint(e, &e->chunks[i], &e->chunks[k]))
				return shd_fail(err, SHERD_ECORRUPT, "overlap", "two chunks of %.128s overlap",
				                e->name);
	return SHERD_OK;
}

int shd_dcp_check_tiles(const shd_dcp_entry *e, sherd_error *err)
{
	uint64_t whole, sum = 0;
	size_t filled = 0;
	bool ok = volume(e->shape, e->ndim, &whole);
	for (size_t i = 0; ok && i < e->chunk_count; i++) {
		uint64_t elements = 0;
		ok = volume(e->chunks[i].shape, e->ndim, &elements) && !__builtin_add_overflow(sum, elements, &sum);
		filled += elements > 0;
	}
	if (!ok)
		return shd_fail(err, SHERD_ECORRUPT, "overflow", "the size of %.128s does not fit 64 bits", e->name);
	if (sum != whole)
		return shd_fail(err, SHERD_ECORRUPT, sum < whole ? "hole" : "overlap",
		                "the chunks of %.128s have %llu elements, it has %llu", e->name,
		                (unsigned long long)sum, (unsigned long long)whole);
	if (filled < 2)
		return SHERD_OK;
	SHD_AUTO_FREE uint64_t *cuts = calloc(e->chunk_count + 1, sizeof(*cuts));
	if (!cuts)
		return shd_fail_nomem(err);
	return is_grid(e, cuts, filled) ? SHERD_OK : check_pairs(e, err);
}

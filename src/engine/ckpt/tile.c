/* engine/ckpt/tile.c - do boxes tile a whole?
 *
 * They do when their volumes add up to the whole's and no two overlap. Real cuts
 * can be split by straight lines again and again until every box is alone, which
 * takes a sort a level; what cannot be split so is compared pair by pair, up to a
 * limit. */
#include "engine/ckpt/ckpt.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_LEVELS = 128, MOST_PAIRWISE = 4096 };

typedef struct tiling {
	const sherd_tensor *whole;
	sherd_error *err;
} tiling;

static int by_position(const void *a, const void *b, void *arg)
{
	const sherd_ckpt_piece *x = a, *y = b;
	uint32_t dim = *(const uint32_t *)arg;
	if (x->at[dim] != y->at[dim])
		return x->at[dim] < y->at[dim] ? -1 : 1;
	return (x->shard > y->shard) - (x->shard < y->shard);
}

static int overlap(const tiling *t, const sherd_ckpt_piece *a, const sherd_ckpt_piece *b)
{
	return shd_fail(t->err, SHERD_ECORRUPT, "overlap",
	                "tensor '%.80s': its pieces in shards %" PRIu32 " and %" PRIu32 " overlap", t->whole->name,
	                a->shard, b->shard);
}

static bool disjoint(const sherd_ckpt_piece *a, const sherd_ckpt_piece *b, uint32_t ndim)
{
	for (uint32_t d = 0; d < ndim; d++)
		if (a->at[d] + a->shape[d] <= b->at[d] || b->at[d] + b->shape[d] <= a->at[d])
			return true;
	return false;
}

static int tile_check_pairs(const tiling *t, const sherd_ckpt_piece *p, size_t n)
{
	if (n > MOST_PAIRWISE)
		return shd_fail(t->err, SHERD_ELIMIT, "too-many-pieces",
		                "tensor '%.80s': %zu pieces in no regular pattern", t->whole->name, n);
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			if (!disjoint(&p[i], &p[k], t->whole->ndim))
				return overlap(t, &p[i], &p[k]);
	return SHERD_OK;
}

/* Splits the boxes where a line across dimension dim crosses none, and each part by the next dimension.
 * stuck: how many dimensions in a row did not split this very set. */
static int check_disjoint(const tiling *t, sherd_ckpt_piece *p, size_t n, uint32_t dim, uint32_t stuck, unsigned level)
{
	uint32_t ndim = t->whole->ndim;
	if (n < 2)
		return SHERD_OK;
	if (stuck == ndim || level == MOST_LEVELS)
		return tile_check_pairs(t, p, n);
	qsort_r(p, n, sizeof(*p), by_position, &dim);
	uint64_t end = p[0].at[dim] + p[0].shape[dim];
	size_t first = 0;
	for (size_t i = 1; i <= n; i++) {
		if (i < n && p[i].at[dim] < end) {
			if (p[i].at[dim] + p[i].shape[dim] > end)
				end = p[i].at[dim] + p[i].shape[dim];
			continue;
		}
		bool whole_set = first == 0 && i == n;
		TRY(check_disjoint(t, p + first, i - first, (dim + 1) % ndim, whole_set ? stuck + 1 : 1, level + 1));
		if (i < n)
			end = p[i].at[dim] + p[i].shape[dim];
		first = i;
	}
	return SHERD_OK;
}

static unsigned __int128 volume(const uint64_t *shape, uint32_t ndim)
{
	unsigned __int128 v = 1;
	for (uint32_t d = 0; d < ndim; d++)
		v *= shape[d];
	return v;
}

/* Back into the order in which bytes of the whole appear. */
static int by_box(const void *a, const void *b, void *arg)
{
	const sherd_ckpt_piece *x = a, *y = b;
	for (uint32_t d = 0; d < *(const uint32_t *)arg; d++)
		if (x->at[d] != y->at[d])
			return x->at[d] < y->at[d] ? -1 : 1;
	return 0;
}

int shd_ckpt_check_tiling(sherd_ckpt_piece *pieces, size_t count, const sherd_tensor *whole, sherd_error *err)
{
	tiling t = {whole, err};
	uint32_t ndim = whole->ndim;
	unsigned __int128 sum = 0, all = volume(whole->shape, ndim);
	for (size_t i = 0; i < count; i++)
		sum += volume(pieces[i].shape, ndim);
	TRY(check_disjoint(&t, pieces, count, 0, 0, 0));
	if (sum != all)
		return shd_fail(err, SHERD_ECORRUPT, "missing-piece", "tensor '%.80s': its pieces leave a gap",
		                whole->name);
	qsort_r(pieces, count, sizeof(*pieces), by_box, &ndim);
	return SHERD_OK;
}

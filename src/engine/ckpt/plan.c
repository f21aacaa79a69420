/* engine/ckpt/plan.c - who reads what when another number of ranks loads a checkpoint. */
#include "engine/ckpt/ckpt.h"
#include "engine/ckpt/save.h"

#include "base/dtype.h"

#include <stdlib.h>

struct sherd_ckpt_plan {
	uint32_t world;
	size_t *first; /* by rank; one more at the end */
	sherd_ckpt_copy *copies;
};

typedef struct planning {
	const sherd_ckpt *ckpt;
	sherd_ckpt_plan *plan;
	const uint32_t *rank_of; /* whole tensors; NULL: cut */
	size_t *next;            /* by rank; NULL while counting */
} planning;

static void ckpt_plan_add(planning *g, sherd_ckpt_copy copy)
{
	if (g->next)
		g->plan->copies[g->next[copy.rank]++] = copy;
	else
		g->plan->first[copy.rank + 1]++;
}

static uint64_t row_begin(uint64_t rows, uint32_t rank, uint32_t world)
{
	return (uint64_t)((unsigned __int128)rows * rank / world);
}

/* The rank whose rows hold this one. */
static uint32_t rank_of_row(uint64_t row, uint64_t rows, uint32_t world)
{
	uint32_t rank = (uint32_t)((unsigned __int128)row * world / rows);
	while (rank + 1 < world && row_begin(rows, rank + 1, world) <= row)
		rank++;
	return rank;
}

/* Every rank whose rows the piece reaches into gets that part of it. */
static void cut_piece(planning *g, size_t tensor, uint32_t piece, uint64_t at, uint64_t count, uint64_t rows)
{
	uint32_t world = g->plan->world;
	for (uint64_t row = at; row < at + count;) {
		uint32_t rank = rank_of_row(row, rows, world);
		uint64_t end = row_begin(rows, rank + 1, world);
		end = end < at + count ? end : at + count;
		ckpt_plan_add(g,
		              (sherd_ckpt_copy){
				      .tensor = tensor, .rank = rank, .piece = piece, .at0 = row, .rows = end - row});
		row = end;
	}
}

static void plan_tensor(planning *g, size_t i)
{
	const sherd_ckpt *c = g->ckpt;
	const sherd_tensor *t = &c->tensors[i];
	const sherd_ckpt_piece *pieces;
	size_t count = sherd_ckpt_pieces(&pieces, c, i);
	bool cuttable = !g->rank_of && shd_tensor_has_rows(t);
	for (uint32_t p = 0; p < count; p++) {
		uint64_t at = t->ndim && pieces[p].at ? pieces[p].at[0] : 0;
		uint64_t rows = t->ndim ? pieces[p].shape[0] : 1;
		if (cuttable) {
			cut_piece(g, i, p, at, rows, t->shape[0]);
			continue;
		}
		/* What has no rows goes whole: to their rank, or when all else is cut to every rank. */
		uint32_t first = g->rank_of ? g->rank_of[i] : 0, last = g->rank_of ? first : g->plan->world - 1;
		for (uint32_t r = first; r <= last; r++)
			ckpt_plan_add(g,
			              (sherd_ckpt_copy){.tensor = i, .rank = r, .piece = p, .at0 = at, .rows = rows});
	}
}

static int ckpt_plan_spread(planning *g, uint32_t *rank_of, sherd_error *err)
{
	const sherd_ckpt *c = g->ckpt;
	uint64_t *bytes = malloc((c->count + 1) * sizeof(*bytes));
	if (!bytes)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < c->count; i++)
		bytes[i] = c->tensors[i].bytes;
	int rc = sherd_plan_whole(rank_of, bytes, c->count, g->plan->world, err);
	free(bytes);
	g->rank_of = rank_of;
	return rc;
}

/* Once to count, once to place: the copies of a rank stand together, in the order of tensors. */
static int ckpt_plan_fill(planning *g, sherd_error *err)
{
	sherd_ckpt_plan *p = g->plan;
	for (size_t i = 0; i < g->ckpt->count; i++)
		plan_tensor(g, i);
	for (uint32_t r = 0; r < p->world; r++)
		p->first[r + 1] += p->first[r];
	p->copies = malloc((p->first[p->world] + 1) * sizeof(*p->copies));
	g->next = calloc((size_t)p->world + 1, sizeof(*g->next));
	if (!p->copies || !g->next)
		return shd_fail_nomem(err);
	memcpy(g->next, p->first, p->world * sizeof(*g->next));
	for (size_t i = 0; i < g->ckpt->count; i++)
		plan_tensor(g, i);
	return SHERD_OK;
}

static int make_plan(planning *g, bool cut, sherd_error *err)
{
	uint32_t *rank_of = NULL;
	if (!cut && !(rank_of = malloc((g->ckpt->count + 1) * sizeof(*rank_of))))
		return shd_fail_nomem(err);
	int rc = cut ? SHERD_OK : ckpt_plan_spread(g, rank_of, err);
	if (rc == SHERD_OK)
		rc = ckpt_plan_fill(g, err);
	free(g->next);
	free(rank_of);
	return rc;
}

int sherd_ckpt_plan_open(sherd_ckpt_plan **out, const sherd_ckpt *ckpt, uint32_t world, bool cut, sherd_error *err)
{
	if (!world)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "a world of no ranks");
	TRY(shd_ckpt_world_check(world, err));
	sherd_ckpt_plan *p = calloc(1, sizeof(*p));
	if (p) {
		p->world = world;
		p->first = calloc((size_t)world + 1, sizeof(*p->first));
	}
	if (!p || !p->first) {
		sherd_ckpt_plan_close(p);
		return shd_fail_nomem(err);
	}
	planning g = {.ckpt = ckpt, .plan = p};
	int rc = make_plan(&g, cut, err);
	if (rc < 0)
		sherd_ckpt_plan_close(p);
	else
		*out = p;
	return rc;
}

size_t sherd_ckpt_plan_copies(const sherd_ckpt_copy **out, const sherd_ckpt_plan *plan, uint32_t rank)
{
	if (rank >= plan->world)
		return 0;
	*out = plan->copies + plan->first[rank];
	return plan->first[rank + 1] - plan->first[rank];
}

void sherd_ckpt_plan_close(sherd_ckpt_plan *plan)
{
	if (!plan)
		return;
	free(plan->first);
	free(plan->copies);
	free(plan);
}

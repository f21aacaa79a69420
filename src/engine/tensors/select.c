#include "engine/tensors/bundle.h"

#include "base/dtype.h"

#include <sherd/ckpt.h>
#include <sherd/model.h>

#include <stdlib.h>

/* A tensor of the selection: a run of bytes of a tensor of the bundle it was taken from. */
typedef struct source {
	size_t index;
	uint64_t offset;
} source;

typedef struct select_bundle {
	sherd_bundle base;
	const sherd_bundle *from;
	const source *sources;
} select_bundle;

static int select_read_part(const sherd_bundle *bundle, size_t index, uint64_t offset, void *buf, size_t len,
                            sherd_error *err)
{
	const select_bundle *s = (const select_bundle *)bundle;
	return sherd_bundle_read(s->from, s->sources[index].index, s->sources[index].offset + offset, buf, len, err);
}

static int select_map(const void **out, const sherd_bundle *bundle, size_t index, sherd_error *err)
{
	const select_bundle *s = (const select_bundle *)bundle;
	const void *whole;
	TRY(sherd_bundle_map(&whole, s->from, s->sources[index].index, err));
	*out = (const uint8_t *)whole + s->sources[index].offset;
	return SHERD_OK;
}

static int select_prepare(const sherd_bundle *bundle, const size_t *tensors, size_t count, sherd_pool *pool,
                          shd_meter *meter, sherd_error *err)
{
	const select_bundle *s = (const select_bundle *)bundle;
	SHD_AUTO_FREE size_t *theirs = calloc(count + 1, sizeof(*tensors));
	if (!theirs)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		theirs[i] = s->sources[tensors[i]].index;
	return s->from->ops->prepare ? s->from->ops->prepare(s->from, theirs, count, pool, meter, err) : SHERD_OK;
}

/* The whole tensor, of a cut too: all ranks then have a part of it, or none. */
static int select_check(const sherd_bundle *bundle, size_t index, shd_meter *meter, bool *whole, sherd_error *damage,
                        sherd_error *err)
{
	const select_bundle *s = (const select_bundle *)bundle;
	*whole = true;
	if (!s->from->ops->check)
		return SHERD_OK;
	return s->from->ops->check(s->from, s->sources[index].index, meter, whole, damage, err);
}

static const shd_bundle_ops ops = {
	.read = select_read_part, .map = select_map, .prepare = select_prepare, .check = select_check};

/* Marks the tensors whose names are asked for. */
static int mark_names(const sherd_bundle *from, const sherd_bundle_select_options *want, bool *taken, sherd_error *err)
{
	for (size_t i = 0; !want->names && i < from->count; i++)
		taken[i] = true;
	for (size_t i = 0; want->names && i < want->name_count; i++) {
		size_t index = sherd_bundle_find(from, want->names[i]);
		if (index == SHERD_NO_TENSOR)
			return shd_fail_of(err, SHERD_ENOTFOUND, "not-found", i, "no tensor is named %.128s",
			                   want->names[i]);
		taken[index] = true;
	}
	return SHERD_OK;
}

static void drop_updaters(const sherd_model_graph *g, bool *taken)
{
	for (size_t i = 0; i < g->updater_count; i++)
		for (size_t k = 0; k < g->updaters[i].arrays.count; k++)
			if (g->updaters[i].arrays.at[k] != SHERD_NO_ARRAY)
				taken[g->updaters[i].arrays.at[k]] = false;
	for (size_t i = 0; i < g->subgraph_count; i++)
		drop_updaters(g->subgraphs[i].graph, taken);
}

/* Of the marked tensors, leaves those marked that the size plan gives the rank. */
static int keep_planned(const sherd_bundle *from, uint32_t rank, uint32_t world, bool *taken, sherd_error *err)
{
	SHD_AUTO_FREE uint64_t *sizes = calloc(from->count ? from->count : 1, sizeof(uint64_t));
	SHD_AUTO_FREE uint32_t *ranks = calloc(from->count ? from->count : 1, sizeof(uint32_t));
	if (!sizes || !ranks)
		return shd_fail_nomem(err);
	size_t n = 0;
	for (size_t i = 0; i < from->count; i++)
		if (taken[i])
			sizes[n++] = from->tensors[i].bytes;
	TRY(sherd_plan_whole(ranks, sizes, n, world, err));
	n = 0;
	for (size_t i = 0; i < from->count; i++)
		if (taken[i])
			taken[i] = ranks[n++] == rank;
	return SHERD_OK;
}

/* Cuts a tensor down to the rank's rows of its first dimension. */
static int cut(shd_arena *arena, sherd_tensor *t, source *s, uint32_t rank, uint32_t world, sherd_error *err)
{
	if (!shd_tensor_has_rows(t))
		return SHERD_OK;
	uint64_t rows = t->shape[0];
	uint64_t begin = (uint64_t)((unsigned __int128)rows * rank / world);
	uint64_t end = (uint64_t)((unsigned __int128)rows * ((uint64_t)rank + 1) / world);
	uint64_t *shape = shd_arena_copy(arena, t->shape, t->ndim * sizeof(*shape));
	if (!shape)
		return shd_fail_nomem(err);
	uint64_t row_bytes = rows ? t->bytes / rows : 0;
	shape[0] = end - begin;
	t->shape = shape;
	t->bytes = row_bytes * (end - begin);
	s->offset = row_bytes * begin;
	return SHERD_OK;
}

static int take_marked(select_bundle *s, const bool *taken, const sherd_bundle_select_options *want, sherd_error *err)
{
	sherd_bundle *b = &s->base;
	size_t n = 0;
	for (size_t i = 0; i < s->from->count; i++)
		n += taken[i];
	sherd_tensor *tensors = shd_arena_alloc(&b->arena, n, sizeof(*tensors));
	source *sources = shd_arena_alloc(&b->arena, n, sizeof(*sources));
	if (!tensors || !sources)
		return shd_fail_nomem(err);
	n = 0;
	for (size_t i = 0; i < s->from->count; i++) {
		if (!taken[i])
			continue;
		tensors[n] = s->from->tensors[i];
		sources[n] = (source){.index = i};
		if (want->cut && want->world > 1)
			TRY(cut(&b->arena, &tensors[n], &sources[n], want->rank, want->world, err));
		n++;
	}
	b->count = n;
	b->tensors = tensors;
	b->pair_count = s->from->pair_count;
	b->pairs = s->from->pairs;
	b->whole = s->from;
	b->order = s->from->order;
	b->about = s->from->about;
	s->sources = sources;
	return shd_bundle_finish(b, err);
}

int sherd_bundle_select(sherd_bundle **out, const sherd_bundle *from, const sherd_bundle_select_options *selection,
                        sherd_error *err)
{
	static const sherd_bundle_select_options everything;
	const sherd_bundle_select_options *want = selection ? selection : &everything;
	if (want->rank && want->rank >= want->world)
		return shd_fail(err, SHERD_EINVAL, "bad-rank", "rank %u of %u", want->rank, want->world);
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	TRY(shd_bundle_new(&b, sizeof(select_bundle), &ops, from->format, err));
	select_bundle *s = (select_bundle *)b;
	s->from = from;
	SHD_AUTO_FREE bool *taken = calloc(from->count ? from->count : 1, sizeof(bool));
	if (!taken)
		return shd_fail_nomem(err);
	TRY(mark_names(from, want, taken, err));
	if (want->without_updater && from->model)
		drop_updaters(sherd_model_describe(from->model), taken);
	if (want->world > 1 && !want->cut)
		TRY(keep_planned(from, want->rank, want->world, taken, err));
	TRY(take_marked(s, taken, want, err));
	*out = TAKE(b);
	return SHERD_OK;
}

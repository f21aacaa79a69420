/* engine/ckpt/tensors.c - from entries of shards to tensors made of pieces. */
#include "engine/ckpt/ckpt.h"

#include "base/dtype.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct group {
	const shd_ckpt_entry *first;
	size_t pieces;
	size_t last_shard; /* that added one */
} group;

typedef struct grouping {
	sherd_ckpt *ckpt;
	group *groups;
	uint32_t *group_of; /* by entry, in the order of shards */
	size_t entries;
} grouping;

static const uint64_t *whole_shape(const shd_ckpt_entry *e)
{
	return e->global_shape ? e->global_shape : e->tensor.shape;
}

static bool same_shape(const uint64_t *a, const uint64_t *b, uint32_t ndim)
{
	return !ndim || memcmp(a, b, ndim * sizeof(*a)) == 0;
}

static bool tensors_is_whole(const shd_ckpt_entry *e)
{
	return !e->global_shape || same_shape(e->global_shape, e->tensor.shape, e->tensor.ndim);
}

static int disagree(const sherd_ckpt *c, size_t a, size_t b, const shd_ckpt_entry *e, sherd_error *err)
{
	return shd_fail_at(err, SHERD_ECORRUPT, "bad-piece", e->where,
	                   "tensor '%.80s': the shards of ranks %" PRIu32 " and %" PRIu32
	                   " disagree about its type or shape",
	                   e->tensor.name, c->meta.shards[a].rank, c->meta.shards[b].rank);
}

static int add_entry(grouping *g, size_t shard, const shd_ckpt_entry *e, size_t number, sherd_error *err)
{
	sherd_ckpt *c = g->ckpt;
	bool ok;
	size_t at = shd_map_add(&c->names, shd_str_of(e->tensor.name), c->count, &ok);
	if (!ok)
		return shd_fail_nomem(err);
	if (at == SHD_MAP_NONE) {
		at = c->count++;
		g->groups[at] = (group){.first = e};
	} else if (g->groups[at].last_shard == shard) {
		return shd_fail_at(err, SHERD_ECORRUPT, "duplicate-name", e->where, "tensor '%.80s' is listed twice",
		                   e->tensor.name);
	}
	group *into = &g->groups[at];
	const shd_ckpt_entry *first = into->first ? into->first : e;
	if (!shd_tensor_same_type(&e->tensor, &first->tensor) || e->tensor.ndim != first->tensor.ndim ||
	    !same_shape(whole_shape(e), whole_shape(first), e->tensor.ndim))
		return disagree(c, into->last_shard, shard, e, err);
	into->pieces++;
	into->last_shard = shard;
	g->group_of[number] = (uint32_t)at;
	return SHERD_OK;
}

static int group_entries(grouping *g, sherd_error *err)
{
	size_t number = 0;
	for (size_t s = 0; s < g->ckpt->shard_count; s++) {
		const shd_ckpt_meta_shard *shard = &g->ckpt->meta.shards[s];
		for (size_t i = 0; i < shard->count; i++)
			TRY(add_entry(g, s, &shard->entries[i], number++, err));
	}
	return SHERD_OK;
}

static int describe_tensors(grouping *g, sherd_error *err)
{
	sherd_ckpt *c = g->ckpt;
	c->tensors = shd_arena_alloc(&c->arena, c->count + 1, sizeof(*c->tensors));
	c->first_piece = shd_arena_alloc(&c->arena, c->count + 1, sizeof(*c->first_piece));
	if (!c->tensors || !c->first_piece)
		return shd_fail_nomem(err);
	size_t at = 0;
	for (size_t i = 0; i < c->count; i++) {
		const shd_ckpt_entry *e = g->groups[i].first; /* every group has one */
		sherd_tensor *t = &c->tensors[i];
		*t = e->tensor; /* NOLINT(clang-analyzer-core.NullDereference) */
		t->shape = whole_shape(e);
		if (e->global_shape)
			(void)sherd_tensor_bytes(&t->bytes, t->dtype, t->ndim, t->shape); /* checked with the entry */
		c->first_piece[i] = at;
		at += g->groups[i].pieces;
	}
	c->first_piece[c->count] = at;
	return SHERD_OK;
}

/* Every piece in its tensor's range, by rank. The groups' counters are used up. */
static int place_pieces(grouping *g, sherd_error *err)
{
	sherd_ckpt *c = g->ckpt;
	c->pieces = shd_arena_alloc(&c->arena, g->entries + 1, sizeof(*c->pieces));
	if (!c->pieces)
		return shd_fail_nomem(err);
	size_t number = 0;
	for (size_t i = 0; i < c->count; i++)
		g->groups[i].pieces = c->first_piece[i];
	for (size_t s = 0; s < c->shard_count; s++) {
		const shd_ckpt_meta_shard *shard = &c->meta.shards[s];
		for (size_t i = 0; i < shard->count; i++) {
			const shd_ckpt_entry *e = &shard->entries[i];
			size_t at = g->groups[g->group_of[number++]].pieces++;
			c->pieces[at] = (sherd_ckpt_piece){
				.shard = (uint32_t)s,
				.entry = (uint32_t)i,
				.offset = e->offset,
				.bytes = e->tensor.bytes,
				.shape = e->tensor.shape,
				.at = tensors_is_whole(e) ? NULL : e->global_offset,
			};
		}
	}
	return SHERD_OK;
}

static int tensors_by_place(const void *a, const void *b, void *arg)
{
	const sherd_ckpt_piece *x = a, *y = b;
	for (uint32_t d = 0; d < *(const uint32_t *)arg; d++) {
		if (x->at[d] != y->at[d])
			return x->at[d] < y->at[d] ? -1 : 1;
		if (x->shape[d] != y->shape[d])
			return x->shape[d] < y->shape[d] ? -1 : 1;
	}
	return (x->shard > y->shard) - (x->shard < y->shard);
}

/* Ranks without a share of a tensor may say so by an empty piece, even where another rank has the whole. */
static size_t drop_empty_pieces(sherd_ckpt_piece *p, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		if (p[i].bytes || !p[i].at)
			p[kept++] = p[i];
	return kept;
}

/* Sorts by place and rank, keeps of equal boxes the lowest rank's. */
static size_t drop_replicas(sherd_ckpt_piece *p, size_t n, uint32_t ndim)
{
	size_t kept = 0;
	qsort_r(p, n, sizeof(*p), tensors_by_place, &ndim);
	for (size_t i = 0; i < n; i++)
		if (!kept || !same_shape(p[i].at, p[kept - 1].at, ndim) ||
		    !same_shape(p[i].shape, p[kept - 1].shape, ndim))
			p[kept++] = p[i];
	return kept;
}

/* Replicas of a whole tensor: the lowest rank's is read. A whole beside pieces would overlap them. Its shape does not
 * give the size of every type, and the entry that described the tensor may be that of a shard that is lost. */
static int settle_whole(const sherd_ckpt_piece *p, size_t n, sherd_tensor *t, size_t *kept, sherd_error *err)
{
	t->bytes = p[0].bytes;
	for (size_t i = 1; i < n; i++) {
		if (p[i].at)
			return shd_fail(err, SHERD_ECORRUPT, "overlap",
			                "tensor '%.80s' is whole in shard %" PRIu32 " and cut in shard %" PRIu32,
			                t->name, p[0].shard, p[i].shard);
		if (p[i].bytes != p[0].bytes)
			return shd_fail(err, SHERD_ECORRUPT, "bad-piece", "tensor '%.80s': its replicas differ in size",
			                t->name);
	}
	*kept = 1;
	return SHERD_OK;
}

static int settle_pieces(sherd_ckpt_piece *p, size_t n, const sherd_tensor *t, size_t *kept, sherd_error *err)
{
	for (size_t i = 0; i < n; i++)
		if (!p[i].at)
			return shd_fail(err, SHERD_ECORRUPT, "overlap",
			                "tensor '%.80s' is whole in shard %" PRIu32 " and cut elsewhere", t->name,
			                p[i].shard);
	*kept = drop_replicas(p, n, t->ndim);
	return shd_ckpt_check_tiling(p, *kept, t, err);
}

/* Leaves the pieces that lie in shards that are open. */
static size_t drop_lost_pieces(const sherd_ckpt *c, sherd_ckpt_piece *p, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		if (c->files[p[i].shard].reader)
			p[kept++] = p[i];
	return kept;
}

/* How many pieces of a tensor are read, moved to the front. */
static int settle_tensor(const sherd_ckpt *c, size_t tensor, sherd_ckpt_piece *p, size_t n, size_t *kept,
                         sherd_error *err)
{
	n = drop_empty_pieces(p, n);
	return !n || p->at ? settle_pieces(p, n, &c->tensors[tensor], kept, err)
	                   : settle_whole(p, n, &c->tensors[tensor], kept, err);
}

/* The same of a set that has lost shards: *gone when what is left does not make the tensor up. */
static int settle_rest(const sherd_ckpt *c, size_t tensor, sherd_ckpt_piece *p, size_t n, size_t *kept, bool *gone,
                       sherd_error *err)
{
	sherd_error found = {0};
	size_t left = drop_lost_pieces(c, p, n);
	*gone = !left;
	if (*gone)
		return SHERD_OK;
	int rc = settle_tensor(c, tensor, p, left, kept, &found);
	*gone = rc == SHERD_ECORRUPT && strcmp(found.reason, "missing-piece") == 0;
	if (rc < 0 && !*gone && err)
		*err = found;
	return *gone ? SHERD_OK : rc;
}

static int take_names_anew(sherd_ckpt *c, sherd_error *err)
{
	bool ok = true;
	shd_map_done(&c->names);
	c->names = (shd_map){0};
	for (size_t i = 0; i < c->count && ok; i++)
		(void)shd_map_add(&c->names, shd_str_of(c->tensors[i].name), i, &ok);
	return ok ? SHERD_OK : shd_fail_nomem(err);
}

/* Leaves of every tensor the pieces that are read, moved together. */
static int tensors_settle(sherd_ckpt *c, sherd_error *err)
{
	size_t out = 0, tensors = 0;
	for (size_t i = 0; i < c->count; i++) {
		size_t first = c->first_piece[i], n = c->first_piece[i + 1] - first, kept = 0;
		sherd_ckpt_piece *p = c->pieces + first;
		bool gone = false;
		TRY(c->lost ? settle_rest(c, i, p, n, &kept, &gone, err) : settle_tensor(c, i, p, n, &kept, err));
		if (gone) {
			shd_vec_push(&c->gone, c->tensors[i].name);
			continue;
		}
		memmove(c->pieces + out, p, kept * sizeof(*p));
		c->tensors[tensors] = c->tensors[i];
		c->first_piece[tensors++] = out;
		out += kept;
	}
	bool fewer = tensors < c->count;
	c->count = tensors;
	c->first_piece[c->count] = out;
	TRY(shd_vec_check(&c->gone, err));
	return fewer ? take_names_anew(c, err) : SHERD_OK;
}

static bool is_at_origin(const shd_ckpt_entry *e)
{
	for (uint32_t d = 0; e->global_shape && d < e->tensor.ndim; d++)
		if (e->global_offset[d])
			return false;
	return true;
}

/* Every tensor has one piece that begins where it begins, and replicas of it. */
static size_t count_names(const sherd_ckpt *c)
{
	size_t names = 0;
	for (size_t s = 0; s < c->shard_count; s++)
		for (size_t i = 0; i < c->meta.shards[s].count; i++)
			names += is_at_origin(&c->meta.shards[s].entries[i]);
	return names;
}

static int tensors_build(grouping *g, sherd_error *err)
{
	if (!g->groups || !g->group_of || !shd_map_reserve(&g->ckpt->names, count_names(g->ckpt)))
		return shd_fail_nomem(err);
	TRY(group_entries(g, err));
	TRY(describe_tensors(g, err));
	TRY(place_pieces(g, err));
	return tensors_settle(g->ckpt, err);
}

int shd_ckpt_build_tensors(sherd_ckpt *ckpt, sherd_error *err)
{
	grouping g = {.ckpt = ckpt};
	for (size_t s = 0; s < ckpt->shard_count; s++)
		g.entries += ckpt->meta.shards[s].count;
	if (g.entries > UINT32_MAX)
		return shd_fail(err, SHERD_ELIMIT, "too-many-tensors", "%zu tensors", g.entries);
	g.groups = calloc(g.entries + 1, sizeof(*g.groups));
	g.group_of = calloc(g.entries + 1, sizeof(*g.group_of));
	int rc = tensors_build(&g, err);
	free(g.groups);
	free(g.group_of);
	return rc;
}

/* engine/ckpt/save_bundle.c - the tensors of any file, spread over the shards of a new set. */
#include "base/arena.h"
#include "base/dtype.h"
#include "base/group.h"
#include "engine/ckpt/save.h"
#include "engine/tensors/bundle.h"
#include "format/ckpt/claim.h"

#include <stdlib.h>

typedef struct source {
	const sherd_bundle *bundle;
	size_t tensor;
	uint64_t base; /* where the piece begins in the tensor's bytes */
} source;

typedef struct spreading {
	const sherd_bundle *bundle;
	const char *const *extras; /* by tensor, or NULL */
	uint32_t world;
	shd_arena arena;
	sherd_ckpt_shard_items *shards;
	sherd_ckpt_item *items; /* those of rank 0, then of rank 1, ... */
	size_t *next;           /* by rank: where its next item goes */
} spreading;

static int read_source(void *arg, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	const source *s = arg;
	return sherd_bundle_read(s->bundle, s->tensor, s->base + offset, buf, len, err);
}

static int save_bundle_add(spreading *g, uint32_t rank, size_t tensor, const uint64_t *rows, sherd_error *err)
{
	const sherd_tensor *t = sherd_bundle_tensor(g->bundle, tensor);
	source *s = shd_arena_alloc(&g->arena, 1, sizeof(*s));
	if (!s)
		return shd_fail_nomem(err);
	*s = (source){.bundle = g->bundle, .tensor = tensor};
	sherd_ckpt_item item = {
		.tensor = *t, .read = read_source, .arg = s, .any_order = g->bundle->order == SHD_BUNDLE_ANYWHERE};
	item.extra = g->extras ? g->extras[tensor] : NULL;
	if (rows) {
		uint64_t *shape = shd_arena_copy(&g->arena, t->shape, t->ndim * sizeof(*shape));
		uint64_t *at = shd_arena_alloc(&g->arena, t->ndim, sizeof(*at));
		if (!shape || !at)
			return shd_fail_nomem(err);
		memset(at, 0, t->ndim * sizeof(*at));
		at[0] = rows[0];
		shape[0] = rows[1] - rows[0];
		s->base = t->bytes / t->shape[0] * rows[0];
		item.tensor.shape = shape;
		item.tensor.bytes = t->bytes / t->shape[0] * shape[0];
		item.global_shape = t->shape;
		item.global_offset = at;
	}
	g->items[g->next[rank]++] = item;
	return SHERD_OK;
}

static bool can_cut(const sherd_tensor *t)
{
	return t->bytes && shd_tensor_has_rows(t);
}

/* Rows [r*d/w, (r+1)*d/w) without overflow. */
static void save_bundle_rows_of(uint64_t d, uint32_t rank, uint32_t world, uint64_t rows[2])
{
	rows[0] = (uint64_t)((unsigned __int128)d * rank / world);
	rows[1] = (uint64_t)((unsigned __int128)d * (rank + 1) / world);
}

static int add_cut(spreading *g, size_t tensor, sherd_error *err)
{
	const sherd_tensor *t = sherd_bundle_tensor(g->bundle, tensor);
	if (!can_cut(t))
		return save_bundle_add(g, 0, tensor, NULL, err);
	for (uint32_t r = 0; r < g->world; r++) {
		uint64_t rows[2];
		save_bundle_rows_of(t->shape[0], r, g->world, rows);
		if (rows[0] < rows[1])
			TRY(save_bundle_add(g, r, tensor, rows, err));
	}
	return SHERD_OK;
}

/* How many items each rank gets, then where its first one stands. */
static int save_bundle_make_room(spreading *g, const uint32_t *rank_of, size_t count, sherd_error *err)
{
	size_t total = 0;
	g->next = shd_arena_alloc(&g->arena, g->world, sizeof(*g->next));
	g->shards = shd_arena_alloc(&g->arena, g->world, sizeof(*g->shards));
	if (!g->next || !g->shards)
		return shd_fail_nomem(err);
	memset(g->next, 0, g->world * sizeof(*g->next));
	for (size_t i = 0; i < count; i++) {
		const sherd_tensor *t = sherd_bundle_tensor(g->bundle, i);
		if (rank_of) {
			g->next[rank_of[i]]++;
		} else if (!can_cut(t)) {
			g->next[0]++;
		} else {
			for (uint32_t r = 0; r < g->world; r++) {
				uint64_t rows[2];
				save_bundle_rows_of(t->shape[0], r, g->world, rows);
				g->next[r] += rows[0] < rows[1];
			}
		}
	}
	for (uint32_t r = 0; r < g->world; r++) {
		g->shards[r].count = g->next[r];
		g->next[r] = total;
		total += g->shards[r].count;
	}
	g->items = shd_arena_alloc(&g->arena, total + 1, sizeof(*g->items));
	for (uint32_t r = 0; r < g->world; r++)
		g->shards[r].items = g->items + g->next[r];
	return g->items ? SHERD_OK : shd_fail_nomem(err);
}

static int save_bundle_spread(spreading *g, bool cut, sherd_error *err)
{
	size_t count = sherd_bundle_count(g->bundle);
	uint32_t *rank_of = NULL;
	TRY(shd_ckpt_world_check(g->world, err));
	if (!cut) {
		uint64_t *bytes = shd_arena_alloc(&g->arena, count + 1, sizeof(*bytes));
		rank_of = shd_arena_alloc(&g->arena, count + 1, sizeof(*rank_of));
		if (!bytes || !rank_of)
			return shd_fail_nomem(err);
		for (size_t i = 0; i < count; i++)
			bytes[i] = sherd_bundle_tensor(g->bundle, i)->bytes;
		TRY(sherd_plan_whole(rank_of, bytes, count, g->world, err));
	}
	TRY(save_bundle_make_room(g, rank_of, count, err));
	for (size_t i = 0; i < count; i++)
		TRY(cut ? add_cut(g, i, err) : save_bundle_add(g, rank_of[i], i, NULL, err));
	return SHERD_OK;
}

/* What the source must do before the tensors of these ranks can be read is done while it can still be watched. */
static int save_bundle_prepare(spreading *g, uint32_t first, uint32_t end, const sherd_ckpt_save_options *o,
                               sherd_error *err)
{
	sherd_bundle_options options = {.pool = o->pool, .progress = o->progress};
	size_t count = 0, n = 0;
	for (uint32_t r = first; r < end; r++)
		count += g->shards[r].count;
	size_t *tensors = shd_arena_alloc(&g->arena, count + 1, sizeof(*tensors));
	if (!tensors)
		return shd_fail_nomem(err);
	for (uint32_t r = first; r < end; r++)
		for (size_t i = 0; i < g->shards[r].count; i++)
			tensors[n++] = ((const source *)g->shards[r].items[i].arg)->tensor;
	return sherd_bundle_prepare(g->bundle, tensors, count, &options, err);
}

/* Completes the options; the pairs of the bundle are the custom fields unless the caller has some. */
static sherd_ckpt_save_options complete(const sherd_ckpt_save_options *options, const sherd_bundle *bundle,
                                        sherd_ckpt_about *about)
{
	sherd_ckpt_save_options o = options ? *options : (sherd_ckpt_save_options){0};
	const sherd_ckpt_about *said = o.about ? o.about : sherd_bundle_about(bundle);
	*about = said ? *said : (sherd_ckpt_about){0};
	if (!about->field_count)
		about->field_count = sherd_bundle_pairs(&about->fields, bundle);
	o.about = about;
	o.world = o.world ? o.world : 1;
	return o;
}

int shd_ckpt_save_spread(sherd_store *store, const char *prefix, const sherd_bundle *bundle, const char *const *extras,
                         bool cut, const sherd_ckpt_save_options *options, sherd_error *err)
{
	sherd_ckpt_about about;
	sherd_ckpt_save_options o = complete(options, bundle, &about);
	spreading g = {.bundle = bundle, .extras = extras, .world = o.world};
	int rc = save_bundle_spread(&g, cut, err);
	if (rc == SHERD_OK)
		rc = save_bundle_prepare(&g, 0, g.world, &o, err);
	if (rc == SHERD_OK)
		rc = shd_at_index(err, sherd_ckpt_save(store, prefix, g.shards, &o, err), SHERD_NO_INDEX);
	shd_arena_done(&g.arena);
	return rc;
}

int sherd_ckpt_save_bundle(sherd_store *store, const char *prefix, const sherd_bundle *bundle, bool cut,
                           const sherd_ckpt_save_options *options, sherd_error *err)
{
	return shd_ckpt_save_spread(store, prefix, bundle, NULL, cut, options, err);
}

/* Tensors as they are, in their order. */
static int gather_whole(spreading *g, uint32_t rank, sherd_error *err)
{
	size_t count = sherd_bundle_count(g->bundle);
	uint32_t *rank_of = shd_arena_alloc(&g->arena, count + 1, sizeof(*rank_of));
	if (!rank_of)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		rank_of[i] = rank;
	TRY(save_bundle_make_room(g, rank_of, count, err));
	for (size_t i = 0; i < count; i++)
		TRY(save_bundle_add(g, rank, i, NULL, err));
	return SHERD_OK;
}

/* The items of the rank that are pieces of something larger are told so. */
static int mark_pieces(const spreading *g, uint32_t rank, const sherd_ckpt_part *parts, size_t count, sherd_error *err)
{
	sherd_ckpt_item *items = g->items + (g->next[rank] - g->shards[rank].count);
	for (size_t p = 0; p < count; p++) {
		size_t at = sherd_bundle_find(g->bundle, parts[p].name);
		if (at == SHERD_NO_TENSOR)
			return shd_fail_of(err, SHERD_ENOTFOUND, "not-found", p,
			                   "no tensor '%.80s' is there to be a piece", parts[p].name);
		if (parts[p].ndim != items[at].tensor.ndim)
			return shd_fail_of(err, SHERD_EINVAL, "bad-piece", p,
			                   "tensor '%.80s' has %u dimensions, the whole of which it is a piece %u",
			                   parts[p].name, items[at].tensor.ndim, parts[p].ndim);
		items[at].global_shape = parts[p].global_shape;
		items[at].global_offset = parts[p].global_offset;
	}
	return SHERD_OK;
}

int sherd_ckpt_save_bundle_rank(sherd_store *store, const char *prefix, const sherd_bundle *bundle, uint32_t rank,
                                const sherd_ckpt_part *parts, size_t part_count, const sherd_ckpt_save_options *options,
                                sherd_ckpt_save_result *saved, sherd_error *err)
{
	sherd_ckpt_about about;
	sherd_ckpt_save_options o = complete(options, bundle, &about);
	spreading g = {.bundle = bundle};
	int rc = shd_ckpt_take_rank(rank, &o, err);
	g.world = o.world;
	if (rc == SHERD_OK)
		rc = gather_whole(&g, rank, err);
	if (rc == SHERD_OK)
		rc = mark_pieces(&g, rank, parts, part_count, err);
	if (rc == SHERD_OK)
		rc = save_bundle_prepare(&g, rank, rank + 1, &o, err);
	if (rc == SHERD_OK)
		rc = shd_at_index(
			err,
			shd_ckpt_save_rank_metered(store, prefix, rank, &g.shards[rank], NULL, &o, NULL, saved, err),
			SHERD_NO_INDEX);
	shd_arena_done(&g.arena);
	return shd_group_tell(o.group, rc, err);
}

int sherd_ckpt_split_bundle_rank(sherd_store *store, const char *prefix, const sherd_bundle *bundle, uint32_t rank,
                                 bool cut, const sherd_ckpt_save_options *options, sherd_ckpt_save_result *saved,
                                 sherd_error *err)
{
	sherd_ckpt_about about;
	sherd_ckpt_save_options o = complete(options, bundle, &about);
	spreading g = {.bundle = bundle};
	char digest[SHD_CKPT_SOURCE + 1];
	int rc = shd_ckpt_take_rank(rank, &o, err);
	g.world = o.world;
	if (rc == SHERD_OK)
		rc = shd_ckpt_source_digest(bundle, cut, &o, digest, err);
	if (rc == SHERD_OK)
		rc = save_bundle_spread(&g, cut, err);
	if (rc == SHERD_OK)
		rc = save_bundle_prepare(&g, rank, rank + 1, &o, err);
	if (rc == SHERD_OK)
		rc = shd_at_index(
			err,
			shd_ckpt_save_rank_metered(store, prefix, rank, &g.shards[rank], digest, &o, NULL, saved, err),
			SHERD_NO_INDEX);
	shd_arena_done(&g.arena);
	return shd_group_tell(o.group, rc, err);
}

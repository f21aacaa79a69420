#include "engine/model/sdnb_out.h"

#include "engine/model/pairs.h"

#include <sherd/ckpt.h>

#include <stdio.h>
#include <stdlib.h>

/* ---- the pairs */

static bool is_about_the_shard(const char *key)
{
	return strcmp(key, "shard.index") == 0 || strcmp(key, "shard.type") == 0;
}

/* The model's, those of the options over them, and what every file must say of itself over both. */
static int join_pairs(const sherd_model *model, const sherd_model_save_options *o, uint32_t file, uint32_t files,
                      shd_arena *arena, shd_samediff_source *out, sherd_error *err)
{
	char number[16];
	sherd_model_save_options all = *o;
	sherd_pair *given = shd_arena_alloc(arena, o->pair_count + 4, sizeof(*given));
	sherd_pair *own = shd_arena_alloc(arena, model->pair_count + 1, sizeof(*own));
	(void)snprintf(number, sizeof(number), "%u", file);
	const char *index = shd_arena_str(arena, shd_str_of(number));
	size_t n = o->pair_count, own_count = 0;
	if (!given || !own || !index)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		given[i] = o->pairs[i];
	given[n++] = (sherd_pair){"nd4j.format.type", "APPENDED_BLOB"};
	given[n++] = (sherd_pair){"nd4j.format.version", "1"};
	if (files > 1) {
		given[n++] = (sherd_pair){"shard.index", index};
		given[n++] = (sherd_pair){"shard.type", file ? "weights" : "graph"};
	}
	for (size_t i = 0; i < model->pair_count; i++)
		if (!is_about_the_shard(model->pairs[i].key))
			own[own_count++] = model->pairs[i];
	all.pairs = given;
	all.pair_count = n;
	return shd_model_join_pairs(own, own_count, &all, arena, &out->pairs, &out->pair_count, err);
}

/* ---- the shards */

typedef struct division {
	const sherd_model *model;
	bool without_updater;
	uint32_t shards; /* of weights */
	shd_arena *arena;
	uint32_t *shard_of; /* for each variable */
	uint64_t *bytes;    /* of each variable with what its updater remembers */
	sherd_error *err;
} division;

static int weigh(division *d)
{
	const sherd_model_graph *g = &d->model->graph;
	for (size_t i = 0; i < g->variable_count; i++)
		d->bytes[i] =
			g->variables[i].array == SHERD_NO_ARRAY ? 0 : d->model->arrays[g->variables[i].array].bytes;
	for (size_t i = 0; !d->without_updater && i < g->updater_count; i++) {
		const sherd_model_updater *u = &g->updaters[i];
		size_t v = sherd_model_find(d->model, u->parameter);
		if (v == SHERD_NO_VARIABLE)
			return shd_fail(d->err, SHERD_EUNSUPPORTED, "cannot-hold",
			                "shards cannot hold the state of an updater of %.128s, which is no variable",
			                u->parameter);
		for (size_t k = 0; k < u->arrays.count; k++)
			d->bytes[v] += d->model->arrays[u->arrays.at[k]].bytes;
	}
	return sherd_plan_whole(d->shard_of, d->bytes, g->variable_count, d->shards, d->err);
}

/* The graph without arrays of variables; their shapes stay known. */
static int make_stubs(division *d, sherd_model_graph *out)
{
	const sherd_model_graph *g = &d->model->graph;
	sherd_model_variable *v = shd_arena_alloc(d->arena, g->variable_count + 1, sizeof(*v));
	if (!v)
		return shd_fail_nomem(d->err);
	for (size_t i = 0; i < g->variable_count; i++) {
		v[i] = g->variables[i];
		v[i].array = SHERD_NO_ARRAY;
		if (g->variables[i].array == SHERD_NO_ARRAY || v[i].shape.at)
			continue;
		const sherd_tensor *t = &d->model->arrays[g->variables[i].array];
		int64_t *dims = shd_arena_alloc(d->arena, t->ndim + 1u, sizeof(*dims));
		if (!dims)
			return shd_fail_nomem(d->err);
		for (uint32_t k = 0; k < t->ndim; k++)
			dims[k] = (int64_t)t->shape[k];
		v[i].shape = (sherd_model_longs){t->ndim, dims};
	}
	*out = *g;
	out->variables = v;
	out->updaters = NULL;
	out->updater_count = 0;
	return SHERD_OK;
}

/* Variables with arrays that fell to one shard, and the states of their updaters. */
static int make_weights(division *d, uint32_t shard, sherd_model_graph *out)
{
	const sherd_model_graph *g = &d->model->graph;
	sherd_model_variable *v = shd_arena_alloc(d->arena, g->variable_count + 1, sizeof(*v));
	sherd_model_updater *u = shd_arena_alloc(d->arena, g->updater_count + 1, sizeof(*u));
	if (!v || !u)
		return shd_fail_nomem(d->err);
	*out = (sherd_model_graph){.variables = v, .fortran = g->fortran, .hollow = g->hollow};
	for (size_t i = 0; i < g->variable_count; i++)
		if (g->variables[i].array != SHERD_NO_ARRAY && d->shard_of[i] == shard)
			v[out->variable_count++] = g->variables[i];
	for (size_t i = 0; !d->without_updater && i < g->updater_count; i++)
		if (d->shard_of[sherd_model_find(d->model, g->updaters[i].parameter)] == shard)
			u[out->updater_count++] = g->updaters[i];
	out->updaters = out->updater_count ? u : NULL;
	return SHERD_OK;
}

static int divide(division *d, shd_samediff_source *sources)
{
	sherd_model_graph *graphs = shd_arena_alloc(d->arena, d->shards + 1u, sizeof(*graphs));
	if (!graphs)
		return shd_fail_nomem(d->err);
	TRY(weigh(d));
	TRY(make_stubs(d, &graphs[0]));
	for (uint32_t i = 0; i < d->shards; i++)
		TRY(make_weights(d, i, &graphs[1 + i]));
	for (uint32_t i = 0; i <= d->shards; i++)
		sources[i].graph = &graphs[i];
	return SHERD_OK;
}

int shd_sdnb_divide(const sherd_model *model, const sherd_model_save_options *o, uint32_t files, shd_arena *arena,
                    shd_samediff_source **out, sherd_error *err)
{
	size_t variables = model->graph.variable_count;
	shd_samediff_source *sources = shd_arena_alloc(arena, files, sizeof(*sources));
	SHD_AUTO_FREE void *shard_of = calloc(variables + 1, sizeof(uint32_t));
	SHD_AUTO_FREE void *bytes = calloc(variables + 1, sizeof(uint64_t));
	if (!sources || !shard_of || !bytes)
		return shd_fail_nomem(err);
	for (uint32_t i = 0; i < files; i++) {
		sources[i] = (shd_samediff_source){.graph = &model->graph,
		                                   .arrays = model->arrays,
		                                   .array_count = model->array_count,
		                                   .without_updater = o->without_updater};
		TRY(join_pairs(model, o, i, files, arena, &sources[i], err));
	}
	division d = {.model = model,
	              .without_updater = o->without_updater,
	              .shards = files - 1,
	              .arena = arena,
	              .shard_of = shard_of,
	              .bytes = bytes,
	              .err = err};
	if (files > 1)
		TRY(divide(&d, sources));
	*out = sources;
	return SHERD_OK;
}

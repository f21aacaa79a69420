#include "engine/model/format.h"
#include "engine/model/model.h"
#include "engine/tensors/bundle.h"

/* A model whose variables are the tensors, each with an id of its own. */
static int variables_of(const sherd_bundle *from, shd_arena *arena, sherd_model_graph *out, sherd_error *err)
{
	size_t count = from->count;
	sherd_model_variable *variables = shd_arena_alloc(arena, count, sizeof(*variables));
	if (!variables)
		return shd_fail_nomem(err);
	if (count > INT32_MAX)
		return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold", "a graph holds no %zu variables", count);
	for (size_t i = 0; i < count; i++) {
		const sherd_tensor *t = &from->tensors[i];
		int64_t *shape = shd_arena_alloc(arena, t->ndim, sizeof(*shape));
		if (!shape)
			return shd_fail_nomem(err);
		for (uint32_t d = 0; d < t->ndim; d++)
			shape[d] = (int64_t)t->shape[d];
		variables[i] = (sherd_model_variable){.name = t->name,
		                                      .kind = SHERD_VARIABLE_TRAINED,
		                                      .dtype = t->dtype,
		                                      .has_id = true,
		                                      .id = {(int32_t)i + 1, 0},
		                                      .shape = {t->ndim, shape},
		                                      .device = -1,
		                                      .array = i};
	}
	*out = (sherd_model_graph){.variable_count = count, .variables = variables};
	return SHERD_OK;
}

/* Is only saved, while the bundle is there that it borrows tensors and pairs from. */
typedef struct tensor_model {
	sherd_model base;
	const sherd_bundle *from;
} tensor_model;

static int model_convert_read_tensor(const sherd_model *m, size_t array, uint64_t offset, void *buf, size_t len,
                                     sherd_error *err)
{
	return sherd_bundle_read(((const tensor_model *)m)->from, array, offset, buf, len, err);
}

/* The graph need not be copied and checked as sherd_model_make() does: it is ours. */
static int make_model(const sherd_bundle *from, sherd_model **out, sherd_error *err)
{
	static const shd_model_ops ops = {.read = model_convert_read_tensor};
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	TRY(shd_model_new(&m, sizeof(tensor_model), &ops, SHERD_FORMAT_UNKNOWN, err));
	((tensor_model *)m)->from = from;
	m->arrays = from->tensors;
	m->array_count = from->count;
	m->pairs = from->pairs;
	m->pair_count = from->pair_count;
	TRY(variables_of(from, &m->arena, &m->graph, err));
	TRY(shd_model_finish(m, err));
	*out = TAKE(m);
	return SHERD_OK;
}

int shd_write_model(shd_conversion *c, sherd_error *err)
{
	const sherd_convert_options *o = c->options;
	SHD_AUTO(sherd_model, sherd_model_close) made = NULL;
	const sherd_model *model = c->from->model;
	sherd_model_save_options options = {.format = c->to->info.id,
	                                    .compress = o->compress,
	                                    .level = o->level,
	                                    .shards = o->max_shard_bytes ? c->shards : o->shards,
	                                    .replace = o->replace,
	                                    .without_updater = o->without_updater,
	                                    .drop_pairs = o->drop_pairs,
	                                    .as_it_was = o->as_it_was,
	                                    .digest = o->digest,
	                                    .allow_missing = o->allow_missing,
	                                    .time_ns = o->time_ns,
	                                    .timed = o->timed,
	                                    .framework = o->framework,
	                                    .written = o->written,
	                                    .pool = o->pool,
	                                    .progress = o->progress};
	if (!model) {
		TRY(make_model(c->from, &made, err));
		model = made;
	}
	return sherd_model_save(model, c->store, c->key, &options, err);
}

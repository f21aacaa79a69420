#include "engine/model/model.h"

#include <stdlib.h>

int shd_model_new(sherd_model **out, size_t size, const shd_model_ops *ops, sherd_format format, sherd_error *err)
{
	sherd_model *m = calloc(1, size);
	if (!m)
		return shd_fail_nomem(err);
	m->ops = ops;
	m->format = format;
	*out = m;
	return SHERD_OK;
}

int shd_model_finish(sherd_model *model, sherd_error *err)
{
	for (size_t i = 0; i < model->graph.variable_count; i++) {
		bool ok;
		(void)shd_map_add(&model->names, shd_str_of(model->graph.variables[i].name), i, &ok);
		if (!ok)
			return shd_fail_nomem(err);
	}
	return SHERD_OK;
}

void sherd_model_close(sherd_model *model)
{
	if (!model)
		return;
	if (model->ops->close)
		model->ops->close(model);
	shd_map_done(&model->names);
	shd_arena_done(&model->arena);
	free(model);
}

sherd_format sherd_model_format(const sherd_model *model)
{
	return model->format;
}

const sherd_model_graph *sherd_model_describe(const sherd_model *model)
{
	return &model->graph;
}

size_t sherd_model_pairs(const sherd_pair **out, const sherd_model *model)
{
	*out = model->pairs;
	return model->pair_count;
}

int sherd_model_missing(const sherd_model *model, sherd_error *err)
{
	if (!model->missing)
		return SHERD_OK;
	return shd_in_object(err, shd_fail(err, SHERD_EINCOMPLETE, "no-data", "%s", model->missing), model->missing_at);
}

size_t sherd_model_find(const sherd_model *model, const char *variable)
{
	size_t index = shd_map_find(&model->names, shd_str_of(variable));
	return index == SHD_MAP_NONE ? SHERD_NO_VARIABLE : index;
}

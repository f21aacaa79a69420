#include "engine/model/container_writer.h"
#include "engine/model/save.h"

SHERD_AUTO_DEFINE(sherd_model_writer, sherd_model_writer_abort)

static int read_model(void *arg, size_t array, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	const sherd_model *model = arg;
	return model->ops->read(model, array, offset, buf, len, err);
}

int sherd_model_save_container(const sherd_model *model, sherd_store *store, const char *key,
                               const sherd_model_save_options *options, sherd_error *err)
{
	SHERD_AUTO(sherd_model_writer, sherd_model_writer_abort) w = NULL;
	const sherd_model_parts parts = {
		.graph = &model->graph,
		.arrays = model->arrays,
		.array_count = model->array_count,
		.pairs = model->pairs,
		.pair_count = model->pair_count,
		.read = read_model,
		.arg = (void *)(uintptr_t)model,
	};
	bool container = model->format == SHERD_FORMAT_SAMEDIFF_CONTAINER;
	const sherd_container_model *kept = container ? (const sherd_container_model *)model : NULL;
	TRY(sherd_container_writer_open(&w, store, key, &parts, options, kept, err));
	TRY(sherd_container_writer_pull(w, err));
	return sherd_model_writer_commit(TAKE(w), err);
}

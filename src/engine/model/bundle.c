#include "engine/model/format.h"
#include "engine/model/model.h"
#include "engine/tensors/bundle.h"

typedef struct model_bundle {
	sherd_bundle base;
	sherd_model *owned; /* the bundle's model, when the bundle opened it */
} model_bundle;

static int model_bundle_read_tensor(const sherd_bundle *b, size_t index, uint64_t offset, void *buf, size_t len,
                                    sherd_error *err)
{
	return b->model->ops->read(b->model, index, offset, buf, len, err);
}

static int map_tensor(const void **out, const sherd_bundle *b, size_t index, sherd_error *err)
{
	return b->model->ops->map(out, b->model, index, err);
}

static void close_model(sherd_bundle *b)
{
	sherd_model_close(((model_bundle *)b)->owned);
}

static const shd_bundle_ops ops = {.read = model_bundle_read_tensor, .map = map_tensor, .close = close_model};

static int model_bundle_fill(sherd_bundle *b, const sherd_model *model, sherd_error *err)
{
	b->model = model;
	b->format = model->format;
	b->order = model->stream ? SHD_BUNDLE_STREAM : SHD_BUNDLE_ANYWHERE;
	b->tensors = model->arrays;
	b->count = model->array_count;
	b->pairs = model->pairs;
	b->pair_count = model->pair_count;
	return shd_bundle_finish(b, err);
}

int sherd_bundle_missing(const sherd_bundle *bundle, sherd_error *err)
{
	return bundle->model ? sherd_model_missing(bundle->model, err) : SHERD_OK;
}

int sherd_bundle_of_model(sherd_bundle **out, const sherd_model *model, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	TRY(shd_bundle_new(&b, sizeof(model_bundle), &ops, model->format, err));
	TRY(model_bundle_fill(b, model, err));
	*out = TAKE(b);
	return SHERD_OK;
}

int shd_bundle_open_model(sherd_bundle **out, shd_evidence *e, const sherd_bundle_options *options, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	sherd_model_options model_options = {.limits = options->limits};
	TRY(shd_bundle_new(&b, sizeof(model_bundle), &ops, SHERD_FORMAT_UNKNOWN, err));
	model_bundle *m = (model_bundle *)b;
	TRY(shd_model_open_found(&m->owned, e, &model_options, err));
	TRY(model_bundle_fill(b, m->owned, err));
	*out = TAKE(b);
	return SHERD_OK;
}

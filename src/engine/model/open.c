#include "engine/model/model.h"

static sherd_model_open_fn *opener_of(sherd_format format)
{
	switch (format) {
	case SHERD_FORMAT_SAMEDIFF_FLATBUFFERS: return sherd_model_open_samediff;
	case SHERD_FORMAT_SAMEDIFF_CONTAINER: return sherd_model_open_container;
	case SHERD_FORMAT_SDNB: return sherd_model_open_sdnb;
	case SHERD_FORMAT_SDZ: return sherd_model_open_sdz;
	default: return NULL;
	}
}

int sherd_model_open(sherd_model **out, sherd_store *store, const char *key, const sherd_model_options *options,
                     sherd_error *err)
{
	sherd_format format;
	TRY(sherd_detect(store, key, &format, err));
	sherd_model_open_fn *open = opener_of(format);
	if (!open)
		return sherd_in_object(
			err,
			sherd_fail(err, SHERD_EUNSUPPORTED, "no-graph", "%s holds no graph", sherd_format_name(format)),
			key);
	SHERD_AUTO(sherd_model, sherd_model_close) model = NULL;
	TRY(sherd_in_object(err, open(&model, store, key, options ? options->limits : NULL, err), key));
	model->pool = options ? options->pool : NULL;
	if (!model->place && !(model->place = sherd_arena_str(&model->arena, sherd_str_of(key))))
		return sherd_fail_nomem(err);
	*out = TAKE(model);
	return SHERD_OK;
}

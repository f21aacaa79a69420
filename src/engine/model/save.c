#include "engine/model/save.h"

static sherd_model_save_fn *saver_of(sherd_format format)
{
	switch (format) {
	case SHERD_FORMAT_SAMEDIFF_FLATBUFFERS: return sherd_model_save_samediff;
	default: return NULL;
	}
}

int sherd_model_save(const sherd_model *model, sherd_store *store, const char *key,
                     const sherd_model_save_options *options, sherd_error *err)
{
	sherd_model_save_options o = options ? *options : (sherd_model_save_options){0};
	if (!model || !store || !key || (o.pair_count && !o.pairs))
		return sherd_fail(err, SHERD_EINVAL, "bad-argument", "a model, a store and a key are needed");
	sherd_model_save_fn *save = saver_of(o.format);
	if (!save)
		return sherd_fail(err, SHERD_EUNSUPPORTED, "unknown-format", "%s cannot be written",
		                  sherd_format_name(o.format));
	return sherd_in_object(err, save(model, store, key, &o, err), key);
}

#include "engine/model/model.h"

static sherd_model_open_fn *opener_of(sherd_format format)
{
	switch (format) {
	case SHERD_FORMAT_SAMEDIFF_FLATBUFFERS: return sherd_model_open_samediff;
	case SHERD_FORMAT_SAMEDIFF_CONTAINER: return sherd_model_open_container;
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
	TRY(sherd_in_object(err, open(out, store, key, options ? options->limits : NULL, err), key));
	(*out)->pool = options ? options->pool : NULL;
	return SHERD_OK;
}

#include "engine/model/format.h"
#include "engine/model/model.h"

int shd_model_open_found(sherd_model **out, shd_evidence *e, const sherd_model_options *options, sherd_error *err)
{
	SHD_AUTO(sherd_model, sherd_model_close) model = NULL;
	if (!e->format->open_model)
		return shd_fail(err, SHERD_EUNSUPPORTED, "no-graph", "%s holds no graph", e->format->info.name);
	TRY(e->format->open_model(&model, e, options ? options->limits : NULL, err));
	model->pool = options ? options->pool : NULL;
	if (!model->place && !(model->place = shd_arena_str(&model->arena, shd_str_of(e->key))))
		return shd_fail_nomem(err);
	*out = TAKE(model);
	return SHERD_OK;
}

int sherd_model_open(sherd_model **out, sherd_store *store, const char *key, const sherd_model_options *options,
                     sherd_error *err)
{
	SHD_DONE(shd_evidence_done) shd_evidence e = {0};
	const shd_format_entry *entry;
	TRY(shd_evidence_open(&e, store, key, err));
	TRY(shd_format_require(&e, &entry, err));
	return shd_in_object(err, shd_model_open_found(out, &e, options, err), key);
}

#include "engine/model/save.h"

#include "base/limits.h"
#include "codec/deflate.h"
#include "engine/model/container_writer.h"
#include "engine/model/sdnb.h"
#include "engine/tensors/format.h"

static int model_save_check_options(const sherd_model_save_options *o, sherd_error *err)
{
	if (o->compress != SHERD_COMPRESS_NONE && o->compress != SHERD_COMPRESS_DEFLATE)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "compression %d", (int)o->compress);
	if (o->level < 0 || o->level > SHD_DEFLATE_LEVELS)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "level %d; there are 1 to %d", o->level,
		                SHD_DEFLATE_LEVELS);
	if (o->shards > shd_limits_or_default(NULL).shards)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "%u shards", o->shards);
	if (o->pair_count && !o->pairs)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "pairs that are not there");
	return SHERD_OK;
}

int sherd_model_save(const sherd_model *model, sherd_store *store, const char *key,
                     const sherd_model_save_options *options, sherd_error *err)
{
	sherd_model_save_options o = options ? *options : (sherd_model_save_options){0};
	if (!model || !store || !key)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "a model, a store and a key are needed");
	TRY(model_save_check_options(&o, err));
	const shd_format_entry *to = shd_format_entry_of(o.format ? o.format : SHERD_FORMAT_SAMEDIFF_CONTAINER);
	if (!to || !to->save_model)
		return shd_fail(err, SHERD_EUNSUPPORTED, "unknown-format", "%s cannot be written",
		                sherd_format_name(o.format));
	if (!o.allow_missing)
		TRY(sherd_model_missing(model, err));
	return shd_in_object(err, to->save_model(model, store, key, &o, err), key);
}

/* Of the file that the model was read from, or of shard 0; before is that of the object of the name given. */
static const char *identity_of(const sherd_model *model, const sherd_stat *before)
{
	const shd_container_model *container = shd_container_of(model);
	if (container)
		return sherd_reader_identity(container->file->reader);
	return before->identity[0] ? before->identity : NULL;
}

int sherd_model_set_pairs(sherd_store *store, const char *key, const sherd_pair *pairs, size_t count,
                          const sherd_model_save_options *options, sherd_error *err)
{
	SHD_AUTO(sherd_model, sherd_model_close) model = NULL;
	sherd_stat before = {0};
	(void)sherd_store_stat(&before, store, key, NULL); /* what is there is opened, or not */
	TRY(sherd_model_open(&model, store, key, NULL, err));
	if (shd_sdnb_of(model) && model->files > 1)
		return shd_in_object(err,
		                     shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
		                              "shards of SDNB cannot be replaced in one step"),
		                     key);
	const sherd_model_save_options o = {.format = model->format,
	                                    .as_it_was = true,
	                                    .shards = model->files,
	                                    .replace = true,
	                                    .if_identity = identity_of(model, &before),
	                                    .pairs = pairs,
	                                    .pair_count = count,
	                                    .pool = options ? options->pool : NULL,
	                                    .progress = options ? options->progress : NULL};
	return sherd_model_save(model, store, model->place, &o, err);
}

int sherd_model_writer_open(sherd_model_writer **out, sherd_store *store, const char *key,
                            const sherd_model_parts *parts, const sherd_model_save_options *options, sherd_error *err)
{
	sherd_model_save_options o = options ? *options : (sherd_model_save_options){0};
	SHD_AUTO(sherd_model, sherd_model_close) model = NULL;
	if (!store || !key)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "a store and a key are needed");
	TRY(model_save_check_options(&o, err));
	if (o.format != SHERD_FORMAT_UNKNOWN && o.format != SHERD_FORMAT_SAMEDIFF_CONTAINER)
		return shd_fail(err, SHERD_EUNSUPPORTED, "unknown-format",
		                "only containers are written array by array");
	TRY(sherd_model_make(&model, parts, err)); /* which checks it all */
	return shd_container_writer_open(out, store, key, model, &o, err);
}

#include "engine/model/elements.h"
#include "engine/model/pairs.h"
#include "format/samediff/encode.h"

SHD_AUTO_DEFINE(sherd_writer, sherd_writer_abort)

/* What a file of another format tells about itself, and this one has no place or need for. */
static bool is_about_the_file(const char *key)
{
	static const char *const keys[] = {
		"nd4j.format.version", "nd4j.format.type", "creation.time", "framework.version",
		"shard.index",         "shard.type",       "shard.count",
	};
	for (size_t i = 0; i < COUNT_OF(keys); i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

static int save_samediff_check_pairs(const sherd_model *model, const sherd_model_save_options *o, shd_arena *arena,
                                     sherd_error *err)
{
	const sherd_pair *pairs;
	size_t count;
	TRY(shd_model_join_pairs(model->pairs, model->pair_count, o, arena, &pairs, &count, err));
	for (size_t i = 0; i < count; i++)
		if (!is_about_the_file(pairs[i].key) && !o->drop_pairs)
			return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
			                "a SameDiff FlatBuffers file cannot hold pairs: %.128s", pairs[i].key);
	return SHERD_OK;
}

/* Told before much is written; committing tells it for certain. */
static int refuse_existing(sherd_store *store, const char *key, sherd_error *err)
{
	sherd_stat stat;
	sherd_error failure;
	int rc = sherd_store_stat(&stat, store, key, &failure);
	if (rc == SHERD_OK)
		return shd_fail(err, SHERD_EEXIST, "exists", "it exists and may not be replaced");
	if (rc != SHERD_ENOTFOUND && err)
		*err = failure;
	return rc == SHERD_ENOTFOUND ? SHERD_OK : rc;
}

static int save_samediff_write_all(const sherd_model *model, const shd_samediff_encoding *e, sherd_writer *writer,
                                   shd_meter *meter, sherd_error *err)
{
	for (size_t i = 0; i < e->piece_count; i++) {
		const shd_samediff_piece *p = &e->pieces[i];
		TRY(sherd_writer_append(writer, p->bytes, p->len, err));
		TRY(shd_meter_add(meter, p->len, err));
		if (p->array == SHERD_NO_ARRAY)
			continue;
		const shd_model_elements elements = {model, p->array, p->fortran, p->swap};
		TRY(shd_model_elements_write(&elements, writer, meter, err));
	}
	return SHERD_OK;
}

int shd_model_save_samediff(const sherd_model *model, sherd_store *store, const char *key,
                            const sherd_model_save_options *o, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	SHD_AUTO(sherd_writer, sherd_writer_abort) writer = NULL;
	const shd_samediff_source source = {.graph = &model->graph,
	                                    .arrays = model->arrays,
	                                    .array_count = model->array_count,
	                                    .without_updater = o->without_updater};
	shd_samediff_encoding made;
	TRY(save_samediff_check_pairs(model, o, &arena, err));
	if (!o->replace)
		TRY(refuse_existing(store, key, err));
	TRY(shd_samediff_encode(&source, SHD_SAMEDIFF_LEGACY, &arena, &made, err));
	const sherd_write_options options = {.mode = o->replace ? SHERD_WRITE_REPLACE : SHERD_WRITE_NEW,
	                                     .size_hint = made.size,
	                                     .if_identity = o->replace ? o->if_identity : NULL};
	TRY(sherd_store_write(&writer, store, key, &options, err));
	SHD_DONE(shd_meter_done) shd_meter meter;
	shd_meter_init(&meter, o->progress, made.size);
	TRY(save_samediff_write_all(model, &made, writer, &meter, err));
	TRY(sherd_writer_commit(TAKE(writer), err));
	if (o->written)
		*o->written = made.size;
	return SHERD_OK;
}

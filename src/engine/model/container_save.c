#include "engine/model/container_writer.h"

SHD_AUTO_DEFINE(sherd_model_writer, sherd_model_writer_abort)

int shd_model_save_container(const sherd_model *model, sherd_store *store, const char *key,
                             const sherd_model_save_options *options, sherd_error *err)
{
	SHD_AUTO(sherd_model_writer, sherd_model_writer_abort) w = NULL;
	TRY(shd_container_writer_open(&w, store, key, model, options, err));
	TRY(shd_container_writer_pull(w, err));
	return sherd_model_writer_commit(TAKE(w), err);
}

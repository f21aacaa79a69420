#include "engine/model/container_writer.h"
#include "engine/model/save.h"

SHERD_AUTO_DEFINE(sherd_model_writer, sherd_model_writer_abort)

int sherd_model_save_container(const sherd_model *model, sherd_store *store, const char *key,
                               const sherd_model_save_options *options, sherd_error *err)
{
	SHERD_AUTO(sherd_model_writer, sherd_model_writer_abort) w = NULL;
	TRY(sherd_container_writer_open(&w, store, key, model, options, err));
	TRY(sherd_container_writer_pull(w, err));
	return sherd_model_writer_commit(TAKE(w), err);
}

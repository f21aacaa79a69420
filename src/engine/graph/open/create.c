#include "engine/graph/open/create.h"

#include "engine/graph/open/creation.h"

int shd_graph_make_shards(const graph_place *p, uint32_t from, uint32_t to, sherd_error *err)
{
	for (uint32_t shard = from; shard < to; shard++) {
		char name[SHD_RFDB_NAME_MAX];
		shd_rfdb_folder_name(shard, name);
		TRY(shd_graph_place_mkdir(p, name, err));
	}
	return SHERD_OK;
}

static int write(const graph_place *p, const char *name, const shd_buf *text, char *identity, sherd_error *err)
{
	char made[sizeof(((sherd_stat *)0)->identity)] = "";
	const sherd_write_options o = {.mode = *identity ? SHERD_WRITE_REPLACE : SHERD_WRITE_NEW,
	                               .if_identity = *identity ? identity : NULL,
	                               .identity = made};
	int rc = shd_graph_place_write(p, name, &o, text, err);
	if (rc == SHERD_ECONFLICT || rc == SHERD_EEXIST)
		return shd_graph_head_fail(err);
	TRY(rc);
	memcpy(identity, made, sizeof(made));
	return SHERD_OK;
}

int shd_graph_write_config(const graph_place *p, const shd_rfdb_config *config, char *identity, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	shd_rfdb_config_encode(config, &text);
	return write(p, SHD_RFDB_CONFIG, &text, identity, err);
}

int shd_graph_write_plan(const graph_place *p, const shd_rfdb_plan *plan, char *identity, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	shd_rfdb_plan_encode(plan, &text);
	return write(p, SHD_RFDB_PLAN, &text, identity, err);
}

int sherd_graph_create(sherd_store *store, const char *folder, const sherd_graph_layout *layout, int64_t time_ns,
                       sherd_error *err)
{
	graph_place place;
	graph_creation creation;
	TRY(shd_graph_place_init(&place, store, folder, NULL, err));
	int rc = shd_graph_creation_begin(&creation, &place, layout, time_ns, err);
	if (rc == SHERD_OK)
		rc = shd_graph_creation_end(&creation, shd_graph_creation_publish(&creation, err));
	shd_graph_place_done(&place);
	return shd_in_object(err, rc, folder);
}

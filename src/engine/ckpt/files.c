#include "engine/ckpt/files.h"

#include "engine/ckpt/shard.h"

#include <stdlib.h>

typedef struct gathering {
	ckpt_files *files;
	const char *prefix;
	SHD_VEC(ckpt_file) list;
	bool nomem;
} gathering;

static bool ckpt_files_gather(void *arg, const char *key, const sherd_stat *stat)
{
	gathering *g = arg;
	shd_ckpt_name name = shd_ckpt_name_parse(key);
	if (name.kind != SHD_CKPT_NAME_SHARD || !shd_str_is(name.prefix, g->prefix))
		return true;
	ckpt_file f = {
		.key = shd_arena_str(&g->files->arena, shd_str_of(key)),
		.rank = name.rank,
		.size = stat->size,
		.mtime_ns = stat->mtime_ns,
		.identity = shd_arena_str(&g->files->arena, shd_str_of(stat->identity)),
		.named_by_set = name.has_set_id,
		.name_id = name.set_id,
	};
	g->nomem = !f.key || !f.identity;
	shd_vec_push(&g->list, f);
	return !g->nomem;
}

static int ckpt_files_collect(gathering *g, sherd_store *store, sherd_error *err)
{
	SHD_AUTO_BUF start = {0};
	shd_buf_printf(&start, "%s_shard_", g->prefix);
	TRY(shd_buf_check(&start, err));
	TRY(sherd_store_list(store, (const char *)start.data, "", ckpt_files_gather, g, err));
	g->files->count = g->list.count;
	g->files->list = shd_vec_copy(&g->list, &g->files->arena);
	return g->nomem || g->list.failed || !g->files->list ? shd_fail_nomem(err) : SHERD_OK;
}

int shd_ckpt_files_open(ckpt_files *out, sherd_store *store, const char *prefix, sherd_error *err)
{
	ckpt_files files = {0};
	gathering g = {.files = &files, .prefix = prefix};
	int rc = ckpt_files_collect(&g, store, err);
	shd_vec_done(&g.list);
	if (rc < 0)
		shd_ckpt_files_done(&files);
	else
		*out = files;
	return rc;
}

void shd_ckpt_files_done(ckpt_files *files)
{
	shd_arena_done(&files->arena);
	*files = (ckpt_files){0};
}

int shd_ckpt_file_owner(sherd_store *store, const ckpt_file *file, ckpt_owner *out, sherd_error *err)
{
	*out = (ckpt_owner){.known = file->named_by_set, .set_id = file->name_id};
	if (out->known)
		return SHERD_OK;
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_ckpt_index index;
	int rc = shd_ckpt_shard_index_of(store, file->key, NULL, &arena, &index, &out->known, err);
	if (rc == SHERD_OK && out->known)
		out->set_id = index.set_id;
	/* What cannot be read as a shard is nobody's; what cannot be read at all is an error. */
	return rc == SHERD_EIO || rc == SHERD_ENOMEM ? rc : SHERD_OK;
}

int shd_ckpt_files_of_set(ckpt_files *files, sherd_store *store, const sherd_set_id *set_id, shd_meter *meter,
                          sherd_error *err)
{
	size_t chosen = 0;
	for (size_t i = 0; i < files->count; i++) {
		ckpt_owner owner = {0};
		TRY(shd_meter_ask(meter, err));
		TRY(shd_ckpt_file_owner(store, &files->list[i], &owner, err));
		if (set_id ? owner.known && shd_set_id_equal(&owner.set_id, set_id) : !owner.known)
			files->list[chosen++] = files->list[i];
	}
	files->count = chosen;
	return SHERD_OK;
}

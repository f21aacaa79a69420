/* engine/rows/verify_bf16.c - the files of residual_shard_bf16 have neither heads nor checksums: only sizes tell. */
#include "base/map.h"
#include "engine/rows/bf16.h"
#include "engine/rows/files.h"
#include "engine/rows/verify.h"

static int warn_about_strays(sherd_report *r, sherd_store *store, const char *folder, const shd_map *names,
                             sherd_error *err)
{
	SHD_DONE(shd_rows_files_done) rows_files files = {0};
	TRY(shd_rows_files_open(&files, store, folder, ".bf16", err));
	for (size_t i = 0; i < files.count; i++)
		if (shd_map_find(names, shd_str_of(files.list[i].name)) == SHD_MAP_NONE)
			TRY(shd_report_warn(r, files.list[i].key, "stray-shard", err,
			                    "the manifest does not list this file"));
	return SHERD_OK;
}

static int check_files(sherd_report *r, sherd_store *store, const char *folder, const shd_rows_manifest *m,
                       shd_map *names, sherd_error *err)
{
	for (size_t i = 0; i < m->count; i++) {
		sherd_error found = {0};
		bool ok = true;
		int rc = shd_rows_bf16_check(store, folder, &m->shards[i], &found);
		TRY(shd_report_take(r, rc, &found, folder, err));
		(void)shd_map_add(names, shd_str_of(m->shards[i].file), i, &ok);
		if (!ok)
			return shd_fail_nomem(err);
	}
	return warn_about_strays(r, store, folder, names, err);
}

static int verify_folder(sherd_report *r, sherd_store *store, const char *folder, const sherd_verify_options *options,
                         sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	SHD_DONE(shd_map_done) shd_map names = {0};
	shd_rows_manifest m = {0};
	sherd_error found = {0};
	const char *where = *folder ? folder : ".";
	int rc = shd_rows_bf16_read(store, folder, options->limits, &arena, &m, &found);
	bool readable = rc == SHERD_OK;
	TRY(shd_report_take(r, rc, &found, where, err));
	if (readable)
		TRY(check_files(r, store, folder, &m, &names, err));
	return shd_report_warn(r, where, "no-checksum", err,
	                       "the format has no checksums: only names and sizes were checked");
}

int shd_rows_verify_bf16(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *options,
                         sherd_error *err)
{
	sherd_stat stat;
	SHD_AUTO_BUF folder = {0};
	if (!*key || !shd_rows_is_manifest(key) || sherd_store_stat(&stat, store, key, NULL) < 0)
		return verify_folder(r, store, key, options, err);
	TRY(shd_folder_of(&folder, key, err));
	return verify_folder(r, store, (const char *)folder.data, options, err);
}

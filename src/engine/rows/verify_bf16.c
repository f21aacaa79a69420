/* engine/rows/verify_bf16.c - the files of residual_shard_bf16 have neither heads nor checksums: only sizes tell. */
#include "base/map.h"
#include "engine/rows/bf16.h"
#include "engine/rows/files.h"
#include "engine/rows/verify.h"

static int warn_about_strays(sherd_report *r, sherd_store *store, const char *folder, const shd_map *names,
                             sherd_error *err)
{
	rows_files files;
	int rc = SHERD_OK;
	TRY(shd_rows_files_open(&files, store, folder, ".bf16", err));
	for (size_t i = 0; i < files.count && rc == SHERD_OK; i++)
		if (shd_map_find(names, shd_str_of(files.list[i].name)) == SHD_MAP_NONE)
			rc = shd_report_warn(r, files.list[i].key, "stray-shard", err,
			                     "the manifest does not list this file");
	shd_rows_files_done(&files);
	return rc;
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
	shd_arena arena = {0};
	shd_map names = {0};
	shd_rows_manifest m = {0};
	sherd_error found = {0};
	const char *where = *folder ? folder : ".";
	int rc = shd_rows_bf16_read(store, folder, options->limits, &arena, &m, &found);
	bool readable = rc == SHERD_OK;
	rc = shd_report_take(r, rc, &found, where, err);
	if (rc == SHERD_OK && readable)
		rc = check_files(r, store, folder, &m, &names, err);
	if (rc == SHERD_OK)
		rc = shd_report_warn(r, where, "no-checksum", err,
		                     "the format has no checksums: only names and sizes were checked");
	shd_map_done(&names);
	shd_arena_done(&arena);
	return rc;
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

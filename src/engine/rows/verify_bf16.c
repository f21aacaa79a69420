/* engine/rows/verify_bf16.c - the files of residual_shard_bf16 have neither heads nor checksums: only sizes tell. */
#include "base/map.h"
#include "engine/rows/bf16.h"
#include "engine/rows/files.h"
#include "engine/rows/verify.h"

static int warn_about_strays(sherd_report *r, sherd_store *store, const char *folder, const sherd_map *names,
                             sherd_error *err)
{
	rows_files files;
	int rc = SHERD_OK;
	TRY(sherd_rows_files_open(&files, store, folder, ".bf16", err));
	for (size_t i = 0; i < files.count && rc == SHERD_OK; i++)
		if (sherd_map_find(names, sherd_str_of(files.list[i].name)) == SHERD_MAP_NONE)
			rc = sherd_report_warn(r, files.list[i].key, "stray-shard", err,
			                       "the manifest does not list this file");
	sherd_rows_files_done(&files);
	return rc;
}

static int check_files(sherd_report *r, sherd_store *store, const char *folder, const sherd_rows_manifest *m,
                       sherd_map *names, sherd_error *err)
{
	for (size_t i = 0; i < m->count; i++) {
		sherd_error found = {0};
		bool ok = true;
		int rc = sherd_rows_bf16_check(store, folder, &m->shards[i], &found);
		TRY(sherd_report_take(r, rc, &found, folder, err));
		(void)sherd_map_add(names, sherd_str_of(m->shards[i].file), i, &ok);
		if (!ok)
			return sherd_fail_nomem(err);
	}
	return warn_about_strays(r, store, folder, names, err);
}

static int verify_folder(sherd_report *r, sherd_store *store, const char *folder, const sherd_verify_options *options,
                         sherd_error *err)
{
	sherd_arena arena = {0};
	sherd_map names = {0};
	sherd_rows_manifest m = {0};
	sherd_error found = {0};
	const char *where = *folder ? folder : ".";
	int rc = sherd_rows_bf16_read(store, folder, options->limits, &arena, &m, &found);
	bool readable = rc == SHERD_OK;
	rc = sherd_report_take(r, rc, &found, where, err);
	if (rc == SHERD_OK && readable)
		rc = check_files(r, store, folder, &m, &names, err);
	if (rc == SHERD_OK)
		rc = sherd_report_warn(r, where, "no-checksum", err,
		                       "the format has no checksums: only names and sizes were checked");
	sherd_map_done(&names);
	sherd_arena_done(&arena);
	return rc;
}

int sherd_rows_verify_bf16(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *options,
                           sherd_error *err)
{
	sherd_stat stat;
	SHERD_AUTO_BUF folder = {0};
	if (!*key || !sherd_rows_is_manifest(key) || sherd_store_stat(store, key, &stat, NULL) < 0)
		return verify_folder(r, store, key, options, err);
	TRY(sherd_folder_of(&folder, key, err));
	return verify_folder(r, store, (const char *)folder.data, options, err);
}

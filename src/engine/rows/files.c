#include "engine/rows/files.h"

#include "base/error.h"
#include "engine/publish/claim.h"
#include "engine/rows/head.h"
#include "format/rows/manifest.h"
#include "format/rows/claim.h"

typedef struct search {
	rows_files *files;
	const char *suffix;
} search;

static bool want_file(void *arg, shd_str name)
{
	static const sherd_dtype dtypes[] = {SHERD_F32, SHERD_F16, SHERD_BF16};
	const search *s = arg;
	s->files->has_manifest |= shd_str_is(name, SHD_ROWS_MANIFEST);
	s->files->has_claim |= shd_str_is(name, SHD_ROWS_CLAIM);
	s->files->has_foreign |= shd_str_is(name, SHD_ROWS_BF16_MANIFEST);
	if (s->suffix)
		return shd_folder_has_suffix(name, s->suffix);
	for (size_t i = 0; i < COUNT_OF(dtypes); i++)
		if (shd_folder_has_suffix(name, shd_rows_kind_of(dtypes[i])->suffix))
			return true;
	return false;
}

int shd_rows_files_open(rows_files *out, sherd_store *store, const char *folder, const char *suffix, sherd_error *err)
{
	rows_files files = {0};
	search s = {.files = &files, .suffix = suffix};
	TRY(shd_folder_open(&files.folder, store, folder, want_file, &s, err));
	files.list = files.folder.list;
	files.count = files.folder.count;
	int rc = files.has_manifest && !shd_can_lock(store) ? shd_rows_head_look(&(rows_head){0}, store, folder, err)
	                                                    : 1;
	files.has_manifest &= rc > 0;
	if (rc < 0) {
		shd_rows_files_done(&files);
		return rc;
	}
	*out = files;
	return SHERD_OK;
}

void shd_rows_files_done(rows_files *files)
{
	shd_folder_done(&files->folder);
	*files = (rows_files){0};
}

bool shd_rows_is_manifest(const char *key)
{
	return strcmp(shd_str_leaf(key), SHD_ROWS_MANIFEST) == 0 ||
	       strcmp(shd_str_leaf(key), SHD_ROWS_BF16_MANIFEST) == 0;
}

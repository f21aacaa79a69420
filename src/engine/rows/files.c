#include "engine/rows/files.h"

#include "base/error.h"
#include "format/rows/manifest.h"
#include "format/rows/marker.h"

typedef struct search {
	rows_files *files;
	const char *suffix;
} search;

static bool want_file(void *arg, sherd_str name)
{
	static const sherd_dtype dtypes[] = {SHERD_F32, SHERD_F16, SHERD_BF16};
	const search *s = arg;
	s->files->has_manifest |= sherd_str_is(name, SHERD_ROWS_MANIFEST);
	s->files->has_marker |= sherd_str_is(name, SHERD_ROWS_MARKER);
	s->files->has_foreign |= sherd_str_is(name, SHERD_ROWS_BF16_MANIFEST);
	if (s->suffix)
		return sherd_folder_has_suffix(name, s->suffix);
	for (size_t i = 0; i < COUNT_OF(dtypes); i++)
		if (sherd_folder_has_suffix(name, sherd_rows_kind_of(dtypes[i])->suffix))
			return true;
	return false;
}

int sherd_rows_files_open(rows_files *out, sherd_store *store, const char *folder, const char *suffix, sherd_error *err)
{
	rows_files files = {0};
	search s = {.files = &files, .suffix = suffix};
	TRY(sherd_folder_open(&files.folder, store, folder, want_file, &s, err));
	files.list = files.folder.list;
	files.count = files.folder.count;
	*out = files;
	return SHERD_OK;
}

void sherd_rows_files_done(rows_files *files)
{
	sherd_folder_done(&files->folder);
	*files = (rows_files){0};
}

bool sherd_rows_is_manifest(const char *key)
{
	return strcmp(sherd_str_leaf(key), SHERD_ROWS_MANIFEST) == 0 ||
	       strcmp(sherd_str_leaf(key), SHERD_ROWS_BF16_MANIFEST) == 0;
}

#include "engine/rows/files.h"

#include "base/error.h"
#include "format/rows_manifest.h"
#include "format/rows_marker.h"

/* Stores list all keys below a prefix. After so many that lie deeper than the folder the listing is begun anew
 * behind that part of the tree. */
enum { MOST_DEEP = 1000 };

typedef struct gathering {
	rows_files *files;
	const char *suffix;
	size_t base;    /* bytes of the folder in a key */
	sherd_buf list; /* of rows_file */
	size_t deep;
	char after[SHERD_MAX_KEY + 2]; /* where to begin anew, "" when the end was reached */
	bool nomem;
} gathering;

/* Jumps behind "<folder>/<part>/": no key below it but such as begin with a byte 255 sorts after. */
static void skip_part(gathering *g, const char *key)
{
	size_t part = (size_t)(strchr(key + g->base, '/') + 1 - key);
	memcpy(g->after, key, part);
	memcpy(g->after + part, "\xff", 2);
	if (strcmp(g->after, key) < 0)
		memcpy(g->after, key, strlen(key) + 1);
}

static bool add(gathering *g, const char *key, const char *name, uint64_t size)
{
	rows_file f = {.key = sherd_arena_str(&g->files->arena, sherd_str_of(key)), .size = size};
	g->nomem = !f.key;
	if (g->nomem)
		return false;
	f.name = f.key + (name - key);
	sherd_buf_append(&g->list, &f, sizeof(f));
	return true;
}

static bool has_suffix(sherd_str name, const char *suffix)
{
	return sherd_str_ends(name, suffix) && name.len > strlen(suffix);
}

static bool is_wanted(const gathering *g, sherd_str name)
{
	static const sherd_dtype dtypes[] = {SHERD_F32, SHERD_F16, SHERD_BF16};
	if (g->suffix)
		return has_suffix(name, g->suffix);
	for (size_t i = 0; i < COUNT_OF(dtypes); i++)
		if (has_suffix(name, sherd_rows_kind_of(dtypes[i])->suffix))
			return true;
	return false;
}

static bool gather(const char *key, const sherd_stat *stat, void *arg)
{
	gathering *g = arg;
	const char *name = key + g->base;
	sherd_str s = sherd_str_of(name);
	if (strchr(name, '/')) {
		if (++g->deep < MOST_DEEP)
			return true;
		g->deep = 0;
		skip_part(g, key);
		return false;
	}
	g->files->has_manifest |= sherd_str_is(s, SHERD_ROWS_MANIFEST);
	g->files->has_marker |= sherd_str_is(s, SHERD_ROWS_MARKER);
	g->files->has_foreign |= sherd_str_is(s, SHERD_ROWS_BF16_MANIFEST);
	return !is_wanted(g, s) || add(g, key, name, stat->size);
}

static int collect(gathering *g, sherd_store *store, const char *folder, sherd_error *err)
{
	SHERD_AUTO_BUF prefix = {0};
	char after[sizeof(g->after)];
	TRY(sherd_rows_key(&prefix, folder, "", err));
	g->base = prefix.len - 1;
	do {
		memcpy(after, g->after, sizeof(after));
		g->after[0] = 0;
		TRY(sherd_store_list(store, (const char *)prefix.data, after, gather, g, err));
	} while (g->after[0]);
	rows_files *files = g->files;
	files->count = g->list.len / sizeof(rows_file);
	files->list = sherd_arena_copy(&files->arena, g->list.data, g->list.len);
	return g->nomem || g->list.failed || !files->list ? sherd_fail_nomem(err) : SHERD_OK;
}

int sherd_rows_files_open(rows_files *out, sherd_store *store, const char *folder, const char *suffix, sherd_error *err)
{
	rows_files files = {0};
	gathering g = {.files = &files, .suffix = suffix};
	int rc = collect(&g, store, folder, err);
	sherd_buf_done(&g.list);
	if (rc < 0)
		sherd_rows_files_done(&files);
	else
		*out = files;
	return rc;
}

void sherd_rows_files_done(rows_files *files)
{
	sherd_arena_done(&files->arena);
	*files = (rows_files){0};
}

int sherd_rows_key(sherd_buf *out, const char *folder, const char *name, sherd_error *err)
{
	sherd_buf_str(out, folder);
	sherd_buf_str(out, *folder ? "/" : "");
	sherd_buf_append(out, name, strlen(name) + 1);
	return sherd_buf_check(out, err);
}

bool sherd_rows_is_manifest(const char *key)
{
	return strcmp(sherd_str_leaf(key), SHERD_ROWS_MANIFEST) == 0 ||
	       strcmp(sherd_str_leaf(key), SHERD_ROWS_BF16_MANIFEST) == 0;
}

int sherd_rows_folder(sherd_buf *out, const char *key, sherd_error *err)
{
	size_t len = (size_t)(sherd_str_leaf(key) - key);
	sherd_buf_append(out, key, len ? len - 1 : 0);
	sherd_buf_u8(out, 0);
	return sherd_buf_check(out, err);
}

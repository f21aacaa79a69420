#include "engine/rows/clear.h"

#include "base/map.h"
#include "engine/publish/head.h"
#include "engine/publish/part.h"
#include "engine/rows/bf16.h"
#include "engine/rows/head.h"
#include "format/rows/claim.h"

#include <sherd/detect.h>

#include <stdlib.h>

enum { CLAIM_BYTES = 64 << 10, DIGITS = 5 };

int shd_rows_part_number(const char *name)
{
	static const sherd_dtype dtypes[] = {SHERD_F32, SHERD_F16, SHERD_BF16};
	static const char front[] = "part-";
	if (strncmp(name, front, sizeof(front) - 1) != 0)
		return -1;
	name += sizeof(front) - 1;
	if (strspn(name, "0123456789") != DIGITS)
		return -1;
	for (size_t i = 0; i < COUNT_OF(dtypes); i++)
		if (strcmp(name + DIGITS, shd_rows_kind_of(dtypes[i])->suffix) == 0)
			return (int)strtol(name, NULL, 10);
	return -1;
}

/* What does not say so was a pack into an empty folder, or had come to its manifest. */
uint32_t shd_rows_first_left(sherd_store *store, const char *claim, bool has_manifest)
{
	shd_rows_claim m = {.first = has_manifest ? UINT32_MAX : 0};
	char *text;
	size_t len;
	if (sherd_store_get(&text, &len, store, claim, CLAIM_BYTES, NULL) == SHERD_OK) {
		shd_rows_claim read;
		if (shd_rows_claim_decode(text, len, &read, NULL) == SHERD_OK && read.has_first)
			m = read;
		free(text);
	}
	return m.first;
}

static bool is_left(const shd_folder_file *f, uint32_t first, const shd_map *named)
{
	int number = shd_rows_part_number(f->name);
	return number >= 0 && (uint32_t)number >= first && shd_map_find(named, shd_str_of(f->name)) == SHD_MAP_NONE;
}

static int note_left(shd_buf *out, sherd_store *store, const rows_files *files, uint32_t first, const shd_map *named,
                     sherd_error *err)
{
	for (size_t i = 0; i < files->count; i++)
		if (is_left(&files->list[i], first, named))
			TRY(shd_parts_note(out, store, files->list[i].key, err));
	return SHERD_OK;
}

/* Without a manifest. */
static int vacate(sherd_store *store, const char *folder, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	rows_head seen = {""};
	TRY(shd_folder_key(&key, folder, SHD_ROWS_MANIFEST, err));
	int there = shd_rows_head_look(&seen, store, folder, err);
	TRY(there);
	if (there)
		return shd_fail(err, SHERD_ECONFLICT, "conflict", "somebody has just written a manifest");
	return shd_head_fence(store, (const char *)key.data, seen.identity, err);
}

/* The manifest changes before anything goes: a writer that is not as dead as it seems, because somebody removed its
 * claim, cannot publish what names these parts any more. */
static int fence(sherd_store *store, const char *folder, rows_head *head, shd_rows_manifest *m, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	bool uncertain;
	m->version = 2;
	m->fence++;
	shd_rows_manifest_encode(m, &text);
	return shd_rows_head_write(head, store, folder, SHD_ROWS_MANIFEST, &text, NULL, &uncertain, err);
}

static int name_all(const shd_rows_manifest *m, shd_map *named, sherd_error *err)
{
	bool ok = true;
	for (size_t i = 0; i < m->count && ok; i++)
		(void)shd_map_add(named, shd_str_of(m->shards[i].file), i, &ok);
	return ok ? SHERD_OK : shd_fail_nomem(err);
}

/* What residual_shard_bf16 names stays. Any other manifest.json does not matter. */
static int name_foreign(sherd_store *store, const char *folder, const sherd_limits *limits, shd_arena *arena,
                        shd_map *named, sherd_error *err)
{
	shd_rows_manifest m;
	sherd_format format;
	SHD_AUTO_BUF key = {0};
	TRY(shd_folder_key(&key, folder, SHD_ROWS_BF16_MANIFEST, err));
	int rc = sherd_detect(&format, store, (const char *)key.data, err);
	if (rc == SHERD_EUNSUPPORTED || (rc == SHERD_OK && format != SHERD_FORMAT_ROWS_BF16))
		return SHERD_OK;
	TRY(rc);
	TRY(shd_rows_bf16_read(store, folder, limits, arena, &m, err));
	return name_all(&m, named, err);
}

static int clear_beside(sherd_store *store, const char *folder, const rows_files *files, uint32_t first,
                        const sherd_limits *limits, shd_arena *arena, shd_map *named, sherd_error *err)
{
	SHD_AUTO_BUF left = {0};
	rows_head head;
	shd_rows_manifest m;
	TRY(shd_rows_head_read(&head, store, folder, limits, arena, &m, err));
	TRY(name_all(&m, named, err));
	TRY(note_left(&left, store, files, first, named, err));
	if (!left.len)
		return SHERD_OK;
	TRY(fence(store, folder, &head, &m, err));
	return shd_parts_clear(&left, store, err);
}

int shd_rows_clear(sherd_store *store, const char *folder, const char *claim, const sherd_limits *limits,
                   sherd_error *err)
{
	SHD_DONE(shd_rows_files_done) rows_files files = {0};
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	SHD_DONE(shd_map_done) shd_map named = {0};
	TRY(shd_rows_files_open(&files, store, folder, NULL, err));
	uint32_t first = shd_rows_first_left(store, claim, files.has_manifest);
	if (files.has_foreign && !files.has_manifest)
		TRY(name_foreign(store, folder, limits, &arena, &named, err));
	if (!files.has_manifest) {
		SHD_AUTO_BUF left = {0};
		TRY(note_left(&left, store, &files, first, &named, err));
		if (left.len)
			TRY(vacate(store, folder, err));
		return shd_parts_clear(&left, store, err);
	}
	if (first == UINT32_MAX)
		return SHERD_OK;
	return clear_beside(store, folder, &files, first, limits, &arena, &named, err);
}

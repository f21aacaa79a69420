/* engine/rows/open_any.c - from a key to an open set, by what lies there. */
#include "engine/rows/bf16.h"
#include "engine/rows/files.h"
#include "engine/rows/format.h"
#include "engine/rows/rows.h"

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_rows, sherd_rows_close)

/* The list in manifest.json, its files checked for being there in the size listed. */
static int fill_bf16(sherd_rows *r, const char *folder, const sherd_limits *limits, sherd_error *err)
{
	shd_rows_manifest m;
	TRY(shd_rows_bf16_read(r->store, folder, limits, &r->arena, &m, err));
	r->shards = shd_arena_alloc(&r->arena, m.count, sizeof(*r->shards));
	if (!r->shards)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < m.count; i++) {
		SHD_AUTO_BUF key = {0};
		TRY(shd_rows_bf16_check(r->store, folder, &m.shards[i], err));
		TRY(shd_folder_key(&key, folder, m.shards[i].file, err));
		r->shards[i] = (sherd_rows_shard){.key = shd_arena_str(&r->arena, shd_str_of((const char *)key.data)),
		                                  .rows = m.shards[i].rows,
		                                  .first = r->total,
		                                  .bytes = m.shards[i].bytes};
		if (!r->shards[i].key)
			return shd_fail_nomem(err);
		r->total += m.shards[i].rows;
	}
	r->count = m.count;
	r->width = m.width;
	r->row_bytes = 2 * m.width;
	r->dtype = SHERD_BF16;
	r->has_manifest = true;
	r->foreign = true;
	return r->total ? SHERD_OK : shd_fail(err, SHERD_ECORRUPT, "empty", "no shards, or no rows in them");
}

static int open_bf16(sherd_rows **out, sherd_store *store, const char *folder, const sherd_rows_options *options,
                     sherd_error *err)
{
	SHD_AUTO(sherd_rows, sherd_rows_close) r = calloc(1, sizeof(*r));
	if (!r)
		return shd_fail_nomem(err);
	r->store = store;
	TRY(fill_bf16(r, folder, options ? options->limits : NULL, err));
	*out = TAKE(r);
	return SHERD_OK;
}

/* The folder that the key names, itself or by its manifest; "" is always a folder. */
static int name_folder(const shd_evidence *e, shd_buf *out, sherd_error *err)
{
	if (e->is_object)
		return shd_folder_of(out, e->key, err);
	shd_buf_append(out, e->key, strlen(e->key) + 1);
	return shd_buf_check(out, err);
}

int shd_rows_open_found_bf16(sherd_rows **out, shd_evidence *e, const sherd_rows_options *options, sherd_error *err)
{
	SHD_AUTO_BUF folder = {0};
	TRY(name_folder(e, &folder, err));
	const char *name = (const char *)folder.data;
	return shd_in_object(err, open_bf16(out, e->store, name, options, err), *name ? name : ".");
}

int shd_rows_open_found(sherd_rows **out, shd_evidence *e, const sherd_rows_options *options, sherd_error *err)
{
	SHD_AUTO_BUF folder = {0};
	if (e->is_object && !shd_rows_is_manifest(e->key))
		return sherd_rows_open(out, e->store, &e->key, 1, options, err);
	TRY(name_folder(e, &folder, err));
	return sherd_rows_open_folder(out, e->store, (const char *)folder.data, options, err);
}

static int open_any_open_found(sherd_rows **out, shd_evidence *e, const sherd_rows_options *options, sherd_error *err)
{
	const shd_format_entry *entry;
	TRY(shd_format_require(e, &entry, err));
	if (entry->open_rows)
		return entry->open_rows(out, e, options, err);
	int rc = shd_fail(err, SHERD_EUNSUPPORTED, "unknown-format", "this is %s, not a set of rows", entry->info.name);
	return shd_in_object(err, rc, e->key);
}

int sherd_rows_open_any(sherd_rows **out, sherd_store *store, const char *key, const sherd_rows_options *options,
                        sherd_error *err)
{
	SHD_DONE(shd_evidence_done) shd_evidence e = {0};
	TRY(shd_evidence_open(&e, store, key, err));
	return open_any_open_found(out, &e, options, err);
}

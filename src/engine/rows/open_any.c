/* engine/rows/open_any.c - from a key to an open set, by what lies there. */
#include "base/limits.h"
#include "engine/rows/bf16.h"
#include "engine/rows/files.h"
#include "engine/rows/rows.h"

#include <sherd/detect.h>

#include <stdlib.h>

SHERD_AUTO_DEFINE(sherd_rows, sherd_rows_close)

/* The list in manifest.json, its files checked for being there in the size listed. */
static int fill_bf16(sherd_rows *r, const char *folder, const sherd_limits *limits, sherd_error *err)
{
	sherd_rows_manifest m;
	TRY(sherd_rows_bf16_read(r->store, folder, limits, &r->arena, &m, err));
	r->shards = sherd_arena_alloc(&r->arena, m.count, sizeof(*r->shards));
	if (!r->shards)
		return sherd_fail_nomem(err);
	for (size_t i = 0; i < m.count; i++) {
		SHERD_AUTO_BUF key = {0};
		TRY(sherd_rows_bf16_check(r->store, folder, &m.shards[i], err));
		TRY(sherd_rows_key(&key, folder, m.shards[i].file, err));
		r->shards[i] =
			(sherd_rows_shard){.key = sherd_arena_str(&r->arena, sherd_str_of((const char *)key.data)),
		                           .rows = m.shards[i].rows,
		                           .first = r->total,
		                           .bytes = m.shards[i].bytes};
		if (!r->shards[i].key)
			return sherd_fail_nomem(err);
		r->total += m.shards[i].rows;
	}
	r->count = m.count;
	r->width = m.width;
	r->row_bytes = 2 * m.width;
	r->dtype = SHERD_BF16;
	r->has_manifest = true;
	r->foreign = true;
	return r->total ? SHERD_OK : sherd_fail(err, SHERD_ECORRUPT, "empty", "no shards, or no rows in them");
}

static int open_bf16(sherd_rows **out, sherd_store *store, const char *folder, const sherd_rows_options *options,
                     sherd_error *err)
{
	SHERD_AUTO(sherd_rows, sherd_rows_close) r = calloc(1, sizeof(*r));
	if (!r)
		return sherd_fail_nomem(err);
	r->store = store;
	TRY(fill_bf16(r, folder, options ? options->limits : NULL, err));
	*out = TAKE(r);
	return SHERD_OK;
}

static int open_folder(sherd_rows **out, sherd_store *store, sherd_format format, const char *folder,
                       const sherd_rows_options *options, sherd_error *err)
{
	if (format == SHERD_FORMAT_ROWS_BF16)
		return sherd_in_object(err, open_bf16(out, store, folder, options, err), *folder ? folder : ".");
	return sherd_rows_open_folder(out, store, folder, options, err);
}

/* A shard by its file, a set by its manifest or its folder; "" is always a folder. */
static int open_set(sherd_rows **out, sherd_store *store, sherd_format format, const char *key,
                    const sherd_rows_options *options, sherd_error *err)
{
	sherd_stat stat;
	SHERD_AUTO_BUF folder = {0};
	if (!*key || sherd_store_stat(store, key, &stat, NULL) < 0)
		return open_folder(out, store, format, key, options, err);
	if (!sherd_rows_is_manifest(key))
		return sherd_rows_open(out, store, &key, 1, options, err);
	TRY(sherd_rows_folder(&folder, key, err));
	return open_folder(out, store, format, (const char *)folder.data, options, err);
}

int sherd_rows_open_any(sherd_rows **out, sherd_store *store, const char *key, const sherd_rows_options *options,
                        sherd_error *err)
{
	sherd_format format;
	TRY(sherd_detect(store, key, &format, err));
	if (format == SHERD_FORMAT_ROWS || format == SHERD_FORMAT_ROWS_BF16)
		return open_set(out, store, format, key, options, err);
	int rc = sherd_fail(err, SHERD_EUNSUPPORTED, "unknown-format", "this is %s, not a set of rows",
	                    sherd_format_name(format));
	return sherd_in_object(err, rc, key);
}

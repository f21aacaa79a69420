/* engine/rows/index.c - a manifest for shards that have none: everything is read, one object is written. */
#include "base/cursor.h"
#include "base/limits.h"
#include "base/meter.h"
#include "base/pool.h"
#include "engine/rows/files.h"
#include "engine/rows/head.h"
#include "engine/rows/sums.h"
#include "format/ckpt_shard.h"
#include "format/rows_marker.h"
#include "format/rows_shard.h"

#include <sherd/rows.h>

#include <inttypes.h>
#include <stdlib.h>

SHERD_AUTO_DEFINE(sherd_reader, sherd_reader_close)

/* One shard. */
typedef struct listed {
	const char *name, *key;
	sherd_rows_entry entry;
	uint64_t width;
	rows_sums sums;
} listed;

typedef struct indexing {
	sherd_store *store;
	const char *folder;
	const sherd_rows_index_options *options;
	sherd_arena arena;
	sherd_buf list; /* of listed */
	sherd_meter meter;
} indexing;

static size_t count_of(const indexing *x)
{
	return x->list.len / sizeof(listed);
}

static listed *list_of(const indexing *x)
{
	return (listed *)(void *)x->list.data;
}

/* ---- which shards */

static int add(indexing *x, const char *name, sherd_error *err)
{
	SHERD_AUTO_BUF key = {0};
	sherd_str s = sherd_str_of(name);
	listed l = {0};
	if (strchr(name, '/') || !sherd_str_ends(s, SHERD_ROWS_SUFFIX) || s.len == strlen(SHERD_ROWS_SUFFIX))
		return sherd_fail(err, SHERD_EINVAL, "bad-path",
		                  "%.128s is not the name of a file *.shard of the folder", name);
	TRY(sherd_rows_key(&key, x->folder, name, err));
	l.name = sherd_arena_str(&x->arena, s);
	l.key = sherd_arena_str(&x->arena, sherd_str_of((const char *)key.data));
	if (!l.name || !l.key)
		return sherd_fail_nomem(err);
	sherd_buf_append(&x->list, &l, sizeof(l));
	return sherd_buf_check(&x->list, err);
}

static int is_checkpoint(sherd_store *store, const char *key, bool *out, sherd_error *err)
{
	SHERD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	uint8_t raw[4] = {0};
	TRY(sherd_store_read(store, key, &reader, err));
	uint64_t size = sherd_reader_size(reader);
	TRY(sherd_reader_at(reader, 0, raw, size < sizeof(raw) ? (size_t)size : sizeof(raw), err));
	*out = size >= sizeof(raw) && sherd_get_u32(raw) == SHERD_CKPT_SHARD_MAGIC;
	return SHERD_OK;
}

static int add_all(indexing *x, const rows_files *files, sherd_error *err)
{
	for (size_t i = 0; i < files->count; i++) {
		bool checkpoint;
		TRY(is_checkpoint(x->store, files->list[i].key, &checkpoint, err));
		if (!checkpoint)
			TRY(add(x, files->list[i].name, err));
	}
	return SHERD_OK;
}

static int check_folder(const indexing *x, const rows_files *files, sherd_error *err)
{
	SHERD_AUTO_BUF key = {0};
	bool marker = files->has_marker;
	int rc = SHERD_OK;
	if (marker)
		rc = sherd_fail(
			err, SHERD_ECONFLICT, "conflict",
			"somebody is writing into the set, or died: rows pack and rows append clear what is left");
	else if (files->has_manifest && !x->options->replace)
		rc = sherd_fail(err, SHERD_EEXIST, "exists", "the set has a manifest (--replace makes a new one)");
	if (rc == SHERD_OK)
		return rc;
	TRY(sherd_rows_key(&key, x->folder, marker ? SHERD_ROWS_MARKER : SHERD_ROWS_MANIFEST, err));
	return sherd_in_object(err, rc, (const char *)key.data);
}

static int choose(indexing *x, const char *const *names, size_t count, sherd_error *err)
{
	rows_files files;
	TRY(sherd_rows_files_open(&files, x->store, x->folder, SHERD_ROWS_SUFFIX, err));
	int rc = check_folder(x, &files, err);
	if (rc == SHERD_OK && !names)
		rc = add_all(x, &files, err);
	for (size_t i = 0; i < count && names && rc == SHERD_OK; i++)
		rc = add(x, names[i], err);
	sherd_rows_files_done(&files);
	return rc;
}

/* ---- reading them */

static int read_shard(listed *l, const sherd_reader *reader, sherd_meter *meter, sherd_error *err)
{
	uint8_t raw[SHERD_ROWS_HEAD_SIZE] = {0};
	uint64_t size = sherd_reader_size(reader);
	sherd_rows_head head;
	TRY(sherd_reader_at(reader, 0, raw, size < sizeof(raw) ? (size_t)size : sizeof(raw), err));
	TRY(sherd_rows_head_decode(raw, size, &head, err));
	if (size > head.file_bytes)
		return sherd_fail_at(err, SHERD_ECORRUPT, "trailing-bytes", head.file_bytes,
		                     "%" PRIu64 " bytes behind the last row: a manifest cannot list that",
		                     size - head.file_bytes);
	TRY(sherd_rows_sums_read(&l->sums, reader, SHERD_ROWS_HEAD_SIZE, size, meter, err));
	l->width = head.width;
	l->entry = (sherd_rows_entry){.file = l->name, .rows = head.rows, .bytes = size};
	l->entry.crcs = (const uint32_t *)(const void *)l->sums.crcs.data;
	l->entry.crc_count = l->sums.crcs.len / sizeof(uint32_t);
	memcpy(l->entry.sha256, l->sums.sha256, sizeof(l->entry.sha256));
	return SHERD_OK;
}

static int read_one(void *arg, size_t index, sherd_error *err)
{
	indexing *x = arg;
	listed *l = &list_of(x)[index];
	SHERD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	TRY(sherd_store_read(x->store, l->key, &reader, err));
	return sherd_in_object(err, read_shard(l, reader, &x->meter, err), l->key);
}

static uint64_t bytes_to_read(const indexing *x)
{
	uint64_t sum = 0;
	sherd_stat stat;
	for (size_t i = 0; i < count_of(x); i++)
		if (sherd_store_stat(x->store, list_of(x)[i].key, &stat, NULL) < 0 ||
		    __builtin_add_overflow(sum, stat.size, &sum))
			return 0;
	return sum;
}

static int read_all(indexing *x, sherd_error *err)
{
	sherd_meter_init(&x->meter, x->options->progress, bytes_to_read(x));
	int rc = sherd_pool_run(x->options->pool, count_of(x), read_one, x, err);
	sherd_meter_done(&x->meter);
	return rc;
}

/* ---- the manifest */

static int describe(indexing *x, sherd_rows_manifest *m, sherd_error *err)
{
	sherd_rows_entry *entries = sherd_arena_alloc(&x->arena, count_of(x) + 1, sizeof(*entries));
	if (!entries)
		return sherd_fail_nomem(err);
	*m = (sherd_rows_manifest){.version = 2, .dtype = SHERD_F32, .shards = entries, .count = count_of(x)};
	for (size_t i = 0; i < m->count; i++) {
		const listed *l = &list_of(x)[i];
		m->width = m->width ? m->width : l->width;
		if (l->width != m->width)
			return sherd_in_object(err,
			                       sherd_fail_at(err, SHERD_ECORRUPT, "width-mismatch", 16,
			                                     "width %" PRIu64 ", expected %" PRIu64, l->width,
			                                     m->width),
			                       l->key);
		if (__builtin_add_overflow(m->rows, l->entry.rows, &m->rows))
			return sherd_fail(err, SHERD_ELIMIT, "too-many-rows", "more rows than 64 bits count");
		entries[i] = l->entry;
	}
	if (!m->rows)
		return sherd_fail(err, SHERD_ECORRUPT, "empty", "no shards, or no rows in them");
	return SHERD_OK;
}

/* What is replaced may be damaged: only its identity matters. Of types without heads only a manifest knows the width.
 */
static int know_head(const indexing *x, rows_head *head, sherd_error *err)
{
	SHERD_AUTO_BUF key = {0};
	sherd_arena arena = {0};
	sherd_rows_manifest m = {0};
	sherd_stat stat;
	sherd_error found;
	*head = (rows_head){0};
	TRY(sherd_rows_key(&key, x->folder, SHERD_ROWS_MANIFEST, err));
	int rc = sherd_store_stat(x->store, (const char *)key.data, &stat, &found);
	if (rc == SHERD_ENOTFOUND)
		return SHERD_OK;
	if (rc < 0 && err)
		*err = found;
	TRY(rc);
	memcpy(head->identity, stat.identity, sizeof(head->identity));
	bool other =
		sherd_rows_manifest_read(x->store, x->folder, x->options->limits, &arena, &m, NULL, NULL) == SHERD_OK &&
		m.dtype != SHERD_F32;
	sherd_arena_done(&arena);
	if (!other)
		return SHERD_OK;
	rc = sherd_fail(err, SHERD_EUNSUPPORTED, "bad-dtype",
	                "a set of %s cannot be indexed anew: its files have no heads",
	                sherd_dtype_describe(m.dtype)->name);
	return sherd_in_object(err, rc, (const char *)key.data);
}

static int run(indexing *x, const char *const *names, size_t count, sherd_error *err)
{
	rows_head head;
	sherd_rows_manifest m;
	SHERD_AUTO_BUF text = {0};
	sherd_arena checked = {0};
	bool uncertain;
	TRY(know_head(x, &head, err));
	TRY(choose(x, names, count, err));
	TRY(read_all(x, err));
	TRY(describe(x, &m, err));
	/* Names that are listed twice, for one, or are no UTF-8. */
	sherd_rows_manifest_encode(&m, &text);
	TRY(sherd_buf_check(&text, err));
	sherd_rows_manifest again;
	int rc = sherd_rows_manifest_decode(text.data, text.len, x->options->limits, &checked, &again, err);
	sherd_arena_done(&checked);
	TRY(rc);
	return sherd_rows_head_write(&head, x->store, x->folder, SHERD_ROWS_MANIFEST, &text, &uncertain, err);
}

int sherd_rows_index(sherd_store *store, const char *folder, const char *const *names, size_t count,
                     const sherd_rows_index_options *options, sherd_error *err)
{
	static const sherd_rows_index_options defaults = {0};
	indexing x = {.store = store, .folder = folder, .options = options ? options : &defaults};
	int rc = run(&x, names, count, err);
	for (size_t i = 0; i < count_of(&x); i++)
		sherd_rows_sums_done(&list_of(&x)[i].sums);
	sherd_buf_done(&x.list);
	sherd_arena_done(&x.arena);
	return sherd_in_object(err, rc, *folder ? folder : ".");
}

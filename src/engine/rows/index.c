/* engine/rows/index.c - a manifest for shards that have none: everything is read, one object is written. */
#include "base/cursor.h"
#include "base/map.h"
#include "base/meter.h"
#include "base/pool.h"
#include "engine/rows/claim.h"
#include "engine/rows/clear.h"
#include "engine/rows/files.h"
#include "engine/rows/head.h"
#include "engine/rows/sums.h"
#include "format/ckpt/shard.h"
#include "format/rows/claim.h"
#include "format/rows/shard.h"

#include <sherd/rows.h>

#include <inttypes.h>
#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)

/* One shard. */
typedef struct listed {
	const char *name, *key;
	shd_rows_entry entry;
	uint64_t width;
	rows_sums sums;
} listed;

typedef struct indexing {
	sherd_store *store;
	const char *folder;
	const sherd_rows_index_options *options;
	shd_arena arena;
	rows_head head;
	shd_rows_manifest old; /* the manifest that is there */
	bool has_old;          /* it can be read */
	rows_claim claim;      /* of a dead writer */
	bool has_claim;
	SHD_VEC(listed) list;
	shd_meter meter;
} indexing;

static size_t count_of(const indexing *x)
{
	return x->list.count;
}

static listed *rows_index_list_of(const indexing *x)
{
	return x->list.items;
}

/* ---- which shards */

static int rows_index_add(indexing *x, const char *name, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	shd_str s = shd_str_of(name);
	listed l = {0};
	if (strchr(name, '/') || !shd_str_ends(s, SHD_ROWS_SUFFIX) || s.len == strlen(SHD_ROWS_SUFFIX))
		return shd_fail(err, SHERD_EINVAL, "bad-path", "%.128s is not the name of a file *.shard of the folder",
		                name);
	TRY(shd_folder_key(&key, x->folder, name, err));
	l.name = shd_arena_str(&x->arena, s);
	l.key = shd_arena_str(&x->arena, shd_str_of((const char *)key.data));
	if (!l.name || !l.key)
		return shd_fail_nomem(err);
	shd_vec_push(&x->list, l);
	return shd_vec_check(&x->list, err);
}

static int is_checkpoint(sherd_store *store, const char *key, bool *out, sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	uint8_t raw[4] = {0};
	TRY(sherd_store_read(&reader, store, key, err));
	uint64_t size = sherd_reader_size(reader);
	TRY(sherd_reader_at(reader, 0, raw, size < sizeof(raw) ? (size_t)size : sizeof(raw), err));
	*out = size >= sizeof(raw) && shd_get_u32(raw) == SHD_CKPT_SHARD_MAGIC;
	return SHERD_OK;
}

/* Of what lies beside a manifest that cannot be read, nobody can tell whether the dead writer had published it. */
static int refuse_left(const indexing *x, const rows_files *files, sherd_error *err)
{
	uint32_t first = shd_rows_first_left(x->store, (const char *)x->claim.key.data, files->has_manifest);
	const char *key = NULL;
	size_t count = 0;
	for (size_t i = 0; i < files->count; i++) {
		int number = shd_rows_part_number(files->list[i].name);
		if (number < 0 || (uint32_t)number < first)
			continue;
		key = count++ ? key : files->list[i].key;
	}
	if (!count)
		return SHERD_OK;
	return shd_in_object(err,
	                     shd_fail(err, SHERD_ECONFLICT, "conflict",
	                              "a writer that died wrote this part (%zu in all, from this number on), and "
	                              "may not have published it: name the shards to list (DIR SHARD...)",
	                              count),
	                     key);
}

/* The list that is there, which must not change by itself: ids would. */
static int add_old(indexing *x, const rows_files *files, sherd_error *err)
{
	SHD_DONE(shd_map_done) shd_map names = {0};
	const char *missing = NULL;
	size_t count = 0;
	bool ok = true;
	for (size_t i = 0; i < files->count && ok; i++)
		(void)shd_map_add(&names, shd_str_of(files->list[i].name), i, &ok);
	if (!ok)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < x->old.count; i++) {
		const char *name = x->old.shards[i].file;
		TRY(rows_index_add(x, name, err));
		if (shd_map_find(&names, shd_str_of(name)) == SHD_MAP_NONE)
			missing = count++ ? missing : rows_index_list_of(x)[i].key;
	}
	if (!missing)
		return SHERD_OK;
	int rc = shd_fail(
		err, SHERD_ENOTFOUND, "missing-shard",
		"the manifest lists it, and it is gone (%zu of %zu are): name the shards to list (DIR SHARD...)", count,
		x->old.count);
	return shd_in_object(err, rc, missing);
}

static int add_all(indexing *x, const rows_files *files, sherd_error *err)
{
	if (x->has_claim)
		TRY(refuse_left(x, files, err));
	for (size_t i = 0; i < files->count; i++) {
		bool checkpoint;
		TRY(is_checkpoint(x->store, files->list[i].key, &checkpoint, err));
		if (!checkpoint)
			TRY(rows_index_add(x, files->list[i].name, err));
	}
	return SHERD_OK;
}

static int rows_index_check_folder(const indexing *x, const rows_files *files, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	bool claimed = files->has_claim && !x->options->replace;
	int rc = SHERD_OK;
	if (claimed)
		rc = shd_fail(err, SHERD_ECONFLICT, "conflict",
		              "somebody is writing into the set, or died: the next writer clears what is left");
	else if (files->has_manifest && !x->options->replace)
		rc = shd_fail(err, SHERD_EEXIST, "exists", "the set has a manifest");
	if (rc == SHERD_OK)
		return rc;
	TRY(shd_folder_key(&key, x->folder, claimed ? SHD_ROWS_CLAIM : SHD_ROWS_MANIFEST, err));
	return shd_in_object(err, rc, (const char *)key.data);
}

static int rows_index_choose(indexing *x, const char *const *names, size_t count, sherd_error *err)
{
	SHD_DONE(shd_rows_files_done) rows_files files = {0};
	TRY(shd_rows_files_open(&files, x->store, x->folder, SHD_ROWS_SUFFIX, err));
	TRY(rows_index_check_folder(x, &files, err));
	if (files.has_claim) {
		TRY(shd_rows_claim_take_over(&x->claim, x->store, x->folder, err));
		x->has_claim = true;
	}
	if (!names)
		return x->has_old ? add_old(x, &files, err) : add_all(x, &files, err);
	for (size_t i = 0; i < count; i++)
		TRY(rows_index_add(x, names[i], err));
	return SHERD_OK;
}

/* ---- reading them */

static int read_shard(listed *l, const sherd_reader *reader, shd_meter *meter, sherd_error *err)
{
	uint8_t raw[SHD_ROWS_HEAD_SIZE] = {0};
	uint64_t size = sherd_reader_size(reader);
	shd_rows_head head;
	TRY(sherd_reader_at(reader, 0, raw, size < sizeof(raw) ? (size_t)size : sizeof(raw), err));
	TRY(shd_rows_head_decode(raw, size, &head, err));
	if (size > head.file_bytes)
		return shd_fail_at(err, SHERD_ECORRUPT, "trailing-bytes", head.file_bytes,
		                   "%" PRIu64 " bytes after the last row: a manifest cannot list that",
		                   size - head.file_bytes);
	TRY(shd_rows_sums_read(&l->sums, reader, SHD_ROWS_HEAD_SIZE, size, meter, err));
	l->width = head.width;
	l->entry = (shd_rows_entry){.file = l->name, .rows = head.rows, .bytes = size};
	l->entry.crcs = l->sums.crcs.items;
	l->entry.crc_count = l->sums.crcs.count;
	memcpy(l->entry.sha256, l->sums.sha256, sizeof(l->entry.sha256));
	return SHERD_OK;
}

static int read_one(void *arg, size_t index, sherd_error *err)
{
	indexing *x = arg;
	listed *l = &rows_index_list_of(x)[index];
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	TRY(sherd_store_read(&reader, x->store, l->key, err));
	return shd_in_object(err, read_shard(l, reader, &x->meter, err), l->key);
}

static uint64_t bytes_to_read(const indexing *x)
{
	uint64_t sum = 0;
	sherd_stat stat;
	for (size_t i = 0; i < count_of(x); i++)
		if (sherd_store_stat(&stat, x->store, rows_index_list_of(x)[i].key, NULL) < 0 ||
		    __builtin_add_overflow(sum, stat.size, &sum))
			return 0;
	return sum;
}

static int rows_index_read_all(indexing *x, sherd_error *err)
{
	shd_meter_init(&x->meter, x->options->progress, bytes_to_read(x));
	int rc = shd_pool_run(x->options->pool, count_of(x), read_one, x, err);
	shd_meter_done(&x->meter);
	return rc;
}

/* ---- the manifest */

static int rows_index_describe(indexing *x, shd_rows_manifest *m, sherd_error *err)
{
	shd_rows_entry *entries = shd_arena_alloc(&x->arena, count_of(x) + 1, sizeof(*entries));
	if (!entries)
		return shd_fail_nomem(err);
	*m = (shd_rows_manifest){.version = 2, .dtype = SHERD_F32, .shards = entries, .count = count_of(x)};
	for (size_t i = 0; i < m->count; i++) {
		const listed *l = &rows_index_list_of(x)[i];
		m->width = m->width ? m->width : l->width;
		if (l->width != m->width)
			return shd_in_object(err,
			                     shd_fail_at(err, SHERD_ECORRUPT, "width-mismatch", 16,
			                                 "width %" PRIu64 ", expected %" PRIu64, l->width, m->width),
			                     l->key);
		if (__builtin_add_overflow(m->rows, l->entry.rows, &m->rows))
			return shd_fail(err, SHERD_ELIMIT, "too-many-rows", "more rows than 64 bits count");
		entries[i] = l->entry;
	}
	if (!m->rows)
		return shd_fail(err, SHERD_ECORRUPT, "empty", "no shards, or no rows in them");
	return SHERD_OK;
}

/* What is replaced may be damaged. Of types without heads only a manifest knows the width. */
static int read_old(indexing *x, const char *key, sherd_error *err)
{
	sherd_error found = {0};
	int rc = shd_rows_manifest_read(x->store, x->folder, x->options->limits, &x->arena, &x->old, NULL, &found);
	x->has_old = rc == SHERD_OK;
	if (rc == SHERD_ECORRUPT || rc == SHERD_EUNSUPPORTED)
		return SHERD_OK;
	TRY(shd_pass(err, rc, &found));
	if (x->old.dtype == SHERD_F32)
		return SHERD_OK;
	rc = shd_fail(err, SHERD_EUNSUPPORTED, "bad-dtype",
	              "a set of %s cannot be indexed anew: its files have no heads",
	              sherd_dtype_describe(x->old.dtype)->name);
	return shd_in_object(err, rc, key);
}

static int know_head(indexing *x, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	sherd_stat stat;
	sherd_error found;
	TRY(shd_folder_key(&key, x->folder, SHD_ROWS_MANIFEST, err));
	int rc = sherd_store_stat(&stat, x->store, (const char *)key.data, &found);
	if (rc == SHERD_ENOTFOUND)
		return SHERD_OK;
	TRY(shd_pass(err, rc, &found));
	memcpy(x->head.identity, stat.identity, sizeof(x->head.identity));
	return read_old(x, (const char *)key.data, err);
}

/* Under the old list the next append clears what the dead writer did not publish. Under another one that would take
 * what the user left out: the claim goes, and before the manifest comes, so that no crash leaves both. */
static int remove_claim(const indexing *x, sherd_error *err)
{
	const char *key = (const char *)x->claim.key.data;
	return shd_in_object(err, sherd_store_remove_if(x->store, key, x->claim.claim.identity, err), key);
}

static int rows_index_run(indexing *x, const char *const *names, size_t count, sherd_error *err)
{
	shd_rows_manifest m;
	SHD_AUTO_BUF text = {0};
	SHD_DONE(shd_arena_done) shd_arena checked = {0};
	bool uncertain;
	TRY(know_head(x, err));
	TRY(rows_index_choose(x, names, count, err));
	TRY(rows_index_read_all(x, err));
	TRY(rows_index_describe(x, &m, err));
	/* Names that are listed twice, for one, or are no UTF-8. */
	shd_rows_manifest_encode(&m, &text);
	TRY(shd_buf_check(&text, err));
	shd_rows_manifest again;
	TRY(shd_rows_manifest_decode(text.data, text.len, x->options->limits, &checked, &again, err));
	if (x->has_claim && (names || !x->has_old))
		TRY(remove_claim(x, err));
	return shd_rows_head_write(&x->head, x->store, x->folder, SHD_ROWS_MANIFEST, &text, NULL, &uncertain, err);
}

int sherd_rows_index(sherd_store *store, const char *folder, const char *const *names, size_t count,
                     const sherd_rows_index_options *options, sherd_error *err)
{
	static const sherd_rows_index_options defaults = {0};
	indexing x = {.store = store, .folder = folder, .options = options ? options : &defaults};
	int rc = rows_index_run(&x, names, count, err);
	if (x.has_claim)
		shd_rows_claim_leave(&x.claim);
	for (size_t i = 0; i < count_of(&x); i++)
		shd_rows_sums_done(&rows_index_list_of(&x)[i].sums);
	shd_vec_done(&x.list);
	shd_arena_done(&x.arena);
	return shd_in_object(err, rc, *folder ? folder : ".");
}

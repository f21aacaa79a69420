/* engine/rows/open.c - from a list or a folder to an open set: manifest and heads only. */
#include "base/limits.h"
#include "base/map.h"
#include "base/meter.h"
#include "engine/rows/bf16.h"
#include "engine/rows/files.h"
#include "engine/rows/manifest.h"
#include "engine/rows/rows.h"
#include "format/rows/manifest.h"
#include "format/rows/shard.h"

#include <inttypes.h>
#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)

static const uint8_t checkpoint_magic[4] = {'R', 'A', 'H', 'S'};

typedef struct opening {
	sherd_rows *rows;
	SHD_VEC(sherd_rows_shard) shards;
	SHD_VEC(const char *) left_out;
	sherd_limits limits;
	shd_meter meter;
} opening;

static int rows_open_check_width(sherd_rows *r, const shd_rows_head *head, sherd_error *err)
{
	if (!r->width) {
		r->width = head->width;
		r->row_bytes = head->row_bytes;
	}
	if (r->width != head->width)
		return shd_fail_at(err, SHERD_ECORRUPT, "width-mismatch", 16, "width %" PRIu64 ", expected %" PRIu64,
		                   head->width, r->width);
	return SHERD_OK;
}

static int add_rows(opening *o, const char *key, uint64_t size, uint64_t rows, sherd_error *err)
{
	sherd_rows *r = o->rows;
	if (o->shards.count >= o->limits.shards)
		return shd_fail(err, SHERD_ELIMIT, "too-many-shards", "more than %" PRIu32 " shards", o->limits.shards);
	sherd_rows_shard s = {
		.key = shd_arena_str(&r->arena, shd_str_of(key)),
		.rows = rows,
		.first = r->total,
		.bytes = size,
	};
	if (!s.key)
		return shd_fail_nomem(err);
	if (__builtin_add_overflow(r->total, rows, &r->total))
		return shd_fail_at(err, SHERD_ELIMIT, "too-many-rows", 8, "more rows than 64 bits count");
	shd_vec_push(&o->shards, s);
	return shd_vec_check(&o->shards, err);
}

static int leave_out(opening *o, const char *key, sherd_error *err)
{
	const char *copy = shd_arena_str(&o->rows->arena, shd_str_of(key));
	if (!copy)
		return shd_fail_nomem(err);
	shd_vec_push(&o->left_out, copy);
	return shd_vec_check(&o->left_out, err);
}

/* entry: what a manifest says of it, or NULL. */
static int add_head(opening *o, const char *key, uint64_t size, const shd_rows_head *head, const shd_rows_entry *entry,
                    sherd_error *err)
{
	TRY(rows_open_check_width(o->rows, head, err));
	if (entry && head->rows != entry->rows)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-count", 8,
		                   "the head says %" PRIu64 " rows, the manifest %" PRIu64, head->rows, entry->rows);
	return add_rows(o, key, size, head->rows, err);
}

static int rows_open_take_shard(opening *o, const char *key, bool in_folder, const shd_rows_entry *entry,
                                sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	uint8_t raw[SHD_ROWS_HEAD_SIZE] = {0};
	shd_rows_head head;
	int rc = sherd_store_read(&reader, o->rows->store, key, err);
	if (rc == SHERD_ENOTFOUND && entry)
		rc = shd_in_object(err, shd_rows_missing(err), key);
	TRY(rc);
	uint64_t size = sherd_reader_size(reader);
	TRY(sherd_reader_at(reader, 0, raw, size < sizeof(raw) ? (size_t)size : sizeof(raw), err));
	/* Checkpoints use the same extension. Any other stranger is refused: to skip it would shift the ids of rows. */
	if (in_folder && size >= sizeof(checkpoint_magic) &&
	    memcmp(raw, checkpoint_magic, sizeof(checkpoint_magic)) == 0)
		return leave_out(o, key, err);
	rc = shd_rows_head_decode(raw, size, &head, err);
	if (rc == SHERD_OK)
		rc = add_head(o, key, size, &head, entry, err);
	return shd_in_object(err, rc, key);
}

static int expect_shards(opening *o, size_t count, sherd_error *err)
{
	o->meter.total = count;
	return shd_meter_ask(&o->meter, err);
}

static int add_shard(opening *o, const char *key, bool in_folder, sherd_error *err)
{
	TRY(rows_open_take_shard(o, key, in_folder, NULL, err));
	return shd_meter_add(&o->meter, 1, err);
}

static int rows_open_finish(opening *o, sherd_error *err)
{
	sherd_rows *r = o->rows;
	r->count = o->shards.count;
	r->left_out_count = o->left_out.count;
	r->shards = shd_vec_copy(&o->shards, &r->arena);
	r->left_out = shd_vec_copy(&o->left_out, &r->arena);
	if (!r->shards || !r->left_out)
		return shd_fail_nomem(err);
	if (!r->total)
		return shd_fail(err, SHERD_ECORRUPT, "empty", "no shards, or no rows in them");
	return SHERD_OK;
}

static int rows_open_begin(opening *o, sherd_store *store, const sherd_rows_options *options, sherd_error *err)
{
	*o = (opening){.limits = shd_limits_or_default(options ? options->limits : NULL)};
	o->rows = calloc(1, sizeof(*o->rows));
	if (!o->rows)
		return shd_fail_nomem(err);
	o->rows->store = store;
	o->rows->dtype = SHERD_F32;
	o->rows->head_bytes = SHD_ROWS_HEAD_SIZE;
	shd_meter_init(&o->meter, options ? options->progress : NULL, 0);
	return SHERD_OK;
}

static int end(opening *o, int rc, sherd_rows **out)
{
	shd_vec_done(&o->shards);
	shd_vec_done(&o->left_out);
	shd_meter_done(&o->meter);
	if (rc < 0)
		sherd_rows_close(o->rows);
	else
		*out = o->rows;
	return rc;
}

int sherd_rows_open(sherd_rows **out, sherd_store *store, const char *const *keys, size_t count,
                    const sherd_rows_options *options, sherd_error *err)
{
	opening o;
	TRY(rows_open_begin(&o, store, options, err));
	int rc = expect_shards(&o, count, err);
	for (size_t i = 0; i < count && rc == SHERD_OK; i++)
		rc = add_shard(&o, keys[i], false, err);
	if (rc == SHERD_OK)
		rc = rows_open_finish(&o, err);
	return end(&o, rc, out);
}

/* ---- folders */

/* A file that the manifest names; without a head its size must do. */
static int add_entry(opening *o, const char *folder, const shd_rows_entry *e, sherd_error *err)
{
	SHD_AUTO_BUF buf = {0};
	TRY(shd_folder_key(&buf, folder, e->file, err));
	const char *key = (const char *)buf.data;
	if (o->rows->head_bytes) {
		TRY(rows_open_take_shard(o, key, false, e, err));
	} else {
		TRY(shd_rows_bf16_check(o->rows->store, folder, e, err));
		TRY(shd_in_object(err, add_rows(o, key, e->bytes, e->rows, err), key));
	}
	return shd_meter_add(&o->meter, 1, err);
}

static int name_entries(const shd_rows_manifest *m, shd_map *names, sherd_error *err)
{
	bool ok = shd_map_reserve(names, m->count);
	for (size_t i = 0; i < m->count && ok; i++)
		(void)shd_map_add(names, shd_str_of(m->shards[i].file), i, &ok);
	return ok ? SHERD_OK : shd_fail_nomem(err);
}

/* Files that look like shards of the set, and are not named by its manifest. */
static int leave_out_strays(opening *o, const rows_files *files, const shd_rows_manifest *m, sherd_error *err)
{
	const char *suffix = shd_rows_kind_of(m->dtype)->suffix;
	SHD_DONE(shd_map_done) shd_map names = {0};
	TRY(name_entries(m, &names, err));
	for (size_t i = 0; i < files->count; i++) {
		shd_str name = shd_str_of(files->list[i].name);
		if (shd_str_ends(name, suffix) && shd_map_find(&names, name) == SHD_MAP_NONE)
			TRY(leave_out(o, files->list[i].key, err));
	}
	return SHERD_OK;
}

static int add_manifest(opening *o, const char *folder, const rows_files *files, sherd_error *err)
{
	sherd_rows *r = o->rows;
	shd_rows_manifest m;
	int rc = shd_rows_manifest_read(r->store, folder, &o->limits, &r->arena, &m, NULL, err);
	TRY(shd_rows_manifest_tell_way_out(r->store, folder, rc, err));
	const shd_rows_kind *kind = shd_rows_kind_of(m.dtype);
	r->dtype = m.dtype;
	r->head_bytes = kind->head;
	r->width = m.width;
	r->row_bytes = m.width * kind->element;
	r->entries = m.shards;
	TRY(expect_shards(o, m.count, err));
	for (size_t i = 0; i < m.count; i++)
		TRY(add_entry(o, folder, &m.shards[i], err));
	return leave_out_strays(o, files, &m, err);
}

static int add_files(opening *o, const rows_files *files, sherd_error *err)
{
	bool any = !files->count;
	TRY(expect_shards(o, files->count, err));
	for (size_t i = 0; i < files->count; i++)
		if (shd_str_ends(shd_str_of(files->list[i].name), SHD_ROWS_SUFFIX)) {
			TRY(add_shard(o, files->list[i].key, true, err));
			any = true;
		}
	if (!any)
		return shd_fail(err, SHERD_EINCOMPLETE, "no-manifest",
		                "files of F16 and BF16 are no set without their " SHD_ROWS_MANIFEST);
	return SHERD_OK;
}

static int add_folder(opening *o, const char *folder, const sherd_rows_options *options, sherd_error *err)
{
	SHD_DONE(shd_rows_files_done) rows_files files = {0};
	TRY(shd_rows_files_open(&files, o->rows->store, folder, NULL, err));
	o->rows->has_manifest = files.has_manifest;
	if (files.has_manifest)
		return add_manifest(o, folder, &files, err);
	if (files.has_claim && !(options && options->incomplete))
		return shd_fail(err, SHERD_EINCOMPLETE, "incomplete", "the set is being packed, or its pack died");
	return add_files(o, &files, err);
}

int sherd_rows_open_folder(sherd_rows **out, sherd_store *store, const char *folder, const sherd_rows_options *options,
                           sherd_error *err)
{
	opening o;
	TRY(rows_open_begin(&o, store, options, err));
	int rc = add_folder(&o, folder, options, err);
	if (rc == SHERD_OK)
		rc = rows_open_finish(&o, err);
	return shd_in_object(err, end(&o, rc, out), *folder ? folder : ".");
}

void sherd_rows_close(sherd_rows *rows)
{
	if (!rows)
		return;
	shd_arena_done(&rows->arena);
	free(rows);
}

uint64_t sherd_rows_total(const sherd_rows *rows)
{
	return rows->total;
}

uint64_t sherd_rows_width(const sherd_rows *rows)
{
	return rows->width;
}

sherd_dtype sherd_rows_dtype(const sherd_rows *rows)
{
	return rows->dtype;
}

sherd_format sherd_rows_format(const sherd_rows *rows)
{
	return rows->foreign ? SHERD_FORMAT_ROWS_BF16 : SHERD_FORMAT_ROWS;
}

size_t sherd_rows_shards(const sherd_rows *rows)
{
	return rows->count;
}

const sherd_rows_shard *sherd_rows_shard_at(const sherd_rows *rows, size_t index)
{
	return index < rows->count ? &rows->shards[index] : NULL;
}

size_t sherd_rows_left_out(const char *const **keys, const sherd_rows *rows)
{
	*keys = rows->left_out;
	return rows->left_out_count;
}

bool sherd_rows_has_manifest(const sherd_rows *rows)
{
	return rows->has_manifest;
}

/* The last shard that begins at or before the row; an empty one begins where its successor does. */
size_t shd_rows_shard_of(const sherd_rows *rows, uint64_t row)
{
	size_t low = 0, high = rows->count;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (rows->shards[middle].first <= row)
			low = middle;
		else
			high = middle;
	}
	return low;
}

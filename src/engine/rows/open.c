/* engine/rows/open.c - from a list or a folder to an open set: heads only. */
#include "base/limits.h"
#include "base/meter.h"
#include "engine/rows/files.h"
#include "engine/rows/rows.h"
#include "format/rows_manifest.h"
#include "format/rows_shard.h"

#include <inttypes.h>
#include <stdlib.h>

SHERD_AUTO_DEFINE(sherd_reader, sherd_reader_close)

static const uint8_t checkpoint_magic[4] = {'R', 'A', 'H', 'S'};

typedef struct opening {
	sherd_rows *rows;
	sherd_buf shards;   /* of sherd_rows_shard */
	sherd_buf left_out; /* of const char * */
	sherd_limits limits;
	sherd_meter meter;
} opening;

static int check_width(sherd_rows *r, const sherd_rows_head *head, sherd_error *err)
{
	if (!r->width) {
		r->width = head->width;
		r->row_bytes = head->row_bytes;
	}
	if (r->width != head->width)
		return sherd_fail_at(err, SHERD_ECORRUPT, "width-mismatch", 16, "width %" PRIu64 ", expected %" PRIu64,
		                     head->width, r->width);
	return SHERD_OK;
}

static int add_head(opening *o, const char *key, uint64_t size, const sherd_rows_head *head, sherd_error *err)
{
	sherd_rows *r = o->rows;
	TRY(check_width(r, head, err));
	if (o->shards.len / sizeof(sherd_rows_shard) >= o->limits.shards)
		return sherd_fail(err, SHERD_ELIMIT, "too-many-shards", "more than %" PRIu32 " shards",
		                  o->limits.shards);
	sherd_rows_shard s = {
		.key = sherd_arena_str(&r->arena, sherd_str_of(key)),
		.rows = head->rows,
		.first = r->total,
		.bytes = size,
	};
	if (!s.key)
		return sherd_fail_nomem(err);
	if (__builtin_add_overflow(r->total, head->rows, &r->total))
		return sherd_fail_at(err, SHERD_ELIMIT, "too-many-rows", 8, "more rows than 64 bits count");
	sherd_buf_append(&o->shards, &s, sizeof(s));
	return sherd_buf_check(&o->shards, err);
}

static int leave_out(opening *o, const char *key, sherd_error *err)
{
	const char *copy = sherd_arena_str(&o->rows->arena, sherd_str_of(key));
	if (!copy)
		return sherd_fail_nomem(err);
	sherd_buf_append(&o->left_out, &copy, sizeof(copy));
	return sherd_buf_check(&o->left_out, err);
}

static int take_shard(opening *o, const char *key, bool in_folder, sherd_error *err)
{
	SHERD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	uint8_t raw[SHERD_ROWS_HEAD_SIZE] = {0};
	sherd_rows_head head;
	TRY(sherd_store_read(o->rows->store, key, &reader, err));
	uint64_t size = sherd_reader_size(reader);
	TRY(sherd_reader_at(reader, 0, raw, size < sizeof(raw) ? (size_t)size : sizeof(raw), err));
	/* Checkpoints use the same extension. Any other stranger is refused: to skip it would shift the ids of rows. */
	if (in_folder && size >= sizeof(checkpoint_magic) &&
	    memcmp(raw, checkpoint_magic, sizeof(checkpoint_magic)) == 0)
		return leave_out(o, key, err);
	int rc = sherd_rows_head_decode(raw, size, &head, err);
	if (rc == SHERD_OK)
		rc = add_head(o, key, size, &head, err);
	return sherd_in_object(err, rc, key);
}

static int expect_shards(opening *o, size_t count, sherd_error *err)
{
	o->meter.total = count;
	return sherd_meter_ask(&o->meter, err);
}

static int add_shard(opening *o, const char *key, bool in_folder, sherd_error *err)
{
	TRY(take_shard(o, key, in_folder, err));
	return sherd_meter_add(&o->meter, 1, err);
}

static int finish(opening *o, sherd_error *err)
{
	sherd_rows *r = o->rows;
	r->count = o->shards.len / sizeof(sherd_rows_shard);
	r->left_out_count = o->left_out.len / sizeof(const char *);
	r->shards = sherd_arena_copy(&r->arena, o->shards.data, o->shards.len);
	r->left_out = sherd_arena_copy(&r->arena, o->left_out.data, o->left_out.len);
	if (!r->shards || !r->left_out)
		return sherd_fail_nomem(err);
	if (!r->total)
		return sherd_fail(err, SHERD_ECORRUPT, "empty", "no shards, or no rows in them");
	return SHERD_OK;
}

static int begin(opening *o, sherd_store *store, const sherd_rows_options *options, sherd_error *err)
{
	*o = (opening){.limits = sherd_limits_or_default(options ? options->limits : NULL)};
	o->rows = calloc(1, sizeof(*o->rows));
	if (!o->rows)
		return sherd_fail_nomem(err);
	o->rows->store = store;
	o->rows->dtype = SHERD_F32;
	o->rows->head_bytes = SHERD_ROWS_HEAD_SIZE;
	sherd_meter_init(&o->meter, options ? options->progress : NULL, 0);
	return SHERD_OK;
}

static int end(opening *o, int rc, sherd_rows **out)
{
	sherd_buf_done(&o->shards);
	sherd_buf_done(&o->left_out);
	sherd_meter_done(&o->meter);
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
	TRY(begin(&o, store, options, err));
	int rc = expect_shards(&o, count, err);
	for (size_t i = 0; i < count && rc == SHERD_OK; i++)
		rc = add_shard(&o, keys[i], false, err);
	if (rc == SHERD_OK)
		rc = finish(&o, err);
	return end(&o, rc, out);
}

/* ---- folders */

static int add_folder(opening *o, const char *folder, const sherd_rows_options *options, sherd_error *err)
{
	rows_files files;
	TRY(sherd_rows_files_open(&files, o->rows->store, folder, SHERD_ROWS_SUFFIX, err));
	int rc = SHERD_OK;
	if (files.has_marker && !files.has_manifest && !(options && options->incomplete))
		rc = sherd_fail(err, SHERD_EINCOMPLETE, "incomplete", "the set is being packed, or its pack died");
	if (rc == SHERD_OK)
		rc = expect_shards(o, files.count, err);
	for (size_t i = 0; i < files.count && rc == SHERD_OK; i++)
		rc = add_shard(o, files.list[i].key, true, err);
	o->rows->has_manifest = files.has_manifest;
	sherd_rows_files_done(&files);
	return rc;
}

int sherd_rows_open_folder(sherd_rows **out, sherd_store *store, const char *folder, const sherd_rows_options *options,
                           sherd_error *err)
{
	opening o;
	TRY(begin(&o, store, options, err));
	int rc = add_folder(&o, folder, options, err);
	if (rc == SHERD_OK)
		rc = finish(&o, err);
	return sherd_in_object(err, end(&o, rc, out), *folder ? folder : ".");
}

void sherd_rows_close(sherd_rows *rows)
{
	if (!rows)
		return;
	sherd_arena_done(&rows->arena);
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

size_t sherd_rows_shards(const sherd_rows *rows)
{
	return rows->count;
}

const sherd_rows_shard *sherd_rows_shard_at(const sherd_rows *rows, size_t index)
{
	return index < rows->count ? &rows->shards[index] : NULL;
}

size_t sherd_rows_left_out(const sherd_rows *rows, const char *const **keys)
{
	*keys = rows->left_out;
	return rows->left_out_count;
}

bool sherd_rows_has_manifest(const sherd_rows *rows)
{
	return rows->has_manifest;
}

/* The last shard that begins at or before the row; an empty one begins where its successor does. */
size_t sherd_rows_shard_of(const sherd_rows *rows, uint64_t row)
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

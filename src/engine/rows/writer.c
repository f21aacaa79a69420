/* engine/rows/writer.c - data first, manifest last, as often as the caller likes. src/engine/rows/README.md has the
 * crash argument. */
#include "engine/rows/writer.h"

#include "base/meter.h"
#include "codec/floats.h"
#include "engine/publish/part.h"
#include "engine/rows/claim.h"
#include "engine/rows/files.h"
#include "engine/rows/head.h"
#include "engine/rows/shard_out.h"
#include "engine/rows/stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHUNK = 1 << 20, DEFAULT_ROWS = 131072 };

struct sherd_rows_writer {
	sherd_store *store;
	char *folder;
	const shd_rows_kind *kind;
	uint64_t width, row_bytes, rows_per_shard;
	uint64_t expected; /* rows that are still to come; UINT64_MAX: nobody knows */
	rows_claim claim;
	rows_head head;
	rows_stats *stats; /* of residual_shard_bf16; else NULL */
	shd_arena arena;
	SHD_VEC(shd_rows_entry) entries; /* those that are published, then those that are not yet */
	size_t published;
	SHD_VEC(shd_part) parts; /* those that are not */
	uint64_t rows, fence;
	uint64_t overflowed; /* finite values that became infinite */
	rows_shard_out out;  /* the shard that is being written */
	shd_part part;       /* and what becomes of it */
	shd_buf key;         /* of it */
	uint32_t number;     /* of the next one */
	void *chunk;
	shd_meter meter;
	bool uncertain; /* the manifest may name what it was meant to, although writing it failed */
	int failed;
	sherd_error failure;
};

static size_t entry_count(const sherd_rows_writer *w)
{
	return w->entries.count;
}

static shd_rows_entry *entries_of(const sherd_rows_writer *w)
{
	return w->entries.items;
}

/* ---- opening */

static int rows_writer_check_width(uint64_t width, const shd_rows_kind *kind, uint64_t rows_per_shard, sherd_error *err)
{
	uint64_t bytes;
	if (!width)
		return shd_fail(err, SHERD_EINVAL, "bad-width", "rows of width 0");
	if (__builtin_mul_overflow(width, kind->element, &bytes) ||
	    __builtin_mul_overflow(bytes, rows_per_shard, &bytes) || bytes > (uint64_t)INT64_MAX - kind->head)
		return shd_fail(err, SHERD_EINVAL, "overflow", "shards of %" PRIu64 " rows of width %" PRIu64,
		                rows_per_shard, width);
	return SHERD_OK;
}

static int choose_kind(sherd_rows_writer *w, sherd_dtype dtype, sherd_error *err)
{
	w->kind = shd_rows_kind_of(dtype ? dtype : SHERD_F32);
	if (!w->kind)
		return shd_fail(err, SHERD_EINVAL, "bad-dtype", "rows are stored as F32, F16 or BF16");
	return SHERD_OK;
}

/* Takes over what is there. */
static int rows_writer_join(sherd_rows_writer *w, const sherd_rows_writer_options *o, sherd_error *err)
{
	shd_rows_manifest m;
	TRY(shd_rows_head_read(&w->head, w->store, w->folder, o->limits, &w->arena, &m, err));
	if (o->dtype && o->dtype != m.dtype)
		return shd_fail(err, SHERD_EINVAL, "bad-dtype", "the set is stored as %s, not as %s",
		                sherd_dtype_describe(m.dtype)->name, sherd_dtype_describe(o->dtype)->name);
	if (w->width && w->width != m.width)
		return shd_fail(err, SHERD_EINVAL, "width-mismatch",
		                "the set has rows of width %" PRIu64 ", not %" PRIu64, m.width, w->width);
	w->width = m.width;
	w->kind = shd_rows_kind_of(m.dtype);
	w->rows = m.rows;
	w->fence = m.fence;
	shd_vec_append(&w->entries, m.shards, m.count);
	w->published = m.count;
	return shd_vec_check(&w->entries, err);
}

static int rows_writer_begin(sherd_rows_writer *w, const sherd_rows_writer_options *o, sherd_error *err)
{
	const rows_claim_options claim = {.append = o->append, .time_ns = o->time_ns, .limits = o->limits};
	if (o->residual && (o->append || (o->dtype && o->dtype != SHERD_BF16)))
		return shd_fail(err, SHERD_EINVAL, "bad-argument",
		                "residual_shard_bf16 holds BF16, and is not appended to");
	TRY(choose_kind(w, o->residual ? SHERD_BF16 : o->dtype, err));
	if (!o->append)
		TRY(rows_writer_check_width(w->width, w->kind, w->rows_per_shard, err));
	TRY(shd_rows_claim_open(&w->claim, w->store, w->folder, &claim, err));
	int rc = SHERD_OK;
	if (o->append)
		rc = rows_writer_join(w, o, err);
	else if (!shd_can_lock(w->store))
		rc = shd_rows_head_look(&w->head, w->store, w->folder, err);
	rc = rc > 0 ? SHERD_OK : rc; /* its name is taken, then, when it is published */
	if (rc == SHERD_OK)
		rc = rows_writer_check_width(w->width, w->kind, w->rows_per_shard, err);
	if (rc == SHERD_OK && o->residual)
		rc = shd_rows_stats_open(&w->stats, w->width, err);
	if (rc < 0)
		shd_rows_claim_drop(&w->claim);
	TRY(rc);
	w->number = w->claim.first;
	w->row_bytes = w->width * w->kind->element;
	return SHERD_OK;
}

static void rows_writer_done(sherd_rows_writer *w)
{
	shd_meter_done(&w->meter);
	shd_vec_done(&w->entries);
	shd_vec_done(&w->parts);
	shd_buf_done(&w->key);
	shd_arena_done(&w->arena);
	shd_rows_stats_close(w->stats);
	free(w->chunk);
	free(w->folder);
	free(w);
}

int sherd_rows_writer_open(sherd_rows_writer **out, sherd_store *store, const char *folder, uint64_t width,
                           const sherd_rows_writer_options *options, sherd_error *err)
{
	static const sherd_rows_writer_options defaults = {0};
	options = options ? options : &defaults;
	sherd_rows_writer *w = calloc(1, sizeof(*w));
	if (!w)
		return shd_fail_nomem(err);
	shd_meter_init(&w->meter, options->progress, 0);
	w->store = store;
	w->width = width;
	w->expected = UINT64_MAX;
	w->rows_per_shard = options->rows_per_shard ? options->rows_per_shard : DEFAULT_ROWS;
	w->folder = strdup(folder);
	w->chunk = malloc(CHUNK);
	int rc = w->folder && w->chunk ? rows_writer_begin(w, options, err) : shd_fail_nomem(err);
	if (rc < 0)
		rows_writer_done(w);
	else
		*out = w;
	return rc;
}

void shd_rows_writer_expect(sherd_rows_writer *writer, uint64_t rows)
{
	writer->expected = rows;
	writer->meter.total = rows * writer->row_bytes;
}

uint64_t sherd_rows_writer_width(const sherd_rows_writer *writer)
{
	return writer->width;
}

sherd_dtype sherd_rows_writer_dtype(const sherd_rows_writer *writer)
{
	return writer->kind->dtype;
}

uint64_t sherd_rows_writer_overflowed(const sherd_rows_writer *writer)
{
	return writer->overflowed;
}

/* ---- shards */

static int begin_shard(sherd_rows_writer *w, sherd_error *err)
{
	SHD_AUTO_BUF like = {0}; /* who may use the set may use what is appended */
	char name[32];
	uint64_t rows = w->expected && w->expected < w->rows_per_shard ? w->expected : w->rows_per_shard;
	if (w->number >= ROWS_MOST_PARTS)
		return shd_fail(err, SHERD_ELIMIT, "too-many-shards",
		                "more than %d parts cannot be numbered: more rows a shard, or fewer flushes",
		                ROWS_MOST_PARTS);
	(void)snprintf(name, sizeof(name), "part-%05" PRIu32 "%s", w->number, w->kind->suffix);
	shd_buf_done(&w->key);
	TRY(shd_folder_key(&w->key, w->folder, name, err));
	TRY(shd_folder_key(&like, w->folder, SHD_ROWS_MANIFEST, err));
	w->part = (shd_part){0};
	TRY(shd_rows_shard_begin(&w->out, w->store, (const char *)w->key.data, w->kind->dtype, w->width, rows,
	                         (const char *)like.data, w->part.identity, err));
	w->number++;
	return SHERD_OK;
}

/* From the moment the file can be there it is one that has to be removed when all fails; not if the name was taken. */
static int end_shard(sherd_rows_writer *w, sherd_error *err)
{
	shd_rows_entry e = {0};
	if (!w->out.writer)
		return SHERD_OK;
	e.file = shd_arena_str(&w->arena, shd_str_of(shd_str_leaf((const char *)w->key.data)));
	if (!e.file || !shd_vec_reserve(&w->entries, 1) || !shd_vec_reserve(&w->parts, 1))
		return shd_fail_nomem(err);
	int rc = shd_rows_shard_commit(&w->out, &w->arena, &e, err);
	shd_part_written(&w->part, rc);
	if (rc == SHERD_EEXIST)
		return shd_in_object(err,
		                     shd_fail(err, SHERD_ECONFLICT, "conflict",
		                              "somebody else wrote this meanwhile: it stays as it is"),
		                     (const char *)w->key.data);
	shd_vec_push(&w->entries, e);
	shd_vec_push(&w->parts, w->part);
	w->rows += rc == SHERD_OK ? e.rows : 0;
	return rc;
}

/* Rows as stored; those after the end of a shard begin the next. */
static int put_stored(sherd_rows_writer *w, const uint8_t *values, uint64_t rows, sherd_error *err)
{
	while (rows) {
		if (!w->out.writer)
			TRY(begin_shard(w, err));
		uint64_t room = w->out.expected - w->out.rows, n = rows < room ? rows : room;
		uint64_t most = w->row_bytes < CHUNK ? CHUNK / w->row_bytes : 1; /* so that it can be cancelled */
		n = n < most ? n : most;
		TRY(shd_rows_shard_put(&w->out, values, (size_t)n, err));
		if (w->stats)
			shd_rows_stats_add(w->stats, values, n);
		TRY(shd_meter_add(&w->meter, n * w->row_bytes, err));
		values += n * w->row_bytes;
		rows -= n;
		w->expected -= w->expected == UINT64_MAX || w->expected < n ? 0 : n;
		if (w->out.rows == w->out.expected)
			TRY(end_shard(w, err));
	}
	return SHERD_OK;
}

static void convert_some(sherd_rows_writer *w, sherd_dtype dtype, const uint8_t *values, size_t count)
{
	shd_floats_convert(dtype, values, w->kind->dtype, w->chunk, count);
	size_t infinite = shd_floats_infinite(w->kind->dtype, w->chunk, count);
	if (infinite)
		w->overflowed += infinite - shd_floats_infinite(dtype, values, count);
}

/* A row that is larger than the chunk takes a larger one. */
static int rows_writer_convert(sherd_rows_writer *w, sherd_dtype dtype, const uint8_t *values, uint64_t rows,
                               sherd_error *err)
{
	uint64_t each = w->width * sherd_dtype_element_bytes(dtype);
	uint64_t most = w->row_bytes < CHUNK ? CHUNK / w->row_bytes : 1;
	if (w->row_bytes > CHUNK) {
		void *more = realloc(w->chunk, (size_t)w->row_bytes);
		if (!more)
			return shd_fail_nomem(err);
		w->chunk = more;
	}
	for (uint64_t done_rows = 0; done_rows < rows; done_rows += most) {
		uint64_t n = rows - done_rows < most ? rows - done_rows : most;
		convert_some(w, dtype, values + done_rows * each, (size_t)(n * w->width));
		TRY(put_stored(w, w->chunk, n, err));
	}
	return SHERD_OK;
}

/* The first failure stays. */
static int rows_writer_remember(sherd_rows_writer *w, int rc, sherd_error *found, sherd_error *err)
{
	if (rc == SHERD_OK)
		return rc;
	if (!w->failed) {
		w->failed = rc == SHERD_ECANCELLED ? rc : shd_in_object(found, rc, *w->folder ? w->folder : ".");
		w->failure = *found;
	}
	if (err)
		*err = w->failure;
	return w->failed;
}

int sherd_rows_writer_append(sherd_rows_writer *writer, sherd_dtype dtype, const void *values, uint64_t rows,
                             sherd_error *err)
{
	sherd_error found = {0};
	uint64_t total;
	if (writer->failed)
		return rows_writer_remember(writer, writer->failed, &found, err);
	if (dtype != SHERD_F64 && !shd_rows_kind_of(dtype))
		return shd_fail(err, SHERD_EINVAL, "bad-dtype", "rows are F32, F64, F16 or BF16");
	if (__builtin_add_overflow(writer->rows + writer->out.rows, rows, &total))
		return shd_fail(err, SHERD_EINVAL, "too-many-rows", "more rows than 64 bits count");
	int rc = dtype == writer->kind->dtype ? put_stored(writer, values, rows, &found)
	                                      : rows_writer_convert(writer, dtype, values, rows, &found);
	return rows_writer_remember(writer, rc, &found, err);
}

/* ---- publishing */

static const char *manifest_name(const sherd_rows_writer *w)
{
	return w->stats ? SHD_ROWS_BF16_MANIFEST : SHD_ROWS_MANIFEST;
}

static int rows_writer_publish(sherd_rows_writer *w, sherd_error *err)
{
	SHD_AUTO_BUF text = {0}, key = {0};
	TRY(end_shard(w, err));
	const shd_rows_manifest m = {
		.version = 2,
		.dtype = w->kind->dtype,
		.rows = w->rows,
		.width = w->width,
		.fence = w->fence,
		.count = entry_count(w),
		.shards = entries_of(w),
	};
	if (m.count == w->published)
		return SHERD_OK;
	if (w->stats)
		shd_rows_stats_encode(w->stats, &m, w->rows_per_shard, &text);
	else
		shd_rows_manifest_encode(&m, &text);
	TRY(shd_folder_key(&key, w->folder, entries_of(w)[w->published].file, err));
	const rows_written first = {w->store, (const char *)key.data, w->parts.items[0].identity};
	TRY(shd_claim_check(&w->claim.claim, err));
	TRY(shd_rows_head_write(&w->head, w->store, w->folder, manifest_name(w), &text, &first, &w->uncertain, err));
	w->published = m.count;
	w->parts.count = 0;
	return SHERD_OK;
}

int sherd_rows_writer_flush(sherd_rows_writer *writer, sherd_error *err)
{
	sherd_error found = {0};
	if (writer->failed)
		return rows_writer_remember(writer, writer->failed, &found, err);
	return rows_writer_remember(writer, rows_writer_publish(writer, &found), &found, err);
}

static int remove_part(const sherd_rows_writer *w, const char *name, shd_part *part)
{
	SHD_AUTO_BUF key = {0};
	TRY(shd_folder_key(&key, w->folder, name, NULL));
	return shd_part_remove(part, w->store, (const char *)key.data) ? SHERD_OK : SHERD_ECONFLICT;
}

/* Only the one that we wrote. */
static int remove_manifest(const sherd_rows_writer *w)
{
	SHD_AUTO_BUF key = {0};
	TRY(shd_folder_key(&key, w->folder, manifest_name(w), NULL));
	return sherd_store_remove_if(w->store, (const char *)key.data, w->head.identity, NULL);
}

/* What is not published goes, once no manifest can name it any more. Of a set that was there before, a manifest that
 * may or may not be ours stays, and so does what it may name. */
static int rows_writer_undo(sherd_rows_writer *w)
{
	shd_rows_shard_abort(&w->out);
	if (w->uncertain && (w->published || !*w->head.identity))
		return SHERD_ECONFLICT;
	if (w->uncertain)
		TRY(remove_manifest(w));
	for (size_t i = entry_count(w); i-- > w->published;)
		TRY(remove_part(w, entries_of(w)[i].file, &w->parts.items[i - w->published]));
	return SHERD_OK;
}

/* What could not be undone stays under the claim. */
void sherd_rows_writer_abort(sherd_rows_writer *writer)
{
	if (!writer)
		return;
	if (rows_writer_undo(writer) < 0)
		shd_rows_claim_leave(&writer->claim);
	else
		shd_rows_claim_drop(&writer->claim);
	rows_writer_done(writer);
}

int sherd_rows_writer_commit(sherd_rows_writer *writer, sherd_error *err)
{
	int rc = sherd_rows_writer_flush(writer, err);
	if (rc == SHERD_OK && !writer->rows)
		rc = shd_fail(err, SHERD_EINVAL, "empty", "no rows to write");
	sherd_rows_writer_abort(writer);
	return rc;
}

/* engine/rows/pack.c - rows that somebody hands out become a set. */
#include "base/error.h"
#include "base/meter.h"
#include "codec/floats.h"
#include "engine/rows/claim.h"
#include "engine/rows/shard_out.h"
#include "engine/rows/writer.h"
#include "format/rows/shard.h"

#include <inttypes.h>
#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_rows_writer, sherd_rows_writer_abort)

enum { CHUNK = 1 << 20, DEFAULT_ROWS = 131072 };

static int rows_pack_check_size(uint64_t rows, uint64_t width, uint64_t *payload, sherd_error *err)
{
	uint64_t bytes;
	if (!width)
		return shd_fail(err, SHERD_EINVAL, "bad-width", "rows of width 0");
	if (__builtin_mul_overflow(width, sizeof(float), &bytes) || __builtin_mul_overflow(bytes, rows, &bytes) ||
	    bytes > INT64_MAX - SHD_ROWS_HEAD_SIZE)
		return shd_fail(err, SHERD_EINVAL, "overflow", "%" PRIu64 " rows of width %" PRIu64, rows, width);
	*payload = bytes;
	return SHERD_OK;
}

/* ---- a shard from doubles */

static int put_doubles(rows_shard_out *s, const double *values, uint64_t count, uint64_t *overflowed, shd_meter *meter,
                       sherd_error *err)
{
	enum { AT_ONCE = CHUNK / sizeof(float) };
	SHD_AUTO_FREE void *chunk = malloc(AT_ONCE * sizeof(float));
	if (!chunk)
		return shd_fail_nomem(err);
	for (uint64_t at = 0; at < count; at += AT_ONCE) {
		size_t n = count - at < AT_ONCE ? (size_t)(count - at) : AT_ONCE;
		shd_floats_from_f64(values + at, chunk, n);
		size_t infinite = shd_floats_infinite(SHERD_F32, chunk, n);
		if (infinite)
			*overflowed += infinite - shd_floats_infinite(SHERD_F64, values + at, n);
		TRY(sherd_writer_append(s->writer, chunk, n * sizeof(float), err));
		TRY(shd_meter_add(meter, n * sizeof(float), err));
	}
	return SHERD_OK;
}

int sherd_rows_write_shard(sherd_store *store, const char *key, const double *values, uint64_t rows, uint64_t width,
                           const sherd_progress *progress, uint64_t *overflowed, sherd_error *err)
{
	rows_shard_out s;
	shd_meter meter;
	uint64_t payload = 0, infinite = 0;
	TRY(rows_pack_check_size(rows, width, &payload, err));
	TRY(shd_rows_shard_begin(&s, store, key, SHERD_F32, width, rows, NULL, NULL, err));
	shd_meter_init(&meter, progress, payload);
	int rc = put_doubles(&s, values, payload / sizeof(float), &infinite, &meter, err);
	shd_meter_done(&meter);
	if (rc == SHERD_OK)
		rc = sherd_writer_commit(TAKE(s.writer), err);
	shd_rows_shard_abort(&s);
	if (rc == SHERD_OK && overflowed)
		*overflowed = infinite;
	return rc;
}

/* ---- a set */

static int check_pack(uint64_t rows, uint64_t width, const sherd_rows_pack_options *options, sherd_error *err)
{
	uint64_t payload = 0, each = options->rows_per_shard ? options->rows_per_shard : DEFAULT_ROWS;
	TRY(rows_pack_check_size(rows, width, &payload, err));
	if (!rows)
		return shd_fail(err, SHERD_EINVAL, "empty", "no rows to pack");
	uint64_t shards = (rows - 1) / each + 1;
	if (shards > ROWS_MOST_PARTS)
		return shd_fail(err, SHERD_EINVAL, "too-many-shards",
		                "%" PRIu64 " shards, at most %d can be numbered: more rows a shard", shards,
		                ROWS_MOST_PARTS);
	return SHERD_OK;
}

int shd_rows_pack_open(sherd_rows_writer **out, sherd_store *store, const char *folder, uint64_t rows, uint64_t width,
                       const sherd_rows_pack_options *options, sherd_error *err)
{
	/* A shard is never longer than the whole, so that few rows may be as wide as they like. */
	uint64_t each = options->rows_per_shard ? options->rows_per_shard : DEFAULT_ROWS;
	const sherd_rows_writer_options writing = {
		.append = options->append,
		.residual = options->residual,
		.dtype = options->dtype,
		.rows_per_shard = rows < each ? rows : each,
		.time_ns = options->time_ns,
		.progress = options->progress,
	};
	TRY(check_pack(rows, width, options, err));
	TRY(sherd_rows_writer_open(out, store, folder, width, &writing, err));
	shd_rows_writer_expect(*out, rows);
	return SHERD_OK;
}

int shd_rows_pack_commit(sherd_rows_writer *writer, const sherd_rows_pack_options *options, sherd_error *err)
{
	uint64_t overflowed = sherd_rows_writer_overflowed(writer);
	TRY(sherd_rows_writer_commit(writer, err));
	if (options->overflowed)
		*options->overflowed = overflowed;
	return SHERD_OK;
}

/* Rows are asked for by the chunk, and never those of two shards at a time. */
static int write_rows(sherd_rows_writer *w, uint64_t rows, uint64_t width, uint64_t rows_per_shard,
                      sherd_rows_read_fn *read, void *arg, sherd_error *err)
{
	uint64_t row_bytes = width * sizeof(float), bytes;
	uint64_t most = row_bytes && row_bytes < CHUNK ? CHUNK / row_bytes : 1;
	most = most < rows ? most : rows;
	rows_per_shard = rows_per_shard ? rows_per_shard : DEFAULT_ROWS;
	if (__builtin_mul_overflow(most, row_bytes, &bytes))
		return shd_fail_nomem(err);
	SHD_AUTO_FREE void *chunk = malloc((size_t)bytes);
	if (!chunk)
		return shd_fail_nomem(err);
	for (uint64_t at = 0, n; at < rows; at += n) {
		uint64_t left = rows_per_shard - at % rows_per_shard;
		n = rows - at < most ? rows - at : most;
		n = left < n ? left : n;
		TRY(read(arg, at, (size_t)n, chunk, err));
		TRY(sherd_rows_writer_append(w, SHERD_F32, chunk, n, err));
	}
	return SHERD_OK;
}

int sherd_rows_pack(sherd_store *store, const char *folder, uint64_t rows, uint64_t width, sherd_rows_read_fn *read,
                    void *arg, const sherd_rows_pack_options *options, sherd_error *err)
{
	static const sherd_rows_pack_options defaults = {0};
	SHD_AUTO(sherd_rows_writer, sherd_rows_writer_abort) w = NULL;
	options = options ? options : &defaults;
	TRY(shd_rows_pack_open(&w, store, folder, rows, width, options, err));
	TRY(write_rows(w, rows, width, options->rows_per_shard, read, arg, err));
	return shd_rows_pack_commit(TAKE(w), options, err);
}

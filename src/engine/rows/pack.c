/* engine/rows/pack.c - data first, manifest last. src/engine/rows/README.md has the crash argument. */
#include "base/error.h"
#include "base/meter.h"
#include "codec/floats.h"
#include "engine/rows/claim.h"
#include "engine/rows/files.h"
#include "engine/rows/shard_out.h"
#include "format/rows_manifest.h"
#include "format/rows_shard.h"

#include <sherd/rows.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

SHERD_AUTO_DEFINE(void, free)

/* Names have five digits, so that their bytes sort as their numbers do. */
enum { CHUNK = 1 << 20, MOST_SHARDS = 100000, DEFAULT_ROWS = 131072 };

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "floats are written as they lie in memory");

typedef struct packing {
	sherd_store *store;
	const char *folder;
	uint64_t rows, width, row_bytes, rows_per_shard;
	sherd_rows_read_fn *read;
	void *arg;
	sherd_meter meter;
	sherd_arena arena;
	sherd_rows_entry *shards; /* room for all */
	size_t count, done;       /* done: committed */
	float *chunk;
	size_t chunk_rows;
	bool publishing; /* the manifest may be there */
} packing;

static int check_size(uint64_t rows, uint64_t width, uint64_t *payload, sherd_error *err)
{
	uint64_t bytes;
	if (!width)
		return sherd_fail(err, SHERD_EINVAL, "bad-width", "rows of width 0");
	if (__builtin_mul_overflow(width, sizeof(float), &bytes) || __builtin_mul_overflow(bytes, rows, &bytes) ||
	    bytes > INT64_MAX - SHERD_ROWS_HEAD_SIZE)
		return sherd_fail(err, SHERD_EINVAL, "overflow", "%" PRIu64 " rows of width %" PRIu64, rows, width);
	*payload = bytes;
	return SHERD_OK;
}

/* ---- a shard from doubles */

static int put_doubles(rows_shard_out *s, const double *values, uint64_t count, sherd_meter *meter, sherd_error *err)
{
	enum { AT_ONCE = CHUNK / sizeof(float) };
	SHERD_AUTO(void, free) chunk = malloc(AT_ONCE * sizeof(float));
	if (!chunk)
		return sherd_fail_nomem(err);
	for (uint64_t at = 0; at < count; at += AT_ONCE) {
		size_t n = count - at < AT_ONCE ? (size_t)(count - at) : AT_ONCE;
		sherd_floats_from_f64(values + at, chunk, n);
		TRY(sherd_writer_append(s->writer, chunk, n * sizeof(float), err));
		TRY(sherd_meter_add(meter, n * sizeof(float), err));
	}
	return SHERD_OK;
}

int sherd_rows_write_shard(sherd_store *store, const char *key, const double *values, uint64_t rows, uint64_t width,
                           const sherd_progress *progress, sherd_error *err)
{
	rows_shard_out s;
	sherd_meter meter;
	uint64_t payload;
	TRY(check_size(rows, width, &payload, err));
	TRY(sherd_rows_shard_begin(&s, store, key, SHERD_F32, width, rows, err));
	sherd_meter_init(&meter, progress, payload);
	int rc = put_doubles(&s, values, payload / sizeof(float), &meter, err);
	sherd_meter_done(&meter);
	if (rc == SHERD_OK)
		rc = sherd_writer_commit(TAKE(s.writer), err);
	sherd_rows_shard_abort(&s);
	return rc;
}

/* ---- a set */

static int write_rows(packing *p, rows_shard_out *s, uint64_t first, uint64_t rows, sherd_error *err)
{
	for (uint64_t at = 0; at < rows; at += p->chunk_rows) {
		size_t n = rows - at < p->chunk_rows ? (size_t)(rows - at) : p->chunk_rows;
		size_t bytes = n * (size_t)p->row_bytes;
		TRY(p->read(p->arg, first + at, n, p->chunk, err));
		TRY(sherd_rows_shard_put(s, p->chunk, n, err));
		TRY(sherd_meter_add(&p->meter, bytes, err));
	}
	return SHERD_OK;
}

static int name_shard(packing *p, size_t index, sherd_error *err)
{
	char name[32];
	int len = snprintf(name, sizeof(name), "part-%05zu" SHERD_ROWS_SUFFIX, index);
	p->shards[index].file = sherd_arena_str(&p->arena, (sherd_str){name, (size_t)len});
	return p->shards[index].file ? SHERD_OK : sherd_fail_nomem(err);
}

static int write_shard(packing *p, size_t index, sherd_error *err)
{
	SHERD_AUTO_BUF key = {0};
	rows_shard_out s;
	sherd_rows_entry *e = &p->shards[index];
	uint64_t first = index * p->rows_per_shard, left = p->rows - first;
	uint64_t rows = left < p->rows_per_shard ? left : p->rows_per_shard;
	TRY(name_shard(p, index, err));
	TRY(sherd_rows_key(&key, p->folder, e->file, err));
	TRY(sherd_rows_shard_begin(&s, p->store, (const char *)key.data, SHERD_F32, p->width, rows, err));
	int rc = write_rows(p, &s, first, rows, err);
	if (rc == SHERD_OK)
		rc = sherd_rows_shard_commit(&s, &p->arena, e, err);
	sherd_rows_shard_abort(&s);
	TRY(rc);
	p->done++;
	return SHERD_OK;
}

static int publish(packing *p, sherd_error *err)
{
	SHERD_AUTO_BUF key = {0};
	SHERD_AUTO_BUF text = {0};
	const sherd_rows_manifest m = {.version = 2,
	                               .dtype = SHERD_F32,
	                               .rows = p->rows,
	                               .width = p->width,
	                               .count = p->count,
	                               .shards = p->shards};
	TRY(sherd_rows_key(&key, p->folder, SHERD_ROWS_MANIFEST, err));
	sherd_rows_manifest_encode(&m, &text);
	TRY(sherd_buf_check(&text, err));
	p->publishing = true;
	int rc = sherd_store_put(p->store, (const char *)key.data, SHERD_WRITE_NEW, text.data, text.len, err);
	if (rc == SHERD_EEXIST) /* it is somebody else's */
		p->publishing = false;
	return rc;
}

static int remove_named(const packing *p, const char *name)
{
	SHERD_AUTO_BUF key = {0};
	TRY(sherd_rows_key(&key, p->folder, name, NULL));
	return sherd_store_remove(p->store, (const char *)key.data, NULL);
}

/* The manifest goes first, should a failed commit have left one on the disk: shards go only when no manifest can name
 * them any more. */
static int undo(const packing *p)
{
	if (p->publishing)
		TRY(remove_named(p, SHERD_ROWS_MANIFEST));
	for (size_t i = p->done; i-- > 0;)
		TRY(remove_named(p, p->shards[i].file));
	return SHERD_OK;
}

static int write_all(packing *p, sherd_error *err)
{
	for (size_t i = 0; i < p->count; i++)
		TRY(write_shard(p, i, err));
	return publish(p, err);
}

static int run(packing *p, int64_t time_ns, sherd_error *err)
{
	rows_claim claim;
	TRY(sherd_rows_claim_open(&claim, p->store, p->folder, time_ns, err));
	int rc = write_all(p, err);
	/* What could not be undone stays marked as incomplete. A set that was published is one whatever else happens.
	 */
	if (rc < 0 && undo(p) < 0)
		sherd_rows_claim_leave(&claim);
	else
		(void)sherd_rows_claim_drop(&claim, NULL);
	return rc;
}

static int prepare(packing *p, sherd_error *err)
{
	p->shards = sherd_arena_alloc(&p->arena, p->count, sizeof(*p->shards));
	size_t bytes;
	p->chunk_rows = p->row_bytes && p->row_bytes < CHUNK ? (size_t)(CHUNK / p->row_bytes) : 1;
	if (p->chunk_rows > p->rows)
		p->chunk_rows = (size_t)p->rows;
	if (__builtin_mul_overflow(p->chunk_rows, p->row_bytes, &bytes))
		return sherd_fail_nomem(err);
	p->chunk = malloc(bytes);
	return p->shards && p->chunk ? SHERD_OK : sherd_fail_nomem(err);
}

int sherd_rows_pack(sherd_store *store, const char *folder, uint64_t rows, uint64_t width, sherd_rows_read_fn *read,
                    void *arg, const sherd_rows_pack_options *options, sherd_error *err)
{
	static const sherd_rows_pack_options defaults = {0};
	uint64_t payload;
	options = options ? options : &defaults;
	packing p = {.store = store, .folder = folder, .rows = rows, .width = width, .read = read, .arg = arg};
	TRY(check_size(rows, width, &payload, err));
	if (!rows)
		return sherd_fail(err, SHERD_EINVAL, "empty", "no rows to pack");
	p.row_bytes = width * sizeof(float);
	p.rows_per_shard = options->rows_per_shard ? options->rows_per_shard : DEFAULT_ROWS;
	uint64_t shards = (rows - 1) / p.rows_per_shard + 1;
	if (shards > MOST_SHARDS)
		return sherd_fail(err, SHERD_EINVAL, "too-many-shards",
		                  "%" PRIu64 " shards, at most %d can be numbered: more rows a shard", shards,
		                  (int)MOST_SHARDS);
	p.count = (size_t)shards;
	sherd_meter_init(&p.meter, options->progress, payload);
	int rc = prepare(&p, err);
	if (rc == SHERD_OK)
		rc = run(&p, options->time_ns, err);
	sherd_meter_done(&p.meter);
	free(p.chunk);
	sherd_arena_done(&p.arena);
	return rc;
}

/* engine/rows/digest.c - two runs, two windows, two worlds compared by one number. */
#include "base/meter.h"
#include "base/pool.h"
#include "codec/sha256.h"
#include "engine/rows/cursor.h"

#include <pthread.h>

/* Rows that one task hashes, by their bytes. */
enum { TASK_BYTES = 128 << 10 };

_Static_assert(SHERD_ROWS_DIGEST_BYTES == SHD_SHA256_BYTES, "digests are hashes");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "values are hashed as they lie in memory");

/* a += b modulo 2^256, both big-endian. */
static void add_hash(uint8_t a[SHD_SHA256_BYTES], const uint8_t b[SHD_SHA256_BYTES])
{
	unsigned carry = 0;
	for (int i = SHD_SHA256_BYTES - 1; i >= 0; i--) {
		carry += (unsigned)a[i] + b[i];
		a[i] = (uint8_t)carry;
		carry >>= 8;
	}
}

static size_t row_bytes(const sherd_rows_batch *batch)
{
	return (size_t)batch->width * sherd_dtype_element_bytes(batch->dtype);
}

/* ---- rows apart */

/* The rows of one batch, cut into tasks. Addition does not mind in which order they end. */
typedef struct summing {
	const sherd_rows_batch *batch;
	size_t rows_a_task;
	pthread_mutex_t lock; /* of sum */
	uint8_t sum[SHD_SHA256_BYTES];
} summing;

static int sum_rows(void *arg, size_t index, sherd_error *err)
{
	summing *s = arg;
	const sherd_rows_batch *b = s->batch;
	uint8_t part[SHD_SHA256_BYTES] = {0}, one[SHD_SHA256_BYTES];
	size_t first = index * s->rows_a_task, bytes = row_bytes(b);
	size_t last = b->rows - first < s->rows_a_task ? b->rows : first + s->rows_a_task;
	(void)err;
	for (size_t i = first; i < last; i++) {
		shd_sha256 hash;
		uint64_t id = b->ids ? b->ids[i] : b->first_id + i;
		shd_sha256_init(&hash);
		shd_sha256_add(&hash, &id, sizeof(id));
		shd_sha256_add(&hash, (const uint8_t *)b->data + i * bytes, bytes);
		shd_sha256_finish(&hash, one);
		add_hash(part, one);
	}
	(void)pthread_mutex_lock(&s->lock);
	add_hash(s->sum, part);
	(void)pthread_mutex_unlock(&s->lock);
	return SHERD_OK;
}

static int sum_batch(summing *s, const sherd_rows_batch *batch, sherd_pool *pool, sherd_error *err)
{
	size_t bytes = row_bytes(batch);
	s->batch = batch;
	s->rows_a_task = bytes < TASK_BYTES ? TASK_BYTES / bytes : 1;
	return shd_pool_run(pool, (batch->rows - 1) / s->rows_a_task + 1, sum_rows, s, err);
}

/* ---- streams */

typedef struct digesting {
	sherd_rows_cursor *cursor;
	const sherd_rows_digest_options *options;
	shd_meter meter;
	uint64_t batches, rows;
} digesting;

static void digest_begin(digesting *d, sherd_rows_cursor *cursor, const sherd_rows_digest_options *options)
{
	static const sherd_rows_digest_options defaults = {0};
	const rows_sequence *s = &cursor->sequence;
	*d = (digesting){.cursor = cursor, .options = options ? options : &defaults};
	shd_meter_init(&d->meter, d->options->progress, (s->order.total - s->now.position) * s->rows->row_bytes);
}

/* 1 and a batch, or 0 when there is none or enough were taken. */
static int digest_take(digesting *d, sherd_rows_batch *batch, sherd_error *err)
{
	const rows_sequence *s = &d->cursor->sequence;
	uint64_t before = s->now.position;
	if (d->options->batches && d->batches == d->options->batches)
		return 0;
	int rc = sherd_rows_next(batch, d->cursor, err);
	if (rc <= 0)
		return rc;
	TRY(shd_meter_add(&d->meter, (s->now.position - before) * s->rows->row_bytes, err));
	d->batches++;
	d->rows += batch->rows;
	return 1;
}

static void digest_fill(const digesting *d, sherd_rows_digest *out)
{
	out->batches = d->batches;
	out->rows = d->rows;
}

int sherd_rows_digest_values(sherd_rows_digest *out, sherd_rows_cursor *cursor,
                             const sherd_rows_digest_options *options, sherd_error *err)
{
	digesting d;
	sherd_rows_batch batch;
	shd_sha256 hash;
	int rc;
	digest_begin(&d, cursor, options);
	shd_sha256_init(&hash);
	while ((rc = digest_take(&d, &batch, err)) > 0)
		shd_sha256_add(&hash, batch.data, batch.rows * row_bytes(&batch));
	shd_meter_done(&d.meter);
	TRY(rc);
	TRY(shd_rows_fetch_settle(&cursor->fetch, err));
	digest_fill(&d, out);
	shd_sha256_finish(&hash, out->hash);
	return SHERD_OK;
}

int sherd_rows_digest_set(sherd_rows_digest *out, sherd_rows_cursor *cursor, const sherd_rows_digest_options *options,
                          sherd_error *err)
{
	digesting d;
	summing s = {.lock = PTHREAD_MUTEX_INITIALIZER};
	sherd_rows_batch batch;
	int rc;
	digest_begin(&d, cursor, options);
	while ((rc = digest_take(&d, &batch, err)) > 0)
		if (!batch.padding && (rc = sum_batch(&s, &batch, d.options->pool, err)) < 0)
			break;
	shd_meter_done(&d.meter);
	TRY(rc);
	TRY(shd_rows_fetch_settle(&cursor->fetch, err));
	digest_fill(&d, out);
	memcpy(out->hash, s.sum, sizeof(s.sum));
	return SHERD_OK;
}

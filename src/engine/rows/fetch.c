#include "engine/rows/fetch.h"

#include "base/dtype.h"
#include "codec/floats.h"
#include "format/rows_shard.h"

#include <inttypes.h>
#include <stdlib.h>

/* What is read or made present at a time: it should still be in the cache when it is converted. */
enum { RAW_BYTES = 256 << 10, STEP_BYTES = 2 << 20, PAGE = 4096, ALIGN = 64, MOST_AHEAD = ROWS_OPEN / 4 };

#define DEFAULT_WINDOW (UINT64_C(8) << 20)

typedef struct place {
	uint64_t id;
	size_t at; /* in the batch */
} place;

void sherd_rows_fetch_init(rows_fetch *f, const sherd_rows *rows, const sherd_rows_stream *o)
{
	unsigned caps = sherd_store_caps(rows->store);
	*f = (rows_fetch){
		.rows = rows,
		.dtype = o->dtype == SHERD_F32 ? SHERD_F32 : SHERD_F64,
		.map = o->access == SHERD_ROWS_MAP ||
	               (o->access == SHERD_ROWS_AUTO && (caps & SHERD_CAP_MAP) && !(caps & SHERD_CAP_REMOTE)),
		.window = o->window_bytes ? o->window_bytes : DEFAULT_WINDOW,
	};
}

void sherd_rows_fetch_done(rows_fetch *f)
{
	for (size_t i = 0; i < ROWS_OPEN; i++)
		sherd_reader_close(f->open[i].reader);
	free(f->out);
	free(f->raw);
	free(f->sorted);
	*f = (rows_fetch){0};
}

/* ---- shards */

static int changed(sherd_error *err)
{
	return sherd_fail(err, SHERD_ECONFLICT, "changed", "the shard is not the one that was opened");
}

/* The set was opened from its heads; the file must still be that one. */
static int check_same(const rows_fetch *f, const sherd_reader *reader, const sherd_rows_shard *want, sherd_error *err)
{
	uint8_t raw[SHERD_ROWS_HEAD_SIZE];
	sherd_rows_head head;
	if (sherd_reader_size(reader) != want->bytes || want->bytes < sizeof(raw))
		return changed(err);
	TRY(sherd_reader_at(reader, 0, raw, sizeof(raw), err));
	TRY(sherd_rows_head_decode(raw, want->bytes, &head, err));
	return head.rows == want->rows && head.width == f->rows->width ? SHERD_OK : changed(err);
}

static int open_shard(rows_fetch *f, size_t shard, rows_open_shard *slot, sherd_error *err)
{
	const sherd_rows_shard *want = &f->rows->shards[shard];
	const void *map = NULL;
	sherd_reader_close(TAKE(slot->reader));
	TRY(sherd_store_read(f->rows->store, want->key, &slot->reader, err));
	int rc = check_same(f, slot->reader, want, err);
	if (rc == SHERD_OK && f->map && want->rows)
		rc = sherd_reader_map(slot->reader, SHERD_ROWS_HEAD_SIZE, (size_t)(want->rows * f->rows->row_bytes),
		                      &map, err);
	if (rc < 0)
		sherd_reader_close(TAKE(slot->reader));
	slot->shard = shard;
	slot->map = map;
	return sherd_in_object(err, rc, want->key);
}

int sherd_rows_check_residency(size_t cursor_shard, size_t front_shard, sherd_error *err)
{
	if (cursor_shard == front_shard)
		return SHERD_OK;
	return sherd_fail(err, SHERD_ECORRUPT, "residency",
	                  "the read cursor is at shard %zu but the window has shard %zu", cursor_shard, front_shard);
}

static int shard_for(rows_fetch *f, uint64_t row, const rows_open_shard **out, uint64_t *offset, sherd_error *err)
{
	size_t shard = sherd_rows_shard_of(f->rows, row);
	rows_open_shard *slot = &f->open[shard % ROWS_OPEN];
	if (!slot->reader || slot->shard != shard)
		TRY(open_shard(f, shard, slot, err));
	TRY(sherd_rows_check_residency(shard, slot->shard, err));
	*out = slot;
	*offset = (row - f->rows->shards[shard].first) * f->rows->row_bytes;
	return SHERD_OK;
}

/* ---- room */

static int make_room(void **buf, size_t *size, uint64_t count, uint64_t each, sherd_error *err)
{
	uint64_t bytes;
	if (__builtin_mul_overflow(count, each, &bytes) || bytes > SIZE_MAX / 2)
		return sherd_fail(err, SHERD_ELIMIT, "too-long", "a batch of %" PRIu64 " times %" PRIu64 " bytes",
		                  count, each);
	if (bytes <= *size)
		return SHERD_OK;
	free(*buf);
	*size = 0;
	*buf = aligned_alloc(ALIGN, (bytes + ALIGN - 1) / ALIGN * ALIGN);
	if (!*buf)
		return sherd_fail_nomem(err);
	*size = bytes;
	return SHERD_OK;
}

static uint64_t out_row_bytes(const rows_fetch *f)
{
	return f->rows->row_bytes * (f->dtype == SHERD_F64 ? 2 : 1);
}

/* ---- straight batches */

/* Rows that were handed out as a view are let go when the next batch is asked for. */
static void let_go(rows_fetch *f)
{
	if (!f->held_count)
		return;
	size_t shard = sherd_rows_shard_of(f->rows, f->held_first);
	const rows_open_shard *slot = &f->open[shard % ROWS_OPEN];
	uint64_t offset = (f->held_first - f->rows->shards[shard].first) * f->rows->row_bytes;
	if (slot->reader && slot->shard == shard)
		sherd_reader_advise(slot->reader, SHERD_ROWS_HEAD_SIZE + offset, f->held_count * f->rows->row_bytes,
		                    SHERD_ADVICE_DONE);
	f->held_count = 0;
}

/* Step by step: make present, convert, let go. */
static void widen_map(const rows_open_shard *s, uint64_t offset, uint64_t bytes, double *out)
{
	for (uint64_t done = 0; done < bytes;) {
		uint64_t step = bytes - done < STEP_BYTES ? bytes - done : STEP_BYTES,
			 at = SHERD_ROWS_HEAD_SIZE + offset + done;
		sherd_reader_advise(s->reader, at, step, SHERD_ADVICE_NOW);
		sherd_floats_widen((const float *)(const void *)(s->map + offset + done), out + done / 4, step / 4);
		done += step;
	}
	sherd_reader_advise(s->reader, SHERD_ROWS_HEAD_SIZE + offset, bytes, SHERD_ADVICE_DONE);
}

static int widen_read(rows_fetch *f, const rows_open_shard *s, uint64_t offset, uint64_t bytes, double *out,
                      sherd_error *err)
{
	if (!f->raw && !(f->raw = aligned_alloc(ALIGN, RAW_BYTES)))
		return sherd_fail_nomem(err);
	for (uint64_t done = 0; done < bytes; done += RAW_BYTES) {
		size_t n = bytes - done < RAW_BYTES ? (size_t)(bytes - done) : RAW_BYTES;
		TRY(sherd_reader_at(s->reader, SHERD_ROWS_HEAD_SIZE + offset + done, f->raw, n, err));
		sherd_floats_widen(f->raw, out + done / 4, n / 4);
	}
	return SHERD_OK;
}

static int fetch_straight(rows_fetch *f, const rows_pick *p, const void **data, sherd_error *err)
{
	const rows_open_shard *s;
	uint64_t offset, bytes = p->count * f->rows->row_bytes;
	TRY(shard_for(f, p->first, &s, &offset, err));
	if (f->dtype == SHERD_F32 && s->map) {
		sherd_reader_advise(s->reader, SHERD_ROWS_HEAD_SIZE + offset, bytes, SHERD_ADVICE_NOW);
		f->held_first = p->first;
		f->held_count = p->count;
		*data = s->map + offset;
		return SHERD_OK;
	}
	TRY(make_room(&f->out, &f->out_size, p->count, out_row_bytes(f), err));
	*data = f->out;
	if (f->dtype == SHERD_F32)
		return sherd_reader_at(s->reader, SHERD_ROWS_HEAD_SIZE + offset, f->out, (size_t)bytes, err);
	if (!s->map)
		return widen_read(f, s, offset, bytes, f->out, err);
	widen_map(s, offset, bytes, f->out);
	return SHERD_OK;
}

int sherd_rows_fetch_ahead(rows_fetch *f, uint64_t first, uint64_t count, sherd_error *err)
{
	/* Many small shards: those far ahead would only push out those that are needed first. */
	for (int shards = 0; count && shards < MOST_AHEAD; shards++) {
		const rows_open_shard *s;
		uint64_t offset;
		TRY(shard_for(f, first, &s, &offset, err));
		const sherd_rows_shard *shard = &f->rows->shards[s->shard];
		uint64_t left = shard->first + shard->rows - first, n = count < left ? count : left;
		sherd_reader_advise(s->reader, SHERD_ROWS_HEAD_SIZE + offset, n * f->rows->row_bytes,
		                    SHERD_ADVICE_SOON);
		first += n;
		count -= n;
	}
	return SHERD_OK;
}

/* ---- single rows */

static int by_id(const void *a, const void *b)
{
	const place *x = a, *y = b;
	return (x->id > y->id) - (x->id < y->id);
}

/* Single rows make pages resident all over the maps; when they are as many as the window, all are let go. */
static void count_touched(rows_fetch *f)
{
	f->touched += (f->rows->row_bytes / PAGE + 2) * PAGE;
	if (f->touched < f->window)
		return;
	f->touched = 0;
	for (size_t i = 0; i < ROWS_OPEN; i++)
		if (f->open[i].reader && f->open[i].map)
			sherd_reader_advise(f->open[i].reader, 0, UINT64_MAX, SHERD_ADVICE_DONE);
}

static int copy_row(rows_fetch *f, uint64_t id, uint8_t *out, sherd_error *err)
{
	const rows_open_shard *s;
	uint64_t offset, bytes = f->rows->row_bytes;
	TRY(shard_for(f, id, &s, &offset, err));
	if (!s->map) {
		if (f->dtype == SHERD_F64)
			return widen_read(f, s, offset, bytes, (double *)(void *)out, err);
		return sherd_reader_at(s->reader, SHERD_ROWS_HEAD_SIZE + offset, out, (size_t)bytes, err);
	}
	if (f->dtype == SHERD_F64)
		sherd_floats_widen((const float *)(const void *)(s->map + offset), (double *)(void *)out, bytes / 4);
	else
		memcpy(out, s->map + offset, (size_t)bytes);
	count_touched(f);
	return SHERD_OK;
}

/* In the order of the file, whatever order is asked for: every shard is opened once. */
int sherd_rows_fetch_ids(rows_fetch *f, const uint64_t *ids, size_t count, void *out, sherd_error *err)
{
	uint64_t each = out_row_bytes(f);
	TRY(make_room(&f->sorted, &f->sorted_size, count, sizeof(place), err));
	place *places = f->sorted;
	for (size_t i = 0; i < count; i++) {
		if (ids[i] >= f->rows->total)
			return sherd_fail(err, SHERD_EINVAL, "bad-argument", "row %" PRIu64 " of %" PRIu64, ids[i],
			                  f->rows->total);
		places[i] = (place){ids[i], i};
	}
	qsort(places, count, sizeof(*places), by_id);
	for (size_t i = 0; i < count; i++)
		TRY(copy_row(f, places[i].id, (uint8_t *)out + places[i].at * each, err));
	return SHERD_OK;
}

int sherd_rows_fetch_pick(rows_fetch *f, const rows_pick *p, sherd_rows_batch *out, sherd_error *err)
{
	const void *data;
	const uint64_t *ids = NULL;
	let_go(f);
	if (p->straight) {
		TRY(fetch_straight(f, p, &data, err));
	} else {
		ids = (const uint64_t *)(const void *)p->ids.data;
		TRY(make_room(&f->out, &f->out_size, p->count, out_row_bytes(f), err));
		TRY(sherd_rows_fetch_ids(f, ids, p->count, f->out, err));
		data = f->out;
	}
	*out = (sherd_rows_batch){
		.number = p->number,
		.rows = p->count,
		.width = f->rows->width,
		.dtype = f->dtype,
		.data = data,
		.ids = ids,
		.first_id = p->straight ? p->first : ids[0],
		.padding = p->padding,
	};
	return SHERD_OK;
}

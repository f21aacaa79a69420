#include "engine/rows/fetch.h"

#include "base/dtype.h"
#include "base/large.h"
#include "codec/floats.h"
#include "format/rows_shard.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

/* RAW: what is read at a time, so that it is still in the cache when it is converted.
 * STEP: what of a map is made present, and let go, at a time.
 * SLACK: the kernel makes pages around a fault present too; those before a step are let go once more with it.
 * GAP: rows that lie closer than this are read in one go. */
enum {
	RAW_BYTES = 256 << 10,
	STEP_BYTES = 2 << 20,
	SLACK_BYTES = 64 << 10,
	GAP_BYTES = 4 << 10,
	ALIGN = 64,
	MOST_AHEAD = ROWS_OPEN / 4
};

#define DEFAULT_WINDOW (UINT64_C(8) << 20)

typedef struct place {
	uint64_t id;
	size_t at; /* in the batch */
} place;

static uint64_t stored_bytes(const sherd_rows *rows)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < rows->count; i++)
		if (__builtin_add_overflow(sum, rows->shards[i].bytes, &sum))
			return UINT64_MAX;
	return sum;
}

/* What takes more than half of memory will not stay in the cache until it comes again. */
static bool exceeds_memory(uint64_t bytes)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	return pages > 0 && page > 0 && bytes / (uint64_t)page >= (uint64_t)pages / 2;
}

static sherd_rows_access choose_access(const sherd_rows *rows, sherd_rows_access wanted)
{
	unsigned caps = sherd_store_caps(rows->store);
	if (wanted != SHERD_ROWS_AUTO)
		return wanted;
	if (!(caps & SHERD_CAP_MAP) || (caps & SHERD_CAP_REMOTE))
		return SHERD_ROWS_READ;
	return exceeds_memory(stored_bytes(rows)) ? SHERD_ROWS_DIRECT : SHERD_ROWS_MAP;
}

int sherd_rows_fetch_init(rows_fetch *f, const sherd_rows *rows, const sherd_rows_stream *o, sherd_error *err)
{
	sherd_rows_access access = choose_access(rows, o->access);
	if (access == SHERD_ROWS_MAP && !(sherd_store_caps(rows->store) & SHERD_CAP_MAP))
		return sherd_fail(err, SHERD_EUNSUPPORTED, "no-map", "this store cannot map");
	*f = (rows_fetch){
		.rows = rows,
		.dtype = o->dtype == SHERD_F32 ? SHERD_F32 : SHERD_F64,
		.map = access == SHERD_ROWS_MAP,
		.direct = access == SHERD_ROWS_DIRECT && o->world <= 1,
		.window = o->window_bytes ? o->window_bytes : DEFAULT_WINDOW,
		.onward = o->world <= 1,
	};
	f->keep = f->window >= stored_bytes(rows);
	return SHERD_OK;
}

static void stop_scan(rows_fetch *f)
{
	sherd_scan_close(f->scan.scan);
	f->scan = (rows_scan){0};
}

void sherd_rows_fetch_done(rows_fetch *f)
{
	stop_scan(f);
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
	if (f->scan.scan && f->scan.shard == slot->shard)
		stop_scan(f);
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
	*buf = bytes < SHERD_LARGE_PAGE ? aligned_alloc(ALIGN, (bytes + ALIGN - 1) / ALIGN * ALIGN)
	                                : sherd_large_alloc(bytes);
	if (!*buf)
		return sherd_fail_nomem(err);
	*size = bytes;
	return SHERD_OK;
}

static uint64_t out_row_bytes(const rows_fetch *f)
{
	return f->rows->row_bytes * (f->dtype == SHERD_F64 ? 2 : 1);
}

static int make_raw(rows_fetch *f, sherd_error *err)
{
	if (!f->raw)
		f->raw = aligned_alloc(ALIGN, RAW_BYTES);
	return f->raw ? SHERD_OK : sherd_fail_nomem(err);
}

/* ---- what is resident */

static void advise(const rows_open_shard *s, uint64_t from, uint64_t to, sherd_advice advice)
{
	if (s->reader && from < to)
		sherd_reader_advise(s->reader, SHERD_ROWS_HEAD_SIZE + from, to - from, advice);
}

/* Lets go of bytes from .. to of the payload, and of what the kernel made present before them. */
static void let_go(rows_fetch *f, uint64_t from, uint64_t to)
{
	const rows_open_shard *s = &f->open[f->here.shard % ROWS_OPEN];
	if (s->shard == f->here.shard && s->map)
		advise(s, from < SLACK_BYTES ? 0 : from - SLACK_BYTES, to, SHERD_ADVICE_DONE);
}

/* Lets go of what is done with, once that is worth a call. */
static void settle(rows_fetch *f)
{
	rows_residence *h = &f->here;
	if (f->keep || h->used - h->gone < STEP_BYTES)
		return;
	let_go(f, h->gone, h->used);
	h->gone = h->used;
}

/* The place that is read now: what was resident elsewhere is let go. */
static void move_to(rows_fetch *f, size_t shard, uint64_t offset)
{
	rows_residence *h = &f->here;
	if (h->shard == shard && offset >= h->used && offset <= h->present)
		return;
	if (!f->keep && h->present > h->gone)
		let_go(f, h->gone, h->present + SLACK_BYTES);
	*h = (rows_residence){.shard = shard, .gone = offset, .used = offset, .present = offset};
}

/* Makes bytes offset .. end of the payload present, and a step more when they are needed next. */
static void make_present(rows_fetch *f, const rows_open_shard *s, uint64_t offset, uint64_t end)
{
	rows_residence *h = &f->here;
	move_to(f, s->shard, offset);
	if (end <= h->present || f->keep)
		return;
	uint64_t to = end, payload = f->rows->shards[s->shard].rows * f->rows->row_bytes;
	if (f->onward && to - h->present < STEP_BYTES)
		to = payload - h->present < STEP_BYTES ? payload : h->present + STEP_BYTES;
	advise(s, h->present, to, SHERD_ADVICE_NOW);
	h->present = to;
}

/* ---- straight batches */

/* Faults on the way are cheaper than to make pages present in advance. */
static void widen_map(rows_fetch *f, const rows_open_shard *s, uint64_t offset, uint64_t bytes, double *out)
{
	move_to(f, s->shard, offset);
	for (uint64_t done = 0; done < bytes;) {
		uint64_t step = bytes - done < STEP_BYTES ? bytes - done : STEP_BYTES, at = offset + done;
		sherd_floats_widen((const float *)(const void *)(s->map + at), out + done / 4, step / 4);
		done += step;
		f->here.used = f->here.present = at + step;
		settle(f);
	}
}

static int widen_read(rows_fetch *f, const rows_open_shard *s, uint64_t offset, uint64_t bytes, double *out,
                      sherd_error *err)
{
	TRY(make_raw(f, err));
	for (uint64_t done = 0; done < bytes; done += RAW_BYTES) {
		size_t n = bytes - done < RAW_BYTES ? (size_t)(bytes - done) : RAW_BYTES;
		TRY(sherd_reader_at(s->reader, SHERD_ROWS_HEAD_SIZE + offset + done, f->raw, n, err));
		sherd_floats_widen(f->raw, out + done / 4, n / 4);
	}
	return SHERD_OK;
}

/* Bytes of the payload as the caller wants them, copied or widened. */
static int read_into(rows_fetch *f, const rows_open_shard *s, uint64_t offset, uint64_t bytes, void *out,
                     sherd_error *err)
{
	if (f->dtype == SHERD_F64)
		return widen_read(f, s, offset, bytes, out, err);
	return sherd_reader_at(s->reader, SHERD_ROWS_HEAD_SIZE + offset, out, (size_t)bytes, err);
}

/* Stored values as the caller wants them. */
static void convert(const rows_fetch *f, const void *stored, void *out, size_t count)
{
	if (f->dtype == SHERD_F64)
		sherd_floats_widen(stored, out, count);
	else
		memcpy(out, stored, count * 4);
}

/* The bytes of the scan that begin at this place of the file. */
static int scan_to(rows_fetch *f, const rows_open_shard *s, uint64_t at, sherd_error *err)
{
	rows_scan *c = &f->scan;
	if (!c->scan || c->shard != s->shard || c->at != at) {
		stop_scan(f);
		TRY(sherd_reader_scan(s->reader, at, f->window, &c->scan, err));
		c->shard = s->shard;
		c->at = at;
	}
	if (c->left)
		return SHERD_OK;
	const void *data;
	int rc = sherd_scan_next(c->scan, &data, &c->left, err);
	c->data = data;
	/* The reader knows the file to be long enough. */
	return rc ? rc : sherd_fail_at(err, SHERD_ECORRUPT, "truncated", at, "the file has become shorter");
}

static int copy_scan(rows_fetch *f, const rows_open_shard *s, uint64_t offset, uint64_t bytes, uint8_t *out,
                     sherd_error *err)
{
	rows_scan *c = &f->scan;
	uint64_t each = out_row_bytes(f) / f->rows->row_bytes;
	for (uint64_t done = 0; done < bytes;) {
		TRY(scan_to(f, s, SHERD_ROWS_HEAD_SIZE + offset + done, err));
		size_t n = bytes - done < c->left ? (size_t)(bytes - done) : c->left;
		convert(f, c->data, out + done * each, n / 4);
		c->data += n;
		c->left -= n;
		c->at += n;
		done += n;
	}
	return SHERD_OK;
}

/* Directly, unless that cannot be. */
static int read_onward(rows_fetch *f, const rows_open_shard *s, uint64_t offset, uint64_t bytes, void *out,
                       sherd_error *err)
{
	sherd_error why;
	int rc = f->direct ? copy_scan(f, s, offset, bytes, out, &why) : SHERD_EUNSUPPORTED;
	if (rc == SHERD_OK)
		return rc;
	stop_scan(f);
	if (rc != SHERD_EUNSUPPORTED && err)
		*err = why;
	if (rc != SHERD_EUNSUPPORTED)
		return rc;
	f->direct = false;
	return read_into(f, s, offset, bytes, out, err);
}

static int fetch_straight(rows_fetch *f, const rows_pick *p, const void **data, sherd_error *err)
{
	const rows_open_shard *s;
	uint64_t offset, bytes = p->count * f->rows->row_bytes;
	TRY(shard_for(f, p->first, &s, &offset, err));
	if (f->dtype == SHERD_F32 && s->map) {
		/* The batch before has been given back by now; this one is let go when the next is asked for. */
		settle(f);
		make_present(f, s, offset, offset + bytes);
		f->here.used = offset + bytes;
		*data = s->map + offset;
		return SHERD_OK;
	}
	TRY(make_room(&f->out, &f->out_size, p->count, out_row_bytes(f), err));
	*data = f->out;
	if (!s->map)
		return read_onward(f, s, offset, bytes, f->out, err);
	widen_map(f, s, offset, bytes, f->out);
	return SHERD_OK;
}

void sherd_rows_fetch_ahead(rows_fetch *f, uint64_t first, uint64_t count)
{
	/* A scan reads ahead by itself. */
	if (f->direct)
		return;
	/* Many small shards: those far ahead would only push out those that are needed first. */
	for (int shards = 0; count && shards < MOST_AHEAD; shards++) {
		const rows_open_shard *s;
		uint64_t offset;
		if (shard_for(f, first, &s, &offset, NULL) < 0)
			return;
		const sherd_rows_shard *shard = &f->rows->shards[s->shard];
		uint64_t left = shard->first + shard->rows - first, n = count < left ? count : left;
		advise(s, offset, offset + n * f->rows->row_bytes, f->onward ? SHERD_ADVICE_ONWARD : SHERD_ADVICE_SOON);
		first += n;
		count -= n;
	}
}

/* ---- single rows */

static int by_id(const void *a, const void *b)
{
	const place *x = a, *y = b;
	return (x->id > y->id) - (x->id < y->id);
}

/* How many of the rows, which are in order, lie in one shard and so close that they are read in one go. */
static size_t span(const rows_fetch *f, const place *p, size_t count, uint64_t shard_end)
{
	uint64_t each = f->rows->row_bytes, most = RAW_BYTES / each;
	size_t n = 1;
	while (n < count && p[n].id < shard_end && p[n].id - p[0].id < most &&
	       (p[n].id - p[n - 1].id) * each <= each + GAP_BYTES)
		n++;
	return n;
}

/* Rows come by reading, not from maps: a row touched in a map costs a fault and leaves its neighbourhood resident.
 * Maps that may stay resident are better. */
static int copy_span(rows_fetch *f, const place *p, size_t count, uint8_t *out, size_t *taken, sherd_error *err)
{
	const rows_open_shard *s;
	uint64_t offset, bytes = f->rows->row_bytes, each = out_row_bytes(f);
	TRY(shard_for(f, p->id, &s, &offset, err));
	const sherd_rows_shard *shard = &f->rows->shards[s->shard];
	size_t n = span(f, p, count, shard->first + shard->rows);
	*taken = n;
	if (n == 1 && !(s->map && f->keep))
		return read_into(f, s, offset, bytes, out + p->at * each, err);
	const uint8_t *from = s->map && f->keep ? s->map + offset : NULL;
	if (!from) {
		size_t len = (size_t)((p[n - 1].id - p[0].id + 1) * bytes);
		TRY(make_raw(f, err));
		TRY(sherd_reader_at(s->reader, SHERD_ROWS_HEAD_SIZE + offset, f->raw, len, err));
		from = (const uint8_t *)f->raw;
	}
	for (size_t i = 0; i < n; i++)
		convert(f, from + (p[i].id - p[0].id) * bytes, out + p[i].at * each, f->rows->width);
	return SHERD_OK;
}

/* In the order of the file, whatever order is asked for: every shard is opened once. */
int sherd_rows_fetch_ids(rows_fetch *f, const uint64_t *ids, size_t count, void *out, sherd_error *err)
{
	TRY(make_room(&f->sorted, &f->sorted_size, count, sizeof(place), err));
	place *places = f->sorted;
	for (size_t i = 0; i < count; i++) {
		if (ids[i] >= f->rows->total)
			return sherd_fail(err, SHERD_EINVAL, "bad-argument", "row %" PRIu64 " of %" PRIu64, ids[i],
			                  f->rows->total);
		places[i] = (place){ids[i], i};
	}
	if (count)
		qsort(places, count, sizeof(*places), by_id);
	for (size_t i = 0, taken; i < count; i += taken)
		TRY(copy_span(f, places + i, count - i, out, &taken, err));
	return SHERD_OK;
}

int sherd_rows_fetch_pick(rows_fetch *f, const rows_pick *p, sherd_rows_batch *out, sherd_error *err)
{
	const void *data;
	const uint64_t *ids = NULL;
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

#include "engine/rows/fetch.h"

#include "base/large.h"
#include "base/pool.h"
#include "codec/floats.h"

#include <sherd/guard.h>

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

/* RAW: what is read at a time, so that it is still in the cache when it is converted.
 * STEP: what of a map is made present, and let go, at a time; ROUND: with several workers, PART for each.
 * SLACK: the kernel makes pages around a fault present too; those before a step are let go once more with it.
 * GAP: rows that lie closer than this are read in one go. */
enum {
	RAW_BYTES = 256 << 10,
	STEP_BYTES = 2 << 20,
	ROUND_BYTES = 8 << 20,
	PART_BYTES = 1 << 20,
	SLACK_BYTES = 64 << 10,
	GAP_BYTES = 4 << 10,
	ALIGN = 64
};

#define DEFAULT_WINDOW (UINT64_C(8) << 20)
#define DEFAULT_FAR_WINDOW (UINT64_C(64) << 20) /* over a network: requests are slow to come and can be many */

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
	return !(caps & SHERD_CAP_MAP) || (caps & SHERD_CAP_REMOTE) ? SHERD_ROWS_READ : SHERD_ROWS_AUTO;
}

/* Nothing that happens to a file may end the process unless the caller asked for maps. */
static bool may_map(const sherd_rows *rows, sherd_rows_access access)
{
	if (access == SHERD_ROWS_AUTO)
		return (sherd_store_caps(rows->store) & SHERD_CAP_HELD) || sherd_guard_held();
	return access == SHERD_ROWS_MAP;
}

int shd_rows_fetch_init(rows_fetch *f, const sherd_rows *rows, const sherd_rows_stream_options *o, sherd_error *err)
{
	sherd_rows_access access = choose_access(rows, o->access);
	if (access == SHERD_ROWS_MAP && !(sherd_store_caps(rows->store) & SHERD_CAP_MAP))
		return shd_fail(err, SHERD_EUNSUPPORTED, "no-map", "this store cannot map");
	*f = (rows_fetch){
		.rows = rows,
		.dtype = o->dtype == SHERD_DTYPE_NONE ? SHERD_F64 : o->dtype,
		.stored = rows->row_bytes / rows->width,
		.window = o->window_bytes ? o->window_bytes : DEFAULT_WINDOW,
		.onward = o->world <= 1,
		.pool = o->pool,
		.shards = {.rows = rows, .map = may_map(rows, access)},
	};
	bool remote = sherd_store_caps(rows->store) & SHERD_CAP_REMOTE;
	if (remote && !o->window_bytes)
		f->window = DEFAULT_FAR_WINDOW;
	f->wanted = sherd_dtype_element_bytes(f->dtype);
	f->keep = f->window >= stored_bytes(rows);
	f->queue = access == SHERD_ROWS_DIRECT || (access == SHERD_ROWS_AUTO && !f->keep) || remote;
	f->pieces = (rows_pieces){.window = f->window, .probe = access == SHERD_ROWS_AUTO};
	return SHERD_OK;
}

/* What was verified should still be in memory when it is delivered: nothing goes past the page cache. */
void shd_rows_fetch_verify(rows_fetch *f, rows_checked *checked)
{
	f->checked = checked;
	f->queue = f->queue && !checked;
}

static int fetch_verify(rows_fetch *f, const rows_open_shard *s, uint64_t offset, uint64_t bytes, sherd_error *err)
{
	return f->checked ? shd_rows_checked_range(f->checked, s, offset, offset + bytes, err) : SHERD_OK;
}

void shd_rows_fetch_done(rows_fetch *f)
{
	shd_rows_pieces_drop(&f->pieces);
	shd_rows_shards_done(&f->shards);
	free(f->out);
	free(f->raw);
	free(f->sorted);
	*f = (rows_fetch){0};
}

/* Who comes a second time will come a third: what memory can hold should stay in the page cache then. */
void shd_rows_fetch_restart(rows_fetch *f, bool again)
{
	shd_rows_pieces_drop(&f->pieces);
	if (again && f->pieces.probe && !exceeds_memory(stored_bytes(f->rows)))
		f->queue = false;
}

/* ---- room */

static int fetch_make_room(void **buf, size_t *size, uint64_t count, uint64_t each, sherd_error *err)
{
	uint64_t bytes;
	if (__builtin_mul_overflow(count, each, &bytes) || bytes > SIZE_MAX / 2)
		return shd_fail(err, SHERD_ELIMIT, "too-long", "a batch of %" PRIu64 " times %" PRIu64 " bytes", count,
		                each);
	if (bytes <= *size)
		return SHERD_OK;
	free(*buf);
	*size = 0;
	*buf = bytes < SHD_LARGE_PAGE ? aligned_alloc(ALIGN, (bytes + ALIGN - 1) / ALIGN * ALIGN)
	                              : shd_large_alloc(bytes);
	if (!*buf)
		return shd_fail_nomem(err);
	*size = bytes;
	return SHERD_OK;
}

static uint64_t out_row_bytes(const rows_fetch *f)
{
	return f->rows->width * f->wanted;
}

static int make_raw(rows_fetch *f, sherd_error *err)
{
	if (!f->raw)
		f->raw = aligned_alloc(ALIGN, RAW_BYTES);
	return f->raw ? SHERD_OK : shd_fail_nomem(err);
}

/* ---- values */

/* Stored bytes as the caller wants them. */
static void fetch_convert(const rows_fetch *f, const void *stored, uint64_t bytes, void *out)
{
	shd_floats_convert(f->rows->dtype, stored, f->dtype, out, (size_t)(bytes / f->stored));
}

static bool as_stored(const rows_fetch *f)
{
	return f->dtype == f->rows->dtype;
}

/* ---- what is resident */

/* Lets go of bytes from .. to of the payload, and of what the kernel made present before them. */
static void let_go(rows_fetch *f, uint64_t from, uint64_t to)
{
	const rows_open_shard *s = shd_rows_shards_peek(&f->shards, f->here.shard);
	if (s && s->map)
		shd_rows_shards_advise(&f->shards, s, from < SLACK_BYTES ? 0 : from - SLACK_BYTES, to,
		                       SHERD_ADVICE_DONE);
}

/* Lets go of what is done with, once that is worth a call. */
static void fetch_settle(rows_fetch *f)
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
	shd_rows_shards_advise(&f->shards, s, h->present, to, SHERD_ADVICE_NOW);
	h->present = to;
}

/* ---- straight batches */

/* Mapped bytes on their way, in parts for workers. */
typedef struct converting {
	rows_fetch *f;
	const rows_open_shard *s;
	uint64_t offset, bytes;
	uint8_t *out;
} converting;

/* Faults on the way are cheaper than to make pages present in advance. */
static int convert_part(void *arg, size_t index, sherd_error *err)
{
	const converting *c = arg;
	const rows_fetch *f = c->f;
	uint64_t done = index * PART_BYTES, left = c->bytes - done, n = left < PART_BYTES ? left : PART_BYTES;
	uint64_t at = c->offset + done;
	(void)err;
	fetch_convert(f, c->s->map + at, n, c->out + done / f->stored * f->wanted);
	if (f->pool && !f->keep)
		shd_rows_shards_advise(&f->shards, c->s, at, at + n, SHERD_ADVICE_DONE);
	return SHERD_OK;
}

static int convert_map(rows_fetch *f, const rows_open_shard *s, uint64_t offset, uint64_t bytes, uint8_t *out,
                       sherd_error *err)
{
	uint64_t round = sherd_pool_workers(f->pool) > 1 ? ROUND_BYTES : STEP_BYTES;
	move_to(f, s->shard, offset);
	for (uint64_t done = 0; done < bytes; done += round) {
		uint64_t n = bytes - done < round ? bytes - done : round;
		uint8_t *to = out + done / f->stored * f->wanted;
		converting c = {f, s, offset + done, n, to};
		TRY(shd_pool_run(f->pool, (size_t)((n + PART_BYTES - 1) / PART_BYTES), convert_part, &c, err));
		f->here.used = f->here.present = offset + done + n;
		fetch_settle(f);
	}
	return sherd_guard_check(s->map + offset, (size_t)bytes, err);
}

/* Bytes of the payload as the caller wants them, by reading. */
static int read_into(rows_fetch *f, const rows_open_shard *s, uint64_t offset, uint64_t bytes, uint8_t *out,
                     sherd_error *err)
{
	uint64_t at = f->rows->head_bytes + offset;
	if (as_stored(f))
		return sherd_reader_at(s->reader, at, out, (size_t)bytes, err);
	TRY(make_raw(f, err));
	for (uint64_t done = 0; done < bytes; done += RAW_BYTES) {
		size_t n = bytes - done < RAW_BYTES ? (size_t)(bytes - done) : RAW_BYTES;
		TRY(sherd_reader_at(s->reader, at + done, f->raw, n, err));
		fetch_convert(f, f->raw, n, out + done / f->stored * f->wanted);
	}
	return SHERD_OK;
}

static int bring(rows_fetch *f, const rows_open_shard *s, uint64_t offset, uint64_t bytes, uint8_t *out,
                 sherd_error *err)
{
	return s->map ? convert_map(f, s, offset, bytes, out, err) : read_into(f, s, offset, bytes, out, err);
}

/* Piece by piece, as the scout came by. out NULL: only past them. Pieces end between values: so do multiples of 64 in
 * a file, since heads are no odd size. */
static int bring_pieces(rows_fetch *f, const rows_open_shard *s, uint64_t offset, uint64_t bytes, rows_scout *scout,
                        uint8_t *out, sherd_error *err)
{
	for (uint64_t done = 0; done < bytes;) {
		const rows_piece *piece;
		const uint8_t *data;
		TRY(shd_rows_pieces_front(&f->pieces, &f->shards, scout, s->shard, offset + done, &piece, &data, err));
		uint64_t n = bytes - done;
		if (piece && piece->to - piece->from < n)
			n = piece->to - piece->from;
		uint8_t *to = out ? out + done / f->stored * f->wanted : NULL;
		if (to && piece && piece->reader)
			fetch_convert(f, data, n, to);
		else if (to)
			TRY(bring(f, s, offset + done, n, to, err));
		if (piece)
			shd_rows_pieces_use(&f->pieces, n);
		done += n;
	}
	return SHERD_OK;
}

/* The batch before has been given back by now; this one is let go when the next is asked for. */
static const void *view(rows_fetch *f, const rows_open_shard *s, uint64_t offset, uint64_t bytes)
{
	fetch_settle(f);
	make_present(f, s, offset, offset + bytes);
	f->here.used = offset + bytes;
	f->seen = s->map + offset;
	f->seen_bytes = (size_t)bytes;
	return f->seen;
}

/* The caller has looked at the last view by now. */
static int check_seen(rows_fetch *f, sherd_error *err)
{
	if (f->seen)
		TRY(sherd_guard_check(f->seen, f->seen_bytes, err));
	f->seen = NULL;
	return SHERD_OK;
}

int shd_rows_fetch_settle(rows_fetch *f, sherd_error *err)
{
	TRY(check_seen(f, err));
	return shd_rows_shards_check(&f->shards, err);
}

static int fetch_queued(rows_fetch *f, const rows_open_shard *s, uint64_t offset, uint64_t bytes, rows_scout *scout,
                        const void **data, sherd_error *err)
{
	bool seen = as_stored(f) && s->map && sherd_reader_cached(s->reader, f->rows->head_bytes + offset, bytes);
	int rc = bring_pieces(f, s, offset, bytes, scout, seen ? NULL : f->out, err);
	if (rc < 0)
		shd_rows_pieces_drop(&f->pieces);
	else if (seen)
		*data = view(f, s, offset, bytes);
	return rc;
}

static int fetch_straight(rows_fetch *f, const rows_pick *p, rows_scout *scout, const void **data, sherd_error *err)
{
	const rows_open_shard *s;
	uint64_t offset, bytes = p->count * f->rows->row_bytes;
	TRY(shd_rows_shards_find(&f->shards, p->first, &s, &offset, err));
	TRY(fetch_verify(f, s, offset, bytes, err));
	bool queue = f->queue && scout && !p->padding;
	if (!queue && as_stored(f) && s->map) {
		*data = view(f, s, offset, bytes);
		return SHERD_OK;
	}
	TRY(fetch_make_room(&f->out, &f->out_size, p->count, out_row_bytes(f), err));
	*data = f->out;
	return queue ? fetch_queued(f, s, offset, bytes, scout, data, err) : bring(f, s, offset, bytes, f->out, err);
}

/* ---- ahead */

/* Rows here and there in more shards than can be open are hinted at where a shard happens to be: to open it would push
 * out another. */
static bool worth_opening(const rows_fetch *f, const rows_hints *h, size_t shard)
{
	return !h->single || f->rows->count <= ROWS_OPEN || shd_rows_shards_peek(&f->shards, shard);
}

void shd_rows_fetch_ahead(rows_fetch *f, const rows_hints *h)
{
	sherd_advice advice = f->onward && !h->single ? SHERD_ADVICE_ONWARD : SHERD_ADVICE_SOON;
	for (size_t i = 0; i < h->list.count; i++)
		for (uint64_t row = h->list.items[i].first, end = row + h->list.items[i].count; row < end;) {
			size_t shard = shd_rows_shard_of(f->rows, row);
			uint64_t offset, stop = f->rows->shards[shard].first + f->rows->shards[shard].rows;
			const rows_open_shard *s;
			stop = stop < end ? stop : end;
			if (worth_opening(f, h, shard) &&
			    shd_rows_shards_find(&f->shards, row, &s, &offset, NULL) == SHERD_OK)
				shd_rows_shards_advise(&f->shards, s, offset,
				                       offset + (stop - row) * f->rows->row_bytes, advice);
			row = stop;
		}
}

void shd_rows_fetch_follow(rows_fetch *f, const rows_pick *pick, const rows_sequence *before, rows_scout *scout,
                           rows_hints *hints)
{
	if (f->queue && pick->straight) {
		/* The queue asks the scout itself, which must stand where the pieces end. */
		if (shd_rows_pieces_lost(&f->pieces))
			shd_rows_scout_init(scout, before, f->window);
		return;
	}
	shd_rows_scout_follow(scout, pick, hints);
	shd_rows_fetch_ahead(f, hints);
}

/* ---- single rows */

static int fetch_by_id(const void *a, const void *b)
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
	TRY(shd_rows_shards_find(&f->shards, p->id, &s, &offset, err));
	const sherd_rows_shard *shard = &f->rows->shards[s->shard];
	size_t n = span(f, p, count, shard->first + shard->rows);
	TRY(fetch_verify(f, s, offset, (p[n - 1].id - p[0].id + 1) * bytes, err));
	*taken = n;
	if (n == 1 && !(s->map && f->keep))
		return read_into(f, s, offset, bytes, out + p->at * each, err);
	const uint8_t *from = s->map && f->keep ? s->map + offset : NULL;
	if (!from) {
		size_t len = (size_t)((p[n - 1].id - p[0].id + 1) * bytes);
		TRY(make_raw(f, err));
		TRY(sherd_reader_at(s->reader, f->rows->head_bytes + offset, f->raw, len, err));
		from = f->raw;
	}
	for (size_t i = 0; i < n; i++)
		fetch_convert(f, from + (p[i].id - p[0].id) * bytes, bytes, out + p[i].at * each);
	return sherd_guard_check(from, (size_t)((p[n - 1].id - p[0].id + 1) * bytes), err);
}

/* In the order of the file, whatever order is asked for: every shard is opened once. */
int shd_rows_fetch_ids(rows_fetch *f, const uint64_t *ids, size_t count, void *out, sherd_error *err)
{
	TRY(fetch_make_room(&f->sorted, &f->sorted_size, count, sizeof(place), err));
	place *places = f->sorted;
	for (size_t i = 0; i < count; i++) {
		if (ids[i] >= f->rows->total)
			return shd_fail_of(err, SHERD_EINVAL, "bad-argument", i, "row %" PRIu64 " of %" PRIu64, ids[i],
			                   f->rows->total);
		places[i] = (place){ids[i], i};
	}
	if (count)
		qsort(places, count, sizeof(*places), fetch_by_id);
	for (size_t i = 0, taken; i < count; i += taken)
		TRY(copy_span(f, places + i, count - i, out, &taken, err));
	return SHERD_OK;
}

int shd_rows_fetch_pick(rows_fetch *f, const rows_pick *p, rows_scout *scout, sherd_rows_batch *out, sherd_error *err)
{
	const void *data;
	const uint64_t *ids = NULL;
	TRY(check_seen(f, err));
	if (p->straight) {
		TRY(fetch_straight(f, p, scout, &data, err));
	} else {
		ids = p->ids.items;
		TRY(fetch_make_room(&f->out, &f->out_size, p->count, out_row_bytes(f), err));
		TRY(shd_rows_fetch_ids(f, ids, p->count, f->out, err));
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
		.epoch = p->epoch,
	};
	return SHERD_OK;
}

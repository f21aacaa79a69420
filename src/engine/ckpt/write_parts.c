#include "engine/ckpt/write_parts.h"

#include "base/pool.h"

#include <stdlib.h>

/* Parts that lie next to each other, on their way. Three take turns: one is appended and filled anew while another one
 * is summed. */
enum { WINDOW_MOST = 64, PARTS_A_WORKER = 4, WINDOWS = 3 };

typedef struct window {
	size_t first, count;
	uint64_t item_bytes;               /* without padding */
	const uint8_t *bytes[WINDOW_MOST]; /* by part: the caller's, or within room */
	uint8_t *room;                     /* of as many parts as a window has; made when first needed */
} window;

typedef struct parts_writer {
	const ckpt_parts_out *out;
	ckpt_sums *sums;
	shd_buf *tail;
	size_t most;      /* parts of a window */
	size_t next_part; /* to be filled */
	size_t item;      /* the first that does not end before it */
	window windows[WINDOWS];
	window *filling, *summing, *appending;
} parts_writer;

static uint64_t entry_end(const shd_ckpt_entry *e)
{
	return e->offset + e->tensor.bytes;
}

/* Bytes [at, end) of the item of that entry. */
static int take_bytes(const sherd_ckpt_item *item, const shd_ckpt_entry *e, uint64_t at, uint64_t end, uint8_t *to,
                      sherd_error *err)
{
	size_t len = (size_t)(end - at);
	if (!item->data)
		return item->read(item->arg, at - e->offset, to, len, err);
	memcpy(to, (const uint8_t *)item->data + (at - e->offset), len);
	return SHERD_OK;
}

/* What lies between tensors is zero. */
static int gather_part(parts_writer *w, uint64_t at, uint64_t end, uint8_t *to, uint64_t *item_bytes, sherd_error *err)
{
	const ckpt_parts_out *o = w->out;
	while (at < end) {
		const shd_ckpt_entry *e = &o->entries[w->item];
		uint64_t stop = e->offset > at ? e->offset : entry_end(e);
		stop = stop < end ? stop : end;
		if (e->offset > at)
			memset(to, 0, (size_t)(stop - at));
		else if (stop > at)
			TRY(take_bytes(&o->items[w->item], e, at, stop, to, err));
		*item_bytes += e->offset > at ? 0 : stop - at;
		to += stop - at;
		at = stop;
		if (at == entry_end(e) && at < end)
			w->item++;
	}
	return SHERD_OK;
}

static int fill_part(parts_writer *w, window *v, sherd_error *err)
{
	const ckpt_parts_out *o = w->out;
	uint64_t at = (uint64_t)w->next_part << w->sums->log, end = at + shd_ckpt_part_bytes(w->sums, w->next_part);
	while (entry_end(&o->entries[w->item]) <= at)
		w->item++;
	const shd_ckpt_entry *e = &o->entries[w->item];
	const uint8_t *data = o->items[w->item].data;
	if (data && e->offset <= at && end <= entry_end(e)) {
		v->bytes[v->count++] = data + (at - e->offset);
		v->item_bytes += end - at;
	} else {
		if (!v->room && !(v->room = malloc(w->most << w->sums->log)))
			return shd_fail_nomem(err);
		uint8_t *room = v->room + (v->count << w->sums->log);
		TRY(gather_part(w, at, end, room, &v->item_bytes, err));
		v->bytes[v->count++] = room;
	}
	w->next_part++;
	return SHERD_OK;
}

static int fill_window(parts_writer *w, window *v, sherd_error *err)
{
	v->first = w->next_part;
	v->count = 0;
	v->item_bytes = 0;
	while (v->count < w->most && w->next_part < w->sums->parts)
		TRY(fill_part(w, v, err));
	return SHERD_OK;
}

static int append_window(parts_writer *w, const window *v, sherd_error *err)
{
	for (size_t i = 0; i < v->count; i++) {
		size_t len = (size_t)shd_ckpt_part_bytes(w->sums, v->first + i);
		if (w->out->writer)
			TRY(sherd_writer_append(w->out->writer, v->bytes[i], len, err));
		if (len < (size_t)1 << w->sums->log)
			shd_buf_append(w->tail, v->bytes[i], len);
	}
	TRY(shd_buf_check(w->tail, err));
	return shd_meter_add(w->out->meter, v->item_bytes, err);
}

static void sum_window_part(const parts_writer *w, const window *v, size_t i)
{
	size_t part = v->first + i;
	if (w->out->writer && shd_ckpt_part_bytes(w->sums, part) == (uint64_t)1 << w->sums->log)
		shd_ckpt_sums_part(w->sums, part, v->bytes[i]);
	else
		shd_ckpt_sums_crcs(w->sums, part, v->bytes[i]);
}

/* Index 0 moves bytes, in order; the others sum one part each. */
static int write_step(void *arg, size_t index, sherd_error *err)
{
	parts_writer *w = arg;
	if (index) {
		sum_window_part(w, w->summing, index - 1);
		return SHERD_OK;
	}
	TRY(append_window(w, w->appending, err));
	return fill_window(w, w->filling, err);
}

static int write_together(parts_writer *w, sherd_error *err)
{
	w->filling = &w->windows[0];
	w->summing = &w->windows[1];
	w->appending = &w->windows[2];
	do {
		TRY(shd_pool_run(w->out->pool, w->summing->count + 1, write_step, w, err));
		window *free_one = w->appending;
		w->appending = w->summing;
		w->summing = w->filling;
		w->filling = free_one;
	} while (w->summing->count || w->appending->count);
	return SHERD_OK;
}

static int write_alone(parts_writer *w, sherd_error *err)
{
	window *v = &w->windows[0];
	while (w->next_part < w->sums->parts) {
		TRY(fill_window(w, v, err));
		sum_window_part(w, v, 0);
		TRY(append_window(w, v, err));
	}
	return SHERD_OK;
}

int shd_ckpt_write_parts(const ckpt_parts_out *out, ckpt_sums *sums, shd_buf *tail, sherd_error *err)
{
	size_t most = out->workers > 1 ? (size_t)PARTS_A_WORKER * out->workers : 1;
	parts_writer w = {.out = out, .sums = sums, .tail = tail, .most = most < WINDOW_MOST ? most : WINDOW_MOST};
	int rc = out->workers > 1 ? write_together(&w, err) : write_alone(&w, err);
	for (size_t i = 0; i < WINDOWS; i++)
		free(w.windows[i].room);
	if (rc == SHERD_OK)
		shd_ckpt_sums_join(sums);
	return rc;
}

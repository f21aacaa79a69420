#include "engine/ckpt/write_parts.h"

#include "base/pool.h"
#include "base/turn.h"

#include <stdlib.h>

typedef struct parts_writer {
	const ckpt_parts_out *out;
	ckpt_sums *sums;
	shd_buf *tail;
	bool in_order; /* some items are read front to back, by one thread at a time */
	shd_turn turn; /* of reading them */
} parts_writer;

static uint64_t entry_end(const shd_ckpt_entry *e)
{
	return e->offset + e->tensor.bytes;
}

/* The first item that does not end before this place. */
static size_t item_at(const ckpt_parts_out *o, uint64_t at)
{
	size_t low = 0, high = o->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (entry_end(&o->entries[middle]) <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
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
static int gather_part(const ckpt_parts_out *o, uint64_t at, uint64_t end, uint8_t *to, uint64_t *item_bytes,
                       sherd_error *err)
{
	for (size_t i = item_at(o, at); at < end; i++) {
		const shd_ckpt_entry *e = &o->entries[i];
		uint64_t gap = e->offset > at ? e->offset - at : 0;
		gap = gap < end - at ? gap : end - at;
		memset(to, 0, (size_t)gap);
		at += gap;
		to += gap;
		uint64_t stop = entry_end(e) < end ? entry_end(e) : end;
		if (stop <= at)
			continue;
		TRY(take_bytes(&o->items[i], e, at, stop, to, err));
		*item_bytes += stop - at;
		to += stop - at;
		at = stop;
	}
	return SHERD_OK;
}

/* The part where the caller has it; NULL when it has to be put together. */
static const uint8_t *part_in_place(const ckpt_parts_out *o, uint64_t at, uint64_t end)
{
	size_t i = item_at(o, at);
	const uint8_t *data = o->items[i].data;
	const shd_ckpt_entry *e = &o->entries[i];
	return data && e->offset <= at && end <= entry_end(e) ? data + (at - e->offset) : NULL;
}

/* *scratch is what has to be freed. */
static int fetch_part(parts_writer *w, size_t part, uint64_t at, uint64_t end, const uint8_t **bytes, uint8_t **scratch,
                      uint64_t *item_bytes, sherd_error *err)
{
	*bytes = part_in_place(w->out, at, end);
	*item_bytes = *bytes ? end - at : 0;
	/* Whoever fails, fails in its turn: the others then know who was first. */
	if (w->in_order && !shd_turn_take(&w->turn, part))
		return shd_fail(err, SHERD_ECANCELLED, "cancelled", "what comes before it could not be read");
	if (!*bytes && !(*bytes = *scratch = malloc((size_t)(end - at))))
		return shd_fail_nomem(err);
	return *scratch ? gather_part(w->out, at, end, *scratch, item_bytes, err) : SHERD_OK;
}

static int put_part(parts_writer *w, size_t part, const uint8_t *bytes, size_t len, sherd_error *err)
{
	const ckpt_parts_out *o = w->out;
	if (!o->writer || len < (size_t)1 << w->sums->log)
		shd_ckpt_sums_crcs(w->sums, part, bytes);
	else
		shd_ckpt_sums_part(w->sums, part, bytes);
	if (len < (size_t)1 << w->sums->log)
		shd_buf_append(w->tail, bytes, len);
	TRY(shd_buf_check(w->tail, err));
	return o->writer ? sherd_writer_put(o->writer, o->head + ((uint64_t)part << w->sums->log), bytes, len, err)
	                 : SHERD_OK;
}

static int ckpt_write_part(void *arg, size_t part, sherd_error *err)
{
	parts_writer *w = arg;
	SHD_AUTO_FREE uint8_t *scratch = NULL;
	const uint8_t *bytes;
	uint64_t at = (uint64_t)part << w->sums->log, end = at + shd_ckpt_part_bytes(w->sums, part), item_bytes = 0;
	sherd_error why = {0};
	int rc = fetch_part(w, part, at, end, &bytes, &scratch, &item_bytes, &why);
	if (w->in_order)
		shd_turn_pass(&w->turn, rc < 0);
	if (rc == SHERD_OK)
		rc = put_part(w, part, bytes, (size_t)(end - at), &why);
	if (rc == SHERD_OK)
		rc = shd_meter_add(w->out->meter, item_bytes, &why);
	if (rc < 0 && w->out->writer)
		sherd_writer_give_up(w->out->writer, &why);
	return shd_pass(err, rc, &why);
}

static bool is_read_in_order(const ckpt_parts_out *o)
{
	for (size_t i = 0; i < o->count; i++)
		if (o->entries[i].tensor.bytes && !o->items[i].data && !o->items[i].any_order)
			return true;
	return false;
}

int shd_ckpt_write_parts(const ckpt_parts_out *out, ckpt_sums *sums, shd_buf *tail, sherd_error *err)
{
	parts_writer w = {.out = out, .sums = sums, .tail = tail, .in_order = is_read_in_order(out)};
	shd_turn_init(&w.turn);
	int rc = shd_pool_run(out->pool, sums->parts, ckpt_write_part, &w, err);
	shd_turn_done(&w.turn);
	if (rc == SHERD_OK)
		shd_ckpt_sums_join(sums);
	return rc;
}

#include "engine/rows/scout.h"

#include "engine/rows/shards.h"

/* HINTS: that one batch may bring; what does not fit comes with the next batch.
 * SINGLE: rows here and there that are under way, enough for any disk.
 * THIN: of a sample that takes fewer than one row in 65536 each costs about as much to find as to read, and would be
 * looked for twice. */
enum { MOST_HINTS = 1024, MOST_SINGLE = 1024 };
#define THIN (UINT64_C(1) << 48)

void shd_rows_scout_init(rows_scout *s, const rows_sequence *sequence, uint64_t window_bytes)
{
	const rows_order *o = &sequence->order;
	*s = (rows_scout){.sequence = *sequence,
	                  .pick.ids = s->pick.ids, /* its memory */
	                  .window = window_bytes / sequence->rows->row_bytes};
	s->sequence.tail = SHERD_ROWS_TAIL_KEEP;
	s->single = o->shuffle || o->sample;
	s->idle = o->sample && !o->all && o->threshold < THIN;
	if (s->single && s->window > MOST_SINGLE)
		s->window = MOST_SINGLE;
}

void shd_rows_scout_done(rows_scout *s)
{
	shd_vec_done(&s->pick.ids);
}

/* Rows that follow each other are one hint. False when there is no room for another. */
static bool scout_add(rows_hints *h, uint64_t first, uint64_t count)
{
	size_t n = h->list.count;
	if (n && h->list.items[n - 1].first + h->list.items[n - 1].count == first) {
		h->list.items[n - 1].count += count;
		return true;
	}
	if (n == MOST_HINTS)
		return false;
	shd_vec_push(&h->list, (rows_hint){first, count});
	return !h->list.failed;
}

/* Comes to the next batch when this one is used up. */
static bool scout_look(rows_scout *s)
{
	if (!s->idle && s->at == s->pick.count) {
		s->at = 0;
		s->idle = shd_rows_sequence_next(&s->sequence, &s->pick, NULL) <= 0;
	}
	return !s->idle;
}

/* The next rows, at most so many, that lie together. */
static uint64_t next_rows(const rows_scout *s, uint64_t most, uint64_t *first)
{
	uint64_t left = s->pick.count - s->at;
	*first = s->single ? s->pick.ids.items[s->at] : s->pick.first + s->at;
	return s->single ? 1 : most < left ? most : left;
}

/* Is the batch that it has come to so many shards away from the one that was taken? Each batch in order is of one. */
static bool far(const rows_scout *s, const rows_pick *taken)
{
	const sherd_rows *rows = s->sequence.rows;
	return !s->single && (s->pick.number - taken->number) / s->sequence.world >= ROWS_OPEN_AHEAD &&
	       shd_rows_shard_of(rows, s->pick.first) >= shd_rows_shard_of(rows, taken->first) + ROWS_OPEN_AHEAD;
}

void shd_rows_scout_follow(rows_scout *s, const rows_pick *taken, rows_hints *out)
{
	out->list.count = 0;
	out->list.failed = false;
	out->single = s->single;
	if (s->idle || taken->padding)
		return;
	/* What of this batch was not hinted at before, when it is the first or greater than the window. */
	uint64_t due = taken->count > s->ahead ? taken->count - s->ahead : 0, first;
	s->ahead -= taken->count - due;
	if (!due && s->ahead > s->window / 2)
		return;
	for (uint64_t more = due + s->window - s->ahead; more && scout_look(s);) {
		uint64_t n = next_rows(s, more, &first);
		if (far(s, taken) || !scout_add(out, first, n))
			break;
		s->at += (size_t)n;
		s->ahead += n;
		more -= n;
	}
	s->ahead -= s->ahead < due ? s->ahead : due;
}

bool shd_rows_scout_next(rows_scout *s, uint64_t *row)
{
	return scout_look(s) && next_rows(s, 1, row) > 0;
}

uint64_t shd_rows_scout_take(rows_scout *s, uint64_t row, uint64_t end, uint64_t most)
{
	uint64_t count = 0, next;
	while (count < most && scout_look(s)) {
		uint64_t n = next_rows(s, most - count, &next);
		if (next != row + count || next >= end)
			break;
		s->at += (size_t)n;
		count += n;
	}
	return count;
}

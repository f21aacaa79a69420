#include "engine/rows/scout.h"

/* Shards that are looked into ahead of the one that is read. */
enum { MOST_SHARDS = ROWS_OPEN / 4 };

void sherd_rows_scout_init(rows_scout *s, const rows_sequence *sequence, uint64_t window_bytes)
{
	*s = (rows_scout){.sequence = *sequence, .window = window_bytes / sequence->rows->row_bytes};
	s->sequence.tail = SHERD_ROWS_TAIL_KEEP;
	s->idle = sequence->order.shuffle || sequence->order.sample;
}

/* Batches that follow each other are one range. False when there is no room for another. */
static bool add(rows_hints *h, uint64_t first, uint64_t count)
{
	if (h->count && h->ranges[h->count - 1].first + h->ranges[h->count - 1].count == first) {
		h->ranges[h->count - 1].count += count;
		return true;
	}
	if (h->count == ROWS_HINTS)
		return false;
	h->ranges[h->count].first = first;
	h->ranges[h->count].count = count;
	h->count++;
	return true;
}

/* Comes to the next batch when this one is used up. A sequence in order allocates nothing and cannot fail. */
static bool look(rows_scout *s)
{
	if (!s->pick.count && sherd_rows_sequence_next(&s->sequence, &s->pick, NULL) <= 0)
		s->idle = true;
	return !s->idle;
}

void sherd_rows_scout_follow(rows_scout *s, const rows_pick *taken, rows_hints *out)
{
	const sherd_rows *rows = s->sequence.rows;
	out->count = 0;
	if (s->idle || taken->padding)
		return;
	/* What of this batch was not hinted at before, when it is the first or greater than the window. */
	uint64_t due = taken->count > s->ahead ? taken->count - s->ahead : 0;
	s->ahead -= taken->count - due;
	if (!due && s->ahead > s->window / 2)
		return;
	size_t last = sherd_rows_shard_of(rows, taken->first) + MOST_SHARDS;
	for (uint64_t more = due + s->window - s->ahead; more && look(s);) {
		uint64_t n = more < s->pick.count ? more : s->pick.count;
		if (sherd_rows_shard_of(rows, s->pick.first) >= last || !add(out, s->pick.first, n))
			break;
		s->pick.first += n;
		s->pick.count -= n;
		s->ahead += n;
		more -= n;
	}
	s->ahead -= s->ahead < due ? s->ahead : due;
}

void sherd_rows_scout_hint(const rows_hints *h, rows_fetch *f)
{
	for (size_t i = 0; i < h->count; i++)
		sherd_rows_fetch_ahead(f, h->ranges[i].first, h->ranges[i].count);
}

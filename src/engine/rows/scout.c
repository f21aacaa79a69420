#include "engine/rows/scout.h"

void sherd_rows_scout_init(rows_scout *s, const rows_sequence *sequence)
{
	sherd_buf ids = s->pick.ids;
	*s = (rows_scout){.sequence = *sequence, .pick.ids = ids};
	s->sequence.tail = SHERD_ROWS_TAIL_KEEP;
	s->idle = sequence->order.shuffle || sequence->order.sample;
}

void sherd_rows_scout_done(rows_scout *s)
{
	sherd_buf_done(&s->pick.ids);
}

/* Batches that follow each other are hinted at as one range. */
int sherd_rows_scout_follow(rows_scout *s, rows_fetch *f, uint64_t taken, sherd_error *err)
{
	uint64_t first = 0, count = 0;
	if (s->idle)
		return SHERD_OK;
	/* The batch just taken was hinted at before, unless it is the very first. */
	s->bytes = s->bytes > taken ? s->bytes - taken : 0;
	if (s->bytes > f->window / 2)
		return SHERD_OK;
	while (s->bytes < f->window) {
		int rc = sherd_rows_sequence_next(&s->sequence, &s->pick, err);
		TRY(rc);
		if (!rc) {
			s->idle = true;
			break;
		}
		if (count && s->pick.first != first + count) {
			TRY(sherd_rows_fetch_ahead(f, first, count, err));
			count = 0;
		}
		first = count ? first : s->pick.first;
		count += s->pick.count;
		s->bytes += s->pick.count * f->rows->row_bytes;
	}
	return count ? sherd_rows_fetch_ahead(f, first, count, err) : SHERD_OK;
}

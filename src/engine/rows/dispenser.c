/* engine/rows/dispenser.c - one sequence, many threads: which batch is next is decided under a lock, its bytes are
 * brought outside of it. */
#include "engine/rows/fetch.h"

#include <pthread.h>
#include <stdlib.h>

struct sherd_rows_dispenser {
	pthread_mutex_t lock; /* guards sequence */
	rows_sequence sequence;
	sherd_rows_stream options;
	uint64_t hinted; /* rows before this one were hinted at */
};

struct sherd_rows_slot {
	sherd_rows_dispenser *dispenser;
	rows_pick pick;
	rows_fetch fetch;
};

int sherd_rows_dispenser_open(sherd_rows_dispenser **out, const sherd_rows *rows, const sherd_rows_stream *options,
                              sherd_error *err)
{
	sherd_rows_dispenser *d = calloc(1, sizeof(*d));
	if (!d)
		return sherd_fail_nomem(err);
	if (options)
		d->options = *options;
	int rc = sherd_rows_sequence_init(&d->sequence, rows, &d->options, err);
	d->options.resume = NULL; /* the caller's text need not live on */
	if (rc < 0) {
		free(d);
		return rc;
	}
	(void)pthread_mutex_init(&d->lock, NULL);
	*out = d;
	return SHERD_OK;
}

void sherd_rows_dispenser_close(sherd_rows_dispenser *d)
{
	if (!d)
		return;
	(void)pthread_mutex_destroy(&d->lock);
	free(d);
}

int sherd_rows_slot_open(sherd_rows_slot **out, sherd_rows_dispenser *d, sherd_error *err)
{
	sherd_rows_slot *s = calloc(1, sizeof(*s));
	if (!s)
		return sherd_fail_nomem(err);
	s->dispenser = d;
	sherd_rows_fetch_init(&s->fetch, d->sequence.rows, &d->options);
	*out = s;
	return SHERD_OK;
}

void sherd_rows_slot_close(sherd_rows_slot *s)
{
	if (!s)
		return;
	sherd_rows_fetch_done(&s->fetch);
	sherd_buf_done(&s->pick.ids);
	free(s);
}

/* The rows that should be fetched now, beside the batch that was just decided; the lock is held. */
static void plan_ahead(sherd_rows_dispenser *d, const rows_fetch *f, uint64_t *first, uint64_t *count)
{
	uint64_t now = d->sequence.now.position, window = f->window / f->rows->row_bytes;
	uint64_t end = f->rows->total - now < window ? f->rows->total : now + window;
	*first = d->hinted > now ? d->hinted : now;
	*count = end > *first ? end - *first : 0;
	if (*count <= window / 2 && end < f->rows->total)
		*count = 0;
	if (*count)
		d->hinted = end;
}

int sherd_rows_slot_next(sherd_rows_slot *s, sherd_rows_batch *out, sherd_error *err)
{
	sherd_rows_dispenser *d = s->dispenser;
	uint64_t first = 0, count = 0;
	(void)pthread_mutex_lock(&d->lock);
	int rc = sherd_rows_sequence_next(&d->sequence, &s->pick, err);
	if (rc > 0 && s->pick.straight && !s->pick.padding)
		plan_ahead(d, &s->fetch, &first, &count);
	(void)pthread_mutex_unlock(&d->lock);
	if (rc <= 0)
		return rc;
	TRY(sherd_rows_fetch_ahead(&s->fetch, first, count, err));
	TRY(sherd_rows_fetch_pick(&s->fetch, &s->pick, out, err));
	return 1;
}

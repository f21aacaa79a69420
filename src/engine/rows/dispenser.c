/* engine/rows/dispenser.c - one sequence, many threads: which batch is next is decided under a lock, its bytes are
 * brought outside of it. */
#include "engine/rows/fetch.h"

#include <pthread.h>
#include <stdlib.h>

struct sherd_rows_dispenser {
	sherd_rows_stream options;
	pthread_mutex_t lock; /* of all that follows */
	rows_sequence sequence;
	rows_scout scout;
};

struct sherd_rows_slot {
	sherd_rows_dispenser *dispenser;
	rows_pick pick;
	bool owed; /* pick was decided and could not be brought: it comes first */
	rows_fetch fetch;
	rows_hints hints;
};

static int dispenser_init(sherd_rows_dispenser *d, const sherd_rows *rows, sherd_error *err)
{
	rows_fetch fetch;
	TRY(sherd_rows_sequence_init(&d->sequence, rows, &d->options, err));
	TRY(sherd_rows_fetch_init(&fetch, rows, &d->options, err));
	d->options.resume = NULL; /* the caller's text need not live on */
	sherd_rows_scout_init(&d->scout, &d->sequence, fetch.window);
	return SHERD_OK;
}

int sherd_rows_dispenser_open(sherd_rows_dispenser **out, const sherd_rows *rows, const sherd_rows_stream *options,
                              sherd_error *err)
{
	sherd_rows_dispenser *d = calloc(1, sizeof(*d));
	if (!d)
		return sherd_fail_nomem(err);
	if (options)
		d->options = *options;
	int rc = dispenser_init(d, rows, err);
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
	sherd_rows_scout_done(&d->scout);
	free(d);
}

int sherd_rows_slot_open(sherd_rows_slot **out, sherd_rows_dispenser *d, sherd_error *err)
{
	sherd_rows_slot *s = calloc(1, sizeof(*s));
	if (!s)
		return sherd_fail_nomem(err);
	s->dispenser = d;
	int rc = sherd_rows_fetch_init(&s->fetch, d->sequence.rows, &d->options, err);
	if (rc < 0) {
		free(s);
		return rc;
	}
	s->fetch.onward = s->fetch.queue = false; /* the next batch goes to another thread */
	*out = s;
	return SHERD_OK;
}

void sherd_rows_slot_close(sherd_rows_slot *s)
{
	if (!s)
		return;
	sherd_rows_fetch_done(&s->fetch);
	sherd_buf_done(&s->hints.list);
	sherd_buf_done(&s->pick.ids);
	free(s);
}

/* Decides which batch this slot gets, and what should be fetched meanwhile. */
static int decide(sherd_rows_slot *s, sherd_error *err)
{
	sherd_rows_dispenser *d = s->dispenser;
	(void)pthread_mutex_lock(&d->lock);
	rows_sequence before = d->sequence;
	int rc = sherd_rows_sequence_next(&d->sequence, &s->pick, err);
	if (rc > 0)
		sherd_rows_scout_follow(&d->scout, &s->pick, &s->hints);
	else if (rc < 0)
		d->sequence = before;
	(void)pthread_mutex_unlock(&d->lock);
	return rc;
}

int sherd_rows_slot_next(sherd_rows_slot *s, sherd_rows_batch *out, sherd_error *err)
{
	if (!s->owed) {
		int rc = decide(s, err);
		if (rc <= 0)
			return rc;
		s->owed = true;
		sherd_rows_fetch_ahead(&s->fetch, &s->hints);
	}
	TRY(sherd_rows_fetch_pick(&s->fetch, &s->pick, NULL, out, err));
	s->owed = false;
	return 1;
}

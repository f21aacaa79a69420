/* engine/rows/dispenser.c - one sequence, many threads: which batch is next is decided under a lock, its bytes are
 * brought outside of it.
 *
 * A slot owes a batch from the moment it was decided until it was handed out. What
 * a slot owes when it is closed goes to the dispenser, and from there to whichever
 * slot is asked next. */
#include "engine/rows/cursor_text.h"
#include "engine/rows/fetch.h"

#include <pthread.h>
#include <stdlib.h>

struct sherd_rows_dispenser {
	sherd_rows_stream_options options;
	const sherd_rows *rows;
	rows_checked *checked; /* or NULL */
	pthread_mutex_t lock;  /* of all that follows, and of what slots owe */
	rows_sequence sequence;
	rows_scout scout;
	uint64_t window;        /* of the scout, in bytes */
	uint64_t pass;          /* grows when the stream begins anew: what was decided before counts no more */
	sherd_rows_slot *slots; /* that are open */
	sherd_rows_slot *left;  /* closed ones that owe a batch */
};

struct sherd_rows_slot {
	sherd_rows_dispenser *dispenser;
	sherd_rows_slot *next; /* in the list of the dispenser */
	rows_pick pick;
	bool owed;         /* pick was decided and has not been handed out: it comes first */
	uint64_t pass;     /* in which it was decided */
	rows_state before; /* of the sequence, then */
	rows_fetch fetch;
	rows_hints hints;
};

static int dispenser_init(sherd_rows_dispenser *d, const sherd_rows *rows, sherd_error *err)
{
	rows_fetch fetch;
	TRY(shd_rows_sequence_init(&d->sequence, rows, &d->options, err));
	TRY(shd_rows_fetch_init(&fetch, rows, &d->options, err));
	if (d->options.verify)
		TRY(shd_rows_checked_open(&d->checked, rows, err));
	d->rows = rows;
	d->options.resume = NULL; /* the caller's text need not live on */
	d->window = fetch.window;
	shd_rows_scout_init(&d->scout, &d->sequence, d->window);
	return SHERD_OK;
}

int sherd_rows_dispenser_open(sherd_rows_dispenser **out, const sherd_rows *rows,
                              const sherd_rows_stream_options *options, sherd_error *err)
{
	SHD_AUTO_FREE sherd_rows_dispenser *d = calloc(1, sizeof(*d));
	if (!d)
		return shd_fail_nomem(err);
	if (options)
		d->options = *options;
	TRY(dispenser_init(d, rows, err));
	(void)pthread_mutex_init(&d->lock, NULL);
	*out = TAKE(d);
	return SHERD_OK;
}

static void free_slot(sherd_rows_slot *s)
{
	shd_vec_done(&s->hints.list);
	shd_vec_done(&s->pick.ids);
	free(s);
}

/* Forgets what closed slots owed. */
static void dispenser_forget(sherd_rows_dispenser *d)
{
	while (d->left) {
		sherd_rows_slot *s = d->left;
		d->left = s->next;
		free_slot(s);
	}
}

void sherd_rows_dispenser_close(sherd_rows_dispenser *d)
{
	if (!d)
		return;
	dispenser_forget(d);
	(void)pthread_mutex_destroy(&d->lock);
	shd_rows_checked_close(d->checked);
	shd_rows_scout_done(&d->scout);
	free(d);
}

int sherd_rows_slot_open(sherd_rows_slot **out, sherd_rows_dispenser *d, sherd_error *err)
{
	SHD_AUTO_FREE sherd_rows_slot *s = calloc(1, sizeof(*s));
	if (!s)
		return shd_fail_nomem(err);
	s->dispenser = d;
	TRY(shd_rows_fetch_init(&s->fetch, d->rows, &d->options, err));
	shd_rows_fetch_verify(&s->fetch, d->checked);
	s->fetch.onward = s->fetch.queue = false; /* the next batch goes to another thread */
	(void)pthread_mutex_lock(&d->lock);
	s->next = d->slots;
	d->slots = s;
	(void)pthread_mutex_unlock(&d->lock);
	*out = TAKE(s);
	return SHERD_OK;
}

/* Does it owe a batch that still counts? Under the lock. */
static bool owes(const sherd_rows_slot *s)
{
	return s->owed && s->pass == s->dispenser->pass;
}

void sherd_rows_slot_close(sherd_rows_slot *s)
{
	if (!s)
		return;
	sherd_rows_dispenser *d = s->dispenser;
	shd_rows_fetch_done(&s->fetch);
	(void)pthread_mutex_lock(&d->lock);
	sherd_rows_slot **at = &d->slots;
	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	bool kept = owes(s);
	if (kept) {
		s->next = d->left;
		d->left = s;
	}
	(void)pthread_mutex_unlock(&d->lock);
	if (!kept)
		free_slot(s);
}

/* Takes over what a closed slot owed. */
static void inherit(sherd_rows_slot *s)
{
	sherd_rows_dispenser *d = s->dispenser;
	sherd_rows_slot *from = d->left;
	rows_pick mine = s->pick;
	d->left = from->next;
	s->pick = from->pick;
	from->pick = mine;
	s->before = from->before;
	s->hints.list.count = 0;
	free_slot(from);
}

/* Decides which batch this slot gets, and what should be fetched meanwhile. */
static int decide(sherd_rows_slot *s, sherd_error *err)
{
	sherd_rows_dispenser *d = s->dispenser;
	rows_sequence before = d->sequence;
	if (d->left) {
		inherit(s);
	} else {
		int rc = shd_rows_sequence_next(&d->sequence, &s->pick, err);
		if (rc < 0)
			d->sequence = before;
		if (rc <= 0)
			return rc;
		s->before = before.now;
		shd_rows_scout_follow(&d->scout, &s->pick, &s->hints);
	}
	s->owed = true;
	s->pass = d->pass;
	return 1;
}

int sherd_rows_slot_next(sherd_rows_batch *out, sherd_rows_slot *s, sherd_error *err)
{
	sherd_rows_dispenser *d = s->dispenser;
	(void)pthread_mutex_lock(&d->lock);
	bool again = owes(s);
	int rc = again ? 1 : decide(s, err);
	(void)pthread_mutex_unlock(&d->lock);
	if (rc <= 0)
		return rc < 0 ? rc : shd_rows_fetch_settle(&s->fetch, err);
	if (!again)
		shd_rows_fetch_ahead(&s->fetch, &s->hints);
	TRY(shd_rows_fetch_pick(&s->fetch, &s->pick, NULL, out, err));
	(void)pthread_mutex_lock(&d->lock);
	s->owed = false;
	(void)pthread_mutex_unlock(&d->lock);
	return 1;
}

/* ---- where it stands */

static void step_back(rows_state *at, const sherd_rows_slot *list)
{
	for (const sherd_rows_slot *s = list; s; s = s->next)
		if (owes(s) && s->before.number < at->number)
			*at = s->before;
}

int sherd_rows_dispenser_tell(char out[SHERD_ROWS_CURSOR_TEXT], sherd_rows_dispenser *d, sherd_error *err)
{
	(void)err;
	(void)pthread_mutex_lock(&d->lock);
	rows_sequence sequence = d->sequence;
	rows_state at = sequence.now;
	step_back(&at, d->slots);
	step_back(&at, d->left);
	(void)pthread_mutex_unlock(&d->lock);
	shd_rows_text_write(&sequence, &at, out);
	return SHERD_OK;
}

static void dispenser_begin(sherd_rows_dispenser *d, const uint64_t *epoch)
{
	(void)pthread_mutex_lock(&d->lock);
	if (epoch)
		shd_rows_sequence_begin(&d->sequence, *epoch);
	else
		shd_rows_sequence_reset(&d->sequence);
	shd_rows_scout_init(&d->scout, &d->sequence, d->window);
	d->pass++;
	dispenser_forget(d);
	(void)pthread_mutex_unlock(&d->lock);
}

void sherd_rows_dispenser_reset(sherd_rows_dispenser *d)
{
	dispenser_begin(d, NULL);
}

void sherd_rows_dispenser_begin_epoch(sherd_rows_dispenser *d, uint64_t epoch)
{
	dispenser_begin(d, &epoch);
}

/* base/turns.c - a ring of pieces: taken <= begun <= given <= taken + count, each counted on without end. */
#include "base/turns.h"

#include <pthread.h>

/* One worker at most takes each; it runs until nothing is left to begin. */
typedef struct helper {
	shd_pool_later later;
	shd_turns *turns;
	bool busy; /* from its submission on */
} helper;

struct shd_turns {
	sherd_pool *pool;
	shd_turn_fn *work;
	char *pieces;
	size_t count, size;
	size_t taken, begun, given;
	bool *done; /* of each piece */
	pthread_mutex_t lock;
	pthread_cond_t change;
	size_t helper_count;
	helper helpers[];
};

size_t shd_turns_pieces(sherd_pool *pool)
{
	size_t workers = sherd_pool_workers(pool);
	return workers < 2 ? 1 : workers * 2 + 2;
}

static void *piece_at(shd_turns *t, size_t n)
{
	return t->pieces + n % t->count * t->size;
}

/* The lock is held on entry and on return. */
static void turns_work(shd_turns *t)
{
	size_t n = t->begun++;
	(void)pthread_mutex_unlock(&t->lock);
	t->work(piece_at(t, n));
	(void)pthread_mutex_lock(&t->lock);
	t->done[n % t->count] = true;
	(void)pthread_cond_broadcast(&t->change);
}

static void turns_help(void *arg)
{
	helper *h = arg;
	shd_turns *t = h->turns;
	(void)pthread_mutex_lock(&t->lock);
	while (t->begun < t->given)
		turns_work(t);
	h->busy = false;
	(void)pthread_cond_broadcast(&t->change);
	(void)pthread_mutex_unlock(&t->lock);
}

int shd_turns_open(shd_turns **out, sherd_pool *pool, shd_turn_fn *work, void *pieces, size_t count, size_t size,
                   sherd_error *err)
{
	size_t helpers = sherd_pool_workers(pool) - 1;
	shd_turns *t = calloc(1, sizeof(*t) + helpers * sizeof(t->helpers[0]));
	bool *done = calloc(count, sizeof(*done));
	if (!t || !done) {
		free(t);
		free(done);
		return shd_fail_nomem(err);
	}
	*t = (shd_turns){.pool = pool,
	                 .work = work,
	                 .pieces = pieces,
	                 .count = count,
	                 .size = size,
	                 .done = done,
	                 .helper_count = helpers};
	for (size_t i = 0; i < helpers; i++)
		t->helpers[i] = (helper){.turns = t};
	(void)pthread_mutex_init(&t->lock, NULL);
	(void)pthread_cond_init(&t->change, NULL);
	*out = t;
	return SHERD_OK;
}

static bool anybody_helps(const shd_turns *t)
{
	for (size_t i = 0; i < t->helper_count; i++)
		if (t->helpers[i].busy)
			return true;
	return false;
}

void shd_turns_close(shd_turns *t)
{
	if (!t)
		return;
	(void)pthread_mutex_lock(&t->lock);
	t->given = t->begun;
	for (size_t i = 0; i < t->helper_count; i++)
		if (t->helpers[i].busy && shd_pool_withdraw(t->pool, &t->helpers[i].later))
			t->helpers[i].busy = false;
	while (anybody_helps(t))
		(void)pthread_cond_wait(&t->change, &t->lock);
	(void)pthread_mutex_unlock(&t->lock);
	(void)pthread_cond_destroy(&t->change);
	(void)pthread_mutex_destroy(&t->lock);
	free(t->done);
	free(t);
}

void *shd_turns_next(shd_turns *t)
{
	return t->given - t->taken < t->count ? piece_at(t, t->given) : NULL;
}

/* One that does nothing is called; those at work come back for more by themselves. */
static void call_helper(shd_turns *t)
{
	for (size_t i = 0; i < t->helper_count; i++) {
		helper *h = &t->helpers[i];
		if (h->busy)
			continue;
		h->busy = true;
		h->later = (shd_pool_later){.fn = turns_help, .arg = h};
		shd_pool_submit(t->pool, &h->later);
		return;
	}
}

void shd_turns_give(shd_turns *t)
{
	(void)pthread_mutex_lock(&t->lock);
	t->done[t->given++ % t->count] = false;
	call_helper(t);
	(void)pthread_mutex_unlock(&t->lock);
}

void *shd_turns_take(shd_turns *t)
{
	if (t->taken == t->given)
		return NULL;
	(void)pthread_mutex_lock(&t->lock);
	while (!t->done[t->taken % t->count]) {
		if (t->begun < t->given)
			turns_work(t);
		else
			(void)pthread_cond_wait(&t->change, &t->lock);
	}
	(void)pthread_mutex_unlock(&t->lock);
	return piece_at(t, t->taken++);
}

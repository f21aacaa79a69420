#include "support/turn_store.h"

#include "base/error.h"

#include <sherd/sys/backend.h>

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

typedef struct turns {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	unsigned whose;
	long left; /* steps before the other one is next */
	long second;
	bool done[2];
} turns;

typedef struct turn_store {
	sherd_store base;
	struct sherd_store_ops ops;
	sherd_store *inner;
	turns *turns;
	unsigned who;
	long steps;
} turn_store;

typedef struct turn_writer {
	sherd_writer base;
	turn_store *store;
	sherd_writer *inner;
} turn_writer;

static void step(turn_store *s)
{
	turns *t = s->turns;
	pthread_mutex_lock(&t->mutex);
	for (;;) {
		while (t->whose != s->who)
			pthread_cond_wait(&t->changed, &t->mutex);
		if (t->left > 0 || t->done[!s->who])
			break;
		t->whose = !s->who;
		t->left = t->second;
		t->second = LONG_MAX;
		pthread_cond_broadcast(&t->changed);
	}
	t->left--;
	s->steps++;
	pthread_mutex_unlock(&t->mutex);
}

static void finish(turn_store *s)
{
	turns *t = s->turns;
	pthread_mutex_lock(&t->mutex);
	t->done[s->who] = true;
	t->whose = !s->who;
	t->left = LONG_MAX;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->mutex);
}

static int writer_append(sherd_writer *writer, const void *buf, size_t len, sherd_error *err)
{
	turn_writer *w = (turn_writer *)writer;
	return w->inner->ops->append(w->inner, buf, len, err);
}

static int writer_fill(sherd_writer *writer, uint32_t offset, const void *buf, size_t len, sherd_error *err)
{
	turn_writer *w = (turn_writer *)writer;
	return w->inner->ops->fill(w->inner, offset, buf, len, err);
}

static int writer_commit(sherd_writer *writer, sherd_error *err)
{
	turn_writer *w = (turn_writer *)writer;
	step(w->store);
	int rc = w->inner->ops->commit(w->inner, err);
	free(w);
	return rc;
}

static void writer_abort(sherd_writer *writer)
{
	turn_writer *w = (turn_writer *)writer;
	w->inner->ops->abort(w->inner);
	free(w);
}

static const struct sherd_writer_ops writer_ops = {
	.append = writer_append, .fill = writer_fill, .commit = writer_commit, .abort = writer_abort};

static int store_write(sherd_writer **out, sherd_store *store, const char *key, const sherd_write_options *options,
                       sherd_error *err)
{
	turn_store *s = (turn_store *)store;
	turn_writer *w = calloc(1, sizeof(*w));
	if (!w)
		return shd_fail_nomem(err);
	w->base.ops = &writer_ops;
	w->store = s;
	int rc = s->inner->ops->write(&w->inner, s->inner, key, options, err);
	if (rc < 0)
		free(w);
	else
		*out = &w->base;
	return rc;
}

static int store_read(sherd_reader **out, sherd_store *store, const char *key, sherd_error *err)
{
	turn_store *s = (turn_store *)store;
	step(s);
	return s->inner->ops->read(out, s->inner, key, err);
}

static int store_list(sherd_store *store, const char *prefix, const char *after, sherd_list_fn *each, void *arg,
                      sherd_error *err)
{
	turn_store *s = (turn_store *)store;
	step(s);
	return s->inner->ops->list(s->inner, prefix, after, each, arg, err);
}

static int store_stat(sherd_stat *out, sherd_store *store, const char *key, sherd_error *err)
{
	turn_store *s = (turn_store *)store;
	step(s);
	return s->inner->ops->stat(out, s->inner, key, err);
}

static int store_remove(sherd_store *store, const char *key, const char *if_identity, sherd_error *err)
{
	turn_store *s = (turn_store *)store;
	step(s);
	return s->inner->ops->remove(s->inner, key, if_identity, err);
}

static int store_mkdir(sherd_store *store, const char *key, sherd_error *err)
{
	turn_store *s = (turn_store *)store;
	return s->inner->ops->mkdir(s->inner, key, err);
}

static int store_rmdir(sherd_store *store, const char *key, sherd_error *err)
{
	turn_store *s = (turn_store *)store;
	step(s);
	return s->inner->ops->rmdir(s->inner, key, err);
}

static int store_lock(sherd_lock **out, sherd_store *store, const char *key, sherd_lock_mode mode, sherd_error *err)
{
	turn_store *s = (turn_store *)store;
	step(s);
	return s->inner->ops->lock(out, s->inner, key, mode, err);
}

static int store_create_locked(sherd_lock **out, sherd_store *store, const char *key, const void *data, size_t len,
                               sherd_lock_mode mode, sherd_error *err)
{
	turn_store *s = (turn_store *)store;
	step(s);
	return s->inner->ops->create_locked(out, s->inner, key, data, len, mode, err);
}

static int store_link(sherd_store *store, const char *key, const char *second, sherd_error *err)
{
	turn_store *s = (turn_store *)store;
	step(s);
	return s->inner->ops->link(s->inner, key, second, err);
}

static void store_close(sherd_store *store)
{
	(void)store; /* the test's */
}

static void init(turn_store *s, sherd_store *inner, turns *t, unsigned who, bool locks)
{
	const struct sherd_store_ops *ops = inner->ops;
	*s = (turn_store){.inner = inner, .turns = t, .who = who};
	s->ops = (struct sherd_store_ops){.scheme = ops->scheme,
	                                  .caps = locks ? ops->caps : ops->caps & ~SHERD_CAP_LOCK,
	                                  .read = store_read,
	                                  .write = store_write,
	                                  .list = store_list,
	                                  .stat = store_stat,
	                                  .remove = store_remove,
	                                  .close = store_close,
	                                  .mkdir = ops->mkdir ? store_mkdir : NULL,
	                                  .rmdir = ops->rmdir ? store_rmdir : NULL,
	                                  .lock = locks ? store_lock : NULL,
	                                  .create_locked = locks ? store_create_locked : NULL,
	                                  .link = locks && ops->link ? store_link : NULL};
	s->base.ops = &s->ops;
}

typedef struct thread {
	turn_store store;
	turn_actor *actor;
} thread;

static void *run(void *arg)
{
	thread *t = arg;
	t->actor->rc = t->actor->act(&t->store.base, t->actor->arg, &t->actor->err);
	t->actor->steps = t->store.steps;
	finish(&t->store);
	return NULL;
}

void turn_run(sherd_store *inner, bool locks, turn_actor actors[2], long first, long second)
{
	turns t = {.left = first, .second = second};
	thread threads[2];
	pthread_t ids[2];
	pthread_mutex_init(&t.mutex, NULL);
	pthread_cond_init(&t.changed, NULL);
	for (unsigned i = 0; i < 2; i++) {
		actors[i].err = (sherd_error){0};
		init(&threads[i].store, inner, &t, i, locks);
		threads[i].actor = &actors[i];
	}
	for (unsigned i = 0; i < 2; i++)
		if (pthread_create(&ids[i], NULL, run, &threads[i]) != 0)
			abort();
	for (unsigned i = 0; i < 2; i++)
		(void)pthread_join(ids[i], NULL);
	pthread_cond_destroy(&t.changed);
	pthread_mutex_destroy(&t.mutex);
}

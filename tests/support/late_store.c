#include "support/late_store.h"

#include "support/test.h"

#include "base/error.h"

#include <sherd/sys/backend.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LATE = 16, LISTED = '~' /* before the identity of what was listed */ };

typedef struct late_writer {
	sherd_writer base;
	struct late_store *store;
	sherd_writer *inner;
	late_fate fate;
	char told[72];  /* the inner one's */
	char *identity; /* the caller's, or NULL */
} late_writer;

typedef struct late_store {
	sherd_store base;
	struct sherd_store_ops ops;
	sherd_store *inner;
	const char *key;
	late_fate fate;
	int times;
	int64_t ahead;
	late_writer *late[MOST_LATE];
	size_t count;
	const char *removed; /* the key whose removal is lost; NULL: none */
	late_fate removed_fate;
	bool removing; /* it is on its way */
	int as_listed;
	char removed_if[72];
} late_store;

static int no_answer(sherd_error *err)
{
	return shd_fail(err, SHERD_EUNKNOWN, "unknown-outcome", "the answer was lost");
}

static int late_append(sherd_writer *writer, const void *buf, size_t len, sherd_error *err)
{
	sherd_writer *inner = ((late_writer *)writer)->inner;
	return inner->ops->append(inner, buf, len, err);
}

static int late_fill(sherd_writer *writer, uint32_t offset, const void *buf, size_t len, sherd_error *err)
{
	sherd_writer *inner = ((late_writer *)writer)->inner;
	return inner->ops->fill(inner, offset, buf, len, err);
}

static void late_abort(sherd_writer *writer)
{
	late_writer *w = (late_writer *)writer;
	w->inner->ops->abort(w->inner);
	free(w);
}

static int late_commit(sherd_writer *writer, sherd_error *err)
{
	late_writer *w = (late_writer *)writer;
	late_store *s = w->store;
	if (w->fate == LATE_LATER) {
		assert_true(s->count < MOST_LATE);
		s->late[s->count++] = w;
		return no_answer(err);
	}
	if (w->fate == LATE_NEVER) {
		late_abort(writer);
		return no_answer(err);
	}
	int rc = w->inner->ops->commit(w->inner, err);
	if (w->fate == LATE_ANSWERED && w->identity)
		memcpy(w->identity, w->told, sizeof(w->told));
	if (w->fate == LATE_DONE)
		rc = no_answer(err);
	free(w);
	return rc;
}

static const struct sherd_writer_ops late_writer_ops = {
	.append = late_append, .fill = late_fill, .commit = late_commit, .abort = late_abort};

static int late_write(sherd_writer **out, sherd_store *store, const char *key, const sherd_write_options *options,
                      sherd_error *err)
{
	late_store *s = (late_store *)store;
	sherd_write_options o = *options;
	late_writer *w = calloc(1, sizeof(*w));
	assert_non_null(w);
	w->base.ops = &late_writer_ops;
	w->store = s;
	w->identity = o.identity;
	o.identity = w->told;
	if (o.if_identity && *o.if_identity == LISTED)
		o.if_identity++;
	if (s->times > 0 && strcmp(key, s->key) == 0) {
		s->times--;
		w->fate = s->fate;
	}
	int rc = s->inner->ops->write(&w->inner, s->inner, key, &o, err);
	if (rc < 0)
		free(w);
	else
		*out = &w->base;
	return rc;
}

static int late_read(sherd_reader **out, sherd_store *store, const char *key, sherd_error *err)
{
	sherd_store *inner = ((late_store *)store)->inner;
	return inner->ops->read(out, inner, key, err);
}

typedef struct late_listing {
	sherd_list_fn *each;
	void *arg;
} late_listing;

static bool late_listed(void *arg, const char *key, const sherd_stat *stat)
{
	const late_listing *l = arg;
	sherd_stat told = *stat;
	told.identity[0] = LISTED;
	memcpy(told.identity + 1, stat->identity, sizeof(told.identity) - 1);
	assert_int_equal(told.identity[sizeof(told.identity) - 1], 0);
	return l->each(l->arg, key, &told);
}

static int late_list(sherd_store *store, const char *prefix, const char *after, sherd_list_fn *each, void *arg,
                     sherd_error *err)
{
	sherd_store *inner = ((late_store *)store)->inner;
	late_listing l = {each, arg};
	return inner->ops->list(inner, prefix, after, late_listed, &l, err);
}

static int late_stat(sherd_stat *out, sherd_store *store, const char *key, sherd_error *err)
{
	sherd_store *inner = ((late_store *)store)->inner;
	return inner->ops->stat(out, inner, key, err);
}

static int late_remove(sherd_store *store, const char *key, const char *if_identity, sherd_error *err)
{
	late_store *s = (late_store *)store;
	if (if_identity && *if_identity == LISTED) {
		if_identity++;
		s->as_listed++;
	}
	if (!s->removed || s->removing || strcmp(key, s->removed) != 0)
		return s->inner->ops->remove(s->inner, key, if_identity, err);
	(void)snprintf(s->removed_if, sizeof(s->removed_if), "%s", if_identity ? if_identity : "");
	s->removing = s->removed_fate == LATE_LATER;
	if (!s->removing)
		s->removed = NULL;
	if (s->removed_fate == LATE_DONE)
		(void)s->inner->ops->remove(s->inner, key, if_identity, NULL);
	return no_answer(err);
}

void late_store_lose_removal(sherd_store *store, const char *key, late_fate fate)
{
	late_store *s = (late_store *)store;
	s->removed = key;
	s->removed_fate = fate;
}

static int64_t late_now(sherd_store *store)
{
	late_store *s = (late_store *)store;
	return sherd_store_now(s->inner) + s->ahead;
}

int late_store_removed_as_listed(const sherd_store *store)
{
	return ((const late_store *)store)->as_listed;
}

int late_store_deliver(sherd_store *store)
{
	late_store *s = (late_store *)store;
	int done = 0;
	for (size_t i = 0; i < s->count; i++) {
		done += s->late[i]->inner->ops->commit(s->late[i]->inner, NULL) == SHERD_OK;
		free(s->late[i]);
	}
	s->count = 0;
	if (s->removing)
		done += s->inner->ops->remove(s->inner, s->removed, *s->removed_if ? s->removed_if : NULL, NULL) ==
		        SHERD_OK;
	s->removing = false;
	s->removed = NULL;
	return done;
}

static void late_close(sherd_store *store)
{
	late_store *s = (late_store *)store;
	for (size_t i = 0; i < s->count; i++)
		late_abort(&s->late[i]->base);
	free(s);
}

sherd_store *late_store_over(sherd_store *inner)
{
	late_store *s = calloc(1, sizeof(*s));
	assert_non_null(s);
	s->inner = inner;
	s->ops = (struct sherd_store_ops){
		.scheme = "late",
		.caps = SHERD_CAP_REMOTE,
		.read = late_read,
		.write = late_write,
		.list = late_list,
		.stat = late_stat,
		.remove = late_remove,
		.close = late_close,
		.now = late_now,
	};
	s->base.ops = &s->ops;
	return &s->base;
}

void late_store_lose(sherd_store *store, const char *key, late_fate fate, int times)
{
	late_store *s = (late_store *)store;
	s->key = key;
	s->fate = fate;
	s->times = times;
}

void late_store_set_ahead(sherd_store *store, int64_t ns)
{
	((late_store *)store)->ahead = ns;
}

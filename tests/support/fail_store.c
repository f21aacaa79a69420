#include "support/fail_store.h"

#include "support/test.h"

#include <sherd/sys/backend.h>

#include "base/error.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct fail_store {
	sherd_store base;
	struct sherd_store_ops ops;
	sherd_store *inner;
	_Atomic long countdown;
	_Atomic uint64_t read;
	_Atomic long opens, lists;
	_Atomic bool hit;
	void (*call)(void *arg, sherd_store *inner); /* instead of failing */
	void *arg;
} fail_store;

typedef struct fail_reader {
	sherd_reader base;
	struct sherd_reader_ops ops;
	fail_store *store;
	sherd_reader *inner;
} fail_reader;

typedef struct fail_writer {
	sherd_writer base;
	struct sherd_writer_ops ops;
	fail_store *store;
	sherd_writer *inner;
} fail_writer;

static int count(fail_store *f, const char *verb, sherd_error *err)
{
	if (atomic_load(&f->countdown) <= 0 || atomic_fetch_sub(&f->countdown, 1) != 1)
		return SHERD_OK;
	atomic_store(&f->hit, true);
	if (f->call) {
		f->call(f->arg, f->inner);
		return SHERD_OK;
	}
	return shd_fail(err, SHERD_EIO, "injected", "%s was made to fail", verb);
}

static int reader_at(const sherd_reader *reader, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	const fail_reader *r = (const fail_reader *)reader;
	TRY(count(r->store, "at", err));
	(void)atomic_fetch_add(&r->store->read, len);
	return r->inner->ops->at(r->inner, offset, buf, len, err);
}

static int reader_map(const void **out, const sherd_reader *reader, uint64_t offset, size_t len, sherd_error *err)
{
	const fail_reader *r = (const fail_reader *)reader;
	TRY(count(r->store, "map", err));
	return r->inner->ops->map(out, r->inner, offset, len, err);
}

static int reader_check(const sherd_reader *reader, sherd_error *err)
{
	const sherd_reader *inner = ((const fail_reader *)reader)->inner;
	return inner->ops->check ? inner->ops->check(inner, err) : SHERD_OK;
}

static void reader_close(sherd_reader *reader)
{
	fail_reader *r = (fail_reader *)reader;
	if (r->inner)
		r->inner->ops->close(r->inner);
	free(r);
}

static int store_read(sherd_reader **out, sherd_store *store, const char *key, sherd_error *err)
{
	fail_store *f = (fail_store *)store;
	(void)atomic_fetch_add(&f->opens, 1);
	TRY(count(f, "read", err));
	fail_reader *r = calloc(1, sizeof(*r));
	if (!r)
		return shd_fail_nomem(err);
	r->store = f;
	int rc = f->inner->ops->read(&r->inner, f->inner, key, err);
	if (rc < 0) {
		reader_close(&r->base);
		return rc;
	}
	r->ops = (struct sherd_reader_ops){.at = reader_at,
	                                   .map = r->inner->ops->map ? reader_map : NULL,
	                                   .close = reader_close,
	                                   .check = reader_check};
	r->base.ops = &r->ops;
	r->base.size = r->inner->size;
	(void)snprintf(r->base.identity, sizeof(r->base.identity), "%s", r->inner->identity);
	*out = &r->base;
	return SHERD_OK;
}

static int writer_append(sherd_writer *writer, const void *buf, size_t len, sherd_error *err)
{
	fail_writer *w = (fail_writer *)writer;
	TRY(count(w->store, "append", err));
	return w->inner->ops->append(w->inner, buf, len, err);
}

static int writer_fill(sherd_writer *writer, uint32_t offset, const void *buf, size_t len, sherd_error *err)
{
	fail_writer *w = (fail_writer *)writer;
	TRY(count(w->store, "fill", err));
	return w->inner->ops->fill(w->inner, offset, buf, len, err);
}

static int writer_commit(sherd_writer *writer, sherd_error *err)
{
	fail_writer *w = (fail_writer *)writer;
	int rc = count(w->store, "commit", err);
	if (rc < 0)
		w->inner->ops->abort(w->inner);
	else
		rc = w->inner->ops->commit(w->inner, err);
	free(w);
	return rc;
}

static void writer_abort(sherd_writer *writer)
{
	fail_writer *w = (fail_writer *)writer;
	w->inner->ops->abort(w->inner);
	free(w);
}

static void writer_parts(sherd_parts *out, sherd_writer *writer)
{
	sherd_writer *inner = ((fail_writer *)writer)->inner;
	inner->ops->parts(out, inner);
}

static int writer_room(void **out, sherd_writer *writer, sherd_error *err)
{
	fail_writer *w = (fail_writer *)writer;
	TRY(count(w->store, "room", err));
	return w->inner->ops->room(out, w->inner, err);
}

static int writer_place(sherd_writer *writer, uint64_t offset, void *room, sherd_error *err)
{
	fail_writer *w = (fail_writer *)writer;
	TRY(count(w->store, "place", err));
	return w->inner->ops->place(w->inner, offset, room, err);
}

static int writer_settle(sherd_writer *writer, uint64_t length, sherd_error *err)
{
	fail_writer *w = (fail_writer *)writer;
	TRY(count(w->store, "settle", err));
	return w->inner->ops->settle(w->inner, length, err);
}

static int store_write(sherd_writer **out, sherd_store *store, const char *key, const sherd_write_options *options,
                       sherd_error *err)
{
	fail_store *f = (fail_store *)store;
	TRY(count(f, "write", err));
	fail_writer *w = calloc(1, sizeof(*w));
	if (!w)
		return shd_fail_nomem(err);
	w->base.ops = &w->ops;
	w->store = f;
	int rc = f->inner->ops->write(&w->inner, f->inner, key, options, err);
	if (rc < 0) {
		free(w);
		return rc;
	}
	w->ops = (struct sherd_writer_ops){
		.append = writer_append, .fill = writer_fill, .commit = writer_commit, .abort = writer_abort};
	if (w->inner->ops->place) {
		w->ops.parts = writer_parts;
		w->ops.room = writer_room;
		w->ops.place = writer_place;
		w->ops.settle = writer_settle;
	}
	*out = &w->base;
	return rc;
}

static int store_list(sherd_store *store, const char *prefix, const char *after, sherd_list_fn *each, void *arg,
                      sherd_error *err)
{
	fail_store *f = (fail_store *)store;
	(void)atomic_fetch_add(&f->lists, 1);
	TRY(count(f, "list", err));
	return f->inner->ops->list(f->inner, prefix, after, each, arg, err);
}

static int store_stat(sherd_stat *out, sherd_store *store, const char *key, sherd_error *err)
{
	fail_store *f = (fail_store *)store;
	TRY(count(f, "stat", err));
	return f->inner->ops->stat(out, f->inner, key, err);
}

static int store_remove(sherd_store *store, const char *key, const char *if_identity, sherd_error *err)
{
	fail_store *f = (fail_store *)store;
	TRY(count(f, "remove", err));
	return f->inner->ops->remove(f->inner, key, if_identity, err);
}

static int store_mkdir(sherd_store *store, const char *key, sherd_error *err)
{
	fail_store *f = (fail_store *)store;
	TRY(count(f, "mkdir", err));
	return f->inner->ops->mkdir(f->inner, key, err);
}

static int store_rmdir(sherd_store *store, const char *key, sherd_error *err)
{
	fail_store *f = (fail_store *)store;
	TRY(count(f, "rmdir", err));
	return f->inner->ops->rmdir(f->inner, key, err);
}

static int store_lock(sherd_lock **out, sherd_store *store, const char *key, sherd_lock_mode mode, sherd_error *err)
{
	fail_store *f = (fail_store *)store;
	TRY(count(f, "lock", err));
	return f->inner->ops->lock(out, f->inner, key, mode, err);
}

static int store_create_locked(sherd_lock **out, sherd_store *store, const char *key, const void *data, size_t len,
                               sherd_lock_mode mode, sherd_error *err)
{
	fail_store *f = (fail_store *)store;
	TRY(count(f, "create_locked", err));
	return f->inner->ops->create_locked(out, f->inner, key, data, len, mode, err);
}

static int store_link(sherd_store *store, const char *key, const char *second, sherd_error *err)
{
	fail_store *f = (fail_store *)store;
	TRY(count(f, "link", err));
	return f->inner->ops->link(f->inner, key, second, err);
}

static int64_t store_now(sherd_store *store)
{
	return sherd_store_now(((fail_store *)store)->inner);
}

static void store_close(sherd_store *store)
{
	fail_store *f = (fail_store *)store;
	sherd_store_close(f->inner);
	free(f);
}

sherd_store *fail_store_over(sherd_store *inner)
{
	fail_store *f = calloc(1, sizeof(*f));
	if (!f)
		abort();
	const struct sherd_store_ops *ops = inner->ops;
	f->inner = inner;
	f->ops = (struct sherd_store_ops){
		.scheme = ops->scheme,
		.caps = ops->caps,
		.read = store_read,
		.write = store_write,
		.list = store_list,
		.stat = store_stat,
		.remove = store_remove,
		.close = store_close,
		.mkdir = ops->mkdir ? store_mkdir : NULL,
		.rmdir = ops->rmdir ? store_rmdir : NULL,
		.lock = ops->lock ? store_lock : NULL,
		.create_locked = ops->create_locked ? store_create_locked : NULL,
		.link = ops->link ? store_link : NULL,
		.now = store_now,
	};
	f->base.ops = &f->ops;
	inner->around = &f->base;
	return &f->base;
}

void fail_store_call_at(sherd_store *store, long nth, void (*fn)(void *arg, sherd_store *inner), void *arg)
{
	fail_store *f = (fail_store *)store;
	f->call = fn;
	f->arg = arg;
	atomic_store(&f->hit, false);
	atomic_store(&f->countdown, nth);
}

void fail_store_at(sherd_store *store, long nth)
{
	fail_store *f = (fail_store *)store;
	atomic_store(&f->hit, false);
	atomic_store(&f->countdown, nth);
}

uint64_t fail_store_read_bytes(sherd_store *store)
{
	return atomic_load(&((fail_store *)store)->read);
}

long fail_store_opens(sherd_store *store)
{
	return atomic_load(&((fail_store *)store)->opens);
}

long fail_store_lists(sherd_store *store)
{
	return atomic_load(&((fail_store *)store)->lists);
}

bool fail_store_hit(sherd_store *store)
{
	return atomic_load(&((fail_store *)store)->hit);
}

long fail_store_each(sherd_store *store, int (*call)(sherd_error *err))
{
	long nth = 0;
	bool failed;
	do {
		sherd_error err = {0};
		fail_store_at(store, ++nth);
		int rc = call(&err);
		failed = fail_store_hit(store);
		fail_store_at(store, 0);
		assert_int_equal(rc, failed ? SHERD_EIO : SHERD_OK);
		assert_int_equal(err.code, rc);
		assert_int_equal(err.object[0] != 0, failed);
	} while (failed);
	return nth - 1;
}

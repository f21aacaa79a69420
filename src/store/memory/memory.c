/* store/memory/memory.c - the contract in its plainest form: a sorted table of reference-counted bytes. */
#include <sherd/sys/backend.h>

#include "base/buf.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Small, so that even small objects have several. */
enum { PART = 64 << 10, PARTS = 64 };

/* Bytes never change once a blob stands in the table. refs and the lock counts belong to the store's mutex. */
typedef struct blob {
	size_t refs; /* one per name, per reader, per lock */
	size_t shared;
	bool exclusive;
	sherd_stat stat;
	uint8_t *data;
} blob;

typedef struct entry {
	char *key;
	blob *blob;
} entry;

typedef struct memory_store {
	sherd_store base;
	pthread_mutex_t mutex;
	entry *entries; /* by key, in byte order */
	size_t count, cap;
	uint64_t made; /* blobs so far: the source of identities */
} memory_store;

typedef struct memory_reader {
	sherd_reader base;
	memory_store *store;
	blob *blob;
} memory_reader;

typedef struct memory_writer {
	sherd_writer base;
	memory_store *store;
	char *key;
	sherd_write_mode mode;
	bool conditional;
	char if_identity[72];
	char *identity; /* where the caller wants it, or NULL */
	shd_buf bytes;
	pthread_mutex_t mutex; /* of bytes and rooms, while there are places */
	void *rooms[PARTS];    /* that are lent */
} memory_writer;

typedef struct memory_lock {
	sherd_lock base;
	memory_store *store;
	blob *blob;
	sherd_lock_mode mode;
} memory_lock;

static void blob_unref(blob *b)
{
	if (!b || --b->refs > 0)
		return;
	free(b->data);
	free(b);
}

/* The first entry that is not below key. */
static size_t lower_bound(const memory_store *s, const char *key)
{
	size_t low = 0, high = s->count;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (strcmp(s->entries[mid].key, key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static entry *memory_find(const memory_store *s, const char *key)
{
	size_t i = lower_bound(s, key);
	return i < s->count && strcmp(s->entries[i].key, key) == 0 ? &s->entries[i] : NULL;
}

static int not_found(sherd_error *err)
{
	return shd_fail(err, SHERD_ENOTFOUND, "not-found", "no such object");
}

static int memory_stat(sherd_stat *out, sherd_store *store, const char *key, sherd_error *err)
{
	memory_store *s = (memory_store *)store;
	pthread_mutex_lock(&s->mutex);
	const entry *e = memory_find(s, key);
	if (e)
		*out = e->blob->stat;
	pthread_mutex_unlock(&s->mutex);
	return e ? SHERD_OK : not_found(err);
}

/* Copies the first entry with the prefix that sorts after `after`; false when there is none. */
static bool next_entry(memory_store *s, const char *prefix, const char *after, char key[SHERD_MAX_KEY + 1],
                       sherd_stat *stat)
{
	bool found = false;
	pthread_mutex_lock(&s->mutex);
	size_t i = lower_bound(s, strcmp(prefix, after) > 0 ? prefix : after);
	if (i < s->count && *after && strcmp(s->entries[i].key, after) == 0)
		i++;
	if (i < s->count && strncmp(s->entries[i].key, prefix, strlen(prefix)) == 0) {
		memcpy(key, s->entries[i].key, strlen(s->entries[i].key) + 1);
		*stat = s->entries[i].blob->stat;
		found = true;
	}
	pthread_mutex_unlock(&s->mutex);
	return found;
}

/* each() runs without the mutex: it may use the store. */
static int memory_list(sherd_store *store, const char *prefix, const char *after, sherd_list_fn *each, void *arg,
                       sherd_error *err)
{
	(void)err;
	char key[2][SHERD_MAX_KEY + 1];
	sherd_stat stat;
	for (unsigned turn = 0; next_entry((memory_store *)store, prefix, after, key[turn], &stat); turn ^= 1) {
		if (!each(arg, key[turn], &stat))
			break;
		after = key[turn];
	}
	return SHERD_OK;
}

static int memory_remove(sherd_store *store, const char *key, const char *if_identity, sherd_error *err)
{
	memory_store *s = (memory_store *)store;
	pthread_mutex_lock(&s->mutex);
	entry *e = memory_find(s, key);
	bool other = e && if_identity && strcmp(e->blob->stat.identity, if_identity) != 0;
	if (e && !other) {
		free(e->key);
		blob_unref(e->blob);
		s->count--;
		memmove(e, e + 1, (s->count - (size_t)(e - s->entries)) * sizeof(*e));
	}
	pthread_mutex_unlock(&s->mutex);
	return other ? shd_fail(err, SHERD_ECONFLICT, "replaced", "the object was replaced") : SHERD_OK;
}

static void memory_close(sherd_store *store)
{
	memory_store *s = (memory_store *)store;
	for (size_t i = 0; i < s->count; i++) {
		free(s->entries[i].key);
		blob_unref(s->entries[i].blob);
	}
	free(s->entries);
	pthread_mutex_destroy(&s->mutex);
	free(s);
}

/* Reading */

static int reader_at(const sherd_reader *reader, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	(void)err;
	memcpy(buf, ((const memory_reader *)reader)->blob->data + offset, len);
	return SHERD_OK;
}

static int reader_map(const void **out, const sherd_reader *reader, uint64_t offset, size_t len, sherd_error *err)
{
	(void)len, (void)err;
	*out = ((const memory_reader *)reader)->blob->data + offset;
	return SHERD_OK;
}

static void blob_release(memory_store *s, blob *b)
{
	pthread_mutex_lock(&s->mutex);
	blob_unref(b);
	pthread_mutex_unlock(&s->mutex);
}

static void reader_close(sherd_reader *reader)
{
	memory_reader *r = (memory_reader *)reader;
	blob_release(r->store, r->blob);
	free(r);
}

static bool reader_peek(const void **out, const sherd_reader *reader, uint64_t offset, size_t len)
{
	return reader_map(out, reader, offset, len, NULL) == SHERD_OK;
}

static const struct sherd_reader_ops reader_ops = {
	.at = reader_at, .map = reader_map, .peek = reader_peek, .close = reader_close};

/* A reference to the blob under key, or NULL. */
static blob *blob_of(memory_store *s, const char *key)
{
	pthread_mutex_lock(&s->mutex);
	const entry *e = memory_find(s, key);
	blob *b = e ? e->blob : NULL;
	if (b)
		b->refs++;
	pthread_mutex_unlock(&s->mutex);
	return b;
}

static int memory_read(sherd_reader **out, sherd_store *store, const char *key, sherd_error *err)
{
	memory_store *s = (memory_store *)store;
	memory_reader *r = calloc(1, sizeof(*r));
	if (!r)
		return shd_fail_nomem(err);
	r->base.ops = &reader_ops;
	r->store = s;
	r->blob = blob_of(s, key);
	if (!r->blob) {
		free(r);
		return not_found(err);
	}
	r->base.size = r->blob->stat.size;
	memcpy(r->base.identity, r->blob->stat.identity, sizeof(r->base.identity));
	*out = &r->base;
	return SHERD_OK;
}

/* Writing */

static int writer_append(sherd_writer *writer, const void *buf, size_t len, sherd_error *err)
{
	memory_writer *w = (memory_writer *)writer;
	shd_buf_append(&w->bytes, buf, len);
	return shd_buf_check(&w->bytes, err);
}

static int writer_fill(sherd_writer *writer, uint32_t offset, const void *buf, size_t len, sherd_error *err)
{
	(void)err;
	memcpy(((memory_writer *)writer)->bytes.data + offset, buf, len);
	return SHERD_OK;
}

static void writer_abort(sherd_writer *writer)
{
	memory_writer *w = (memory_writer *)writer;
	for (size_t i = 0; i < PARTS; i++)
		free(w->rooms[i]);
	(void)pthread_mutex_destroy(&w->mutex);
	shd_buf_done(&w->bytes);
	free(w->key);
	free(w);
}

static void writer_parts(sherd_parts *out, sherd_writer *writer)
{
	(void)writer;
	*out = (sherd_parts){.bytes = PART, .most = PARTS};
}

static int writer_room(void **out, sherd_writer *writer, sherd_error *err)
{
	memory_writer *w = (memory_writer *)writer;
	size_t i = 0;
	void *room = malloc(PART);
	if (!room)
		return shd_fail_nomem(err);
	pthread_mutex_lock(&w->mutex);
	while (w->rooms[i]) /* the front lends no more than there are */
		i++;
	w->rooms[i] = *out = room;
	pthread_mutex_unlock(&w->mutex);
	return SHERD_OK;
}

static int writer_place(sherd_writer *writer, uint64_t offset, void *room, sherd_error *err)
{
	memory_writer *w = (memory_writer *)writer;
	pthread_mutex_lock(&w->mutex);
	for (size_t i = 0; i < PARTS; i++)
		if (w->rooms[i] == room)
			w->rooms[i] = NULL;
	size_t end = (size_t)offset + PART;
	if (end <= w->bytes.len || shd_buf_reserve(&w->bytes, end - w->bytes.len)) {
		w->bytes.len = end < w->bytes.len ? w->bytes.len : end;
		memcpy(w->bytes.data + offset, room, PART);
	}
	int rc = shd_buf_check(&w->bytes, err);
	pthread_mutex_unlock(&w->mutex);
	free(room);
	return rc;
}

static int writer_settle(sherd_writer *writer, uint64_t length, sherd_error *err)
{
	(void)err;
	((memory_writer *)writer)->bytes.len = (size_t)length;
	return SHERD_OK;
}

/* With the mutex held. Takes over key and b on success. */
static int insert(memory_store *s, char *key, blob *b, sherd_error *err)
{
	if (s->count == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 16;
		entry *entries = realloc(s->entries, cap * sizeof(*entries));
		if (!entries)
			return shd_fail_nomem(err);
		s->entries = entries;
		s->cap = cap;
	}
	size_t at = lower_bound(s, key);
	memmove(s->entries + at + 1, s->entries + at, (s->count - at) * sizeof(*s->entries));
	s->entries[at] = (entry){key, b};
	s->count++;
	return SHERD_OK;
}

/* With the mutex held: puts the blob under the writer's key. Takes over b, and the writer's key, on success. */
static int memory_publish(memory_writer *w, blob *b, sherd_error *err)
{
	memory_store *s = w->store;
	entry *e = memory_find(s, w->key);
	if (e && w->mode == SHERD_WRITE_NEW)
		return shd_fail(err, SHERD_EEXIST, "exists", "the object exists");
	if (w->conditional && (!e || strcmp(e->blob->stat.identity, w->if_identity) != 0))
		return shd_fail(err, SHERD_ECONFLICT, "replaced", "the object was replaced or removed");
	(void)snprintf(b->stat.identity, sizeof(b->stat.identity), "%" PRIx64, ++s->made);
	if (e) {
		blob_unref(e->blob);
		e->blob = b;
	} else {
		TRY(insert(s, w->key, b, err));
		w->key = NULL;
	}
	if (w->identity)
		memcpy(w->identity, b->stat.identity, sizeof(b->stat.identity));
	return SHERD_OK;
}

static blob *blob_make(shd_buf *bytes)
{
	blob *b = calloc(1, sizeof(*b));
	if (!b)
		return NULL;
	struct timespec now;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	b->refs = 1;
	b->stat.size = bytes->len;
	b->stat.mtime_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	b->data = bytes->data;
	*bytes = (shd_buf){0};
	return b;
}

static int writer_commit(sherd_writer *writer, sherd_error *err)
{
	memory_writer *w = (memory_writer *)writer;
	blob *b = blob_make(&w->bytes);
	int rc = b ? SHERD_OK : shd_fail_nomem(err);
	if (b) {
		pthread_mutex_lock(&w->store->mutex);
		rc = memory_publish(w, b, err);
		if (rc < 0)
			blob_unref(b);
		pthread_mutex_unlock(&w->store->mutex);
	}
	writer_abort(writer);
	return rc;
}

static const struct sherd_writer_ops writer_ops = {.append = writer_append,
                                                   .fill = writer_fill,
                                                   .commit = writer_commit,
                                                   .abort = writer_abort,
                                                   .parts = writer_parts,
                                                   .room = writer_room,
                                                   .place = writer_place,
                                                   .settle = writer_settle};

static memory_writer *writer_make(memory_store *s, const char *key, const sherd_write_options *options)
{
	memory_writer *w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->base.ops = &writer_ops;
	w->store = s;
	w->mode = options->mode;
	w->identity = options->identity;
	w->conditional = options->if_identity != NULL;
	if (w->conditional)
		(void)snprintf(w->if_identity, sizeof(w->if_identity), "%s", options->if_identity);
	w->key = strdup(key);
	if (!w->key) {
		free(w);
		return NULL;
	}
	(void)pthread_mutex_init(&w->mutex, NULL);
	return w;
}

static int memory_write(sherd_writer **out, sherd_store *store, const char *key, const sherd_write_options *options,
                        sherd_error *err)
{
	memory_writer *w = writer_make((memory_store *)store, key, options);
	if (!w)
		return shd_fail_nomem(err);
	*out = &w->base;
	return SHERD_OK;
}

/* Locking: a lock belongs to the blob, as a local one belongs to the file, so a replacement is not locked. */

static void lock_release(sherd_lock *lock)
{
	memory_lock *l = (memory_lock *)lock;
	pthread_mutex_lock(&l->store->mutex);
	if (l->mode == SHERD_LOCK_EXCLUSIVE)
		l->blob->exclusive = false;
	else
		l->blob->shared--;
	blob_unref(l->blob);
	pthread_mutex_unlock(&l->store->mutex);
	free(l);
}

/* With the mutex held. */
static bool lock_take(memory_lock *l, blob *b)
{
	if (b->exclusive || (l->mode == SHERD_LOCK_EXCLUSIVE && b->shared > 0))
		return false;
	if (l->mode == SHERD_LOCK_EXCLUSIVE)
		b->exclusive = true;
	else
		b->shared++;
	b->refs++;
	l->blob = b;
	return true;
}

static memory_lock *lock_make(memory_store *s, sherd_lock_mode mode)
{
	memory_lock *l = calloc(1, sizeof(*l));
	if (l)
		*l = (memory_lock){.base.release = lock_release, .store = s, .mode = mode};
	return l;
}

static int memory_lock_object(sherd_lock **out, sherd_store *store, const char *key, sherd_lock_mode mode,
                              sherd_error *err)
{
	memory_store *s = (memory_store *)store;
	memory_lock *l = lock_make(s, mode);
	if (!l)
		return shd_fail_nomem(err);
	pthread_mutex_lock(&s->mutex);
	const entry *e = memory_find(s, key);
	bool taken = e && lock_take(l, e->blob);
	pthread_mutex_unlock(&s->mutex);
	if (taken) {
		*out = &l->base;
		return SHERD_OK;
	}
	free(l);
	return e ? shd_fail(err, SHERD_ECONFLICT, "locked", "somebody holds a lock") : not_found(err);
}

static int memory_create_locked(sherd_lock **out, sherd_store *store, const char *key, const void *data, size_t len,
                                sherd_lock_mode mode, sherd_error *err)
{
	memory_store *s = (memory_store *)store;
	memory_lock *l = lock_make(s, mode);
	memory_writer *w = writer_make(s, key, &(sherd_write_options){.mode = SHERD_WRITE_NEW});
	blob *b = NULL;
	if (w)
		shd_buf_append(&w->bytes, data, len);
	if (l && w && !w->bytes.failed)
		b = blob_make(&w->bytes);
	int rc = b ? SHERD_OK : shd_fail_nomem(err);
	if (b) {
		pthread_mutex_lock(&s->mutex);
		rc = memory_publish(w, b, err);
		if (rc < 0)
			blob_unref(b);
		else
			(void)lock_take(l, b);
		pthread_mutex_unlock(&s->mutex);
	}
	if (w)
		writer_abort(&w->base);
	if (rc < 0)
		free(l);
	else
		*out = &l->base;
	return rc;
}

static int memory_link(sherd_store *store, const char *key, const char *second, sherd_error *err)
{
	memory_store *s = (memory_store *)store;
	char *name = strdup(second);
	if (!name)
		return shd_fail_nomem(err);
	pthread_mutex_lock(&s->mutex);
	const entry *e = memory_find(s, key);
	blob *b = e ? e->blob : NULL;
	int rc = !b                       ? not_found(err)
	         : memory_find(s, second) ? shd_fail(err, SHERD_EEXIST, "exists", "the object exists")
	                                  : insert(s, name, b, err);
	if (b && rc == SHERD_OK)
		b->refs++;
	pthread_mutex_unlock(&s->mutex);
	if (rc < 0)
		free(name);
	return rc;
}

static const struct sherd_store_ops memory_ops = {
	.scheme = "mem",
	.caps = SHERD_CAP_MAP | SHERD_CAP_HELD | SHERD_CAP_LOCK,
	.read = memory_read,
	.write = memory_write,
	.list = memory_list,
	.stat = memory_stat,
	.remove = memory_remove,
	.close = memory_close,
	.lock = memory_lock_object,
	.create_locked = memory_create_locked,
	.link = memory_link,
};

int sherd_store_open_memory(sherd_store **out, sherd_error *err)
{
	memory_store *s = calloc(1, sizeof(*s));
	if (!s)
		return shd_fail_nomem(err);
	s->base.ops = &memory_ops;
	pthread_mutex_init(&s->mutex, NULL);
	*out = &s->base;
	return SHERD_OK;
}

static int memory_open(sherd_store **out, char **key, const char *uri, const sherd_store_options *options,
                       sherd_error *err)
{
	(void)options;
	char *name = strdup(uri + strlen("mem://"));
	if (!name)
		return shd_fail_nomem(err);
	int rc = sherd_store_open_memory(out, err);
	if (rc == SHERD_OK)
		*key = name;
	else
		free(name);
	return rc;
}

const sherd_scheme shd_scheme_memory = {.name = "mem", .open = memory_open};

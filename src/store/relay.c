#include "store/relay.h"

#include "base/cursor.h"
#include "base/map.h"

#include <sherd/sys/backend.h>

#include <pthread.h>

typedef struct note {
	uint64_t offset;
	size_t len;
	uint8_t *bytes; /* owned */
} note;

typedef struct noted {
	char *key;
	uint64_t size;
	char identity[72];
	SHD_VEC(note) notes;
} noted;

typedef struct relay {
	sherd_store base;
	struct sherd_store_ops ops; /* with what the store inside can do for readers */
	sherd_store *inside;
	pthread_mutex_t lock;
	bool recording;
	SHD_VEC(noted *) objects;
	shd_map by_key; /* to their places */
} relay;

typedef struct relay_reader {
	sherd_reader base;
	relay *relay;
	noted *object;        /* NULL: nothing is noted of it, or is to be */
	sherd_reader *inside; /* NULL until it is needed; under the lock */
} relay_reader;

static noted *find_noted(const relay *r, const char *key)
{
	size_t at = shd_map_find(&r->by_key, shd_str_of(key));
	return at == SHD_MAP_NONE ? NULL : r->objects.items[at];
}

static void forget_notes(noted *o)
{
	for (size_t i = 0; i < o->notes.count; i++)
		free(o->notes.items[i].bytes);
	o->notes.count = 0;
}

static void free_noted(noted *o)
{
	forget_notes(o);
	shd_vec_done(&o->notes);
	free(o->key);
	free(o);
}

/* NULL when memory is out. */
static noted *new_noted(relay *r, const char *key, uint64_t size, const char *identity)
{
	noted *o = calloc(1, sizeof(*o));
	if (o && !(o->key = strdup(key))) {
		free(o);
		o = NULL;
	}
	if (!o)
		return NULL;
	o->size = size;
	memcpy(o->identity, identity, sizeof(o->identity));
	bool ok = shd_vec_reserve(&r->objects, 1);
	if (ok)
		(void)shd_map_add(&r->by_key, shd_str_of(o->key), r->objects.count, &ok);
	if (!ok) {
		free_noted(o);
		return NULL;
	}
	shd_vec_push(&r->objects, o);
	return o;
}

/* What cannot be noted is read by the others themselves. */
static void take_note(noted *o, uint64_t offset, const void *buf, size_t len)
{
	note n = {.offset = offset, .len = len, .bytes = malloc(len)};
	if (!n.bytes)
		return;
	memcpy(n.bytes, buf, len);
	shd_vec_push(&o->notes, n);
	if (o->notes.failed) {
		o->notes.failed = false;
		free(n.bytes);
	}
}

static bool answer_from_notes(const noted *o, uint64_t offset, void *buf, size_t len)
{
	for (size_t i = 0; o && i < o->notes.count; i++) {
		const note *n = &o->notes.items[i];
		if (offset >= n->offset && len <= n->len && offset - n->offset <= n->len - len) {
			memcpy(buf, n->bytes + (offset - n->offset), len);
			return true;
		}
	}
	return false;
}

/* ---- readers */

/* Are the bytes that were noted those that it has? */
static int compare_notes(const noted *o, const sherd_reader *now, bool *same, sherd_error *err)
{
	*same = true;
	for (size_t i = 0; i < o->notes.count && *same; i++) {
		const note *n = &o->notes.items[i];
		SHD_AUTO_FREE uint8_t *bytes = malloc(n->len ? n->len : 1);
		if (!bytes)
			return shd_fail_nomem(err);
		TRY(sherd_reader_at(now, n->offset, bytes, n->len, err));
		*same = memcmp(bytes, n->bytes, n->len) == 0;
	}
	return SHERD_OK;
}

/* The object may have been replaced since it was noted. Where stores can lock, identities differ from host to host, and
 * what was noted, such as a head with its set id, tells. */
static int check_same(const relay_reader *r, const sherd_reader *now, sherd_error *err)
{
	bool local = sherd_store_caps(r->relay->inside) & SHERD_CAP_LOCK;
	bool same = sherd_reader_size(now) == r->base.size;
	if (same && local)
		TRY(compare_notes(r->object, now, &same, err));
	else if (same)
		same = strcmp(sherd_reader_identity(now), r->base.identity) == 0;
	if (same)
		return SHERD_OK;
	return shd_fail(err, SHERD_ECONFLICT, "changed", "it is another object than the one that rank 0 opened");
}

static int relay_inside(const relay_reader *reader, const sherd_reader **out, sherd_error *err)
{
	relay_reader *r = (relay_reader *)(uintptr_t)reader; /* only what its lock guards is changed */
	sherd_reader *now = NULL;
	int rc = SHERD_OK;
	(void)pthread_mutex_lock(&r->relay->lock);
	if (!r->inside) {
		rc = sherd_store_read(&now, r->relay->inside, r->object->key, err);
		if (rc == SHERD_OK)
			rc = check_same(r, now, err);
		if (rc == SHERD_OK)
			r->inside = TAKE(now);
	}
	*out = r->inside;
	(void)pthread_mutex_unlock(&r->relay->lock);
	sherd_reader_close(now);
	return rc;
}

static int relay_at(const sherd_reader *reader, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	const relay_reader *r = (const relay_reader *)reader;
	const sherd_reader *inside;
	if (!r->relay->recording && answer_from_notes(r->object, offset, buf, len))
		return SHERD_OK;
	TRY(relay_inside(r, &inside, err));
	TRY(sherd_reader_at(inside, offset, buf, len, err));
	if (r->relay->recording && r->object) {
		(void)pthread_mutex_lock(&r->relay->lock);
		/* A reader of what has been replaced meanwhile has nothing to add. */
		if (strcmp(r->object->identity, r->base.identity) == 0)
			take_note(r->object, offset, buf, len);
		(void)pthread_mutex_unlock(&r->relay->lock);
	}
	return SHERD_OK;
}

static int relay_map(const void **out, const sherd_reader *reader, uint64_t offset, size_t len, sherd_error *err)
{
	const sherd_reader *inside;
	TRY(relay_inside((const relay_reader *)reader, &inside, err));
	return sherd_reader_map(out, inside, offset, len, err);
}

static void relay_advise(const sherd_reader *reader, uint64_t offset, uint64_t len, sherd_advice advice)
{
	const sherd_reader *inside;
	if (relay_inside((const relay_reader *)reader, &inside, NULL) == SHERD_OK)
		sherd_reader_advise(inside, offset, len, advice);
}

static bool relay_cached(const sherd_reader *reader, uint64_t offset, uint64_t len)
{
	const sherd_reader *inside;
	return relay_inside((const relay_reader *)reader, &inside, NULL) == SHERD_OK &&
	       sherd_reader_cached(inside, offset, len);
}

static int relay_check(const sherd_reader *reader, sherd_error *err)
{
	const relay_reader *r = (const relay_reader *)reader;
	(void)pthread_mutex_lock(&r->relay->lock);
	const sherd_reader *inside = r->inside;
	(void)pthread_mutex_unlock(&r->relay->lock);
	return inside ? sherd_reader_check(inside, err) : SHERD_OK;
}

static void relay_close_reader(sherd_reader *reader)
{
	sherd_reader_close(((relay_reader *)reader)->inside);
	free(reader);
}

static const struct sherd_reader_ops relay_reader_ops = {
	.at = relay_at,
	.map = relay_map,
	.close = relay_close_reader,
	.advise = relay_advise,
	.cached = relay_cached,
	.check = relay_check,
};

/* ---- the store */

/* With the lock held; NULL when memory is out. An object that is another one by now is noted anew. */
static noted *note_object(relay *s, const relay_reader *r, const char *key)
{
	noted *o = find_noted(s, key);
	if (!o)
		return new_noted(s, key, r->base.size, r->base.identity);
	if (strcmp(o->identity, r->base.identity) != 0) {
		forget_notes(o);
		o->size = r->base.size;
		memcpy(o->identity, r->base.identity, sizeof(o->identity));
	}
	return o;
}

static int read_inside(relay *s, relay_reader *r, const char *key, sherd_error *err)
{
	TRY(sherd_store_read(&r->inside, s->inside, key, err));
	r->base.size = sherd_reader_size(r->inside);
	memcpy(r->base.identity, sherd_reader_identity(r->inside), sizeof(r->base.identity));
	if (!s->recording)
		return SHERD_OK;
	(void)pthread_mutex_lock(&s->lock);
	r->object = note_object(s, r, key);
	(void)pthread_mutex_unlock(&s->lock);
	return r->object ? SHERD_OK : shd_fail_nomem(err);
}

static int relay_read(sherd_reader **out, sherd_store *store, const char *key, sherd_error *err)
{
	relay *s = (relay *)store;
	relay_reader *r = calloc(1, sizeof(*r));
	if (!r)
		return shd_fail_nomem(err);
	*r = (relay_reader){.base = {.ops = &relay_reader_ops}, .relay = s};
	int rc = SHERD_OK;
	if (!s->recording && (r->object = find_noted(s, key))) {
		r->base.size = r->object->size;
		memcpy(r->base.identity, r->object->identity, sizeof(r->base.identity));
	} else {
		rc = read_inside(s, r, key, err);
	}
	if (rc < 0)
		relay_close_reader(&r->base);
	else
		*out = &r->base;
	return rc;
}

static int relay_list(sherd_store *store, const char *prefix, const char *after, sherd_list_fn *each, void *arg,
                      sherd_error *err)
{
	return sherd_store_list(((relay *)store)->inside, prefix, after, each, arg, err);
}

static int relay_stat(sherd_stat *out, sherd_store *store, const char *key, sherd_error *err)
{
	return sherd_store_stat(out, ((relay *)store)->inside, key, err);
}

static int relay_refuse(sherd_error *err)
{
	return shd_fail(err, SHERD_EUNSUPPORTED, "read-only", "nothing is written through what is read together");
}

static int relay_write(sherd_writer **out, sherd_store *store, const char *key, const sherd_write_options *options,
                       sherd_error *err)
{
	(void)out, (void)store, (void)key, (void)options;
	return relay_refuse(err);
}

static int relay_remove(sherd_store *store, const char *key, const char *if_identity, sherd_error *err)
{
	(void)store, (void)key, (void)if_identity;
	return relay_refuse(err);
}

static void relay_close(sherd_store *store)
{
	relay *s = (relay *)store;
	for (size_t i = 0; i < s->objects.count; i++)
		free_noted(s->objects.items[i]);
	shd_vec_done(&s->objects);
	shd_map_done(&s->by_key);
	(void)pthread_mutex_destroy(&s->lock);
	free(s);
}

/* ---- notes on their way: objects, each its key, size, identity, and the ranges that were read */

static void put_noted(const noted *o, shd_buf *out)
{
	shd_buf_u32(out, (uint32_t)strlen(o->key));
	shd_buf_append(out, o->key, strlen(o->key));
	shd_buf_u64(out, o->size);
	shd_buf_append(out, o->identity, sizeof(o->identity));
	shd_buf_u32(out, (uint32_t)o->notes.count);
	for (size_t i = 0; i < o->notes.count; i++) {
		shd_buf_u64(out, o->notes.items[i].offset);
		shd_buf_u64(out, o->notes.items[i].len);
		shd_buf_append(out, o->notes.items[i].bytes, o->notes.items[i].len);
	}
}

int shd_relay_notes(sherd_store *store, shd_buf *out, sherd_error *err)
{
	relay *s = (relay *)store;
	(void)pthread_mutex_lock(&s->lock);
	s->recording = false;
	for (size_t i = 0; i < s->objects.count; i++)
		put_noted(s->objects.items[i], out);
	(void)pthread_mutex_unlock(&s->lock);
	return shd_buf_check(out, err);
}

static int take_noted(relay *s, shd_cursor *in, sherd_error *err)
{
	uint32_t len = shd_cursor_u32(in);
	const char *key = (const char *)shd_cursor_bytes(in, len);
	uint64_t size = shd_cursor_u64(in);
	const char *identity = (const char *)shd_cursor_bytes(in, sizeof(((noted *)0)->identity));
	TRY(shd_cursor_check(in, "what another rank read", err));
	SHD_AUTO_FREE char *name = strndup(key, len);
	noted *o = name ? new_noted(s, name, size, identity) : NULL;
	if (!o)
		return shd_fail_nomem(err);
	for (uint32_t count = shd_cursor_u32(in); count && !in->failed; count--) {
		uint64_t offset = shd_cursor_u64(in);
		uint64_t range = shd_cursor_u64(in);
		const uint8_t *bytes = shd_cursor_bytes(in, range);
		if (bytes)
			take_note(o, offset, bytes, (size_t)range);
	}
	return shd_cursor_check(in, "what another rank read", err);
}

int shd_relay_open(sherd_store **out, sherd_store *inside, const shd_buf *notes, sherd_error *err)
{
	relay *s = calloc(1, sizeof(*s));
	if (!s)
		return shd_fail_nomem(err);
	*s = (relay){.inside = inside, .recording = !notes};
	s->ops = (struct sherd_store_ops){
		.scheme = inside->ops->scheme,
		.caps = sherd_store_caps(inside) & (SHERD_CAP_MAP | SHERD_CAP_REMOTE | SHERD_CAP_HELD),
		.read = relay_read,
		.write = relay_write,
		.list = relay_list,
		.stat = relay_stat,
		.remove = relay_remove,
		.close = relay_close,
	};
	s->base = (sherd_store){.ops = &s->ops, .around = inside};
	(void)pthread_mutex_init(&s->lock, NULL);
	int rc = SHERD_OK;
	shd_cursor in = shd_cursor_over(notes ? notes->data : NULL, notes ? notes->len : 0);
	while (rc == SHERD_OK && shd_cursor_left(&in))
		rc = take_noted(s, &in, err);
	if (rc < 0)
		relay_close(&s->base);
	else
		*out = &s->base;
	return rc;
}

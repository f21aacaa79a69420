#include "engine/tensors/npz.h"

#include "base/limits.h"
#include "base/pool.h"
#include "engine/tensors/archive.h"
#include "engine/tensors/bundle.h"
#include "engine/tensors/files.h"
#include "engine/tensors/npy_folder.h"
#include "format/tensor/npy_manifest.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)

/* Readers that stay open. A reader of a compressed member takes up to 5 MiB and remembers how far it came. */
enum { OPEN_READERS = 16 };

/* One member. */
typedef struct member {
	const shd_zip_entry *entry;
	uint64_t data; /* where its elements begin, counted from its first byte */
	bool swap, fortran;
	_Atomic bool checked; /* it has the CRC-32 of the directory */
} member;

/* A reader that somebody has, or that waits for the next. */
typedef struct slot {
	sherd_reader *reader; /* NULL: none */
	size_t member;
	unsigned users;
	uint64_t used; /* when, by the clock of the bundle */
} slot;

typedef struct npz_bundle {
	sherd_bundle base;
	shd_archive archive;
	member *members;
	pthread_mutex_t lock; /* of the slots */
	bool locked;          /* the lock was made */
	uint64_t clock;
	slot slots[OPEN_READERS];
} npz_bundle;

/* ---- reading */

static int npz_open_member(const shd_archive *a, const shd_zip_entry *e, sherd_reader **out, sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	TRY(shd_archive_read(a, e, &reader, err));
	TRY(shd_archive_name(a, e, reader, err));
	*out = TAKE(reader);
	return SHERD_OK;
}

/* Errors name the member. */
static int npz_check_bytes(const shd_archive *a, const shd_zip_entry *e, uint8_t *buf, shd_meter *meter,
                           sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	int rc = shd_archive_check(a, e, buf, meter, err);
	if (rc == SHERD_OK)
		return rc;
	shd_buf_printf(&key, "%s/%s", sherd_reader_key(a->reader), e->name);
	shd_buf_u8(&key, 0);
	return key.failed ? rc : shd_in_object(err, rc, (const char *)key.data);
}

/* The slot of the member, or else the one that was used longest ago and by nobody now; NULL when all are in use. */
static slot *choose_slot(npz_bundle *b, size_t index)
{
	slot *oldest = NULL;
	for (size_t i = 0; i < OPEN_READERS; i++) {
		slot *s = &b->slots[i];
		if (s->reader && s->member == index)
			return s;
		if (!s->users && (!oldest || s->used < oldest->used))
			oldest = s;
	}
	return oldest;
}

static int take_reader(npz_bundle *b, size_t index, slot **out, sherd_error *err)
{
	int rc = SHERD_OK;
	(void)pthread_mutex_lock(&b->lock);
	slot *s = choose_slot(b, index);
	if (s && (!s->reader || s->member != index)) {
		sherd_reader *reader = NULL;
		rc = npz_open_member(&b->archive, b->members[index].entry, &reader, err);
		if (rc == SHERD_OK) {
			sherd_reader_close(s->reader);
			s->reader = reader;
			s->member = index;
		}
	}
	if (s && rc == SHERD_OK) {
		s->users++;
		s->used = ++b->clock;
	}
	(void)pthread_mutex_unlock(&b->lock);
	*out = s;
	return rc;
}

static void give_reader(npz_bundle *b, slot *s)
{
	(void)pthread_mutex_lock(&b->lock);
	s->users--;
	(void)pthread_mutex_unlock(&b->lock);
}

/* Whoever copies an array makes new checksums of it, so a member is held against the directory before its first byte is
 * handed out. Two threads may do that, and find the same. */
static int npz_check_once(const npz_bundle *b, size_t index, shd_meter *meter, sherd_error *err)
{
	member *m = &b->members[index];
	if (atomic_load_explicit(&m->checked, memory_order_acquire))
		return SHERD_OK;
	SHD_AUTO_FREE void *buf = malloc(SHD_ARCHIVE_CHUNK);
	if (!buf)
		return shd_fail_nomem(err);
	TRY(npz_check_bytes(&b->archive, m->entry, buf, meter, err));
	atomic_store_explicit(&m->checked, true, memory_order_release);
	return SHERD_OK;
}

typedef struct preparation {
	const npz_bundle *bundle;
	const size_t *tensors;
	shd_meter *meter;
} preparation;

static int prepare_member(void *arg, size_t index, sherd_error *err)
{
	const preparation *p = arg;
	return npz_check_once(p->bundle, p->tensors[index], p->meter, err);
}

static int npz_prepare(const sherd_bundle *bundle, const size_t *tensors, size_t count, sherd_pool *pool,
                       shd_meter *meter, sherd_error *err)
{
	preparation p = {.bundle = (const npz_bundle *)bundle, .tensors = tensors, .meter = meter};
	for (size_t i = 0; i < count; i++) {
		const member *m = &p.bundle->members[tensors[i]];
		meter->total += atomic_load_explicit(&m->checked, memory_order_relaxed) ? 0 : m->entry->size;
	}
	return shd_pool_run(pool, count, prepare_member, &p, err);
}

static int npz_read_from(npz_bundle *b, size_t index, const sherd_reader *reader, uint64_t offset, void *buf,
                         size_t len, sherd_error *err)
{
	const member *m = &b->members[index];
	const sherd_tensor *t = &b->base.tensors[index];
	shd_npy head = {.dtype = t->dtype,
	                .ndim = t->ndim,
	                .bytes = t->bytes,
	                .data = m->data,
	                .swap = m->swap,
	                .fortran = m->fortran};
	memcpy(head.shape, t->shape, t->ndim * sizeof(head.shape[0]));
	TRY(npz_check_once(b, index, NULL, err));
	return shd_npy_read(reader, &head, offset, buf, len, err);
}

static int npz_read_part(const sherd_bundle *bundle, size_t index, uint64_t offset, void *buf, size_t len,
                         sherd_error *err)
{
	npz_bundle *b = (npz_bundle *)(uintptr_t)bundle; /* its slots have a lock of their own */
	slot *s;
	TRY(take_reader(b, index, &s, err));
	if (s) {
		int rc = npz_read_from(b, index, s->reader, offset, buf, len, err);
		give_reader(b, s);
		return rc;
	}
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	TRY(npz_open_member(&b->archive, b->members[index].entry, &reader, err));
	return npz_read_from(b, index, reader, offset, buf, len, err);
}

static int npz_map(const void **out, const sherd_bundle *bundle, size_t index, sherd_error *err)
{
	const npz_bundle *b = (const npz_bundle *)bundle;
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	const sherd_tensor *t = &bundle->tensors[index];
	member *m = &b->members[index];
	if (m->entry->method != SHD_ZIP_STORED || m->swap || m->fortran)
		return shd_fail(err, SHERD_EUNSUPPORTED, "no-map", "%.128s is %s", t->name,
		                m->swap || m->fortran ? "stored in another order" : "compressed");
	TRY(npz_open_member(&b->archive, m->entry, &reader, err));
	TRY(npz_check_once(b, index, NULL, err));
	return sherd_reader_map(out, reader, m->data, (size_t)t->bytes, err);
}

static void npz_close(sherd_bundle *bundle)
{
	npz_bundle *b = (npz_bundle *)bundle;
	for (size_t i = 0; i < OPEN_READERS; i++)
		sherd_reader_close(b->slots[i].reader);
	shd_archive_done(&b->archive);
	if (b->locked)
		(void)pthread_mutex_destroy(&b->lock);
}

static const shd_bundle_ops npz_ops = {
	.read = npz_read_part, .map = npz_map, .prepare = npz_prepare, .close = npz_close};

/* ---- opening */

/* NumPy goes by the bytes: what begins like an array is one, whatever its name. */
static int is_array(const sherd_reader *reader, bool *out, sherd_error *err)
{
	char magic[SHD_NPY_MAGIC_BYTES];
	*out = false;
	if (sherd_reader_size(reader) < sizeof(magic))
		return SHERD_OK;
	TRY(sherd_reader_at(reader, 0, magic, sizeof(magic), err));
	*out = memcmp(magic, SHD_NPY_MAGIC, sizeof(magic)) == 0;
	return SHERD_OK;
}

/* A head that is packed may not claim much more than lies in the archive. */
enum { MOST_UNPACKED_HEAD = 1 << 16 };

/* Members that are no arrays are bytes. */
static int read_member_head(const sherd_reader *reader, const shd_zip_entry *e, const sherd_limits *given, shd_npy *out,
                            sherd_error *err)
{
	bool named = shd_str_ends(shd_str_of(e->name), SHD_NPY_SUFFIX), array = named;
	sherd_limits limits = shd_limits_or_default(given);
	if (e->method != SHD_ZIP_STORED && limits.metadata_bytes > e->stored + MOST_UNPACKED_HEAD)
		limits.metadata_bytes = e->stored + MOST_UNPACKED_HEAD;
	if (!named)
		TRY(is_array(reader, &array, err));
	if (array)
		return shd_npy_read_head(reader, &limits, out, err);
	*out = (shd_npy){
		.dtype = SHERD_U8, .ndim = 1, .shape = {sherd_reader_size(reader)}, .bytes = sherd_reader_size(reader)};
	return SHERD_OK;
}

static int npz_take_member(npz_bundle *b, const shd_zip_entry *e, const sherd_limits *limits, member *m,
                           sherd_tensor *t, sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	shd_str name = shd_str_of(e->name);
	shd_npy head;
	bool named = shd_str_ends(name, SHD_NPY_SUFFIX);
	TRY(npz_open_member(&b->archive, e, &reader, err));
	TRY(read_member_head(reader, e, limits, &head, err));
	name.len -= named ? strlen(SHD_NPY_SUFFIX) : 0;
	m->entry = e;
	m->data = head.data;
	m->swap = head.swap;
	m->fortran = head.fortran;
	atomic_init(&m->checked, false);
	*t = (sherd_tensor){.name = shd_arena_str(&b->base.arena, name),
	                    .dtype = head.dtype,
	                    .ndim = head.ndim,
	                    .shape = shd_arena_copy(&b->base.arena, head.shape, head.ndim * sizeof(head.shape[0])),
	                    .bytes = head.bytes};
	return t->name && t->shape ? SHERD_OK : shd_fail_nomem(err);
}

static int npz_take_members(npz_bundle *b, const sherd_bundle_options *options, sherd_error *err)
{
	size_t count = b->archive.count;
	b->members = shd_arena_alloc(&b->base.arena, count + 1, sizeof(*b->members));
	sherd_tensor *tensors = shd_arena_alloc(&b->base.arena, count + 1, sizeof(*tensors));
	if (!b->members || !tensors)
		return shd_fail_nomem(err);
	b->base.tensors = tensors;
	b->base.count = count;
	SHD_DONE(shd_meter_done) shd_meter meter;
	shd_meter_init(&meter, options->progress, count);
	TRY(shd_meter_ask(&meter, err));
	for (size_t i = 0; i < count; i++) {
		TRY(npz_take_member(b, &b->archive.entries[i], options->limits, &b->members[i], &tensors[i], err));
		if (b->archive.entries[i].method != SHD_ZIP_STORED)
			b->base.order = SHD_BUNDLE_TENSORS;
		TRY(shd_meter_add(&meter, 1, err));
	}
	return SHERD_OK;
}

static int npz_open_archive(shd_archive *a, shd_evidence *e, const sherd_limits *limits, sherd_error *err)
{
	static const shd_zip_limits rules = {0};
	sherd_reader *reader;
	TRY(shd_evidence_take_reader(e, &reader, err));
	return shd_archive_open(a, reader, &rules, limits, err);
}

static int npz_open(sherd_bundle **out, shd_evidence *e, const sherd_bundle_options *options, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) base = NULL;
	TRY(shd_bundle_new(&base, sizeof(npz_bundle), &npz_ops, SHERD_FORMAT_NPZ, err));
	npz_bundle *b = (npz_bundle *)base;
	b->locked = pthread_mutex_init(&b->lock, NULL) == 0;
	if (!b->locked)
		return shd_fail_nomem(err);
	TRY(npz_open_archive(&b->archive, e, options->limits, err));
	TRY(npz_take_members(b, options, err));
	TRY(shd_in_object(err, shd_bundle_finish(base, err), e->key));
	*out = TAKE(base);
	return SHERD_OK;
}

/* ---- verify */

enum { CHECKED_AT_ONCE = 64 };

static int npz_check_member(const shd_archive *a, const shd_zip_entry *e, const sherd_verify_options *o, uint8_t *buf,
                            shd_meter *meter, sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	shd_npy head;
	TRY(npz_open_member(a, e, &reader, err));
	if (!o->quick)
		TRY(npz_check_bytes(a, e, buf, meter, err));
	return read_member_head(reader, e, o->limits, &head, err);
}

/* Members that are checked by all workers, and told in their order. */
typedef struct npz_checking {
	const shd_archive *archive;
	const sherd_verify_options *options;
	shd_meter meter;
	size_t first; /* of those that are being checked */
	struct npz_found {
		int rc;
		sherd_error error;
	} found[CHECKED_AT_ONCE];
} npz_checking;

static int npz_check_one(void *arg, size_t index, sherd_error *err)
{
	npz_checking *c = arg;
	struct npz_found *f = &c->found[index];
	SHD_AUTO_FREE void *buf = malloc(SHD_ARCHIVE_CHUNK);
	if (!buf)
		return shd_fail_nomem(err);
	*f = (struct npz_found){.rc = SHERD_OK};
	f->rc = npz_check_member(c->archive, &c->archive->entries[c->first + index], c->options, buf, &c->meter,
	                         &f->error);
	return SHERD_OK;
}

static int npz_check_some(npz_checking *c, sherd_report *r, const char *key, sherd_error *err)
{
	size_t count = c->archive->count - c->first;
	count = count < CHECKED_AT_ONCE ? count : CHECKED_AT_ONCE;
	TRY(shd_pool_run(c->options->pool, count, npz_check_one, c, err));
	for (size_t i = 0; i < count; i++)
		TRY(shd_report_take(r, c->found[i].rc, &c->found[i].error, key, err));
	c->first += count;
	return SHERD_OK;
}

static int npz_check_members(sherd_report *r, const shd_archive *a, const char *key, const sherd_verify_options *o,
                             sherd_error *err)
{
	uint64_t total = 0;
	SHD_AUTO_FREE npz_checking *c = calloc(1, sizeof(*c));
	if (!c)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < a->count; i++)
		total += a->entries[i].size;
	c->archive = a;
	c->options = o;
	shd_meter_init(&c->meter, o->progress, o->quick ? 0 : total);
	int rc = SHERD_OK;
	while (rc == SHERD_OK && c->first < a->count)
		rc = npz_check_some(c, r, key, err);
	shd_meter_done(&c->meter);
	return rc;
}

/* Every member by itself, so that all that are damaged are told; then what only opening finds, two of one name. */
static int npz_verify(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *o,
                      sherd_error *err)
{
	SHD_DONE(shd_archive_done) shd_archive a = {0};
	SHD_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	const sherd_bundle_options options = {.limits = o->limits};
	shd_evidence e = {.store = store, .key = key};
	sherd_error found = {0};
	int rc = npz_open_archive(&a, &e, o->limits, &found);
	TRY(shd_report_take(r, rc, &found, key, err));
	if (rc < 0)
		return SHERD_OK;
	size_t before = sherd_report_errors(r);
	TRY(npz_check_members(r, &a, key, o, err));
	r->checked += sherd_reader_size(a.reader);
	for (size_t i = 0; o->quick && i < a.count; i++)
		r->checked -= a.entries[i].stored < r->checked ? a.entries[i].stored : 0;
	if (sherd_report_errors(r) > before)
		return SHERD_OK;
	rc = npz_open(&bundle, &e, &options, &found);
	return shd_report_take(r, rc, &found, key, err);
}

/* ---- the entry */

/* np.savez() of nothing is an archive without entries; and who names it so may have put other things beside arrays. */
static int npz_probe(shd_evidence *e, sherd_error *err)
{
	const shd_str *names;
	size_t count;
	if (!shd_str_ends(shd_str_of(e->key), ".npz"))
		return 0;
	if (shd_str_starts(e->first, "PK\5\6"))
		return 1;
	TRY(shd_evidence_zip(e, &names, &count, err));
	for (size_t i = 0; i < count; i++)
		if (shd_str_ends(names[i], SHD_NPY_SUFFIX))
			return 1;
	return 0;
}

const shd_format_entry shd_format_npz = {
	.info = {.id = SHERD_FORMAT_NPZ,
                 .kind = SHERD_KIND_TENSORS,
                 .name = "npz",
                 .noun = "a NumPy archive",
                 .endings = {{".npz", SHERD_ENDING_OBJECT}},
                 .written = true,
                 .holds = SHERD_HOLDS_MANY | SHERD_HOLDS_EMPTY_NAMES,
                 .takes = SHERD_TAKES_COMPRESSION | SHERD_TAKES_REPLACE,
                 .dtypes = SHD_NPY_DTYPES,
                 .most_dims = SHERD_MAX_DIMS,
                 .most_name = SHD_ZIP_MOST_NAME - 4},
	.zip_ending = SHD_NPY_SUFFIX,
	.probe = npz_probe,
	.open = npz_open,
	.verify = npz_verify,
	.write = shd_write_npz,
};

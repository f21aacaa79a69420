#include "engine/torch/zip.h"

#include "base/limits.h"
#include "base/map.h"
#include "codec/json.h"
#include "engine/tensors/blame.h"
#include "engine/torch/item.h"

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)

enum { MOST_UNPACKED = 64, MOST_BYTEORDER = 16 };

/* Archives may be told not to write checksums: then none has one. */
static bool is_unchecked(const shd_archive *a)
{
	bool any = false;
	for (size_t i = 0; i < a->count; i++) {
		if (a->entries[i].crc)
			return false;
		any |= a->entries[i].size > 0;
	}
	return any;
}

int shd_torch_zip_check(const shd_torch_zip *z, const shd_zip_entry *e, uint8_t *buf, shd_meter *meter,
                        sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	int rc = z->unchecked ? SHERD_OK : shd_archive_check(&z->archive, e, buf, meter, err);
	if (rc == SHERD_OK)
		return rc;
	shd_buf_printf(&key, "%s/%s", sherd_reader_key(z->archive.reader), e->name);
	shd_buf_u8(&key, 0);
	return key.failed ? rc : shd_in_object(err, rc, (const char *)key.data);
}

static int check_alone(const shd_torch_zip *z, const shd_zip_entry *e, shd_meter *meter, sherd_error *err)
{
	SHD_AUTO_FREE void *buf = malloc(SHD_ARCHIVE_CHUNK);
	if (!buf)
		return shd_fail_nomem(err);
	return shd_torch_zip_check(z, e, buf, meter, err);
}

/* The entry <root>/<name>; root is what the first entry's name begins with, as torch has it. NULL: there is none. */
static int find_entry(const shd_archive *a, const char *name, const shd_zip_entry **out, sherd_error *err)
{
	SHD_AUTO_BUF full = {0};
	const char *first = a->count ? a->entries[0].name : "", *slash = strchr(first, '/');
	shd_buf_append(&full, first, slash ? (size_t)(slash - first) + 1 : 0);
	shd_buf_str(&full, name);
	TRY(shd_buf_end(&full, err));
	*out = shd_archive_find(a, (const char *)full.data);
	return SHERD_OK;
}

static int zip_open_entry(const shd_archive *a, const shd_zip_entry *e, sherd_reader **out, sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	TRY(shd_archive_read(a, e, &reader, err));
	TRY(shd_archive_name(a, e, reader, err));
	*out = TAKE(reader);
	return SHERD_OK;
}

static int read_byteorder(shd_torch_zip *z, sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	const shd_zip_entry *e;
	char text[MOST_BYTEORDER] = "";
	TRY(find_entry(&z->archive, "byteorder", &e, err));
	if (!e)
		return SHERD_OK;
	TRY(zip_open_entry(&z->archive, e, &reader, err));
	if (e->size < sizeof(text))
		TRY(sherd_reader_at(reader, 0, text, (size_t)e->size, err));
	z->big = strcmp(text, "big") == 0;
	if (!z->big && strcmp(text, "little") != 0)
		return shd_in_object(err, shd_fail(err, SHERD_ECORRUPT, "bad-text", "no order of bytes is called so"),
		                     sherd_reader_key(reader));
	return SHERD_OK;
}

/* Before anything is allocated for it. */
static int check_pickle(const shd_zip_entry *e, const sherd_limits *limits, sherd_error *err)
{
	uint64_t most = shd_limits_or_default(limits).metadata_bytes;
	if (e->size > most || (e->method != SHD_ZIP_STORED && e->size / MOST_UNPACKED > e->stored + 1024))
		return shd_fail_at(err, SHERD_ELIMIT, "too-large", e->head, "a pickle of %llu bytes",
		                   (unsigned long long)e->size);
	return SHERD_OK;
}

/* A JSON object of texts. */
static int zip_decode_pairs(const char *text, size_t len, sherd_bundle *b, sherd_error *err)
{
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	SHD_AUTO_VEC SHD_VEC(sherd_pair) pairs = {0};
	SHD_DONE(shd_map_done) shd_map seen = {0};
	shd_str key, value;
	bool ok = true;
	int rc;
	shd_vec_append(&pairs, b->pairs, b->pair_count);
	for (size_t i = 0; ok && i < b->pair_count; i++)
		(void)shd_map_add(&seen, shd_str_of(b->pairs[i].key), i, &ok);
	TRY(shd_json_open(&j, text, len, NULL, err));
	TRY(shd_json_object(j, err));
	while ((rc = shd_json_key(j, &key, err)) > 0) {
		sherd_pair p = {.key = shd_arena_str(&b->arena, key)};
		TRY(shd_json_string(j, &value, err));
		p.value = shd_arena_str(&b->arena, value);
		if (!p.key || !p.value)
			return shd_fail_nomem(err);
		if (shd_map_find(&seen, shd_str_of(p.key)) == SHD_MAP_NONE)
			shd_vec_push(&pairs, p);
	}
	TRY(rc);
	TRY(shd_json_end(j, err));
	TRY(shd_vec_check(&pairs, err));
	b->pairs = shd_vec_copy(&pairs, &b->arena);
	b->pair_count = pairs.count;
	return ok && b->pairs ? SHERD_OK : shd_fail_nomem(err);
}

int shd_torch_zip_pairs(const shd_torch_zip *z, sherd_bundle *bundle, const sherd_limits *limits, sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	const shd_zip_entry *e;
	TRY(find_entry(&z->archive, SHD_TORCH_PAIRS, &e, err));
	if (!e)
		return SHERD_OK;
	TRY(check_pickle(e, limits, err));
	TRY(check_alone(z, e, NULL, err));
	TRY(zip_open_entry(&z->archive, e, &reader, err));
	SHD_AUTO_FREE char *text = malloc((size_t)e->size + 1);
	if (!text)
		return shd_fail_nomem(err);
	TRY(sherd_reader_at(reader, 0, text, (size_t)e->size, err));
	return shd_in_object(err, zip_decode_pairs(text, (size_t)e->size, bundle, err), sherd_reader_key(reader));
}

static int find_storage(shd_torch_zip *z, const shd_torch_storage *s, shd_torch_member *m, sherd_error *err)
{
	SHD_AUTO_BUF name = {0};
	shd_buf_printf(&name, "data/%s", s->key);
	TRY(shd_buf_end(&name, err));
	TRY(find_entry(&z->archive, (const char *)name.data, &m->entry, err));
	if (!m->entry)
		return shd_fail(err, SHERD_ECORRUPT, "missing-piece", "storage %.100s is not in the archive", s->key);
	if (m->entry->size != s->bytes)
		return shd_fail_at(err, SHERD_ECORRUPT, "size-mismatch", m->entry->head,
		                   "storage %.100s has %llu bytes; the pickle says %llu", s->key,
		                   (unsigned long long)m->entry->size, (unsigned long long)s->bytes);
	return SHERD_OK;
}

static int find_storages(shd_torch_zip *z, shd_arena *arena, sherd_error *err)
{
	z->members = shd_arena_alloc(arena, z->state.storage_count + 1, sizeof(*z->members));
	if (!z->members)
		return shd_fail_nomem(err);
	memset(z->members, 0, (z->state.storage_count + 1) * sizeof(*z->members));
	for (size_t i = 0; i < z->state.storage_count; i++)
		TRY(find_storage(z, &z->state.storages[i], &z->members[i], err));
	return SHERD_OK;
}

static int read_pickle(shd_torch_zip *z, const sherd_limits *limits, shd_arena *arena, shd_arena *temporary,
                       shd_pickle *out, sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	const shd_zip_entry *e;
	TRY(find_entry(&z->archive, "data.pkl", &e, err));
	if (!e)
		return shd_fail(err, SHERD_ECORRUPT, "no-index", "the archive has no data.pkl beside its first entry");
	TRY(check_pickle(e, limits, err));
	TRY(check_alone(z, e, NULL, err));
	TRY(zip_open_entry(&z->archive, e, &reader, err));
	char *bytes = shd_arena_alloc(temporary, (size_t)e->size + 1, 1);
	if (!bytes)
		return shd_fail_nomem(err);
	TRY(sherd_reader_at(reader, 0, bytes, (size_t)e->size, err));
	int rc = shd_pickle_decode(bytes, (size_t)e->size, temporary, out, err);
	if (rc == SHERD_OK)
		rc = shd_torch_state_of(out, limits, arena, &z->state, err);
	z->trailing = out->bytes < e->size;
	return shd_in_object(err, rc, sherd_reader_key(reader));
}

int shd_torch_zip_open(shd_torch_zip *z, sherd_reader *reader, const sherd_limits *limits, shd_arena *arena,
                       shd_arena *temporary, shd_pickle *pickle, sherd_error *err)
{
	static const shd_zip_limits rules = {0};
	shd_pickle own, *p = pickle ? pickle : &own;
	*z = (shd_torch_zip){.archive.reader = reader};
	z->locked = pthread_mutex_init(&z->lock, NULL) == 0;
	if (!z->locked)
		return shd_fail_nomem(err);
	TRY(shd_archive_open(&z->archive, reader, &rules, limits, err));
	z->unchecked = is_unchecked(&z->archive);
	TRY(shd_in_reader(err, read_pickle(z, limits, arena, temporary, p, err), reader));
	TRY(shd_in_reader(err, read_byteorder(z, err), reader));
	return shd_in_reader(err, find_storages(z, arena, err), reader);
}

void shd_torch_zip_done(shd_torch_zip *z)
{
	for (size_t i = 0; z->members && i < z->state.storage_count; i++)
		sherd_reader_close(atomic_load_explicit(&z->members[i].reader, memory_order_relaxed));
	shd_archive_done(&z->archive);
	if (z->locked)
		(void)pthread_mutex_destroy(&z->lock);
	*z = (shd_torch_zip){0};
}

static int member_reader(shd_torch_zip *z, shd_torch_member *m, const sherd_reader **out, sherd_error *err)
{
	int rc = SHERD_OK;
	sherd_reader *reader = atomic_load_explicit(&m->reader, memory_order_acquire);
	if (!reader) {
		(void)pthread_mutex_lock(&z->lock);
		reader = atomic_load_explicit(&m->reader, memory_order_acquire);
		if (!reader)
			rc = zip_open_entry(&z->archive, m->entry, &reader, err);
		if (rc == SHERD_OK)
			atomic_store_explicit(&m->reader, reader, memory_order_release);
		(void)pthread_mutex_unlock(&z->lock);
	}
	*out = reader;
	return rc;
}

/* Two threads may check one storage, and find the same. */
int shd_torch_zip_place(shd_torch_zip *z, size_t storage, shd_meter *meter, shd_torch_place *out, sherd_error *err)
{
	shd_torch_member *m = &z->members[storage];
	*out = (shd_torch_place){.big = z->big};
	TRY(member_reader(z, m, &out->reader, err));
	if (atomic_load_explicit(&m->checked, memory_order_acquire))
		return SHERD_OK;
	TRY(check_alone(z, m->entry, meter, err));
	atomic_store_explicit(&m->checked, true, memory_order_release);
	return SHERD_OK;
}

#include "engine/model/sdz.h"

#include "base/limits.h"
#include "engine/tensors/blame.h"
#include "engine/model/sdz_stream.h"

#include <stdio.h>
#include <stdlib.h>

SHD_AUTO_DEFINE(void, free)

/* ---- entries */

typedef struct entry_reader {
	sherd_reader base;
	const sherd_reader *archive;
	uint64_t data;
	shd_sdz_stream *stream; /* of a compressed one */
} entry_reader;

static int read_stored(const sherd_reader *reader, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	const entry_reader *r = (const entry_reader *)reader;
	return sherd_reader_at(r->archive, r->data + offset, buf, len, err);
}

static int map_stored(const sherd_reader *reader, uint64_t offset, size_t len, const void **out, sherd_error *err)
{
	const entry_reader *r = (const entry_reader *)reader;
	return sherd_reader_map(r->archive, r->data + offset, len, out, err);
}

static void advise_stored(const sherd_reader *reader, uint64_t offset, uint64_t len, sherd_advice advice)
{
	const entry_reader *r = (const entry_reader *)reader;
	sherd_reader_advise(r->archive, r->data + offset, len, advice);
}

static int check_stored(const sherd_reader *reader, sherd_error *err)
{
	return sherd_reader_check(((const entry_reader *)reader)->archive, err);
}

static int read_deflated(const sherd_reader *reader, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	return shd_sdz_stream_at(((const entry_reader *)reader)->stream, offset, buf, len, err);
}

static void close_entry(sherd_reader *reader)
{
	shd_sdz_stream_close(((entry_reader *)reader)->stream);
	free(reader);
}

static const struct sherd_reader_ops stored_ops = {
	.at = read_stored, .map = map_stored, .close = close_entry, .advise = advise_stored, .check = check_stored};
static const struct sherd_reader_ops deflated_ops = {.at = read_deflated, .close = close_entry};

void shd_sdz_keep(sherd_reader *reader, shd_sdz_part *parts, size_t count)
{
	if (reader->ops == &deflated_ops)
		shd_sdz_stream_keep(((entry_reader *)reader)->stream, parts, count);
	else
		free(parts);
}

/* ---- the store */

static int sdz_store_refuse(sherd_error *err)
{
	return shd_fail(err, SHERD_EUNSUPPORTED, "read-only", "an archive that was opened for reading");
}

static int refuse_write(sherd_store *store, const char *key, const sherd_write_options *options, sherd_writer **out,
                        sherd_error *err)
{
	(void)store, (void)key, (void)options, (void)out;
	return sdz_store_refuse(err);
}

static int refuse_remove(sherd_store *store, const char *key, const char *if_identity, sherd_error *err)
{
	(void)store, (void)key, (void)if_identity;
	return sdz_store_refuse(err);
}

static int sdz_store_by_name(const void *a, const void *b)
{
	const shd_zip_entry *const *x = a, *const *y = b;
	return strcmp((*x)->name, (*y)->name);
}

static const shd_zip_entry *sdz_store_find(const shd_sdz_store *z, const char *key)
{
	size_t prefix = strlen(z->prefix);
	if (strncmp(key, z->prefix, prefix) != 0 || !z->count)
		return NULL;
	const shd_zip_entry wanted = {.name = key + prefix}, *w = &wanted;
	const shd_zip_entry *const *e = bsearch(&w, z->entries, z->count, sizeof(z->entries[0]), sdz_store_by_name);
	return e ? *e : NULL;
}

int shd_sdz_find_data(const shd_sdz_store *z, const shd_zip_entry *e, uint64_t *data, sherd_error *err)
{
	uint8_t raw[SHD_ZIP_LOCAL + SHD_ZIP_MOST_NAME];
	TRY(sherd_reader_at(z->archive, e->head, raw, SHD_ZIP_LOCAL + strlen(e->name), err));
	return shd_in_reader(err, shd_zip_decode_local(raw, e, data, err), z->archive);
}

static int open_entry(sherd_store *store, const char *key, sherd_reader **out, sherd_error *err)
{
	const shd_sdz_store *z = (const shd_sdz_store *)store;
	const shd_zip_entry *e = sdz_store_find(z, key);
	uint64_t data;
	if (!e)
		return shd_fail(err, SHERD_ENOTFOUND, "not-found", "the archive has no such entry");
	TRY(shd_sdz_find_data(z, e, &data, err));
	SHD_AUTO(void, free) room = calloc(1, sizeof(entry_reader));
	entry_reader *r = room;
	if (!r)
		return shd_fail_nomem(err);
	r->archive = z->archive;
	r->data = data;
	r->base.size = e->size;
	r->base.ops = e->method == SHD_ZIP_STORED ? &stored_ops : &deflated_ops;
	(void)snprintf(r->base.identity, sizeof(r->base.identity), "%s", sherd_reader_identity(z->archive));
	if (e->method != SHD_ZIP_STORED)
		TRY(shd_sdz_stream_open(&r->stream, z->archive, e, data, err));
	room = NULL;
	*out = &r->base;
	return SHERD_OK;
}

static void sdz_store_describe(const shd_sdz_store *z, const shd_zip_entry *e, sherd_stat *out)
{
	*out = (sherd_stat){.size = e->size};
	(void)snprintf(out->identity, sizeof(out->identity), "%s", sherd_reader_identity(z->archive));
}

static int stat_entry(sherd_store *store, const char *key, sherd_stat *out, sherd_error *err)
{
	const shd_sdz_store *z = (const shd_sdz_store *)store;
	const shd_zip_entry *e = sdz_store_find(z, key);
	if (!e)
		return shd_fail(err, SHERD_ENOTFOUND, "not-found", "the archive has no such entry");
	sdz_store_describe(z, e, out);
	return SHERD_OK;
}

static int list_entries(sherd_store *store, const char *prefix, const char *after, sherd_list_fn *each, void *arg,
                        sherd_error *err)
{
	const shd_sdz_store *z = (const shd_sdz_store *)store;
	(void)err;
	for (size_t i = 0; i < z->count; i++) {
		char key[SHERD_MAX_KEY + 1];
		sherd_stat stat;
		(void)snprintf(key, sizeof(key), "%s%s", z->prefix, z->entries[i]->name);
		if (strncmp(key, prefix, strlen(prefix)) != 0 || strcmp(key, after) <= 0)
			continue;
		sdz_store_describe(z, z->entries[i], &stat);
		if (!each(key, &stat, arg))
			break;
	}
	return SHERD_OK;
}

static void close_store(sherd_store *store)
{
	shd_sdz_store *z = (shd_sdz_store *)store;
	sherd_reader_close(z->archive);
	shd_arena_done(&z->arena);
	free(z);
}

static const struct sherd_store_ops ops = {
	.scheme = "sdz",
	.caps = SHERD_CAP_MAP,
	.read = open_entry,
	.write = refuse_write,
	.list = list_entries,
	.stat = stat_entry,
	.remove = refuse_remove,
	.close = close_store,
};

static int read_directory(shd_sdz_store *z, const sherd_limits *limits, shd_zip_entry **entries, sherd_error *err)
{
	shd_zip_end end;
	uint64_t size = sherd_reader_size(z->archive);
	size_t len = size < SHD_ZIP_TAIL ? (size_t)size : SHD_ZIP_TAIL;
	SHD_AUTO(void, free) tail = malloc(len + 1);
	if (!tail)
		return shd_fail_nomem(err);
	TRY(sherd_reader_at(z->archive, size - len, tail, len, err));
	TRY(shd_zip_find_end(tail, len, size, &end, err));
	if (end.bytes > shd_limits_or_default(limits).metadata_bytes)
		return shd_fail_at(err, SHERD_ELIMIT, "too-large", end.at, "a directory of %llu bytes",
		                   (unsigned long long)end.bytes);
	SHD_AUTO(void, free) directory = malloc((size_t)end.bytes + 1);
	if (!directory)
		return shd_fail_nomem(err);
	TRY(sherd_reader_at(z->archive, end.at, directory, (size_t)end.bytes, err));
	return shd_zip_decode_directory(directory, &end, &z->arena, entries, &z->count, err);
}

/* The key of the archive, or its last part where that would be too long with the name of an entry behind it. */
static const char *prefix_of(shd_sdz_store *z, const char *key)
{
	const char *slash = strrchr(key, '/');
	SHD_AUTO_BUF b = {0};
	if (slash && strlen(key) + 1 + SHD_ZIP_MOST_NAME > SHERD_MAX_KEY)
		key = slash + 1;
	shd_buf_printf(&b, "%s/", key);
	return b.failed ? NULL : shd_arena_str(&z->arena, (shd_str){(const char *)b.data, b.len});
}

static int sdz_store_fill(shd_sdz_store *z, sherd_store *store, const char *key, const sherd_limits *limits,
                          sherd_error *err)
{
	shd_zip_entry *entries;
	TRY(sherd_store_read(store, key, &z->archive, err));
	TRY(shd_in_object(err, read_directory(z, limits, &entries, err), key));
	z->prefix = prefix_of(z, key);
	z->entries = shd_arena_alloc(&z->arena, z->count + 1, sizeof(*z->entries));
	if (!z->prefix || !z->entries)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < z->count; i++)
		z->entries[i] = &entries[i];
	if (z->count)
		qsort(z->entries, z->count, sizeof(*z->entries), sdz_store_by_name);
	return SHERD_OK;
}

int shd_sdz_store_open(shd_sdz_store **out, sherd_store *store, const char *key, const sherd_limits *limits,
                       sherd_error *err)
{
	shd_sdz_store *z = calloc(1, sizeof(*z));
	if (!z)
		return shd_fail_nomem(err);
	z->base.ops = &ops;
	z->base.around = store;
	int rc = sdz_store_fill(z, store, key, limits, err);
	if (rc < 0) {
		close_store(&z->base);
		return rc;
	}
	*out = z;
	return SHERD_OK;
}

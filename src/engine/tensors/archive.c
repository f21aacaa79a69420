#include "engine/tensors/archive.h"

#include "base/limits.h"
#include "codec/crc32.h"
#include "engine/tensors/blame.h"
#include "engine/tensors/zip_stream.h"

#include <sherd/sys/backend.h>

#include <stdio.h>
#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)

/* ---- entries */

typedef struct entry_reader {
	sherd_reader base;
	const sherd_reader *archive;
	uint64_t data;
	shd_zip_stream *stream; /* of a compressed one */
} entry_reader;

static int read_stored(const sherd_reader *reader, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	const entry_reader *r = (const entry_reader *)reader;
	return sherd_reader_at(r->archive, r->data + offset, buf, len, err);
}

static int map_stored(const void **out, const sherd_reader *reader, uint64_t offset, size_t len, sherd_error *err)
{
	const entry_reader *r = (const entry_reader *)reader;
	return sherd_reader_map(out, r->archive, r->data + offset, len, err);
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
	return shd_zip_stream_at(((const entry_reader *)reader)->stream, offset, buf, len, err);
}

static void close_entry(sherd_reader *reader)
{
	shd_zip_stream_close(((entry_reader *)reader)->stream);
	free(reader);
}

static const struct sherd_reader_ops stored_ops = {
	.at = read_stored, .map = map_stored, .close = close_entry, .advise = advise_stored, .check = check_stored};
static const struct sherd_reader_ops deflated_ops = {.at = read_deflated, .close = close_entry};

/* Where the bytes of an entry begin, after its own head was held against the directory. */
static int find_data(const shd_archive *a, const shd_zip_entry *e, uint64_t *data, sherd_error *err)
{
	uint8_t raw[SHD_ZIP_LOCAL + SHD_ZIP_MOST_NAME];
	TRY(sherd_reader_at(a->reader, e->head, raw, SHD_ZIP_LOCAL + strlen(e->name), err));
	return shd_in_reader(err, shd_zip_decode_local(raw, e, data, err), a->reader);
}

int shd_archive_read(const shd_archive *a, const shd_zip_entry *e, sherd_reader **out, sherd_error *err)
{
	uint64_t data;
	TRY(find_data(a, e, &data, err));
	SHD_AUTO_FREE entry_reader *r = calloc(1, sizeof(entry_reader));
	if (!r)
		return shd_fail_nomem(err);
	r->archive = a->reader;
	r->data = data;
	r->base.size = e->size;
	r->base.ops = e->method == SHD_ZIP_STORED ? &stored_ops : &deflated_ops;
	(void)snprintf(r->base.identity, sizeof(r->base.identity), "%s", sherd_reader_identity(a->reader));
	if (e->method != SHD_ZIP_STORED)
		TRY(shd_zip_stream_open(&r->stream, a->reader, e, data, err));
	*out = &TAKE(r)->base;
	return SHERD_OK;
}

int shd_archive_name(const shd_archive *a, const shd_zip_entry *e, sherd_reader *reader, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	shd_buf_printf(&key, "%s/%s", sherd_reader_key(a->reader), e->name);
	TRY(shd_buf_end(&key, err));
	reader->key = strdup((const char *)key.data);
	reader->store = a->reader->store;
	return reader->key ? SHERD_OK : shd_fail_nomem(err);
}

void shd_archive_keep(sherd_reader *reader, shd_zip_part *parts, size_t count)
{
	if (reader->ops == &deflated_ops)
		shd_zip_stream_keep(((entry_reader *)reader)->stream, parts, count);
	else
		free(parts);
}

int shd_archive_check(const shd_archive *a, const shd_zip_entry *e, uint8_t *buf, shd_meter *meter, sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) r = NULL;
	uint32_t crc = 0;
	TRY(shd_archive_read(a, e, &r, err));
	for (uint64_t at = 0; at < e->size;) {
		size_t n = e->size - at < SHD_ARCHIVE_CHUNK ? (size_t)(e->size - at) : SHD_ARCHIVE_CHUNK;
		TRY(r->ops->at(r, at, buf, n, err));
		crc = shd_crc32(crc, buf, n);
		at += n;
		if (meter)
			TRY(shd_meter_add(meter, n, err));
	}
	if (crc != e->crc)
		return shd_fail(err, SHERD_ECORRUPT, "bad-crc", "CRC-32 is %08x, not %08x", crc, e->crc);
	shd_zip_stream *s = ((entry_reader *)r)->stream;
	return s ? shd_zip_stream_check_end(s, err) : SHERD_OK;
}

/* ---- the directory */

static int archive_by_name(const void *a, const void *b)
{
	const shd_zip_entry *const *x = a, *const *y = b;
	return strcmp((*x)->name, (*y)->name);
}

const shd_zip_entry *shd_archive_find(const shd_archive *a, const char *name)
{
	const shd_zip_entry wanted = {.name = name}, *w = &wanted;
	if (!a->count)
		return NULL;
	const shd_zip_entry *const *e = bsearch(&w, a->by_name, a->count, sizeof(a->by_name[0]), archive_by_name);
	return e ? *e : NULL;
}

static int archive_read_directory(shd_archive *a, const shd_zip_limits *rules, const sherd_limits *limits,
                                  sherd_error *err)
{
	shd_zip_end end;
	shd_zip_entry *entries;
	uint64_t size = sherd_reader_size(a->reader);
	size_t len = size < SHD_ZIP_TAIL ? (size_t)size : SHD_ZIP_TAIL;
	SHD_AUTO_FREE void *tail = malloc(len + 1);
	if (!tail)
		return shd_fail_nomem(err);
	TRY(sherd_reader_at(a->reader, size - len, tail, len, err));
	TRY(shd_zip_find_end(tail, len, size, rules, &end, err));
	if (end.bytes > shd_limits_or_default(limits).metadata_bytes)
		return shd_fail_at(err, SHERD_ELIMIT, "too-large", end.at, "a directory of %llu bytes",
		                   (unsigned long long)end.bytes);
	SHD_AUTO_FREE void *directory = malloc((size_t)end.bytes + 1);
	if (!directory)
		return shd_fail_nomem(err);
	TRY(sherd_reader_at(a->reader, end.at, directory, (size_t)end.bytes, err));
	TRY(shd_zip_decode_directory(directory, &end, rules, &a->arena, &entries, &a->count, err));
	a->entries = entries;
	return SHERD_OK;
}

int shd_archive_open(shd_archive *a, sherd_reader *reader, const shd_zip_limits *rules, const sherd_limits *limits,
                     sherd_error *err)
{
	*a = (shd_archive){.reader = reader};
	TRY(shd_in_reader(err, archive_read_directory(a, rules, limits, err), reader));
	a->by_name = shd_arena_alloc(&a->arena, a->count + 1, sizeof(*a->by_name));
	if (!a->by_name)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < a->count; i++)
		a->by_name[i] = &a->entries[i];
	if (a->count)
		qsort(a->by_name, a->count, sizeof(*a->by_name), archive_by_name);
	return SHERD_OK;
}

void shd_archive_done(shd_archive *a)
{
	sherd_reader_close(a->reader);
	shd_arena_done(&a->arena);
	*a = (shd_archive){0};
}

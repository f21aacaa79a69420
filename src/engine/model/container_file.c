#include "engine/model/container_file.h"

#include "base/cursor.h"
#include "codec/crc32.h"
#include "codec/deflate.h"
#include "engine/tensors/blame.h"

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)

void shd_container_file_close(container_file *f)
{
	if (!f)
		return;
	if (!f->lent)
		sherd_reader_close(f->reader);
	free(f->table);
	free(f);
}

static int container_file_read_head(container_file *f, sherd_error *err)
{
	uint8_t front[SHD_CONTAINER_FRONT], count[SHD_CONTAINER_INDEX_HEAD];
	uint64_t size = sherd_reader_size(f->reader);
	size_t len = size < sizeof(front) ? (size_t)size : sizeof(front);
	TRY(sherd_reader_at(f->reader, 0, front, len, err));
	TRY(shd_container_head_decode(front, len, size, &f->head, err));
	shd_sha256_of(front, len, f->digest);
	f->index = *shd_container_index_section(&f->head);
	if (f->index.stored < sizeof(count))
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", shd_section_payload(&f->index),
		                   "an index of %llu bytes", (unsigned long long)f->index.stored);
	TRY(sherd_reader_at(f->reader, shd_section_payload(&f->index), count, sizeof(count), err));
	int rc = shd_container_index_count(count, f->index.stored, &f->arrays, err);
	TRY(shd_shift_offset(err, rc, shd_section_payload(&f->index)));
	return f->head.incompatible & SHD_FEATURE_DIGESTS ? shd_container_file_digests(f, err) : SHERD_OK;
}

int shd_container_file_over(container_file **out, sherd_reader *reader, const sherd_limits *limits, sherd_error *err)
{
	SHD_AUTO(container_file, shd_container_file_close) f = calloc(1, sizeof(*f));
	if (!f)
		return shd_fail_nomem(err);
	f->limits = shd_limits_or_default(limits);
	f->reader = reader;
	f->lent = true;
	TRY(shd_in_reader(err, container_file_read_head(f, err), reader));
	*out = TAKE(f);
	return SHERD_OK;
}

int shd_container_file_open(container_file **out, sherd_store *store, const char *key, const sherd_limits *limits,
                            sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	container_file *f;
	TRY(sherd_store_read(&reader, store, key, err));
	TRY(shd_container_file_over(&f, reader, limits, err));
	reader = NULL;
	f->lent = false;
	*out = f;
	return SHERD_OK;
}

/* ---- sections */

static int check_length(const container_file *f, const shd_container_section *s, sherd_error *err)
{
	uint64_t most = s->raw > s->stored ? s->raw : s->stored;
	if (most > f->limits.metadata_bytes)
		return shd_fail_at(err, SHERD_ELIMIT, "too-large", s->offset, "%s has %llu bytes",
		                   shd_section_name(s->type), (unsigned long long)most);
	if (!shd_deflate_plausible(s->stored, s->raw))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-deflate", s->offset, "%s: %llu bytes cannot become %llu",
		                   shd_section_name(s->type), (unsigned long long)s->stored,
		                   (unsigned long long)s->raw);
	return SHERD_OK;
}

/* Head, payload and CRC, as they lie in the file; checked. */
static int read_stored(const container_file *f, const shd_container_section *s, uint8_t *bytes, size_t len,
                       sherd_error *err)
{
	TRY(sherd_reader_at(f->reader, s->offset, bytes, len, err));
	TRY(shd_shift_offset(err, shd_section_head_check(s, bytes, err), s->offset));
	if (!(s->flags & SHD_SECTION_HAS_CRC))
		return SHERD_OK;
	uint32_t stored = shd_get_u32(bytes + len - SHD_SECTION_CRC);
	if (stored != s->crc)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-crc", s->offset + len - SHD_SECTION_CRC,
		                   "the CRC of %s is not that of the directory", shd_section_name(s->type));
	if (shd_crc32(0, bytes, len - SHD_SECTION_CRC) != stored)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-crc", s->offset, "%s is damaged",
		                   shd_section_name(s->type));
	if (!f->table)
		return SHERD_OK;
	uint8_t value[SHD_BLAKE3_BYTES];
	shd_blake3_of(bytes + SHD_SECTION_HEAD, (size_t)s->stored, value);
	return shd_container_file_hold(f, s, value, err);
}

static int read_section(const container_file *f, const shd_container_section *s, uint8_t **out, size_t *len,
                        sherd_error *err)
{
	TRY(check_length(f, s, err));
	size_t whole = (size_t)(shd_section_end(s) - s->offset);
	SHD_AUTO_FREE uint8_t *bytes = malloc(whole);
	if (!bytes)
		return shd_fail_nomem(err);
	TRY(read_stored(f, s, bytes, whole, err));
	*len = (size_t)s->raw;
	if ((s->flags & SHD_SECTION_CODEC) == SHD_CODEC_NONE) {
		memmove(bytes, bytes + SHD_SECTION_HEAD, *len);
		*out = TAKE(bytes);
		return SHERD_OK;
	}
	SHD_AUTO_FREE void *raw = malloc(*len + 1);
	if (!raw)
		return shd_fail_nomem(err);
	int rc = shd_deflate_unpack(bytes + SHD_SECTION_HEAD, (size_t)s->stored, raw, *len, err);
	if (rc == SHERD_ECORRUPT)
		return shd_fail_at(err, rc, "bad-deflate", shd_section_payload(s), "%s cannot be unpacked",
		                   shd_section_name(s->type));
	TRY(rc);
	*out = TAKE(raw);
	return SHERD_OK;
}

int shd_container_file_section(const container_file *f, const shd_container_section *s, uint8_t **out, size_t *len,
                               sherd_error *err)
{
	return shd_in_reader(err, read_section(f, s, out, len, err), f->reader);
}

int shd_container_file_shards(const container_file *f, shd_arena *arena, shd_container_shards *out, sherd_error *err)
{
	const shd_container_section *s = shd_container_find_section(&f->head, SHD_SECTION_SHARD_INFO);
	SHD_AUTO_FREE uint8_t *bytes = NULL;
	size_t len;
	if (!s) {
		*out = (shd_container_shards){0};
		return SHERD_OK;
	}
	TRY(shd_container_file_section(f, s, &bytes, &len, err));
	int rc = shd_container_shards_decode(bytes, len, &f->limits, arena, out, err);
	rc = shd_shift_offset(err, rc, shd_section_payload(s));
	return shd_in_reader(err, rc, f->reader);
}

/* ---- the index */

enum { WINDOW = 128, MOST_TIES = 64 };

/* Entries that were read together. */
typedef struct window {
	uint8_t raw[WINDOW * SHD_CONTAINER_ENTRY];
	uint64_t first, count;
} window;

static int read_window(const container_file *f, window *w, uint64_t first, uint64_t most, sherd_error *err)
{
	w->first = first;
	w->count = most < WINDOW ? most : WINDOW;
	uint64_t at = shd_section_payload(&f->index) + SHD_CONTAINER_INDEX_HEAD + first * SHD_CONTAINER_ENTRY;
	return sherd_reader_at(f->reader, at, w->raw, (size_t)w->count * SHD_CONTAINER_ENTRY, err);
}

/* The hash as a number that sorts like its bytes. */
static uint64_t number_of(const uint8_t hash[SHD_CONTAINER_HASH])
{
	uint64_t n = 0;
	for (size_t i = 0; i < SHD_CONTAINER_HASH; i++)
		n = n << 8 | hash[i];
	return n;
}

static uint64_t hash_at(const window *w, uint64_t i)
{
	return number_of(w->raw + (i - w->first) * SHD_CONTAINER_ENTRY);
}

/* Where among n entries a window should begin, if the wanted one lies part / whole of the way. */
static uint64_t guess(uint64_t n, uint64_t part, uint64_t whole)
{
	uint64_t at = whole ? (uint64_t)((unsigned __int128)n * part / whole) : 0;
	at = at > WINDOW / 2 ? at - WINDOW / 2 : 0;
	return at < n - WINDOW ? at : n - WINDOW;
}

/* The first entry whose hash is not below the wanted one. Every second step halves, whatever the hashes. */
static int lower_bound(const container_file *f, uint64_t wanted, window *w, uint64_t *out, sherd_error *err)
{
	uint64_t low = 0, high = f->arrays;
	uint64_t least = 0, most = UINT64_MAX; /* what the hashes in between can be */
	for (unsigned step = 0; low < high; step++) {
		uint64_t n = high - low, at = low;
		if (n > WINDOW)
			at += step % 2 ? n / 2 : guess(n, wanted - least, most - least);
		TRY(read_window(f, w, at, high - at, err));
		uint64_t first = hash_at(w, at), last = hash_at(w, at + w->count - 1);
		if (first >= wanted) {
			high = at;
			most = first;
		} else if (last < wanted) {
			low = at + w->count;
			least = last;
		} else {
			low = at + 1;
			while (hash_at(w, low) < wanted)
				low++;
			break;
		}
	}
	*out = low;
	return SHERD_OK;
}

static int read_record(const container_file *f, uint64_t index, const shd_container_entry *e, container_record **out,
                       sherd_error *err)
{
	if (e->length > f->limits.metadata_bytes)
		return shd_fail(err, SHERD_ELIMIT, "too-large", "a record of %u bytes", e->length);
	SHD_AUTO_FREE void *raw = malloc(e->length);
	SHD_AUTO(container_record, shd_container_record_close) r = calloc(1, sizeof(*r));
	if (!raw || !r)
		return shd_fail_nomem(err);
	r->file = f;
	TRY(sherd_reader_at(f->reader, shd_section_payload(&f->index) + e->offset, raw, e->length, err));
	int rc = shd_container_record_decode(e, raw, &f->limits, &r->arena, &r->array, err);
	if (rc < 0)
		return shd_shift_offset(err, rc, shd_section_payload(&f->index));
	TRY(shd_container_file_bind(f, index, e, raw, &r->arena, r, err));
	*out = TAKE(r);
	return SHERD_OK;
}

static int container_file_find(const container_file *f, const char *name, container_record **out, sherd_error *err)
{
	uint8_t hash[SHD_CONTAINER_HASH];
	uint64_t at;
	window w = {.count = 0};
	shd_container_hash(shd_str_of(name), hash);
	TRY(lower_bound(f, number_of(hash), &w, &at, err));
	for (unsigned ties = 0; at < f->arrays && ties < MOST_TIES; at++, ties++) {
		shd_container_entry e;
		SHD_AUTO(container_record, shd_container_record_close) r = NULL;
		if (at < w.first || at - w.first >= w.count)
			TRY(read_window(f, &w, at, f->arrays - at, err));
		if (hash_at(&w, at) != number_of(hash))
			break;
		const uint8_t *raw = w.raw + (at - w.first) * SHD_CONTAINER_ENTRY;
		int rc = shd_container_entry_decode(raw, at, f->arrays, f->index.stored, &e, err);
		TRY(shd_shift_offset(err, rc, shd_section_payload(&f->index)));
		TRY(read_record(f, at, &e, &r, err));
		if (strcmp(r->array.tensor.name, name) == 0) {
			*out = TAKE(r);
			return SHERD_OK;
		}
	}
	return shd_fail(err, SHERD_ENOTFOUND, "not-found", "the index does not have %.128s", name);
}

int shd_container_file_find(const container_file *f, const char *name, container_record **out, sherd_error *err)
{
	return shd_in_reader(err, container_file_find(f, name, out, err), f->reader);
}

void shd_container_record_close(container_record *r)
{
	if (!r)
		return;
	shd_arena_done(&r->arena);
	free(r);
}

static bool holds(const container_file *f, const shd_container_chunk *c)
{
	for (uint32_t i = 0; i < f->head.count; i++) {
		const shd_container_section *s = &f->head.sections[i];
		uint64_t begin = shd_section_payload(s);
		if (s->type == SHD_SECTION_ARRAYS && s->offset != f->index.offset && c->offset >= begin &&
		    c->offset - begin <= s->stored && c->stored <= s->stored - (c->offset - begin))
			return true;
	}
	return false;
}

int shd_container_file_check(const container_file *f, const shd_container_array *array, sherd_error *err)
{
	for (uint32_t i = 0; i < array->chunk_count; i++)
		if (!holds(f, &array->chunks[i]))
			return shd_in_reader(err,
			                     shd_fail(err, SHERD_ECORRUPT, "out-of-range",
			                              "chunk %u of %.128s does not lie in a section of arrays", i,
			                              array->tensor.name),
			                     f->reader);
	return SHERD_OK;
}

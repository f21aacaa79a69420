#include "format/container/index.h"

#include "base/cursor.h"
#include "base/limits.h"
#include "codec/crc32.h"
#include "codec/deflate.h"
#include "codec/json.h"
#include "codec/sha256.h"
#include "format/container/head.h"

#include <stdlib.h>

enum { RECORD_HEAD = 32, CHUNK = 24, MOST_TEXT = 64 << 10 };

void shd_container_hash(shd_str name, uint8_t out[SHD_CONTAINER_HASH])
{
	uint8_t whole[SHD_SHA256_BYTES];
	shd_sha256_of(name.ptr, name.len, whole);
	memcpy(out, whole, SHD_CONTAINER_HASH);
}

/* ---- writing */

typedef struct place {
	uint8_t hash[SHD_CONTAINER_HASH];
	const shd_container_array *array;
} place;

static int by_hash(const void *left, const void *right)
{
	const place *a = left, *b = right;
	int order = memcmp(a->hash, b->hash, sizeof(a->hash));
	return order ? order : strcmp(a->array->tensor.name, b->array->tensor.name);
}

static int container_index_check_texts(const shd_container_array *a, sherd_error *err)
{
	if (strlen(a->tensor.name) > MOST_TEXT || strlen(a->key) > MOST_TEXT)
		return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
		                "%.128s has a name or key of more than %d bytes", a->tensor.name, MOST_TEXT);
	return SHERD_OK;
}

static void put_record(const shd_container_array *a, shd_buf *out)
{
	const sherd_tensor *t = &a->tensor;
	shd_str name = shd_str_of(t->name), key = shd_str_of(a->key);
	shd_str type = t->dtype == SHERD_OPAQUE ? shd_str_of(t->type_name) : SHD_STR("");
	shd_buf_u8(out, (uint8_t)t->dtype);
	shd_buf_u8(out, (uint8_t)t->ndim);
	shd_buf_u8(out, (uint8_t)a->role);
	shd_buf_u8(out, (uint8_t)type.len);
	shd_buf_u32(out, a->shard);
	shd_buf_u64(out, t->bytes);
	shd_buf_u32(out, (uint32_t)name.len);
	shd_buf_u32(out, (uint32_t)key.len);
	shd_buf_u32(out, a->chunk_bytes);
	shd_buf_u32(out, a->chunk_count);
	for (uint32_t i = 0; i < t->ndim; i++)
		shd_buf_u64(out, t->shape[i]);
	for (uint32_t i = 0; i < a->chunk_count; i++) {
		const shd_container_chunk *c = &a->chunks[i];
		shd_buf_u64(out, c->offset);
		shd_buf_u32(out, c->stored);
		shd_buf_u32(out, c->raw);
		shd_buf_u32(out, c->crc);
		shd_buf_append(out, (uint8_t[]){c->codec, c->filter, c->width, 0}, 4);
	}
	shd_buf_append(out, name.ptr, name.len);
	shd_buf_append(out, key.ptr, key.len);
	shd_buf_append(out, type.ptr, type.len);
}

static int put_all(const place *places, size_t count, shd_buf *out, sherd_error *err)
{
	size_t begin = out->len, entries = begin + SHD_CONTAINER_INDEX_HEAD;
	shd_buf_u64(out, count);
	shd_buf_zero(out, count * SHD_CONTAINER_ENTRY);
	for (size_t i = 0; i < count; i++) {
		size_t at = out->len;
		TRY(container_index_check_texts(places[i].array, err));
		put_record(places[i].array, out);
		TRY(shd_buf_check(out, err));
		if (out->len - at > UINT32_MAX)
			return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold", "%.128s has too many chunks",
			                places[i].array->tensor.name);
		uint8_t *e = out->data + entries + i * SHD_CONTAINER_ENTRY;
		memcpy(e, places[i].hash, SHD_CONTAINER_HASH);
		shd_put_u64(e + 8, at - begin);
		shd_put_u32(e + 16, (uint32_t)(out->len - at));
		shd_put_u32(e + 20, shd_crc32(0, out->data + at, out->len - at));
	}
	return shd_buf_check(out, err);
}

int shd_container_index_encode(const shd_container_array *arrays, size_t count, shd_buf *out, size_t *order,
                               sherd_error *err)
{
	SHD_AUTO_FREE place *places = calloc(count + 1, sizeof(*places));
	if (!places)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++) {
		places[i].array = &arrays[i];
		shd_container_hash(shd_str_of(arrays[i].tensor.name), places[i].hash);
	}
	qsort(places, count, sizeof(*places), by_hash);
	for (size_t i = 0; order && i < count; i++)
		order[i] = (size_t)(places[i].array - arrays);
	return put_all(places, count, out, err);
}

/* ---- reading */

int shd_container_index_count(const uint8_t head[SHD_CONTAINER_INDEX_HEAD], uint64_t len, uint64_t *out,
                              sherd_error *err)
{
	uint64_t count = shd_get_u64(head);
	if (len < SHD_CONTAINER_INDEX_HEAD ||
	    count > (len - SHD_CONTAINER_INDEX_HEAD) / (SHD_CONTAINER_ENTRY + RECORD_HEAD))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-count", 0, "an index of %llu arrays in %llu bytes",
		                   (unsigned long long)count, (unsigned long long)len);
	*out = count;
	return SHERD_OK;
}

int shd_container_entry_decode(const uint8_t raw[SHD_CONTAINER_ENTRY], uint64_t index, uint64_t count, uint64_t len,
                               shd_container_entry *out, sherd_error *err)
{
	uint64_t at = SHD_CONTAINER_INDEX_HEAD + index * SHD_CONTAINER_ENTRY;
	shd_container_entry e = {.offset = shd_get_u64(raw + 8), .length = shd_get_u32(raw + 16)};
	memcpy(e.hash, raw, sizeof(e.hash));
	e.crc = shd_get_u32(raw + 20);
	if (e.offset < SHD_CONTAINER_INDEX_HEAD + count * SHD_CONTAINER_ENTRY || e.offset > len ||
	    e.length > len - e.offset || e.length < RECORD_HEAD)
		return shd_fail_at(err, SHERD_ECORRUPT, "out-of-range", at, "entry %llu of the index leads out of it",
		                   (unsigned long long)index);
	*out = e;
	return SHERD_OK;
}

/* A record being decoded. */
typedef struct record {
	const shd_container_entry *entry;
	shd_cursor c;
	sherd_limits limits;
	shd_arena *arena;
	shd_container_array a;
	uint32_t name, key, type; /* bytes of them */
} record;

static int bad(const record *r, uint64_t at, sherd_status code, const char *reason, const char *what, sherd_error *err)
{
	return shd_fail_at(err, code, reason, r->entry->offset + at, "a record of the index: %s", what);
}

static int container_index_take_head(record *r, sherd_error *err)
{
	sherd_tensor *t = &r->a.tensor;
	t->dtype = (sherd_dtype)shd_cursor_u8(&r->c);
	t->ndim = shd_cursor_u8(&r->c);
	r->a.role = (shd_container_role)shd_cursor_u8(&r->c);
	r->type = shd_cursor_u8(&r->c);
	r->a.shard = shd_cursor_u32(&r->c);
	t->bytes = shd_cursor_u64(&r->c);
	r->name = shd_cursor_u32(&r->c);
	r->key = shd_cursor_u32(&r->c);
	r->a.chunk_bytes = shd_cursor_u32(&r->c);
	r->a.chunk_count = shd_cursor_u32(&r->c);
	if (!sherd_dtype_describe(t->dtype))
		return bad(r, 0, SHERD_EUNSUPPORTED, "bad-dtype", "an unknown type of elements", err);
	if (t->ndim > r->limits.dims)
		return bad(r, 1, SHERD_ELIMIT, "too-many-dims", "too many dimensions", err);
	if (r->a.role > SHD_ROLE_OPERATION)
		return bad(r, 2, SHERD_EUNSUPPORTED, "bad-role", "an unknown role", err);
	if (!r->type != (t->dtype != SHERD_OPAQUE))
		return bad(r, 3, SHERD_ECORRUPT, "reserved", "a byte that only opaque types have a meaning for", err);
	if (r->name > r->limits.name_bytes || r->key > r->limits.name_bytes)
		return bad(r, 16, SHERD_ELIMIT, "name-too-long", "the name is too long", err);
	uint64_t rest = 8 * (uint64_t)t->ndim + CHUNK * (uint64_t)r->a.chunk_count + r->name + r->key + r->type;
	if (rest != shd_cursor_left(&r->c))
		return bad(r, 16, SHERD_ECORRUPT, "bad-length", "its parts are not as long as the whole", err);
	return SHERD_OK;
}

static int take_shape(record *r, sherd_error *err)
{
	sherd_tensor *t = &r->a.tensor;
	uint64_t *shape = shd_arena_alloc(r->arena, (size_t)t->ndim + 1, sizeof(*shape)), need, texts;
	if (!shape)
		return shd_fail_nomem(err);
	for (uint32_t i = 0; i < t->ndim; i++)
		shape[i] = shd_cursor_u64(&r->c);
	t->shape = shape;
	bool sized = t->dtype == SHERD_OPAQUE ? true
	             : t->dtype == SHERD_UTF8
	                     ? sherd_tensor_bytes(&texts, SHERD_U8, t->ndim, shape) && texts < t->bytes / 8
	                     : sherd_tensor_bytes(&need, t->dtype, t->ndim, shape) && need == t->bytes;
	if (!sized)
		return bad(r, 8, SHERD_ECORRUPT, "size-mismatch", "its size is not what type and shape need", err);
	return SHERD_OK;
}

static bool chunk_fits(const shd_container_chunk *c)
{
	bool packed = c->codec == SHD_CODEC_DEFLATE;
	if (c->filter == SHD_FILTER_NONE ? c->width != 0 : c->width < 2)
		return false;
	return packed ? c->stored < c->raw && shd_deflate_plausible(c->stored, c->raw) : c->stored == c->raw;
}

static int take_chunks(record *r, sherd_error *err)
{
	shd_container_array *a = &r->a;
	uint64_t left = a->tensor.bytes;
	uint64_t at = RECORD_HEAD + 8 * (uint64_t)a->tensor.ndim;
	if (a->chunk_count && (!a->chunk_bytes || a->chunk_bytes > SHD_CONTAINER_MOST_CHUNK))
		return bad(r, 24, SHERD_ELIMIT, "too-large", "chunks of a size that cannot be", err);
	if (a->chunk_count && a->chunk_count != left / a->chunk_bytes + (left % a->chunk_bytes != 0))
		return bad(r, 28, SHERD_ECORRUPT, "bad-count", "not as many chunks as its size needs", err);
	shd_container_chunk *chunks = shd_arena_alloc(r->arena, (size_t)a->chunk_count + 1, sizeof(*chunks));
	if (!chunks)
		return shd_fail_nomem(err);
	for (uint32_t i = 0; i < a->chunk_count; i++, at += CHUNK) {
		shd_container_chunk *c = &chunks[i];
		c->offset = shd_cursor_u64(&r->c);
		c->stored = shd_cursor_u32(&r->c);
		c->raw = shd_cursor_u32(&r->c);
		c->crc = shd_cursor_u32(&r->c);
		c->codec = shd_cursor_u8(&r->c);
		c->filter = shd_cursor_u8(&r->c);
		c->width = shd_cursor_u8(&r->c);
		if (c->codec > SHD_CODEC_DEFLATE || c->filter > SHD_FILTER_SHUFFLE)
			return bad(r, at + 20, SHERD_EUNSUPPORTED, "bad-codec", "an unknown codec or filter", err);
		if (shd_cursor_u8(&r->c))
			return bad(r, at + 23, SHERD_ECORRUPT, "reserved", "a byte without meaning is not zero", err);
		uint64_t raw = left < a->chunk_bytes ? left : a->chunk_bytes;
		if (c->raw != raw || !chunk_fits(c))
			return bad(r, at + 8, SHERD_ECORRUPT, "bad-chunk", "sizes of a chunk that cannot be", err);
		left -= raw;
	}
	a->chunks = chunks;
	return SHERD_OK;
}

static int container_index_take_text(record *r, uint32_t len, const char **out, sherd_error *err)
{
	size_t at = r->c.pos, wrong;
	const char *text = (const char *)shd_cursor_bytes(&r->c, len);
	if (!text || !shd_utf8_valid(text, len, &wrong) || memchr(text, 0, len))
		return bad(r, at, SHERD_ECORRUPT, "bad-name", "a name that is no text", err);
	*out = shd_arena_str(r->arena, (shd_str){text, len});
	return *out ? SHERD_OK : shd_fail_nomem(err);
}

int shd_container_record_decode(const shd_container_entry *entry, const uint8_t *raw, const sherd_limits *limits,
                                shd_arena *arena, shd_container_array *out, sherd_error *err)
{
	record r = {.entry = entry, .arena = arena, .limits = shd_limits_or_default(limits), .a.tensor.name = ""};
	uint8_t hash[SHD_CONTAINER_HASH];
	r.c = shd_cursor_over(raw, entry->length);
	if (shd_crc32(0, raw, entry->length) != entry->crc)
		return bad(&r, 0, SHERD_ECORRUPT, "bad-crc", "it is damaged", err);
	TRY(container_index_take_head(&r, err));
	TRY(take_shape(&r, err));
	TRY(take_chunks(&r, err));
	TRY(container_index_take_text(&r, r.name, &r.a.tensor.name, err));
	TRY(container_index_take_text(&r, r.key, &r.a.key, err));
	if (r.type)
		TRY(container_index_take_text(&r, r.type, &r.a.tensor.type_name, err));
	shd_container_hash(shd_str_of(r.a.tensor.name), hash);
	if (memcmp(hash, entry->hash, sizeof(hash)) != 0)
		return bad(&r, 0, SHERD_ECORRUPT, "bad-index", "it stands under the hash of another name", err);
	*out = r.a;
	return SHERD_OK;
}

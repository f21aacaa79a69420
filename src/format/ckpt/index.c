#include "format/ckpt/index.h"

#include "base/cursor.h"
#include "base/limits.h"
#include "codec/crc32.h"
#include "codec/json.h"
#include "format/ckpt/about.h"

#include <inttypes.h>

static const uint8_t magic[8] = {'S', 'H', 'E', 'R', 'D', 'I', 'X', '1'};

enum { FLAG_CUT = 1, FLAG_EXTRA = 2, RECORD_MIN = 24 };

int sherd_ckpt_trailer_decode(const uint8_t raw[SHERD_CKPT_TRAILER_SIZE], uint64_t data_size, uint64_t *body_size,
                              sherd_error *err)
{
	if (memcmp(raw + 12, magic, 7) != 0) {
		*body_size = 0;
		return SHERD_OK;
	}
	if (raw[19] != magic[7])
		return sherd_fail(err, SHERD_EVERSION, "bad-version",
		                  "the index is of version '%c', this library reads '%c'",
		                  raw[19] >= ' ' && raw[19] < 127 ? raw[19] : '?', magic[7]);
	uint64_t size = sherd_get_u64(raw);
	if (data_size < SHERD_CKPT_TRAILER_SIZE || size > data_size - SHERD_CKPT_TRAILER_SIZE || !size)
		return sherd_fail(err, SHERD_ECORRUPT, "bad-index",
		                  "index of %" PRIu64 " bytes in %" PRIu64 " bytes of data", size, data_size);
	*body_size = size;
	return SHERD_OK;
}

static const uint64_t *take_dims(sherd_cursor *c, uint32_t ndim, sherd_arena *arena, bool *nomem)
{
	const uint8_t *raw = sherd_cursor_bytes(c, 8 * (uint64_t)ndim);
	if (!raw)
		return NULL;
	uint64_t *dims = sherd_arena_alloc(arena, ndim + !ndim, sizeof(*dims));
	*nomem = *nomem || !dims;
	for (uint32_t i = 0; dims && i < ndim; i++)
		dims[i] = sherd_get_u64(raw + 8 * (size_t)i);
	return dims;
}

static const uint32_t *take_crcs(sherd_cursor *c, uint64_t bytes, sherd_arena *arena, bool *nomem)
{
	uint64_t n = sherd_ckpt_blocks(bytes);
	const uint8_t *raw =
		n > sherd_cursor_left(c) / 4 ? sherd_cursor_bytes(c, UINT64_MAX) : sherd_cursor_bytes(c, 4 * n);
	if (!raw)
		return NULL;
	uint32_t *crcs = sherd_arena_alloc(arena, n + !n, sizeof(*crcs));
	*nomem = *nomem || !crcs;
	for (uint64_t i = 0; crcs && i < n; i++)
		crcs[i] = sherd_get_u32(raw + 4 * i);
	return crcs;
}

static const char *take_text(sherd_cursor *c, uint32_t len, sherd_arena *arena, bool *nomem)
{
	const uint8_t *raw = sherd_cursor_bytes(c, len);
	if (!raw)
		return NULL;
	char *text = sherd_arena_str(arena, (sherd_str){(const char *)raw, len});
	*nomem = *nomem || !text;
	return text;
}

static int check_name(const char *name, uint32_t len, uint64_t where, sherd_error *err)
{
	size_t bad;
	if (strlen(name) != len)
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-name", where, "a tensor's name holds NUL");
	if (!sherd_utf8_valid(name, len, &bad))
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-utf8", where, "a tensor's name is not UTF-8");
	return SHERD_OK;
}

static int decode_entry(sherd_cursor *c, const sherd_limits *limits, sherd_arena *arena, sherd_ckpt_entry *out,
                        sherd_error *err)
{
	sherd_ckpt_entry e = {.where = c->pos};
	bool nomem = false;
	uint32_t name_len = sherd_cursor_u32(c);
	uint8_t dtype = sherd_cursor_u8(c);
	e.tensor.ndim = sherd_cursor_u8(c);
	uint8_t flags = sherd_cursor_u8(c), zero = sherd_cursor_u8(c);
	e.offset = sherd_cursor_u64(c);
	e.tensor.bytes = sherd_cursor_u64(c);
	TRY(sherd_cursor_check(c, "index", err));
	if (!sherd_dtype_describe((sherd_dtype)dtype))
		return sherd_fail_at(err, SHERD_EUNSUPPORTED, "bad-dtype", e.where + 4, "index: type %u is unknown",
		                     dtype);
	if (e.tensor.ndim > limits->dims)
		return sherd_fail_at(err, SHERD_ELIMIT, "too-many-dims", e.where + 5, "index: %" PRIu32 " dimensions",
		                     e.tensor.ndim);
	if ((flags & ~(FLAG_CUT | FLAG_EXTRA)) || zero)
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-index", e.where + 6, "index: unknown flags");
	if (name_len > limits->name_bytes)
		return sherd_fail_at(err, SHERD_ELIMIT, "name-too-long", e.where, "index: a name of %" PRIu32 " bytes",
		                     name_len);
	e.tensor.dtype = (sherd_dtype)dtype;
	e.tensor.shape = take_dims(c, e.tensor.ndim, arena, &nomem);
	if (flags & FLAG_CUT) {
		e.global_shape = take_dims(c, e.tensor.ndim, arena, &nomem);
		e.global_offset = take_dims(c, e.tensor.ndim, arena, &nomem);
	}
	e.crcs = take_crcs(c, e.tensor.bytes, arena, &nomem);
	e.tensor.name = take_text(c, name_len, arena, &nomem);
	if (flags & FLAG_EXTRA)
		e.extra = take_text(c, sherd_cursor_u32(c), arena, &nomem);
	TRY(sherd_cursor_check(c, "index", err));
	if (nomem)
		return sherd_fail_nomem(err);
	TRY(check_name(e.tensor.name, name_len, e.where, err));
	int rc = sherd_ckpt_members_check(e.extra, SHERD_CKPT_OBJECT_TENSOR, limits, SHERD_ECORRUPT, err);
	if (rc < 0 && err)
		err->offset = e.where;
	TRY(rc);
	TRY(sherd_ckpt_entry_check(&e, err));
	*out = e;
	return SHERD_OK;
}

static int decode_entries(sherd_cursor *c, uint32_t count, const sherd_limits *limits, sherd_arena *arena,
                          sherd_ckpt_index *out, sherd_error *err)
{
	if (count > sherd_cursor_left(c) / RECORD_MIN)
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-count", 32, "index: %" PRIu32 " tensors in %zu bytes",
		                     count, sherd_cursor_left(c));
	out->entries = sherd_arena_alloc(arena, (size_t)count + !count, sizeof(*out->entries));
	if (!out->entries)
		return sherd_fail_nomem(err);
	for (; out->count < count; out->count++)
		TRY(decode_entry(c, limits, arena, &out->entries[out->count], err));
	return sherd_cursor_end(c, "index", err);
}

int sherd_ckpt_index_decode(const uint8_t *raw, size_t len, const sherd_limits *limits, sherd_arena *arena,
                            sherd_ckpt_index *out, sherd_error *err)
{
	sherd_limits l = sherd_limits_or_default(limits);
	if (len < SHERD_CKPT_TRAILER_SIZE)
		return sherd_fail_at(err, SHERD_ECORRUPT, "truncated", 0, "index: no room for its trailer");
	size_t body = len - SHERD_CKPT_TRAILER_SIZE;
	if (memcmp(raw + body + 12, magic, sizeof(magic)) != 0 || sherd_get_u64(raw + body) != body)
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-index", body, "index: no trailer where it should be");
	if (sherd_crc32(0, raw, body + 8) != sherd_get_u32(raw + body + 8))
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-crc", 0, "index: its CRC-32 does not match");

	sherd_cursor c = sherd_cursor_over(raw, body);
	sherd_ckpt_index index = {0};
	const uint8_t *id = sherd_cursor_bytes(&c, sizeof(index.set_id.bytes));
	if (id)
		memcpy(index.set_id.bytes, id, sizeof(index.set_id.bytes));
	index.rank = sherd_cursor_u32(&c);
	index.world = sherd_cursor_u32(&c);
	index.time_ns = (int64_t)sherd_cursor_u64(&c);
	uint32_t count = sherd_cursor_u32(&c), about_len = sherd_cursor_u32(&c);
	const uint8_t *about = sherd_cursor_bytes(&c, about_len);
	TRY(sherd_cursor_check(&c, "index", err));
	if (index.rank >= index.world)
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-rank", 16, "index: rank %" PRIu32 " of %" PRIu32,
		                     index.rank, index.world);
	index.about = (sherd_str){sherd_arena_copy(arena, about, about_len), about_len};
	if (!index.about.ptr)
		return sherd_fail_nomem(err);
	TRY(decode_entries(&c, count, &l, arena, &index, err));
	*out = index;
	return SHERD_OK;
}

static void put_dims(sherd_buf *out, const uint64_t *dims, uint32_t ndim)
{
	for (uint32_t i = 0; i < ndim; i++)
		sherd_buf_u64(out, dims[i]);
}

static void encode_entry(const sherd_ckpt_entry *e, sherd_buf *out)
{
	uint32_t name_len = (uint32_t)strlen(e->tensor.name);
	sherd_buf_u32(out, name_len);
	sherd_buf_u8(out, (uint8_t)e->tensor.dtype);
	sherd_buf_u8(out, (uint8_t)e->tensor.ndim);
	sherd_buf_u8(out, (uint8_t)((e->global_shape ? FLAG_CUT : 0) | (e->extra ? FLAG_EXTRA : 0)));
	sherd_buf_u8(out, 0);
	sherd_buf_u64(out, e->offset);
	sherd_buf_u64(out, e->tensor.bytes);
	put_dims(out, e->tensor.shape, e->tensor.ndim);
	if (e->global_shape) {
		put_dims(out, e->global_shape, e->tensor.ndim);
		put_dims(out, e->global_offset, e->tensor.ndim);
	}
	for (uint64_t i = 0; i < sherd_ckpt_blocks(e->tensor.bytes); i++)
		sherd_buf_u32(out, e->crcs[i]);
	sherd_buf_append(out, e->tensor.name, name_len);
	if (e->extra) {
		sherd_buf_u32(out, (uint32_t)strlen(e->extra));
		sherd_buf_str(out, e->extra);
	}
}

void sherd_ckpt_index_encode(const sherd_ckpt_index *index, sherd_buf *out)
{
	size_t start = out->len;
	sherd_buf_append(out, index->set_id.bytes, sizeof(index->set_id.bytes));
	sherd_buf_u32(out, index->rank);
	sherd_buf_u32(out, index->world);
	sherd_buf_u64(out, (uint64_t)index->time_ns);
	sherd_buf_u32(out, (uint32_t)index->count);
	sherd_buf_u32(out, (uint32_t)index->about.len);
	sherd_buf_append(out, index->about.ptr, index->about.len);
	for (size_t i = 0; i < index->count; i++)
		encode_entry(&index->entries[i], out);
	sherd_buf_u64(out, out->len - start);
	if (!out->failed)
		sherd_buf_u32(out, sherd_crc32(0, out->data + start, out->len - start));
	sherd_buf_append(out, magic, sizeof(magic));
}

#include "format/ckpt/index.h"

#include "base/cursor.h"
#include "base/dtype.h"
#include "base/limits.h"
#include "codec/crc32.h"
#include "codec/json.h"
#include "format/ckpt/about.h"

#include <inttypes.h>

static const uint8_t magic[7] = {'S', 'H', 'E', 'R', 'D', 'I', 'X'};

enum { FLAG_CUT = 1, FLAG_EXTRA = 2, FLAG_TYPE = 4, RECORD_MIN = 24 };

int shd_ckpt_trailer_decode(const uint8_t raw[SHD_CKPT_TRAILER_SIZE], uint64_t data_size, uint64_t *body_size,
                            sherd_error *err)
{
	if (memcmp(raw + 12, magic, sizeof(magic)) != 0) {
		*body_size = 0;
		return SHERD_OK;
	}
	if (raw[19] != '1' && raw[19] != '2')
		return shd_fail(err, SHERD_EVERSION, "bad-version",
		                "the index is of version '%c', this library reads '1' and '2'",
		                raw[19] >= ' ' && raw[19] < 127 ? raw[19] : '?');
	uint64_t size = shd_get_u64(raw);
	if (data_size < SHD_CKPT_TRAILER_SIZE || size > data_size - SHD_CKPT_TRAILER_SIZE || !size)
		return shd_fail(err, SHERD_ECORRUPT, "bad-index",
		                "index of %" PRIu64 " bytes in %" PRIu64 " bytes of data", size, data_size);
	*body_size = size;
	return SHERD_OK;
}

static const uint64_t *ckpt_index_take_dims(shd_cursor *c, uint32_t ndim, shd_arena *arena, bool *nomem)
{
	const uint8_t *raw = shd_cursor_bytes(c, 8 * (uint64_t)ndim);
	if (!raw)
		return NULL;
	uint64_t *dims = shd_arena_alloc(arena, ndim + !ndim, sizeof(*dims));
	*nomem = *nomem || !dims;
	for (uint32_t i = 0; dims && i < ndim; i++)
		dims[i] = shd_get_u64(raw + 8 * (size_t)i);
	return dims;
}

static const uint32_t *take_crcs(shd_cursor *c, uint64_t bytes, shd_arena *arena, bool *nomem)
{
	uint64_t n = shd_ckpt_blocks(bytes);
	const uint8_t *raw = n > shd_cursor_left(c) / 4 ? shd_cursor_bytes(c, UINT64_MAX) : shd_cursor_bytes(c, 4 * n);
	if (!raw)
		return NULL;
	uint32_t *crcs = shd_arena_alloc(arena, n + !n, sizeof(*crcs));
	*nomem = *nomem || !crcs;
	for (uint64_t i = 0; crcs && i < n; i++)
		crcs[i] = shd_get_u32(raw + 4 * i);
	return crcs;
}

static const char *ckpt_index_take_text(shd_cursor *c, uint32_t len, shd_arena *arena, bool *nomem)
{
	const uint8_t *raw = shd_cursor_bytes(c, len);
	if (!raw)
		return NULL;
	char *text = shd_arena_str(arena, (shd_str){(const char *)raw, len});
	*nomem = *nomem || !text;
	return text;
}

static int check_name(const char *name, uint32_t len, uint64_t where, sherd_error *err)
{
	size_t bad;
	if (strlen(name) != len)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-name", where, "a name holds NUL");
	if (!shd_utf8_valid(name, len, &bad))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-utf8", where, "a name is not UTF-8");
	return SHERD_OK;
}

static int decode_entry(shd_cursor *c, const sherd_limits *limits, shd_arena *arena, shd_ckpt_entry *out,
                        sherd_error *err)
{
	shd_ckpt_entry e = {.where = c->pos};
	bool nomem = false;
	uint32_t name_len = shd_cursor_u32(c);
	uint8_t dtype = shd_cursor_u8(c);
	e.tensor.ndim = shd_cursor_u8(c);
	uint8_t flags = shd_cursor_u8(c), zero = shd_cursor_u8(c);
	e.offset = shd_cursor_u64(c);
	e.tensor.bytes = shd_cursor_u64(c);
	TRY(shd_cursor_check(c, "index", err));
	if (!sherd_dtype_describe((sherd_dtype)dtype))
		return shd_fail_at(err, SHERD_EUNSUPPORTED, "bad-dtype", e.where + 4, "index: type %u is unknown",
		                   dtype);
	if (e.tensor.ndim > limits->dims)
		return shd_fail_at(err, SHERD_ELIMIT, "too-many-dims", e.where + 5, "index: %" PRIu32 " dimensions",
		                   e.tensor.ndim);
	if ((flags & ~(FLAG_CUT | FLAG_EXTRA | FLAG_TYPE)) || zero || !(flags & FLAG_TYPE) != (dtype != SHERD_OPAQUE))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-index", e.where + 6, "index: unknown flags");
	if (name_len > limits->name_bytes)
		return shd_fail_at(err, SHERD_ELIMIT, "name-too-long", e.where, "index: a name of %" PRIu32 " bytes",
		                   name_len);
	e.tensor.dtype = (sherd_dtype)dtype;
	e.tensor.shape = ckpt_index_take_dims(c, e.tensor.ndim, arena, &nomem);
	if (flags & FLAG_CUT) {
		e.global_shape = ckpt_index_take_dims(c, e.tensor.ndim, arena, &nomem);
		e.global_offset = ckpt_index_take_dims(c, e.tensor.ndim, arena, &nomem);
	}
	e.crcs = take_crcs(c, e.tensor.bytes, arena, &nomem);
	e.tensor.name = ckpt_index_take_text(c, name_len, arena, &nomem);
	if (flags & FLAG_EXTRA)
		e.extra = ckpt_index_take_text(c, shd_cursor_u32(c), arena, &nomem);
	uint32_t type_len = flags & FLAG_TYPE ? shd_cursor_u8(c) : 0;
	if (flags & FLAG_TYPE)
		e.tensor.type_name = ckpt_index_take_text(c, type_len, arena, &nomem);
	TRY(shd_cursor_check(c, "index", err));
	if (nomem)
		return shd_fail_nomem(err);
	TRY(check_name(e.tensor.name, name_len, e.where, err));
	if (e.tensor.type_name)
		TRY(check_name(e.tensor.type_name, type_len, e.where, err));
	if (!shd_tensor_is_typed(&e.tensor))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-dtype", e.where + 4, "index: an opaque type has no name");
	int rc = shd_ckpt_members_check(e.extra, SHD_CKPT_OBJECT_TENSOR, limits, SHERD_ECORRUPT, err);
	if (rc < 0 && err)
		err->offset = e.where;
	TRY(rc);
	TRY(shd_ckpt_entry_check(&e, err));
	*out = e;
	return SHERD_OK;
}

static int decode_entries(shd_cursor *c, uint32_t count, const sherd_limits *limits, shd_arena *arena,
                          shd_ckpt_index *out, sherd_error *err)
{
	if (count > shd_cursor_left(c) / RECORD_MIN)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-count", 32, "index: %" PRIu32 " tensors in %zu bytes",
		                   count, shd_cursor_left(c));
	out->entries = shd_arena_alloc(arena, (size_t)count + !count, sizeof(*out->entries));
	if (!out->entries)
		return shd_fail_nomem(err);
	for (; out->count < count; out->count++)
		TRY(decode_entry(c, limits, arena, &out->entries[out->count], err));
	return SHERD_OK;
}

/* To the end of the body; whether there are as many as the data has parts, the caller knows. */
static int decode_values(shd_cursor *c, shd_arena *arena, shd_ckpt_index *out, sherd_error *err)
{
	uint64_t where = c->pos;
	out->part_log = shd_cursor_u8(c);
	TRY(shd_cursor_check(c, "index", err));
	if (out->part_log < SHD_CKPT_PART_LOG_MIN || out->part_log > SHD_CKPT_PART_LOG_MAX)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-index", where, "index: parts of 2^%u bytes",
		                   out->part_log);
	out->value_count = shd_cursor_left(c) / sizeof(*out->values);
	size_t len = out->value_count * sizeof(*out->values);
	void *values = shd_arena_alloc(arena, len + 1, 1);
	if (!values)
		return shd_fail_nomem(err);
	if (len)
		memcpy(values, shd_cursor_bytes(c, len), len);
	out->values = values;
	return SHERD_OK;
}

int shd_ckpt_index_decode(const uint8_t *raw, size_t len, const sherd_limits *limits, shd_arena *arena,
                          shd_ckpt_index *out, sherd_error *err)
{
	sherd_limits l = shd_limits_or_default(limits);
	if (len < SHD_CKPT_TRAILER_SIZE)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", 0, "index: no room for its trailer");
	size_t body = len - SHD_CKPT_TRAILER_SIZE;
	uint8_t version = raw[body + 19];
	if (memcmp(raw + body + 12, magic, sizeof(magic)) != 0 || (version != '1' && version != '2') ||
	    shd_get_u64(raw + body) != body)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-index", body, "index: no trailer where it should be");
	if (shd_crc32(0, raw, body + 8) != shd_get_u32(raw + body + 8))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-crc", 0, "index: its CRC-32 does not match");

	shd_cursor c = shd_cursor_over(raw, body);
	shd_ckpt_index index = {0};
	const uint8_t *id = shd_cursor_bytes(&c, sizeof(index.set_id.bytes));
	if (id)
		memcpy(index.set_id.bytes, id, sizeof(index.set_id.bytes));
	index.rank = shd_cursor_u32(&c);
	index.world = shd_cursor_u32(&c);
	index.time_ns = (int64_t)shd_cursor_u64(&c);
	uint32_t count = shd_cursor_u32(&c), about_len = shd_cursor_u32(&c);
	const uint8_t *about = shd_cursor_bytes(&c, about_len);
	TRY(shd_cursor_check(&c, "index", err));
	if (index.rank >= index.world)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-rank", 16, "index: rank %" PRIu32 " of %" PRIu32,
		                   index.rank, index.world);
	index.about = (shd_str){shd_arena_copy(arena, about, about_len), about_len};
	if (!index.about.ptr)
		return shd_fail_nomem(err);
	TRY(decode_entries(&c, count, &l, arena, &index, err));
	if (version == '2')
		TRY(decode_values(&c, arena, &index, err));
	TRY(shd_cursor_end(&c, "index", err));
	*out = index;
	return SHERD_OK;
}

static void put_dims(shd_buf *out, const uint64_t *dims, uint32_t ndim)
{
	for (uint32_t i = 0; i < ndim; i++)
		shd_buf_u64(out, dims[i]);
}

static void encode_entry(const shd_ckpt_entry *e, shd_buf *out)
{
	uint32_t name_len = (uint32_t)strlen(e->tensor.name);
	shd_buf_u32(out, name_len);
	shd_buf_u8(out, (uint8_t)e->tensor.dtype);
	shd_buf_u8(out, (uint8_t)e->tensor.ndim);
	const char *type = e->tensor.dtype == SHERD_OPAQUE ? e->tensor.type_name : NULL;
	shd_buf_u8(out,
	           (uint8_t)((e->global_shape ? FLAG_CUT : 0) | (e->extra ? FLAG_EXTRA : 0) | (type ? FLAG_TYPE : 0)));
	shd_buf_u8(out, 0);
	shd_buf_u64(out, e->offset);
	shd_buf_u64(out, e->tensor.bytes);
	put_dims(out, e->tensor.shape, e->tensor.ndim);
	if (e->global_shape) {
		put_dims(out, e->global_shape, e->tensor.ndim);
		put_dims(out, e->global_offset, e->tensor.ndim);
	}
	for (uint64_t i = 0; i < shd_ckpt_blocks(e->tensor.bytes); i++)
		shd_buf_u32(out, e->crcs[i]);
	shd_buf_append(out, e->tensor.name, name_len);
	if (e->extra) {
		shd_buf_u32(out, (uint32_t)strlen(e->extra));
		shd_buf_str(out, e->extra);
	}
	if (type) {
		shd_buf_u8(out, (uint8_t)strlen(type));
		shd_buf_str(out, type);
	}
}

void shd_ckpt_index_encode(const shd_ckpt_index *index, shd_buf *out)
{
	size_t start = out->len;
	shd_buf_append(out, index->set_id.bytes, sizeof(index->set_id.bytes));
	shd_buf_u32(out, index->rank);
	shd_buf_u32(out, index->world);
	shd_buf_u64(out, (uint64_t)index->time_ns);
	shd_buf_u32(out, (uint32_t)index->count);
	shd_buf_u32(out, (uint32_t)index->about.len);
	shd_buf_append(out, index->about.ptr, index->about.len);
	for (size_t i = 0; i < index->count; i++)
		encode_entry(&index->entries[i], out);
	if (index->part_log) {
		shd_buf_u8(out, (uint8_t)index->part_log);
		shd_buf_append(out, index->values, index->value_count * sizeof(*index->values));
	}
	shd_buf_u64(out, out->len - start);
	if (!out->failed)
		shd_buf_u32(out, shd_crc32(0, out->data + start, out->len - start));
	shd_buf_append(out, magic, sizeof(magic));
	shd_buf_u8(out, index->part_log ? '2' : '1');
}

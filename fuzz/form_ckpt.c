/* fuzz/form_ckpt.c - shards of checkpoints and their indexes (docs/formats/checkpoint.md). */
#include "codec/blake3.h"
#include "codec/crc32.h"
#include "codec/sha256.h"
#include "form.h"
#include "format/ckpt/index.h"
#include "format/ckpt/shard.h"

enum { HEAD, DATA, INDEX, ABOUT, RECORD, NAME, EXTRA, TYPE, PARTS };
enum { INDEX_FIXED = 32, COUNTS = 8, RECORD_FIXED = 20, FLAG_CUT = 1, FLAG_EXTRA = 2, FLAG_TYPE = 4, MOST_BLOCKS = 4 };

static const char MAGIC[] = "SHERDIX";

static size_t dims_of(uint8_t ndim, uint8_t flags)
{
	return ndim * (flags & FLAG_CUT ? (size_t)3 : 1);
}

/* A record without its lengths and checksums: what is fixed and the dimensions, the name, further members, the name of
 * an opaque type. */
static bool split_record(shd_cursor *c, form_pieces *out)
{
	uint32_t name_len = shd_cursor_u32(c);
	const uint8_t *fixed = shd_cursor_bytes(c, RECORD_FIXED);
	if (!fixed)
		return false;
	uint64_t blocks = shd_ckpt_blocks(shd_get_u64(fixed + 12));
	size_t dims = 8 * dims_of(fixed[1], fixed[2]);
	if (!shd_cursor_bytes(c, dims) || blocks > MOST_BLOCKS || !shd_cursor_bytes(c, 4 * blocks))
		return false;
	const uint8_t *name = shd_cursor_bytes(c, name_len);
	uint32_t extra_len = fixed[2] & FLAG_EXTRA ? shd_cursor_u32(c) : 0;
	const uint8_t *extra = shd_cursor_bytes(c, extra_len);
	uint32_t type_len = fixed[2] & FLAG_TYPE ? shd_cursor_u8(c) : 0;
	const uint8_t *type = shd_cursor_bytes(c, type_len);
	return name && extra && type && form_add(out, FORM_FIXED, RECORD, fixed, RECORD_FIXED + dims) &&
	       form_add(out, FORM_BYTES, NAME, name, name_len) &&
	       (!extra_len || form_add(out, FORM_JSON, EXTRA, extra, extra_len)) &&
	       (!type_len || form_add(out, FORM_BYTES, TYPE, type, type_len));
}

/* Of version 2 the size of parts is kept; their values are made anew. */
static bool split_body(const uint8_t *body, size_t len, bool parts, form_pieces *out)
{
	shd_cursor c = shd_cursor_over(body, len);
	const uint8_t *fixed = shd_cursor_bytes(&c, INDEX_FIXED);
	uint32_t count = shd_cursor_u32(&c), about_len = shd_cursor_u32(&c);
	const uint8_t *about = shd_cursor_bytes(&c, about_len);
	if (!about || !form_add(out, FORM_FIXED, INDEX, fixed, INDEX_FIXED) ||
	    (about_len && !form_add(out, FORM_JSON, ABOUT, about, about_len)))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!split_record(&c, out))
			return false;
	const uint8_t *log = parts ? shd_cursor_bytes(&c, 1) : NULL;
	return !c.failed && (!parts || form_add(out, FORM_FIXED, PARTS, log, 1));
}

static bool split_index(const uint8_t *data, size_t len, form_pieces *out)
{
	uint8_t version = len ? data[len - 1] : 0;
	return len > SHD_CKPT_TRAILER_SIZE && memcmp(data + len - 8, MAGIC, 7) == 0 &&
	       (version == '1' || version == '2') && split_body(data, len - SHD_CKPT_TRAILER_SIZE, version == '2', out);
}

/* The bytes that a record tells of have these checksums; 0 for those that are not there. */
static void put_crcs(const form_piece *data, uint64_t offset, uint64_t size, shd_buf *out)
{
	uint64_t blocks = shd_ckpt_blocks(size);
	for (uint64_t i = 0; i < blocks && i < MOST_BLOCKS; i++) {
		uint64_t at = i * SHD_CKPT_BLOCK, n = size - at < SHD_CKPT_BLOCK ? size - at : SHD_CKPT_BLOCK;
		bool there = data && offset <= data->bytes.len && at + n <= data->bytes.len - offset;
		shd_buf_u32(out, there ? shd_crc32(0, data->bytes.data + offset + at, (size_t)n) : 0);
	}
}

static void put_record(const form_pieces *p, size_t at, const form_piece *data, shd_buf *out)
{
	const form_piece *name = at + 1 < p->count && p->list[at + 1].tag == NAME ? &p->list[at + 1] : NULL;
	const form_piece *extra = name && at + 2 < p->count && p->list[at + 2].tag == EXTRA ? &p->list[at + 2] : NULL;
	size_t behind = at + 1 + (name != NULL) + (extra != NULL);
	const form_piece *type = behind < p->count && p->list[behind].tag == TYPE ? &p->list[behind] : NULL;
	SHD_AUTO_BUF fixed = {0};
	shd_buf_append(&fixed, p->list[at].bytes.data, p->list[at].bytes.len);
	bool opaque = fixed.data[0] == SHERD_OPAQUE;
	fixed.data[2] = (uint8_t)((fixed.data[2] & ~(FLAG_EXTRA | FLAG_TYPE)) | (extra ? FLAG_EXTRA : 0) |
	                          (opaque ? FLAG_TYPE : 0));
	size_t want = RECORD_FIXED + 8 * dims_of(fixed.data[1], fixed.data[2]);
	if (want > fixed.len)
		shd_buf_zero(&fixed, want - fixed.len);
	shd_buf_u32(out, name ? (uint32_t)name->bytes.len : 0);
	shd_buf_append(out, fixed.data, want);
	put_crcs(data, shd_get_u64(fixed.data + 4), shd_get_u64(fixed.data + 12), out);
	if (name)
		shd_buf_append(out, name->bytes.data, name->bytes.len);
	if (extra) {
		shd_buf_u32(out, (uint32_t)extra->bytes.len);
		shd_buf_append(out, extra->bytes.data, extra->bytes.len);
	}
	if (opaque) {
		shd_buf_u8(out, type ? (uint8_t)type->bytes.len : 1);
		shd_buf_append(out, type ? type->bytes.data : (const uint8_t *)"t",
		               type ? (uint8_t)type->bytes.len : 1);
	}
}

static void put_values(const form_piece *parts, const form_piece *data, shd_buf *out)
{
	uint8_t log = parts->bytes.data[0], value[SHD_BLAKE3_BYTES];
	shd_buf_u8(out, log);
	if (!data || log < SHD_CKPT_PART_LOG_MIN || log > SHD_CKPT_PART_LOG_MAX)
		return;
	for (size_t i = 0; i < data->bytes.len >> log; i++) {
		shd_blake3_part(data->bytes.data + (i << log), (size_t)1 << log, (uint64_t)i << log, value);
		shd_buf_append(out, value, sizeof(value));
	}
}

static uint32_t count_records(const form_pieces *p)
{
	uint32_t count = 0;
	for (size_t i = form_find(p, RECORD, 0); i < p->count; i = form_find(p, RECORD, i + 1))
		count++;
	return count;
}

static void put_index(const form_pieces *p, const form_piece *data, shd_buf *out)
{
	size_t start = out->len, fixed = form_find(p, INDEX, 0), about = form_find(p, ABOUT, 0);
	if (fixed == p->count)
		return;
	shd_buf_append(out, p->list[fixed].bytes.data, INDEX_FIXED);
	shd_buf_u32(out, count_records(p));
	shd_buf_u32(out, about < p->count ? (uint32_t)p->list[about].bytes.len : 0);
	if (about < p->count)
		shd_buf_append(out, p->list[about].bytes.data, p->list[about].bytes.len);
	for (size_t i = form_find(p, RECORD, 0); i < p->count; i = form_find(p, RECORD, i + 1))
		put_record(p, i, data, out);
	size_t parts = form_find(p, PARTS, 0);
	if (parts < p->count)
		put_values(&p->list[parts], data, out);
	shd_buf_u64(out, out->len - start);
	if (!out->failed)
		shd_buf_u32(out, shd_crc32(0, out->data + start, out->len - start));
	shd_buf_str(out, MAGIC);
	shd_buf_u8(out, parts < p->count ? '2' : '1');
}

static void join_index(const form_pieces *p, shd_buf *out)
{
	put_index(p, NULL, out);
}

const fuzz_form form_ckpt_index = {split_index, join_index};

static bool split_shard(const uint8_t *data, size_t len, form_pieces *out)
{
	if (len < SHD_CKPT_HEAD_ROOM + SHD_CKPT_TRAILER_SIZE || shd_get_u32(data) != SHD_CKPT_SHARD_MAGIC)
		return false;
	uint32_t text = shd_get_u32(data + 8), head = 24 + text;
	if (text != SHD_SHA256_HEX && text != SHD_CKPT_DIGEST_TEXT - 1)
		return false;
	uint64_t body = shd_get_u64(data + len - SHD_CKPT_TRAILER_SIZE);
	size_t rest = len - head - SHD_CKPT_TRAILER_SIZE;
	return body <= rest && form_add(out, FORM_FIXED, HEAD, data + 4, 4) &&
	       form_add(out, FORM_BYTES, DATA, data + head, rest - (size_t)body) &&
	       split_index(data + len - SHD_CKPT_TRAILER_SIZE - body, (size_t)body + SHD_CKPT_TRAILER_SIZE, out);
}

static void join_shard(const form_pieces *p, shd_buf *out)
{
	size_t head = form_find(p, HEAD, 0), data = form_find(p, DATA, 0);
	const form_piece *bytes = data < p->count ? &p->list[data] : NULL;
	uint32_t rank = head < p->count ? shd_get_u32(p->list[head].bytes.data) : 0;
	sherd_digest digest = form_find(p, PARTS, 0) < p->count ? SHERD_DIGEST_BLAKE3 : SHERD_DIGEST_SHA256;
	uint8_t hash[SHD_SHA256_BYTES], raw[SHD_CKPT_HEAD_ROOM];
	char text[SHD_CKPT_DIGEST_TEXT];
	const uint32_t head_size = shd_ckpt_head_size(digest);
	shd_buf_zero(out, head_size);
	if (bytes)
		shd_buf_append(out, bytes->bytes.data, bytes->bytes.len);
	put_index(p, bytes, out);
	if (out->failed)
		return;
	size_t size = out->len - head_size;
	if (digest == SHERD_DIGEST_BLAKE3)
		shd_blake3_of(out->data + head_size, size, hash);
	else
		shd_sha256_of(out->data + head_size, size, hash);
	shd_ckpt_digest_text(digest, hash, text);
	shd_ckpt_head_encode(rank, count_records(p), size, text, raw);
	memcpy(out->data, raw, head_size);
}

const fuzz_form form_ckpt_shard = {split_shard, join_shard};

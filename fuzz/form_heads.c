/* fuzz/form_heads.c - formats whose head tells a length or two: safetensors, npy, shards of rows, sidecars. */
#include "codec/crc32.h"
#include "form.h"
#include "format/tensor/npy.h"
#include "format/rfdb/sidecar.h"
#include "format/rows/shard.h"

enum { HEAD, TEXT, DATA };

static const form_piece *piece_of(const form_pieces *p, uint32_t tag)
{
	static const form_piece none;
	size_t at = form_find(p, tag, 0);
	return at < p->count ? &p->list[at] : &none;
}

static void put_piece(const form_pieces *p, uint32_t tag, shd_buf *out)
{
	const form_piece *piece = piece_of(p, tag);
	shd_buf_append(out, piece->bytes.data, piece->bytes.len);
}

static bool split_safetensors(const uint8_t *data, size_t len, form_pieces *out)
{
	if (len < 8 || shd_get_u64(data) > len - 8)
		return false;
	size_t text = (size_t)shd_get_u64(data);
	return form_add(out, FORM_JSON, TEXT, data + 8, text) &&
	       form_add(out, FORM_BYTES, DATA, data + 8 + text, len - 8 - text);
}

static void join_safetensors(const form_pieces *p, shd_buf *out)
{
	shd_buf_u64(out, piece_of(p, TEXT)->bytes.len);
	put_piece(p, TEXT, out);
	put_piece(p, DATA, out);
}

const fuzz_form form_safetensors = {split_safetensors, join_safetensors};

static bool split_npy(const uint8_t *data, size_t len, form_pieces *out)
{
	uint64_t head;
	if (len < SHD_NPY_FIRST || shd_npy_decode_length(data, SHD_NPY_FIRST, len, &head, NULL) < 0)
		return false;
	size_t before = data[6] == 1 ? 10 : 12;
	return form_add(out, FORM_FIXED, HEAD, data + 6, 2) &&
	       form_add(out, FORM_BYTES, TEXT, data + before, (size_t)head - before) &&
	       form_add(out, FORM_BYTES, DATA, data + head, len - (size_t)head);
}

static void join_npy(const form_pieces *p, shd_buf *out)
{
	size_t text = piece_of(p, TEXT)->bytes.len;
	shd_buf_append(out, SHD_NPY_MAGIC, SHD_NPY_MAGIC_BYTES);
	put_piece(p, HEAD, out);
	if (out->len > 6 && out->data[6] == 1)
		shd_buf_u16(out, (uint16_t)text);
	else
		shd_buf_u32(out, (uint32_t)text);
	put_piece(p, TEXT, out);
	put_piece(p, DATA, out);
}

const fuzz_form form_npy = {split_npy, join_npy};

/* The width is changed, the number of rows follows from it and the data. */
static bool split_rows(const uint8_t *data, size_t len, form_pieces *out)
{
	return len >= SHD_ROWS_HEAD_SIZE && memcmp(data, SHD_ROWS_MAGIC, 8) == 0 &&
	       form_add(out, FORM_FIXED, HEAD, data + 16, SHD_ROWS_HEAD_SIZE - 16) &&
	       form_add(out, FORM_BYTES, DATA, data + SHD_ROWS_HEAD_SIZE, len - SHD_ROWS_HEAD_SIZE);
}

static void join_rows(const form_pieces *p, shd_buf *out)
{
	const form_piece *head = piece_of(p, HEAD);
	uint64_t width = head->bytes.len ? shd_get_u64(head->bytes.data) : 0;
	uint64_t values = piece_of(p, DATA)->bytes.len / 4;
	shd_buf_append(out, SHD_ROWS_MAGIC, 8);
	shd_buf_u64(out, width ? values / width : values);
	shd_buf_append(out, head->bytes.data, head->bytes.len);
	put_piece(p, DATA, out);
}

const fuzz_form form_rows_shard = {split_rows, join_rows};

enum { SIDECAR_SECTIONS = 4, SIDECAR_DIRECTORY = 64, SIDECAR_CRC = 160, SIDECAR_ALIGN = 8 };

static bool split_sidecar(const uint8_t *data, size_t len, form_pieces *out)
{
	if (len < SHD_RFDB_SIDECAR_HEAD || memcmp(data, "SHERDIDX", 8) != 0 ||
	    !form_add(out, FORM_FIXED, HEAD, data + 8, SIDECAR_DIRECTORY - 8))
		return false;
	for (uint32_t i = 0; i < SIDECAR_SECTIONS; i++) {
		const uint8_t *s = data + SIDECAR_DIRECTORY + (size_t)24 * i;
		uint64_t at = shd_get_u64(s), n = shd_get_u64(s + 8);
		if (at > len || n > len - at || !form_add(out, FORM_BYTES, DATA + i, data + at, (size_t)n))
			return false;
	}
	return true;
}

static void join_sidecar(const form_pieces *p, shd_buf *out)
{
	shd_buf_str(out, "SHERDIDX");
	put_piece(p, HEAD, out);
	if (out->failed || out->len > SIDECAR_DIRECTORY)
		return;
	shd_buf_zero(out, SHD_RFDB_SIDECAR_HEAD - out->len);
	for (uint32_t i = 0; i < SIDECAR_SECTIONS && !out->failed; i++) {
		const form_piece *piece = piece_of(p, DATA + i);
		uint64_t at = piece->bytes.len ? out->len : SHD_RFDB_SIDECAR_HEAD;
		uint8_t *s = out->data + SIDECAR_DIRECTORY + (size_t)24 * i;
		shd_put_u64(s, at);
		shd_put_u64(s + 8, piece->bytes.len);
		shd_put_u32(s + 16, shd_crc32(0, piece->bytes.data, piece->bytes.len));
		shd_buf_append(out, piece->bytes.data, piece->bytes.len);
		shd_buf_zero(out, -out->len % SIDECAR_ALIGN);
	}
	if (!out->failed)
		shd_put_u32(out->data + SIDECAR_CRC, shd_crc32(0, out->data, SIDECAR_CRC));
}

const fuzz_form form_rfdb_sidecar = {split_sidecar, join_sidecar};

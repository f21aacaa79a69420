#include "engine/tensors/archive_out.h"

#include "codec/crc32.h"

enum { PIECE = 1 << 20 };

int shd_archive_out_init(shd_archive_out *o, sherd_writer *writer, int level, sherd_error *err)
{
	*o = (shd_archive_out){.writer = writer};
	if (!level)
		return SHERD_OK;
	TRY(shd_deflate_open(&o->pieces, 1, err));
	return level > 1 ? shd_deflate_open(&o->whole, level, err) : SHERD_OK;
}

void shd_archive_out_done(shd_archive_out *o)
{
	shd_deflate_close(o->whole);
	shd_deflate_close(o->pieces);
	shd_vec_done(&o->entries);
	shd_buf_done(&o->raw);
	shd_buf_done(&o->packed);
	shd_arena_done(&o->arena);
	*o = (shd_archive_out){0};
}

static int put(shd_archive_out *o, const void *bytes, size_t len, sherd_error *err)
{
	o->at += len;
	return sherd_writer_append(o->writer, bytes, len, err);
}

static bool is_ascii(const char *name)
{
	while (*name && !(*name & 0x80))
		name++;
	return !*name;
}

int shd_archive_out_begin(shd_archive_out *o, const char *name, uint64_t size, uint32_t align, sherd_error *err)
{
	SHD_AUTO_BUF head = {0};
	o->entry = (shd_zip_entry){.name = shd_arena_str(&o->arena, shd_str_of(name)),
	                           .flags = (uint16_t)(SHD_ZIP_DESCRIPTOR | (is_ascii(name) ? 0 : SHD_ZIP_UTF8)),
	                           .method = o->pieces ? SHD_ZIP_DEFLATED : SHD_ZIP_STORED,
	                           .size = size,
	                           .head = o->at};
	if (!o->entry.name)
		return shd_fail_nomem(err);
	shd_zip_put_local(&head, &o->entry, o->pieces ? 1 : align);
	TRY(shd_buf_check(&head, err));
	return put(o, head.data, head.len, err);
}

static int put_packed(shd_archive_out *o, const void *bytes, size_t len, sherd_error *err)
{
	o->entry.stored += len;
	return put(o, bytes, len, err);
}

/* Noise grows by less than a byte in 256. */
static size_t most_packed(size_t len)
{
	return len + len / 256 + 64;
}

static int put_pieces(shd_archive_out *o, const uint8_t *bytes, size_t len, sherd_error *err)
{
	for (size_t at = 0, n; at < len; at += n) {
		n = len - at < PIECE ? len - at : PIECE;
		o->packed.len = 0;
		if (!shd_buf_reserve(&o->packed, most_packed(n)))
			return shd_fail_nomem(err);
		size_t made = shd_deflate_pack_piece(o->pieces, bytes + at, n, o->packed.data, most_packed(n));
		TRY(put_packed(o, o->packed.data, made, err));
	}
	return SHERD_OK;
}

static bool is_whole(const shd_archive_out *o)
{
	return o->whole && o->entry.size <= SHD_ARCHIVE_WHOLE;
}

int shd_archive_out_append(shd_archive_out *o, const void *buf, size_t len, sherd_error *err)
{
	o->entry.crc = shd_crc32(o->entry.crc, buf, len);
	if (!o->pieces)
		return put_packed(o, buf, len, err);
	if (!is_whole(o))
		return put_pieces(o, buf, len, err);
	shd_buf_append(&o->raw, buf, len);
	return shd_buf_check(&o->raw, err);
}

/* What is left of a compressed entry: all of it, or how its stream ends. */
static int end_packed(shd_archive_out *o, sherd_error *err)
{
	if (!is_whole(o) || !o->raw.len)
		return put_packed(o, SHD_DEFLATE_END, SHD_DEFLATE_END_BYTES, err);
	o->packed.len = 0;
	if (!shd_buf_reserve(&o->packed, most_packed(o->raw.len)))
		return shd_fail_nomem(err);
	size_t made = shd_deflate_pack(o->whole, o->raw.data, o->raw.len, o->packed.data, most_packed(o->raw.len));
	o->raw.len = 0;
	return put_packed(o, o->packed.data, made, err);
}

int shd_archive_out_end(shd_archive_out *o, sherd_error *err)
{
	SHD_AUTO_BUF descriptor = {0};
	if (o->pieces)
		TRY(end_packed(o, err));
	shd_zip_put_descriptor(&descriptor, &o->entry);
	shd_vec_push(&o->entries, o->entry);
	TRY(shd_vec_check(&o->entries, err));
	TRY(shd_buf_check(&descriptor, err));
	return put(o, descriptor.data, descriptor.len, err);
}

int shd_archive_out_finish(shd_archive_out *o, sherd_error *err)
{
	SHD_AUTO_BUF directory = {0};
	shd_zip_put_directory(&directory, o->entries.items, o->entries.count, o->at);
	TRY(shd_buf_check(&directory, err));
	return put(o, directory.data, directory.len, err);
}

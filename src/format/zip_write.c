#include "format/zip.h"

enum {
	VERSION = 20, /* stored and deflated */
	VERSION_ZIP64 = 45,
	MADE_ON_UNIX = 3 << 8,
	EXTRA_ZIP64 = 1,
	EXTRA_ALIGN = 0xd935, /* the alignment, then zeros: as Android's tools write it */
	EXTRA_HEAD = 4,
	DATE = 0x21, /* the first of January 1980, the first day there is */
	END_RECORD = 44,
	MOST_COUNT = 0xffff
};

#define ELSEWHERE UINT32_MAX

static const uint32_t regular = 0100644u << 16; /* a file that its owner may write, as Unix says it */

static uint32_t small(uint64_t v)
{
	return v < ELSEWHERE ? (uint32_t)v : ELSEWHERE;
}

/* Does its local head have the Zip64 field? Of what is compressed on the way, before its length is known: deflate adds
 * less than a byte in 256. */
static bool is_large(const shd_zip_entry *e)
{
	uint64_t grows = e->method == SHD_ZIP_STORED ? 0 : e->size / 256 + 4096;
	return e->size >= ELSEWHERE || (e->flags & SHD_ZIP_DESCRIPTOR && e->size + grows >= ELSEWHERE) ||
	       (!(e->flags & SHD_ZIP_DESCRIPTOR) && e->stored >= ELSEWHERE);
}

static void put_start(shd_buf *out, const shd_zip_entry *e, bool zip64, uint32_t crc)
{
	shd_buf_u16(out, zip64 ? VERSION_ZIP64 : VERSION);
	shd_buf_u16(out, e->flags);
	shd_buf_u16(out, e->method);
	shd_buf_u16(out, 0);
	shd_buf_u16(out, DATE);
	shd_buf_u32(out, crc);
}

/* An extra field that fills up to the alignment. */
static void put_padding(shd_buf *out, uint32_t align, uint32_t pad)
{
	shd_buf_u16(out, EXTRA_ALIGN);
	shd_buf_u16(out, (uint16_t)(2 + pad));
	shd_buf_u16(out, (uint16_t)align);
	shd_buf_zero(out, pad);
}

void shd_zip_put_local(shd_buf *out, const shd_zip_entry *e, uint32_t align)
{
	bool large = is_large(e), later = e->flags & SHD_ZIP_DESCRIPTOR;
	size_t name_len = strlen(e->name);
	uint32_t extra = large ? EXTRA_HEAD + 16 : 0;
	uint64_t least = e->head + SHD_ZIP_LOCAL + name_len + extra + EXTRA_HEAD + 2;
	uint32_t pad = (uint32_t)(-least & (align - 1));
	shd_buf_str(out, SHD_ZIP_MAGIC);
	put_start(out, e, large, later ? 0 : e->crc);
	shd_buf_u32(out, large ? ELSEWHERE : later ? 0 : (uint32_t)e->stored);
	shd_buf_u32(out, large ? ELSEWHERE : later ? 0 : (uint32_t)e->size);
	shd_buf_u16(out, (uint16_t)name_len);
	shd_buf_u16(out, (uint16_t)(extra + (align > 1 ? EXTRA_HEAD + 2 + pad : 0)));
	shd_buf_str(out, e->name);
	if (large) {
		shd_buf_u16(out, EXTRA_ZIP64);
		shd_buf_u16(out, 16);
		shd_buf_u64(out, later ? 0 : e->size);
		shd_buf_u64(out, later ? 0 : e->stored);
	}
	if (align > 1)
		put_padding(out, align, pad);
}

void shd_zip_put_descriptor(shd_buf *out, const shd_zip_entry *e)
{
	shd_buf_str(out, "PK\7\10");
	shd_buf_u32(out, e->crc);
	if (is_large(e)) {
		shd_buf_u64(out, e->stored);
		shd_buf_u64(out, e->size);
	} else {
		shd_buf_u32(out, (uint32_t)e->stored);
		shd_buf_u32(out, (uint32_t)e->size);
	}
}

static void put_central(shd_buf *out, const shd_zip_entry *e)
{
	const uint64_t fields[] = {e->size, e->stored, e->head};
	uint16_t extra = 0;
	for (size_t i = 0; i < COUNT_OF(fields); i++)
		extra = (uint16_t)(extra + (fields[i] >= ELSEWHERE ? 8 : 0));
	shd_buf_str(out, "PK\1\2");
	shd_buf_u16(out, MADE_ON_UNIX | VERSION_ZIP64);
	put_start(out, e, is_large(e), e->crc);
	shd_buf_u32(out, small(e->stored));
	shd_buf_u32(out, small(e->size));
	shd_buf_u16(out, (uint16_t)strlen(e->name));
	shd_buf_u16(out, (uint16_t)(extra ? EXTRA_HEAD + extra : 0));
	shd_buf_zero(out, 6); /* no comment, the first disk, no attributes of its own */
	shd_buf_u32(out, regular);
	shd_buf_u32(out, small(e->head));
	shd_buf_str(out, e->name);
	if (!extra)
		return;
	shd_buf_u16(out, EXTRA_ZIP64);
	shd_buf_u16(out, extra);
	for (size_t i = 0; i < COUNT_OF(fields); i++)
		if (fields[i] >= ELSEWHERE)
			shd_buf_u64(out, fields[i]);
}

static void put_record(shd_buf *out, size_t count, uint64_t bytes, uint64_t at)
{
	shd_buf_str(out, "PK\6\6");
	shd_buf_u64(out, END_RECORD);
	shd_buf_u16(out, MADE_ON_UNIX | VERSION_ZIP64);
	shd_buf_u16(out, VERSION_ZIP64);
	shd_buf_zero(out, 8); /* the first disk */
	shd_buf_u64(out, count);
	shd_buf_u64(out, count);
	shd_buf_u64(out, bytes);
	shd_buf_u64(out, at);
	shd_buf_str(out, "PK\6\7");
	shd_buf_u32(out, 0);
	shd_buf_u64(out, at + bytes);
	shd_buf_u32(out, 1);
}

void shd_zip_put_directory(shd_buf *out, const shd_zip_entry *entries, size_t count, uint64_t at)
{
	size_t begin = out->len;
	for (size_t i = 0; i < count; i++)
		put_central(out, &entries[i]);
	uint64_t bytes = out->len - begin;
	uint16_t told = (uint16_t)(count < MOST_COUNT ? count : MOST_COUNT);
	if (at >= ELSEWHERE || bytes >= ELSEWHERE || count >= MOST_COUNT)
		put_record(out, count, bytes, at);
	shd_buf_str(out, "PK\5\6");
	shd_buf_u32(out, 0);
	shd_buf_u16(out, told);
	shd_buf_u16(out, told);
	shd_buf_u32(out, small(bytes));
	shd_buf_u32(out, small(at));
	shd_buf_u16(out, 0);
}

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

static void put_start(sherd_buf *out, const sherd_zip_entry *e, bool zip64)
{
	sherd_buf_u16(out, zip64 ? VERSION_ZIP64 : VERSION);
	sherd_buf_u16(out, e->flags);
	sherd_buf_u16(out, e->method);
	sherd_buf_u16(out, 0);
	sherd_buf_u16(out, DATE);
	sherd_buf_u32(out, e->crc);
}

void sherd_zip_put_local(sherd_buf *out, const sherd_zip_entry *e, uint32_t align)
{
	bool large = e->size >= ELSEWHERE;
	size_t name_len = strlen(e->name);
	uint32_t extra = large ? EXTRA_HEAD + 16 : 0;
	uint64_t least = e->head + SHERD_ZIP_LOCAL + name_len + extra + EXTRA_HEAD + 2;
	uint32_t pad = (uint32_t)(-least & (align - 1));
	sherd_buf_str(out, SHERD_ZIP_MAGIC);
	put_start(out, e, large);
	sherd_buf_u32(out, large ? ELSEWHERE : (uint32_t)e->stored);
	sherd_buf_u32(out, large ? ELSEWHERE : (uint32_t)e->size);
	sherd_buf_u16(out, (uint16_t)name_len);
	sherd_buf_u16(out, (uint16_t)(extra + EXTRA_HEAD + 2 + pad));
	sherd_buf_str(out, e->name);
	if (large) {
		sherd_buf_u16(out, EXTRA_ZIP64);
		sherd_buf_u16(out, 16);
		sherd_buf_u64(out, e->size);
		sherd_buf_u64(out, e->stored);
	}
	sherd_buf_u16(out, EXTRA_ALIGN);
	sherd_buf_u16(out, (uint16_t)(2 + pad));
	sherd_buf_u16(out, (uint16_t)align);
	sherd_buf_zero(out, pad);
}

static void put_central(sherd_buf *out, const sherd_zip_entry *e)
{
	const uint64_t fields[] = {e->size, e->stored, e->head};
	uint16_t extra = 0;
	for (size_t i = 0; i < COUNT_OF(fields); i++)
		extra = (uint16_t)(extra + (fields[i] >= ELSEWHERE ? 8 : 0));
	sherd_buf_str(out, "PK\1\2");
	sherd_buf_u16(out, MADE_ON_UNIX | VERSION_ZIP64);
	put_start(out, e, e->size >= ELSEWHERE);
	sherd_buf_u32(out, small(e->stored));
	sherd_buf_u32(out, small(e->size));
	sherd_buf_u16(out, (uint16_t)strlen(e->name));
	sherd_buf_u16(out, (uint16_t)(extra ? EXTRA_HEAD + extra : 0));
	sherd_buf_zero(out, 6); /* no comment, the first disk, no attributes of its own */
	sherd_buf_u32(out, regular);
	sherd_buf_u32(out, small(e->head));
	sherd_buf_str(out, e->name);
	if (!extra)
		return;
	sherd_buf_u16(out, EXTRA_ZIP64);
	sherd_buf_u16(out, extra);
	for (size_t i = 0; i < COUNT_OF(fields); i++)
		if (fields[i] >= ELSEWHERE)
			sherd_buf_u64(out, fields[i]);
}

static void put_record(sherd_buf *out, size_t count, uint64_t bytes, uint64_t at)
{
	sherd_buf_str(out, "PK\6\6");
	sherd_buf_u64(out, END_RECORD);
	sherd_buf_u16(out, MADE_ON_UNIX | VERSION_ZIP64);
	sherd_buf_u16(out, VERSION_ZIP64);
	sherd_buf_zero(out, 8); /* the first disk */
	sherd_buf_u64(out, count);
	sherd_buf_u64(out, count);
	sherd_buf_u64(out, bytes);
	sherd_buf_u64(out, at);
	sherd_buf_str(out, "PK\6\7");
	sherd_buf_u32(out, 0);
	sherd_buf_u64(out, at + bytes);
	sherd_buf_u32(out, 1);
}

void sherd_zip_put_directory(sherd_buf *out, const sherd_zip_entry *entries, size_t count, uint64_t at)
{
	size_t begin = out->len;
	for (size_t i = 0; i < count; i++)
		put_central(out, &entries[i]);
	uint64_t bytes = out->len - begin;
	uint16_t told = (uint16_t)(count < MOST_COUNT ? count : MOST_COUNT);
	if (at >= ELSEWHERE || bytes >= ELSEWHERE || count >= MOST_COUNT)
		put_record(out, count, bytes, at);
	sherd_buf_str(out, "PK\5\6");
	sherd_buf_u32(out, 0);
	sherd_buf_u16(out, told);
	sherd_buf_u16(out, told);
	sherd_buf_u32(out, small(bytes));
	sherd_buf_u32(out, small(at));
	sherd_buf_u16(out, 0);
}

#include "engine/model/container_file.h"

#include "base/cursor.h"

#include <stdlib.h>

enum { VERSION_AT = 12, HEADER_AT = 16 };

/* The section that begins here, if it lies in the file; false: there is none. */
static bool read_section(const container_file *f, uint64_t at, shd_container_section *out)
{
	uint8_t head[SHD_SECTION_HEAD], tail[SHD_SECTION_CRC];
	uint64_t size = sherd_reader_size(f->reader);
	if (size - at < sizeof(head) || sherd_reader_at(f->reader, at, head, sizeof(head), NULL) < 0)
		return false;
	shd_container_section s = {.type = head[0], .flags = head[9], .offset = at};
	uint64_t around = sizeof(head) + (s.flags & SHD_SECTION_HAS_CRC ? sizeof(tail) : 0);
	s.stored = shd_get_u64(head + 1);
	if (size - at < around || s.stored > size - at - around)
		return false;
	/* How long a packed one was is known by the directory alone. */
	s.raw = s.flags & SHD_SECTION_CODEC ? 0 : s.stored;
	if (s.flags & SHD_SECTION_HAS_CRC) {
		if (sherd_reader_at(f->reader, shd_section_end(&s) - sizeof(tail), tail, sizeof(tail), NULL) < 0)
			return false;
		s.crc = shd_get_u32(tail);
	}
	*out = s;
	return true;
}

/* Each section has its length: they are found one by one where the directory cannot be believed. */
static int walk(container_file *f, sherd_error *err)
{
	uint8_t front[HEADER_AT], count[SHD_CONTAINER_INDEX_HEAD];
	uint64_t at = SHD_CONTAINER_FRONT, size = sherd_reader_size(f->reader);
	if (size < SHD_CONTAINER_FRONT)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", size, "the container ends in its HEADER");
	TRY(sherd_reader_at(f->reader, 0, front, sizeof(front), err));
	if (memcmp(front, SHD_CONTAINER_MAGIC, sizeof(SHD_CONTAINER_MAGIC) - 1) != 0 ||
	    shd_get_u32(front + VERSION_AT) != SHD_CONTAINER_VERSION)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-magic", 0,
		                   "no model container of a version that is known");
	f->head = (shd_container_head){.file_size = size};
	while (at < size && f->head.count < SHD_CONTAINER_MOST_SECTIONS &&
	       read_section(f, at, &f->head.sections[f->head.count]))
		at = shd_section_end(&f->head.sections[f->head.count++]);
	const shd_container_section *index = shd_container_index_section(&f->head);
	if (!index || !(index->flags & SHD_SECTION_HAS_CRC) || index->stored < sizeof(count))
		return shd_fail(err, SHERD_ECORRUPT, "no-index", "no index of arrays can be found");
	f->index = *index;
	f->walked = true;
	TRY(sherd_reader_at(f->reader, shd_section_payload(index), count, sizeof(count), err));
	return shd_container_index_count(count, index->stored, &f->arrays, err);
}

int shd_container_file_rescue(container_file **out, sherd_store *store, const char *key, const sherd_limits *limits,
                              sherd_error *err)
{
	sherd_error failure = {0};
	int rc = shd_container_file_open(out, store, key, limits, &failure);
	if (rc != SHERD_ECORRUPT)
		return shd_pass(err, rc, &failure);
	SHD_AUTO(container_file, shd_container_file_close) f = calloc(1, sizeof(*f));
	if (!f)
		return shd_fail_nomem(err);
	f->limits = shd_limits_or_default(limits);
	TRY(sherd_store_read(&f->reader, store, key, err));
	TRY(shd_in_object(err, walk(f, err), key));
	*out = TAKE(f);
	return SHERD_OK;
}

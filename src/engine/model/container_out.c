#include "engine/model/container_out.h"

#include "base/cursor.h"
#include "codec/crc32.h"
#include "codec/deflate.h"
#include "engine/tensors/blame.h"

#include <stdlib.h>

SHD_AUTO_DEFINE(shd_deflate, shd_deflate_close)

enum {
	HEAD = SHD_CONTAINER_FRONT + SHD_SECTION_HEAD, /* what is filled in at the end */
	LEAST_PACKED = 256,                            /* smaller payloads are not worth it */
	PIECE = 256 << 10
};

int shd_container_out_begin(container_out *o, sherd_store *store, const char *key, const sherd_write_options *options,
                            sherd_error *err)
{
	static const uint8_t zeros[HEAD];
	sherd_write_options with_head = *options;
	with_head.head = HEAD;
	size_t part;
	*o = (container_out){0};
	TRY(sherd_store_write(&o->writer, store, key, &with_head, err));
	TRY(sherd_writer_places(&part, o->writer, err));
	TRY(sherd_writer_put(o->writer, 0, zeros, sizeof(zeros), err));
	o->at = sizeof(zeros);
	return SHERD_OK;
}

static int container_out_append(container_out *o, const void *bytes, size_t len, sherd_error *err)
{
	TRY(sherd_writer_append(o->writer, bytes, len, err));
	o->at += len;
	return SHERD_OK;
}

void shd_container_out_end_data(container_out *o)
{
	o->head.sections[0] = (shd_container_section){
		.type = SHD_SECTION_ARRAYS, .offset = SHD_CONTAINER_FRONT, .stored = o->at - HEAD};
	o->head.sections[0].raw = o->head.sections[0].stored;
	o->head.count = 1;
}

static int check_room(const container_out *o, sherd_error *err)
{
	if (o->head.count == SHD_CONTAINER_MOST_SECTIONS)
		return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold", "more than %u sections",
		                SHD_CONTAINER_MOST_SECTIONS);
	return SHERD_OK;
}

static int put_section(container_out *o, shd_container_section *s, const void *payload, sherd_error *err)
{
	uint8_t head[SHD_SECTION_HEAD], tail[SHD_SECTION_CRC];
	s->offset = o->at;
	s->crc = shd_crc32(shd_section_crc_begin(s), payload, (size_t)s->stored);
	shd_section_head_encode(s, head);
	shd_put_u32(tail, s->crc);
	TRY(container_out_append(o, head, sizeof(head), err));
	if (s->stored)
		TRY(container_out_append(o, payload, (size_t)s->stored, err));
	TRY(container_out_append(o, tail, sizeof(tail), err));
	o->head.sections[o->head.count++] = *s;
	return SHERD_OK;
}

int shd_container_out_section(container_out *o, shd_section_type type, const void *payload, size_t len, int level,
                              sherd_error *err)
{
	shd_container_section s = {.type = (uint8_t)type, .flags = SHD_SECTION_HAS_CRC, .stored = len, .raw = len};
	SHD_AUTO(shd_deflate, shd_deflate_close) d = NULL;
	SHD_AUTO_FREE void *packed = NULL;
	TRY(check_room(o, err));
	if (level && len >= LEAST_PACKED && len <= SHD_DEFLATE_MOST) {
		TRY(shd_deflate_open(&d, level, err));
		if (!(packed = malloc(len)))
			return shd_fail_nomem(err);
		size_t n = shd_deflate_pack(d, payload, len, packed, len - 1);
		if (n) {
			s.stored = n;
			s.flags |= SHD_CODEC_DEFLATE;
		}
	}
	return put_section(o, &s, s.flags & SHD_SECTION_CODEC ? packed : payload, err);
}

int shd_container_out_copy(container_out *o, const container_file *from, const shd_container_section *s,
                           sherd_error *err)
{
	shd_container_section copy = *s;
	uint64_t end = shd_section_end(s) - (s->flags & SHD_SECTION_HAS_CRC ? SHD_SECTION_CRC : 0);
	uint8_t tail[SHD_SECTION_CRC];
	uint32_t crc = 0;
	SHD_AUTO_FREE void *room = malloc(PIECE);
	if (!room)
		return shd_fail_nomem(err);
	TRY(check_room(o, err));
	copy.offset = o->at;
	for (uint64_t at = s->offset; at < end;) {
		size_t n = end - at < PIECE ? (size_t)(end - at) : PIECE;
		TRY(sherd_reader_at(from->reader, at, room, n, err));
		crc = shd_crc32(crc, room, n);
		TRY(container_out_append(o, room, n, err));
		at += n;
	}
	if (s->flags & SHD_SECTION_HAS_CRC) {
		if (crc != s->crc)
			return shd_in_reader(err,
			                     shd_fail_at(err, SHERD_ECORRUPT, "bad-crc", s->offset,
			                                 "a section of type %u is damaged", s->type),
			                     from->reader);
		shd_put_u32(tail, crc);
		TRY(container_out_append(o, tail, sizeof(tail), err));
	}
	o->head.sections[o->head.count++] = copy;
	return SHERD_OK;
}

int shd_container_out_finish(container_out *o, const uint8_t set[SHD_CONTAINER_SET_BYTES], shd_container_peer *peer,
                             sherd_error *err)
{
	uint8_t front[HEAD];
	memcpy(o->head.set, set, SHD_CONTAINER_SET_BYTES);
	o->head.file_size = o->at;
	shd_container_head_encode(&o->head, front);
	shd_section_head_encode(&o->head.sections[0], front + SHD_CONTAINER_FRONT);
	peer->size = o->at;
	shd_sha256_of(front, SHD_CONTAINER_FRONT, peer->digest);
	TRY(sherd_writer_fill(o->writer, 0, front, sizeof(front), err));
	return sherd_writer_commit(TAKE(o->writer), err);
}

void shd_container_out_abort(container_out *o)
{
	sherd_writer_abort(TAKE(o->writer));
}

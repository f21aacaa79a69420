#include "engine/model/container_out.h"

#include "base/cursor.h"
#include "codec/crc32.h"
#include "codec/deflate.h"
#include "engine/tensors/blame.h"

#include <stdlib.h>

SHERD_AUTO_DEFINE(void, free)
SHERD_AUTO_DEFINE(sherd_deflate, sherd_deflate_close)

enum {
	HEAD = SHERD_CONTAINER_FRONT + SHERD_SECTION_HEAD, /* what is filled in at the end */
	LEAST_PACKED = 256,                                /* smaller payloads are not worth it */
	PIECE = 256 << 10
};

int sherd_container_out_begin(container_out *o, sherd_store *store, const char *key, const sherd_write_options *options,
                              sherd_error *err)
{
	static const uint8_t zeros[HEAD];
	sherd_write_options with_head = *options;
	with_head.head = HEAD;
	*o = (container_out){0};
	TRY(sherd_store_write(store, key, &with_head, &o->writer, err));
	return sherd_container_out_append(o, zeros, sizeof(zeros), err);
}

int sherd_container_out_append(container_out *o, const void *bytes, size_t len, sherd_error *err)
{
	TRY(sherd_writer_append(o->writer, bytes, len, err));
	o->at += len;
	return SHERD_OK;
}

int sherd_container_out_align(container_out *o, sherd_error *err)
{
	static const uint8_t zeros[SHERD_CONTAINER_ALIGN];
	size_t over = o->at % SHERD_CONTAINER_ALIGN;
	return over ? sherd_container_out_append(o, zeros, SHERD_CONTAINER_ALIGN - over, err) : SHERD_OK;
}

void sherd_container_out_end_data(container_out *o)
{
	o->head.sections[0] = (sherd_container_section){
		.type = SHERD_SECTION_ARRAYS, .offset = SHERD_CONTAINER_FRONT, .stored = o->at - HEAD};
	o->head.sections[0].raw = o->head.sections[0].stored;
	o->head.count = 1;
}

static int check_room(const container_out *o, sherd_error *err)
{
	if (o->head.count == SHERD_CONTAINER_MOST_SECTIONS)
		return sherd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold", "more than %u sections",
		                  SHERD_CONTAINER_MOST_SECTIONS);
	return SHERD_OK;
}

static int put_section(container_out *o, sherd_container_section *s, const void *payload, sherd_error *err)
{
	uint8_t head[SHERD_SECTION_HEAD], tail[SHERD_SECTION_CRC];
	s->offset = o->at;
	s->crc = sherd_crc32(sherd_section_crc_begin(s), payload, (size_t)s->stored);
	sherd_section_head_encode(s, head);
	sherd_put_u32(tail, s->crc);
	TRY(sherd_container_out_append(o, head, sizeof(head), err));
	if (s->stored)
		TRY(sherd_container_out_append(o, payload, (size_t)s->stored, err));
	TRY(sherd_container_out_append(o, tail, sizeof(tail), err));
	o->head.sections[o->head.count++] = *s;
	return SHERD_OK;
}

int sherd_container_out_section(container_out *o, sherd_section_type type, const void *payload, size_t len, int level,
                                sherd_error *err)
{
	sherd_container_section s = {.type = (uint8_t)type, .flags = SHERD_SECTION_HAS_CRC, .stored = len, .raw = len};
	SHERD_AUTO(sherd_deflate, sherd_deflate_close) d = NULL;
	SHERD_AUTO(void, free) packed = NULL;
	TRY(check_room(o, err));
	if (level && len >= LEAST_PACKED && len <= SHERD_DEFLATE_MOST) {
		TRY(sherd_deflate_open(&d, level, err));
		if (!(packed = malloc(len)))
			return sherd_fail_nomem(err);
		size_t n = sherd_deflate_pack(d, payload, len, packed, len - 1);
		if (n) {
			s.stored = n;
			s.flags |= SHERD_CODEC_DEFLATE;
		}
	}
	return put_section(o, &s, s.flags & SHERD_SECTION_CODEC ? packed : payload, err);
}

int sherd_container_out_copy(container_out *o, const container_file *from, const sherd_container_section *s,
                             sherd_error *err)
{
	sherd_container_section copy = *s;
	uint64_t end = sherd_section_end(s) - (s->flags & SHERD_SECTION_HAS_CRC ? SHERD_SECTION_CRC : 0);
	uint8_t tail[SHERD_SECTION_CRC];
	uint32_t crc = 0;
	SHERD_AUTO(void, free) room = malloc(PIECE);
	if (!room)
		return sherd_fail_nomem(err);
	TRY(check_room(o, err));
	copy.offset = o->at;
	for (uint64_t at = s->offset; at < end;) {
		size_t n = end - at < PIECE ? (size_t)(end - at) : PIECE;
		TRY(sherd_reader_at(from->reader, at, room, n, err));
		crc = sherd_crc32(crc, room, n);
		TRY(sherd_container_out_append(o, room, n, err));
		at += n;
	}
	if (s->flags & SHERD_SECTION_HAS_CRC) {
		if (crc != s->crc)
			return sherd_in_reader(err,
			                       sherd_fail_at(err, SHERD_ECORRUPT, "bad-crc", s->offset,
			                                     "a section of type %u is damaged", s->type),
			                       from->reader);
		sherd_put_u32(tail, crc);
		TRY(sherd_container_out_append(o, tail, sizeof(tail), err));
	}
	o->head.sections[o->head.count++] = copy;
	return SHERD_OK;
}

int sherd_container_out_finish(container_out *o, const uint8_t set[SHERD_CONTAINER_SET_BYTES],
                               sherd_container_peer *peer, sherd_error *err)
{
	uint8_t front[HEAD];
	memcpy(o->head.set, set, SHERD_CONTAINER_SET_BYTES);
	o->head.file_size = o->at;
	sherd_container_head_encode(&o->head, front);
	sherd_section_head_encode(&o->head.sections[0], front + SHERD_CONTAINER_FRONT);
	peer->size = o->at;
	sherd_sha256_of(front, SHERD_CONTAINER_FRONT, peer->digest);
	TRY(sherd_writer_fill(o->writer, 0, front, sizeof(front), err));
	return sherd_writer_commit(TAKE(o->writer), err);
}

void sherd_container_out_abort(container_out *o)
{
	sherd_writer_abort(TAKE(o->writer));
}

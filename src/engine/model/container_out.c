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
	if (!o->digest || !shd_container_digests_has(s))
		return SHERD_OK;
	shd_digest_section told = {.type = s->type, .flags = s->flags};
	shd_blake3_of(payload, (size_t)s->stored, told.value.bytes);
	shd_vec_push(&o->values, told);
	return shd_vec_check(&o->values, err);
}

int shd_container_out_digests(container_out *o, const uint8_t set[SHD_CONTAINER_SET_BYTES],
                              const shd_digest_array *arrays, uint64_t count, const shd_digest_value *chunks,
                              uint64_t chunk_count, sherd_error *err)
{
	SHD_AUTO_BUF raw = {0};
	shd_container_digests d = {.sections = o->values.count, .arrays = count, .chunks = chunk_count};
	memcpy(d.set, set, sizeof(d.set));
	TRY(shd_container_digests_encode(&d, o->values.items, arrays, chunks, &raw, err));
	o->root = d.root;
	o->head.incompatible |= SHD_FEATURE_DIGESTS;
	return shd_container_out_section(o, SHD_SECTION_DIGESTS, raw.data, raw.len, 0, err);
}

/* A section of another file, piece by piece. */
typedef struct copied {
	uint32_t crc;
	SHD_VEC(shd_digest_value) parts; /* values of its payload's, where that has more than one */
	shd_digest_value value;
} copied;

/* Pieces of the payload but the last have PIECE bytes. */
static int copied_add(copied *c, const uint8_t *bytes, size_t len, uint64_t at, uint64_t all, sherd_error *err)
{
	c->crc = shd_crc32(c->crc, bytes, len);
	if (all <= PIECE) {
		shd_blake3_of(bytes, len, c->value.bytes);
		return SHERD_OK;
	}
	shd_blake3_part(bytes, len, at, c->value.bytes);
	shd_vec_push(&c->parts, c->value);
	return shd_vec_check(&c->parts, err);
}

static int copied_keep(copied *c, container_out *o, const container_file *from, const shd_container_section *s,
                       sherd_error *err)
{
	shd_digest_section told = {.type = s->type, .flags = s->flags, .value = c->value};
	if (!s->stored)
		shd_blake3_of("", 0, told.value.bytes);
	if (c->parts.count)
		shd_blake3_root((const uint8_t(*)[SHD_BLAKE3_BYTES])c->parts.items, c->parts.count, told.value.bytes);
	TRY(shd_in_reader(err, shd_container_file_hold(from, s, told.value.bytes, err), from->reader));
	if (o->digest)
		shd_vec_push(&o->values, told);
	return shd_vec_check(&o->values, err);
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

static int copy_pieces(container_out *o, const container_file *from, const shd_container_section *s, copied *c,
                       sherd_error *err)
{
	SHD_AUTO_FREE uint8_t *room = malloc(PIECE);
	if (!room)
		return shd_fail_nomem(err);
	TRY(sherd_reader_at(from->reader, s->offset, room, SHD_SECTION_HEAD, err));
	c->crc = shd_crc32(0, room, SHD_SECTION_HEAD);
	TRY(container_out_append(o, room, SHD_SECTION_HEAD, err));
	for (uint64_t at = 0; at < s->stored; at += PIECE) {
		size_t n = s->stored - at < PIECE ? (size_t)(s->stored - at) : PIECE;
		TRY(sherd_reader_at(from->reader, shd_section_payload(s) + at, room, n, err));
		TRY(copied_add(c, room, n, at, s->stored, err));
		TRY(container_out_append(o, room, n, err));
	}
	return SHERD_OK;
}

static int copy_section(container_out *o, const container_file *from, const shd_container_section *s, copied *c,
                        sherd_error *err)
{
	shd_container_section copy = *s;
	uint8_t tail[SHD_SECTION_CRC];
	TRY(check_room(o, err));
	if (o->digest && s->type == SHD_SECTION_DIGESTS)
		return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
		                "the container has a section of type %u, which is the type of digests", s->type);
	copy.offset = o->at;
	TRY(copy_pieces(o, from, s, c, err));
	if (s->flags & SHD_SECTION_HAS_CRC) {
		if (c->crc != s->crc)
			return shd_in_reader(err,
			                     shd_fail_at(err, SHERD_ECORRUPT, "bad-crc", s->offset,
			                                 "a section of type %u is damaged", s->type),
			                     from->reader);
		shd_put_u32(tail, c->crc);
		TRY(container_out_append(o, tail, sizeof(tail), err));
	}
	o->head.sections[o->head.count++] = copy;
	return copied_keep(c, o, from, s, err);
}

int shd_container_out_copy(container_out *o, const container_file *from, const shd_container_section *s,
                           sherd_error *err)
{
	copied c = {0};
	int rc = copy_section(o, from, s, &c, err);
	shd_vec_done(&c.parts);
	return rc;
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
	if (o->digest)
		memcpy(peer->digest, o->root.bytes, sizeof(peer->digest));
	else
		shd_sha256_of(front, SHD_CONTAINER_FRONT, peer->digest);
	TRY(sherd_writer_fill(o->writer, 0, front, sizeof(front), err));
	return sherd_writer_commit(TAKE(o->writer), err);
}

void shd_container_out_abort(container_out *o)
{
	sherd_writer_abort(TAKE(o->writer));
	shd_vec_done(&o->values);
}

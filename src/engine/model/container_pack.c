#include "engine/model/container_pack.h"

#include "base/large.h"
#include "codec/crc32.h"
#include "codec/shuffle.h"
#include "engine/model/container.h"
#include "engine/tensors/blame.h"

#include <stdlib.h>

/* For each worker: the pool idles at the end of a batch, so that few are slow, and memory is what they take. */
enum { SLOTS = 4 };

int shd_container_batch_init(container_batch *b, unsigned workers, int level, sherd_error *err)
{
	*b = (container_batch){.count = (size_t)SLOTS * workers, .level = level};
	b->slots = calloc(b->count, sizeof(*b->slots));
	if (!b->slots)
		return shd_fail_nomem(err);
	(void)pthread_mutex_init(&b->lock, NULL);
	return SHERD_OK;
}

void shd_container_batch_done(container_batch *b)
{
	if (!b->slots)
		return;
	for (size_t i = 0; i < b->count; i++) {
		shd_deflate_close(b->slots[i].deflate);
		free(b->slots[i].raw);
		free(b->slots[i].large);
	}
	free(b->slots);
	b->slots = NULL;
	(void)pthread_mutex_destroy(&b->lock);
}

int shd_container_batch_slot(container_batch *b, container_slot **out, sherd_error *err)
{
	container_slot *s = &b->slots[b->used];
	if (!s->raw) {
		/* Raw, shuffled, packed. */
		s->raw = shd_large_alloc((b->level ? 3 : 1) * (size_t)SHD_CONTAINER_CHUNK);
		if (!s->raw)
			return shd_fail_nomem(err);
		s->work = s->raw + SHD_CONTAINER_CHUNK;
		s->packed = s->work + SHD_CONTAINER_CHUNK;
	}
	if (b->level && !s->deflate)
		TRY(shd_deflate_open(&s->deflate, b->level, err));
	*out = s;
	return SHERD_OK;
}

static void container_pack_pack(container_slot *s, bool digest)
{
	s->chunk = (shd_container_chunk){.stored = s->len, .raw = s->len};
	s->stored = s->raw;
	if (s->deflate && s->len > 1) {
		size_t n, room = s->len - 1;
		if (s->width && s->len >= s->width) {
			shd_shuffle(s->raw, s->len, s->width, s->work);
			n = shd_deflate_pack_parts(s->deflate, s->work, s->len, s->len / s->width, s->packed, room);
		} else {
			n = shd_deflate_pack(s->deflate, s->raw, s->len, s->packed, room);
		}
		if (n) {
			s->chunk.stored = (uint32_t)n;
			s->chunk.codec = SHD_CODEC_DEFLATE;
			s->chunk.filter = s->width ? SHD_FILTER_SHUFFLE : SHD_FILTER_NONE;
			s->chunk.width = s->width;
			s->stored = s->packed;
		}
	}
	s->chunk.crc = shd_crc32(0, s->stored, s->chunk.stored);
	if (digest)
		shd_blake3_of(s->stored, s->chunk.stored, s->value.bytes);
}

static uint8_t *large_room(container_slot *s, size_t bytes)
{
	if (bytes > s->large_room) {
		free(s->large);
		s->large = shd_large_alloc(bytes);
		s->large_room = s->large ? bytes : 0;
	}
	return s->large;
}

/* Copies the chunk as it is stored, if it is what its CRC says. */
static int container_pack_keep(container_slot *s, bool digest, sherd_error *err)
{
	const uint32_t chunk = (uint32_t)(s->from / s->kept->array.chunk_bytes);
	const shd_container_chunk *c = &s->kept->array.chunks[chunk];
	uint8_t *room = c->stored <= SHD_CONTAINER_CHUNK ? s->raw : large_room(s, c->stored);
	if (!room)
		return shd_fail_nomem(err);
	TRY(sherd_reader_at(s->kept->file->reader, c->offset, room, c->stored, err));
	if (shd_crc32(0, room, c->stored) != c->crc) {
		int rc = shd_fail_at(err, SHERD_ECORRUPT, "bad-crc", c->offset, "a chunk of %.128s is damaged",
		                     s->kept->array.tensor.name);
		return shd_in_reader(err, rc, s->kept->file->reader);
	}
	TRY(shd_container_chunk_hold(s->kept, chunk, room, err));
	if (digest)
		shd_blake3_of(room, c->stored, s->value.bytes);
	s->chunk = *c;
	s->stored = room;
	return SHERD_OK;
}

/* With the lock held: the next place in its file. */
static void container_pack_assign(container_slot *s)
{
	s->gap = s->aligned ? (size_t)(-s->to->at % SHD_CONTAINER_ALIGN) : 0;
	s->chunk.offset = s->to->at + s->gap;
	s->to->at = s->chunk.offset + s->chunk.stored;
}

static int container_pack_put(container_batch *b, const container_slot *s, sherd_error *err)
{
	static const uint8_t zeros[SHD_CONTAINER_ALIGN];
	sherd_writer *writer = s->to->writer;
	TRY(sherd_writer_put(writer, s->chunk.offset - s->gap, zeros, s->gap, err));
	TRY(sherd_writer_put(writer, s->chunk.offset, s->stored, s->chunk.stored, err));
	return shd_meter_add(b->meter, s->len, err);
}

/* Chunks get their places in order, as soon as all before them are packed; whoever gave one its place puts it there. */
static int container_pack_deliver(container_batch *b, container_slot *s, sherd_error *err)
{
	int rc = SHERD_OK;
	(void)pthread_mutex_lock(&b->lock);
	s->ready = true;
	while (rc == SHERD_OK && !b->failed && b->next < b->used && b->slots[b->next].ready) {
		container_slot *next = &b->slots[b->next++];
		container_pack_assign(next);
		(void)pthread_mutex_unlock(&b->lock);
		rc = container_pack_put(b, next, err);
		(void)pthread_mutex_lock(&b->lock);
		b->failed |= rc < 0;
	}
	(void)pthread_mutex_unlock(&b->lock);
	return rc;
}

static int work_on(void *arg, size_t index, sherd_error *err)
{
	container_batch *b = arg;
	container_slot *s = &b->slots[index];
	if (s->kept) {
		TRY(container_pack_keep(s, b->digest, err));
		return container_pack_deliver(b, s, err);
	}
	if (!s->fetched)
		TRY(b->read(b->arg, s->array, s->from, s->raw, s->len, err));
	container_pack_pack(s, b->digest);
	return container_pack_deliver(b, s, err);
}

int shd_container_batch_run(container_batch *b, sherd_error *err)
{
	for (size_t i = 0; i < b->used; i++)
		b->slots[i].ready = false;
	b->next = 0;
	b->failed = false;
	return shd_pool_run(b->pool, b->used, work_on, b, err);
}

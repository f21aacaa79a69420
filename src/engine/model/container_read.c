#include "engine/model/container.h"

#include "base/pool.h"
#include "codec/crc32.h"
#include "codec/deflate.h"
#include "codec/shuffle.h"
#include "engine/tensors/blame.h"

#include <stdlib.h>

static int damaged(const container_record *r, uint32_t chunk, const char *reason, const char *what, sherd_error *err)
{
	const shd_container_chunk *c = &r->array.chunks[chunk];
	int rc = shd_fail_at(err, SHERD_ECORRUPT, reason, c->offset, "chunk %u of %.128s %s", chunk,
	                     r->array.tensor.name, what);
	return shd_in_reader(err, rc, r->file->reader);
}

int shd_container_chunk_hold(const container_record *r, uint32_t chunk, const uint8_t *stored, sherd_error *err)
{
	uint8_t value[SHD_BLAKE3_BYTES];
	if (!r->values)
		return SHERD_OK;
	shd_blake3_of(stored, r->array.chunks[chunk].stored, value);
	return memcmp(value, r->values[chunk].bytes, sizeof(value)) == 0
	               ? SHERD_OK
	               : damaged(r, chunk, "bad-checksum", "is not what DIGESTS tell of", err);
}

/* The bytes as they are stored. */
static int container_read_fetch(const container_record *r, uint32_t chunk, uint8_t *out, sherd_error *err)
{
	const shd_container_chunk *c = &r->array.chunks[chunk];
	TRY(sherd_reader_at(r->file->reader, c->offset, out, c->stored, err));
	if (shd_crc32(0, out, c->stored) != c->crc)
		return damaged(r, chunk, "bad-crc", "is damaged", err);
	return shd_container_chunk_hold(r, chunk, out, err);
}

int shd_container_read_chunk(const container_record *r, uint32_t chunk, uint8_t *out, sherd_error *err)
{
	const shd_container_chunk *c = &r->array.chunks[chunk];
	bool packed = c->codec == SHD_CODEC_DEFLATE, shuffled = c->filter == SHD_FILTER_SHUFFLE;
	if (!packed && !shuffled)
		return container_read_fetch(r, chunk, out, err);
	/* The stored bytes, and where they are both packed and shuffled the shuffled ones after them. */
	SHD_AUTO_FREE void *room = malloc((size_t)c->stored + (packed && shuffled ? c->raw : 0));
	if (!room)
		return shd_fail_nomem(err);
	uint8_t *stored = room, *raw = packed && shuffled ? stored + c->stored : packed ? out : stored;
	TRY(container_read_fetch(r, chunk, stored, err));
	if (packed) {
		int rc = shd_deflate_unpack(stored, c->stored, raw, c->raw, err);
		if (rc == SHERD_ECORRUPT)
			return damaged(r, chunk, "bad-deflate", "cannot be unpacked", err);
		TRY(rc);
	}
	if (shuffled)
		shd_unshuffle(raw, c->raw, c->width, out);
	return SHERD_OK;
}

container_cache *shd_container_cache_new(void)
{
	container_cache *c = calloc(1, sizeof(*c));
	if (c)
		(void)pthread_mutex_init(&c->lock, NULL);
	return c;
}

void shd_container_cache_free(container_cache *c)
{
	if (!c)
		return;
	(void)pthread_mutex_destroy(&c->lock);
	free(c->raw);
	free(c);
}

/* The lock is held. */
static int fill_cache(container_cache *c, const container_record *r, uint32_t chunk, sherd_error *err)
{
	size_t need = r->array.chunks[chunk].raw;
	if (c->record == r && c->chunk == chunk)
		return SHERD_OK;
	c->record = NULL;
	if (need > c->room) {
		free(c->raw);
		c->raw = malloc(need);
		c->room = c->raw ? need : 0;
		if (!c->raw)
			return shd_fail_nomem(err);
	}
	TRY(shd_container_read_chunk(r, chunk, c->raw, err));
	c->record = r;
	c->chunk = chunk;
	return SHERD_OK;
}

/* Nobody waits for the cache: who finds it in use unpacks for himself. */
static int read_unpacked(const container_record *r, uint32_t chunk, uint32_t from, uint32_t len, uint8_t *out,
                         container_cache *cache, sherd_error *err)
{
	if (cache && pthread_mutex_trylock(&cache->lock) == 0) {
		int rc = fill_cache(cache, r, chunk, err);
		if (rc == SHERD_OK)
			memcpy(out, cache->raw + from, len);
		(void)pthread_mutex_unlock(&cache->lock);
		return rc;
	}
	SHD_AUTO_FREE void *room = malloc(r->array.chunks[chunk].raw);
	if (!room)
		return shd_fail_nomem(err);
	uint8_t *raw = room;
	TRY(shd_container_read_chunk(r, chunk, raw, err));
	memcpy(out, raw + from, len);
	return SHERD_OK;
}

/* A range of an array, and where it goes. */
typedef struct range {
	const container_record *r;
	uint64_t offset;
	size_t len;
	uint8_t *out;
	uint32_t first; /* chunk */
	container_cache *cache;
} range;

static int container_read_read_part(const range *g, uint32_t chunk, uint32_t from, uint32_t len, uint8_t *out,
                                    sherd_error *err)
{
	const shd_container_chunk *c = &g->r->array.chunks[chunk];
	if (len == c->raw)
		return shd_container_read_chunk(g->r, chunk, out, err);
	if (c->codec == SHD_CODEC_NONE && c->filter == SHD_FILTER_NONE && !g->r->values)
		return sherd_reader_at(g->r->file->reader, c->offset + from, out, len, err);
	return read_unpacked(g->r, chunk, from, len, out, g->cache, err);
}

static int read_one(void *arg, size_t index, sherd_error *err)
{
	const range *g = arg;
	uint32_t chunk = g->first + (uint32_t)index;
	uint64_t begin = (uint64_t)chunk * g->r->array.chunk_bytes, end = begin + g->r->array.chunks[chunk].raw;
	uint64_t from = g->offset > begin ? g->offset : begin;
	uint64_t to = g->offset + g->len < end ? g->offset + g->len : end;
	return container_read_read_part(g, chunk, (uint32_t)(from - begin), (uint32_t)(to - from),
	                                g->out + (from - g->offset), err);
}

int shd_container_read(const container_record *r, uint64_t offset, void *buf, size_t len, container_cache *cache,
                       sherd_pool *pool, sherd_error *err)
{
	uint32_t size = r->array.chunk_bytes;
	range g = {
		.r = r, .offset = offset, .len = len, .out = buf, .first = (uint32_t)(offset / size), .cache = cache};
	size_t chunks = (size_t)((offset + len - 1) / size) - g.first + 1;
	return shd_pool_run(pool, chunks, read_one, &g, err);
}

int shd_container_map(const container_record *r, const void **out, sherd_error *err)
{
	const shd_container_array *a = &r->array;
	uint64_t at = a->chunks[0].offset;
	for (uint32_t i = 0; i < a->chunk_count; i++) {
		const shd_container_chunk *c = &a->chunks[i];
		if (c->codec != SHD_CODEC_NONE || c->filter != SHD_FILTER_NONE || c->offset != at)
			return shd_fail(err, SHERD_EUNSUPPORTED, "no-map", "%.128s is packed", a->tensor.name);
		at += c->stored;
	}
	return sherd_reader_map(out, r->file->reader, a->chunks[0].offset, (size_t)a->tensor.bytes, err);
}

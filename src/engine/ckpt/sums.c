#include "engine/ckpt/sums.h"

#include "codec/crc32.h"

#include <string.h>

int shd_ckpt_sums_init(ckpt_sums *s, uint64_t size, unsigned log, size_t spans, shd_arena *arena, sherd_error *err)
{
	uint64_t parts = (size >> log) + ((size & (((uint64_t)1 << log) - 1)) != 0);
	*s = (ckpt_sums){.size = size, .log = log, .parts = (size_t)parts};
	s->spans = shd_arena_alloc(arena, spans + 1, sizeof(*s->spans));
	s->values = shd_arena_alloc(arena, s->parts + 1, sizeof(*s->values));
	s->more = shd_arena_alloc(arena, s->parts + 1, sizeof(*s->more));
	if (!s->spans || !s->values || !s->more)
		return shd_fail_nomem(err);
	memset(s->more, 0, (s->parts + 1) * sizeof(*s->more));
	return SHERD_OK;
}

int shd_ckpt_sums_add_span(ckpt_sums *s, uint64_t offset, uint64_t bytes, shd_arena *arena, sherd_error *err)
{
	uint32_t *crcs = shd_arena_alloc(arena, shd_ckpt_blocks(bytes), sizeof(*crcs));
	if (!crcs)
		return shd_fail_nomem(err);
	s->spans[s->span_count++] = (ckpt_span){offset, bytes, crcs};
	return SHERD_OK;
}

uint64_t shd_ckpt_part_bytes(const ckpt_sums *s, size_t part)
{
	uint64_t start = (uint64_t)part << s->log, most = (uint64_t)1 << s->log;
	return s->size - start < most ? s->size - start : most;
}

/* The first span that does not end before this place. */
static size_t first_span(const ckpt_sums *s, uint64_t at)
{
	size_t low = 0, high = s->span_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (s->spans[middle].offset + s->spans[middle].bytes <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* One block's share of the part [at, end). */
static void sum_block(ckpt_more *more, const ckpt_span *span, uint64_t block, uint64_t at, uint64_t end,
                      const uint8_t *bytes)
{
	uint64_t from = span->offset + block * SHD_CKPT_BLOCK, to = from + SHD_CKPT_BLOCK;
	to = to < span->offset + span->bytes ? to : span->offset + span->bytes;
	to = to < end ? to : end;
	if (from >= at) {
		span->crcs[block] = shd_crc32(0, bytes + (from - at), (size_t)(to - from));
		return;
	}
	*more = (ckpt_more){&span->crcs[block], shd_crc32(0, bytes, (size_t)(to - at)), (uint32_t)(to - at)};
}

void shd_ckpt_sums_crcs(ckpt_sums *s, size_t part, const uint8_t *bytes)
{
	uint64_t at = (uint64_t)part << s->log, end = at + shd_ckpt_part_bytes(s, part);
	for (size_t i = first_span(s, at); i < s->span_count && s->spans[i].offset < end; i++) {
		const ckpt_span *span = &s->spans[i];
		uint64_t block = at > span->offset ? (at - span->offset) / SHD_CKPT_BLOCK : 0;
		uint64_t blocks = shd_ckpt_blocks(span->bytes);
		for (; block < blocks && span->offset + block * SHD_CKPT_BLOCK < end; block++)
			sum_block(&s->more[part], span, block, at, end, bytes);
	}
}

void shd_ckpt_sums_part(ckpt_sums *s, size_t part, const uint8_t *bytes)
{
	shd_ckpt_sums_crcs(s, part, bytes);
	size_t len = (size_t)shd_ckpt_part_bytes(s, part);
	if (s->alone)
		shd_blake3_of(bytes, len, s->values[part]);
	else
		shd_blake3_part(bytes, len, (uint64_t)part << s->log, s->values[part]);
}

void shd_ckpt_sums_join(ckpt_sums *s)
{
	for (size_t i = 0; i < s->parts; i++)
		if (s->more[i].of)
			*s->more[i].of = shd_crc32_join(*s->more[i].of, s->more[i].crc, s->more[i].len);
}

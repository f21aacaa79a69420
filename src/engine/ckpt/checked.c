#include "engine/ckpt/checked.h"

#include "base/pool.h"
#include "codec/crc32.h"
#include "engine/ckpt/ckpt.h"

#include <inttypes.h>
#include <stdlib.h>

enum { CHUNK = 256 << 10 };

static int check_block(const ckpt_shard *f, const sherd_ckpt_piece *p, uint64_t block, uint32_t want, uint8_t *buf,
                       sherd_error *err)
{
	uint64_t start = block * SHERD_CKPT_BLOCK, end = start + SHERD_CKPT_BLOCK;
	uint32_t crc = 0;
	end = end < p->bytes ? end : p->bytes;
	for (uint64_t at = start; at < end; at += CHUNK) {
		size_t n = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
		TRY(sherd_reader_at(f->reader, f->data_offset + p->offset + at, buf, n, err));
		crc = sherd_crc32(crc, buf, n);
	}
	if (crc == want)
		return SHERD_OK;
	return sherd_in_object(err,
	                       sherd_fail_at(err, SHERD_ECORRUPT, "bad-crc", f->data_offset + p->offset + start,
	                                     "%" PRIu64 " bytes have CRC-32 %08" PRIx32 ", not %08" PRIx32, end - start,
	                                     crc, want),
	                       sherd_reader_key(f->reader));
}

/* Blocks that hold bytes [from, to) of the piece; the one that holds byte `from` is known when its bytes were read
 * before. */
static int check_range(const sherd_ckpt *c, const sherd_ckpt_piece *p, uint64_t from, uint64_t to, bool continued,
                       uint8_t *buf, sherd_error *err)
{
	const uint32_t *crcs;
	uint64_t first = from / SHERD_CKPT_BLOCK + (continued && from % SHERD_CKPT_BLOCK != 0);
	TRY(sherd_ckpt_piece_crcs(c, p, &crcs, err));
	for (uint64_t block = first; crcs && block * SHERD_CKPT_BLOCK < to; block++)
		TRY(check_block(&c->files[p->shard], p, block, crcs[block], buf, err));
	return SHERD_OK;
}

static int check_rows(ckpt_checked *c, uint64_t end, uint8_t *buf, sherd_error *err)
{
	const sherd_ckpt_piece *pieces;
	size_t count = sherd_ckpt_pieces(c->ckpt, c->tensor, &pieces);
	for (size_t i = 0; i < count; i++) {
		const sherd_ckpt_piece *p = &pieces[i];
		uint64_t at = p->at[0], rows = p->shape[0], row_bytes = p->bytes / rows;
		uint64_t from = c->next > at ? c->next : at, to = end < at + rows ? end : at + rows;
		if (from < to)
			TRY(check_range(c->ckpt, p, (from - at) * row_bytes, (to - at) * row_bytes,
			                from > at && from > c->first, buf, err));
	}
	c->next = end;
	return SHERD_OK;
}

static int check_until(ckpt_checked *c, uint64_t offset, uint64_t end, uint8_t *buf, sherd_error *err)
{
	const sherd_ckpt_piece *pieces;
	const sherd_tensor *t = sherd_ckpt_tensor(c->ckpt, c->tensor);
	if (!sherd_ckpt_pieces(c->ckpt, c->tensor, &pieces))
		return SHERD_OK;
	uint64_t unit = pieces->at ? t->bytes / t->shape[0] : 1;
	if (!c->begun)
		c->first = c->next = offset / unit;
	c->begun = true;
	end = end / unit + (end % unit != 0);
	if (end <= c->next)
		return SHERD_OK;
	if (pieces->at)
		return check_rows(c, end, buf, err);
	TRY(check_range(c->ckpt, pieces, c->next, end, c->next > c->first, buf, err));
	c->next = end;
	return SHERD_OK;
}

int sherd_ckpt_read_checked(ckpt_checked *c, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	TRY(sherd_ckpt_read(c->ckpt, c->tensor, offset, buf, len, err));
	if (!len)
		return SHERD_OK;
	uint8_t *scratch = malloc(CHUNK);
	if (!scratch)
		return sherd_fail_nomem(err);
	int rc = check_until(c, offset, offset + len, scratch, err);
	free(scratch);
	return rc;
}

static int check_plain(void *arg, size_t i, sherd_error *err)
{
	const sherd_ckpt *c = arg;
	bool indexed;
	TRY(sherd_ckpt_shard_indexed(c, i, &indexed, err));
	return indexed ? SHERD_OK : sherd_ckpt_shard_hash(&c->files[i], err);
}

int sherd_ckpt_check_plain_shards(const sherd_ckpt *c, sherd_pool *pool, sherd_error *err)
{
	return sherd_pool_run(pool, c->shard_count, check_plain, (void *)(uintptr_t)c, err);
}

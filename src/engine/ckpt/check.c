/* engine/ckpt/check.c - hashes of shards and checksums of pieces. */
#include "engine/ckpt/ckpt.h"

#include <inttypes.h>
#include <stdlib.h>

static int load_index(const sherd_ckpt *c, size_t shard, ckpt_crcs *x, sherd_error *err)
{
	const sherd_ckpt_meta_shard *m = &c->meta.shards[shard];
	TRY(sherd_ckpt_shard_index(&c->files[shard], &c->limits, &x->arena, &x->index, &x->present, err));
	if (!x->present)
		return SHERD_OK;
	if (x->index.count != m->count)
		return sherd_fail(err, SHERD_ECORRUPT, "bad-index", "the index lists %zu tensors, the metadata %zu",
		                  x->index.count, m->count);
	return SHERD_OK;
}

int sherd_ckpt_piece_crcs(const sherd_ckpt *c, const sherd_ckpt_piece *piece, const uint32_t **out, sherd_error *err)
{
	ckpt_crcs *x = &c->crcs[piece->shard];
	int rc = SHERD_OK;
	(void)pthread_mutex_lock(&x->lock);
	if (!x->loaded) {
		rc = load_index(c, piece->shard, x, err);
		x->loaded = rc == SHERD_OK;
	}
	(void)pthread_mutex_unlock(&x->lock);
	TRY(sherd_in_object(err, rc, sherd_reader_key(c->files[piece->shard].reader)));
	if (!x->present) {
		*out = NULL;
		return SHERD_OK;
	}
	const sherd_ckpt_entry *e = &x->index.entries[piece->entry];
	if (e->offset != piece->offset || e->tensor.bytes != piece->bytes)
		return sherd_in_object(err,
		                       sherd_fail_at(err, SHERD_ECORRUPT, "bad-index", e->where,
		                                     "tensor '%.80s' lies elsewhere in the metadata", e->tensor.name),
		                       sherd_reader_key(c->files[piece->shard].reader));
	*out = e->crcs;
	return SHERD_OK;
}

int sherd_ckpt_shard_compare(const ckpt_shard *s, sherd_sha256 *hash, sherd_error *err)
{
	uint8_t raw[SHERD_SHA256_BYTES];
	char hex[SHERD_SHA256_HEX + 1];
	sherd_sha256_finish(hash, raw);
	sherd_hex(raw, sizeof(raw), hex);
	if (strcmp(hex, s->checksum) != 0)
		return sherd_in_object(err,
		                       sherd_fail_at(err, SHERD_ECORRUPT, "bad-checksum", 12,
		                                     "the data's SHA-256 is %.16s..., the head says %.16s...", hex,
		                                     s->checksum),
		                       sherd_reader_key(s->reader));
	return SHERD_OK;
}

/* engine/ckpt/check.c - hashes of shards and checksums of pieces. */
#include "engine/ckpt/ckpt.h"

#include "engine/ckpt/hash.h"

#include <inttypes.h>
#include <stdlib.h>

static int load_index(const sherd_ckpt *c, size_t shard, ckpt_crcs *x, sherd_error *err)
{
	const sherd_ckpt_meta_shard *m = &c->meta.shards[shard];
	TRY(sherd_ckpt_shard_index(&c->files[shard], &c->limits, &x->arena, &x->index, &x->present, err));
	if (!x->present && c->meta.has_set_id)
		return sherd_fail(err, SHERD_ECORRUPT, "no-index", "the shard has lost its index");
	if (!x->present)
		return SHERD_OK;
	if (x->index.count != m->count)
		return sherd_fail(err, SHERD_ECORRUPT, "bad-index", "the index lists %zu tensors, the metadata %zu",
		                  x->index.count, m->count);
	return SHERD_OK;
}

int sherd_ckpt_shard_indexed(const sherd_ckpt *c, size_t shard, bool *indexed, sherd_error *err)
{
	ckpt_crcs *x = &c->crcs[shard];
	int rc = SHERD_OK;
	(void)pthread_mutex_lock(&x->lock);
	if (!x->loaded) {
		rc = load_index(c, shard, x, err);
		x->loaded = rc == SHERD_OK;
	}
	*indexed = x->present;
	(void)pthread_mutex_unlock(&x->lock);
	return sherd_in_object(err, rc, sherd_reader_key(c->files[shard].reader));
}

int sherd_ckpt_piece_crcs(const sherd_ckpt *c, const sherd_ckpt_piece *piece, const uint32_t **out, sherd_error *err)
{
	const ckpt_crcs *x = &c->crcs[piece->shard];
	bool indexed;
	TRY(sherd_ckpt_shard_indexed(c, piece->shard, &indexed, err));
	if (!indexed) {
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

int sherd_ckpt_shard_hash(const ckpt_shard *s, sherd_error *err)
{
	char hex[SHERD_SHA256_HEX + 1];
	const char *key = sherd_reader_key(s->reader);
	if (!s->checksum[0])
		return SHERD_OK;
	TRY(sherd_in_object(err, sherd_ckpt_hash_range(s->reader, s->data_offset, s->data_size, NULL, hex, err), key));
	if (strcmp(hex, s->checksum) != 0)
		return sherd_in_object(err,
		                       sherd_fail_at(err, SHERD_ECORRUPT, "bad-checksum", 12,
		                                     "the data's SHA-256 is %.16s..., the head says %.16s...", hex,
		                                     s->checksum),
		                       key);
	return SHERD_OK;
}

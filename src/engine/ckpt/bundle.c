#include "engine/ckpt/ckpt.h"
#include "engine/ckpt/format.h"
#include "engine/tensors/bundle.h"

#include <sherd/ckpt.h>

typedef struct ckpt_bundle {
	sherd_bundle base;
	const sherd_ckpt *ckpt;
	sherd_ckpt *owned; /* the same, when the bundle opened it */
} ckpt_bundle;

static int ckpt_bundle_read_tensor(const sherd_bundle *base, size_t index, uint64_t offset, void *buf, size_t len,
                                   sherd_error *err)
{
	return shd_ckpt_read_proven(((const ckpt_bundle *)base)->ckpt, index, offset, buf, len, err);
}

static int map_tensor(const void **out, const sherd_bundle *base, size_t index, sherd_error *err)
{
	const sherd_ckpt *ckpt = ((const ckpt_bundle *)base)->ckpt;
	const sherd_ckpt_piece *piece;
	const void *bytes;
	TRY(sherd_ckpt_map(&bytes, ckpt, index, err));
	(void)sherd_ckpt_pieces(&piece, ckpt, index);
	TRY(shd_ckpt_prove(ckpt, piece, 0, piece->bytes, err));
	*out = bytes;
	return SHERD_OK;
}

static int ckpt_bundle_prepare(const sherd_bundle *base, const size_t *tensors, size_t count, sherd_pool *pool,
                               shd_meter *meter, sherd_error *err)
{
	return shd_ckpt_prove_shards(((const ckpt_bundle *)base)->ckpt, tensors, count, pool, meter, err);
}

/* Only pieces of the checkpoint are exchanged, which is the caller's to allow. */
static int ckpt_bundle_check(const sherd_bundle *base, size_t index, shd_meter *meter, bool *whole, sherd_error *damage,
                             sherd_error *err)
{
	return shd_ckpt_mend((sherd_ckpt *)((const ckpt_bundle *)base)->ckpt, index, meter, whole, damage, err);
}

static void close_ckpt(sherd_bundle *base)
{
	sherd_ckpt_close(((ckpt_bundle *)base)->owned);
}

static const shd_bundle_ops ops = {.read = ckpt_bundle_read_tensor,
                                   .map = map_tensor,
                                   .prepare = ckpt_bundle_prepare,
                                   .check = ckpt_bundle_check,
                                   .close = close_ckpt};

static int ckpt_bundle_fill(ckpt_bundle *b, const sherd_ckpt *ckpt, sherd_error *err)
{
	const sherd_ckpt_about *about = &sherd_ckpt_describe(ckpt)->about;
	size_t count = sherd_ckpt_count(ckpt);
	b->ckpt = ckpt;
	sherd_tensor *tensors = shd_arena_alloc(&b->base.arena, count + 1, sizeof(*tensors));
	if (!tensors)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		tensors[i] = *sherd_ckpt_tensor(ckpt, i);
	b->base.tensors = tensors;
	b->base.count = count;
	b->base.pairs = about->fields;
	b->base.pair_count = about->field_count;
	b->base.about = about;
	if (sherd_ckpt_describe(ckpt)->has_set_id)
		b->base.set_id = &sherd_ckpt_describe(ckpt)->set_id;
	return shd_bundle_finish(&b->base, err);
}

const sherd_ckpt_about *sherd_bundle_about(const sherd_bundle *bundle)
{
	return bundle->about;
}

int sherd_bundle_of_ckpt(sherd_bundle **out, const sherd_ckpt *ckpt, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	TRY(shd_bundle_new(&b, sizeof(ckpt_bundle), &ops, SHERD_FORMAT_CHECKPOINT, err));
	TRY(ckpt_bundle_fill((ckpt_bundle *)b, ckpt, err));
	for (size_t i = 0; i < ckpt->shard_count && !b->store; i++)
		b->store = ckpt->files[i].reader ? sherd_reader_store(ckpt->files[i].reader) : NULL;
	*out = TAKE(b);
	return SHERD_OK;
}

static int open_as(sherd_bundle **out, sherd_store *store, const char *key, sherd_format format,
                   const sherd_bundle_options *given, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	sherd_ckpt_options options = {.pool = given->pool,
	                              .limits = given->limits,
	                              .progress = given->progress,
	                              .lost = given->lost,
	                              .lost_arg = given->lost_arg};
	TRY(shd_bundle_new(&b, sizeof(ckpt_bundle), &ops, format, err));
	ckpt_bundle *c = (ckpt_bundle *)b;
	TRY(format == SHERD_FORMAT_CHECKPOINT ? sherd_ckpt_open(&c->owned, store, key, &options, err)
	                                      : sherd_ckpt_open_shard(&c->owned, store, key, &options, err));
	TRY(ckpt_bundle_fill(c, c->owned, err));
	*out = TAKE(b);
	return SHERD_OK;
}

int shd_bundle_open_ckpt(sherd_bundle **out, shd_evidence *e, const sherd_bundle_options *options, sherd_error *err)
{
	shd_evidence_forget(e);
	return open_as(out, e->store, e->key, SHERD_FORMAT_CHECKPOINT, options, err);
}

int shd_bundle_open_ckpt_shard(sherd_bundle **out, shd_evidence *e, const sherd_bundle_options *options,
                               sherd_error *err)
{
	return open_as(out, e->store, e->key, SHERD_FORMAT_CHECKPOINT_SHARD, options, err);
}

/* engine/ckpt/save_rank.c - one rank of a set in one call. */
#include "engine/ckpt/save.h"

#include "base/group.h"
#include "engine/ckpt/together.h"
#include "engine/ckpt/write.h"

static int save_rank_finish(sherd_ckpt_saver *saver, uint32_t rank, const sherd_ckpt_shard_items *shard,
                            sherd_ckpt_save_result *out, sherd_error *err)
{
	ckpt_found found = CKPT_FOUND_NONE;
	int rc = shd_ckpt_saver_write(saver, rank, shard->items, shard->count, NULL, &found, err);
	out->repeated = found == CKPT_FOUND_SAME;
	out->rewritten = found == CKPT_FOUND_DAMAGED;
	if (rc < 0) {
		sherd_ckpt_saver_abort(saver);
		return rc;
	}
	return sherd_ckpt_saver_finish(saver, &out->committed, err);
}

static int save_rank_alone(sherd_store *store, const char *prefix, uint32_t rank, const sherd_ckpt_shard_items *shard,
                           const char *source, const sherd_ckpt_save_options *options, shd_meter *meter,
                           sherd_ckpt_save_result *out, sherd_error *err)
{
	ckpt_manner manner = {.by_ranks = true, .may_repeat = true, .source = source};
	sherd_ckpt_saver *saver;
	TRY(shd_ckpt_saver_start(&saver, store, prefix, options, &manner, meter, err));
	return save_rank_finish(saver, rank, shard, out, err);
}

int shd_ckpt_save_rank_metered(sherd_store *store, const char *prefix, uint32_t rank,
                               const sherd_ckpt_shard_items *shard, const char *source,
                               const sherd_ckpt_save_options *options, shd_meter *meter, sherd_ckpt_save_result *saved,
                               sherd_error *err)
{
	sherd_ckpt_save_result out = {.tensors = shard->count};
	shd_meter own;
	if (options->layout == SHERD_CKPT_LAYOUT_CSHARP)
		return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
		                "shards of the C# layout carry no set id, so ranks cannot save them one by one");
	TRY(shd_ckpt_items_check(shard, 1, false, err));
	for (size_t i = 0; i < shard->count; i++)
		out.bytes += shd_ckpt_item_bytes(&shard->items[i]);
	shd_meter_init(&own, options->progress, out.bytes);
	meter = meter ? meter : &own;
	int rc = options->group ? shd_ckpt_save_together(store, prefix, shard, source, options, meter, &out, err)
	                        : save_rank_alone(store, prefix, rank, shard, source, options, meter, &out, err);
	shd_meter_done(&own);
	TRY(rc);
	if (saved)
		*saved = out;
	return SHERD_OK;
}

int shd_ckpt_take_rank(uint32_t rank, sherd_ckpt_save_options *o, sherd_error *err)
{
	if (o->group && rank != o->group->rank)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "rank %u calls as rank %u", o->group->rank, rank);
	if (o->group && o->world > 1 && o->world != o->group->size)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "a world of %u, a group of %u", o->world,
		                o->group->size);
	o->world = o->group ? o->group->size : o->world ? o->world : 1;
	return shd_ckpt_rank_check(rank, o->world, err);
}

int sherd_ckpt_save_rank(sherd_store *store, const char *prefix, uint32_t rank, const sherd_ckpt_item *items,
                         size_t count, const sherd_ckpt_save_options *options, sherd_ckpt_save_result *saved,
                         sherd_error *err)
{
	sherd_ckpt_save_options o = options ? *options : (sherd_ckpt_save_options){0};
	int rc = shd_ckpt_take_rank(rank, &o, err);
	if (rc == SHERD_OK)
		rc = shd_ckpt_save_rank_metered(store, prefix, rank, &(sherd_ckpt_shard_items){items, count}, NULL, &o,
		                                NULL, saved, err);
	return shd_group_tell(o.group, rc, err);
}

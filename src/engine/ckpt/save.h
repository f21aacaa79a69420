/* engine/ckpt/save.h - the steps of a saver that the one-call saves share. */
#ifndef SHERD_ENGINE_CKPT_SAVE_H
#define SHERD_ENGINE_CKPT_SAVE_H

#include "base/meter.h"

#include <sherd/ckpt.h>

/* SHERD_EINVAL for more shards than readers take; to be asked before anything is made for each of them. */
int sherd_ckpt_world_check(uint32_t world, sherd_error *err);

/* by_ranks: several processes save the set, each its shards. meter NULL: the saver's own, over options->progress. */
int sherd_ckpt_saver_begin(sherd_ckpt_saver **out, sherd_store *store, const char *prefix,
                           const sherd_ckpt_save_options *options, bool by_ranks, sherd_meter *meter, sherd_error *err);
/* Items were checked. file_size may be NULL. */
int sherd_ckpt_saver_write(sherd_ckpt_saver *s, uint32_t rank, const sherd_ckpt_item *items, size_t count,
                           uint64_t *file_size, sherd_error *err);
/* As sherd_ckpt_saver_finish() for a saver that wrote all shards itself: one that is missing is SHERD_ECONFLICT. */
int sherd_ckpt_saver_finish_whole(sherd_ckpt_saver *s, sherd_error *err);
/* Ends a saver by the outcome of publishing its metadata. */
int sherd_ckpt_saver_published(sherd_ckpt_saver *s, int rc, bool *committed, sherd_error *err);

/* A whole set with a meter of the caller's. */
int sherd_ckpt_save_metered(sherd_store *store, const char *prefix, const sherd_ckpt_shard_items *shards,
                            const sherd_ckpt_save_options *options, sherd_meter *meter, sherd_error *err);
uint64_t sherd_ckpt_total_bytes(const sherd_ckpt_shard_items *shards, uint32_t world);

/* sherd_ckpt_save_bundle() with further members of each tensor; extras, by tensor, may be NULL. */
int sherd_ckpt_save_spread(sherd_store *store, const char *prefix, const sherd_bundle *bundle,
                           const char *const *extras, bool cut, const sherd_ckpt_save_options *options,
                           sherd_error *err);

#endif

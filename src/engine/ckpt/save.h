/* engine/ckpt/save.h - the steps of a saver that the one-call saves share. */
#pragma once

#include "base/meter.h"
#include "engine/ckpt/write.h"

#include <sherd/ckpt.h>

/* SHERD_EINVAL for more shards than readers take; to be asked before anything is made for each of them. */
int shd_ckpt_world_check(uint32_t world, sherd_error *err);
int shd_ckpt_rank_check(uint32_t rank, uint32_t world, sherd_error *err);
/* The world of options, or of their group, and whether the rank is one of it. */
int shd_ckpt_take_rank(uint32_t rank, sherd_ckpt_save_options *options, sherd_error *err);

/* Who saves the set. */
typedef struct ckpt_manner {
	bool by_ranks;      /* several processes, each its shards */
	bool may_repeat;    /* a process may come again: what it saved before is compared, committed or not */
	const char *source; /* digest of what all ranks cut alike; NULL: each saves what it holds */
} ckpt_manner;
/* meter NULL: the saver's own, over options->progress. */
int shd_ckpt_saver_start(sherd_ckpt_saver **out, sherd_store *store, const char *prefix,
                         const sherd_ckpt_save_options *options, const ckpt_manner *manner, shd_meter *meter,
                         sherd_error *err);
/* The same of processes that save once. */
int shd_ckpt_saver_begin(sherd_ckpt_saver **out, sherd_store *store, const char *prefix,
                         const sherd_ckpt_save_options *options, bool by_ranks, shd_meter *meter, sherd_error *err);
/* What was there of a shard before. */
typedef enum ckpt_found {
	CKPT_FOUND_NONE = 0,
	CKPT_FOUND_SAME,   /* nothing was written */
	CKPT_FOUND_DAMAGED /* it was written anew */
} ckpt_found;
/* Items were checked. out, filled when none was there, and found may be NULL. */
int shd_ckpt_saver_write(sherd_ckpt_saver *s, uint32_t rank, const sherd_ckpt_item *items, size_t count,
                         ckpt_written *out, ckpt_found *found, sherd_error *err);
/* As sherd_ckpt_saver_finish() for a saver that wrote all shards itself: one that is missing is SHERD_ECONFLICT. */
int shd_ckpt_saver_finish_whole(sherd_ckpt_saver *s, sherd_error *err);
/* Ends a saver by the outcome of publishing its metadata. */
int shd_ckpt_saver_published(sherd_ckpt_saver *s, int rc, bool *committed, sherd_error *err);

/* A whole set of items that were checked, with a meter of the caller's. */
int shd_ckpt_save_metered(sherd_store *store, const char *prefix, const sherd_ckpt_shard_items *shards,
                          const sherd_ckpt_save_options *options, shd_meter *meter, sherd_error *err);
uint64_t shd_ckpt_total_bytes(const sherd_ckpt_shard_items *shards, uint32_t world);
/* One rank of a set with a meter of the caller's, or NULL; source as in ckpt_manner. */
int shd_ckpt_save_rank_metered(sherd_store *store, const char *prefix, uint32_t rank,
                               const sherd_ckpt_shard_items *shard, const char *source,
                               const sherd_ckpt_save_options *options, shd_meter *meter, sherd_ckpt_save_result *saved,
                               sherd_error *err);

/* sherd_ckpt_save_bundle() with further members of each tensor; extras, by tensor, may be NULL. */
int shd_ckpt_save_spread(sherd_store *store, const char *prefix, const sherd_bundle *bundle, const char *const *extras,
                         bool cut, const sherd_ckpt_save_options *options, sherd_error *err);

/* What tells one common source from another, in SHD_CKPT_SOURCE hexadecimal digits: how it is cut, names, types,
 * shapes, and its set id, or else the CRC-32 of all values. */
int shd_ckpt_source_digest(const sherd_bundle *bundle, bool cut, const sherd_ckpt_save_options *options, char *out,
                           sherd_error *err);

/* engine/ckpt/together.h - a set saved by a group of processes, all shards or nothing; and opened by one. */
#pragma once

#include "engine/ckpt/save.h"

/* As shd_ckpt_save_rank_metered(), by all of options->group, whose size is options->world. */
int shd_ckpt_save_together(sherd_store *store, const char *prefix, const sherd_ckpt_shard_items *shard,
                           const char *source, const sherd_ckpt_save_options *options, shd_meter *meter,
                           sherd_ckpt_save_result *out, sherd_error *err);

/* shd_ckpt_open_prefix() by all of options->group: rank 0 reads, and the others have it from there. */
int shd_ckpt_open_together(sherd_ckpt **out, sherd_store *store, const char *prefix, const sherd_ckpt_options *options,
                           sherd_error *err);

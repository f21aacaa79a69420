/* engine/model/pairs.h - the pairs of text that a saved model carries. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <sherd/model.h>

#define SHD_PAIR_CREATION_TIME "creation.time"
#define SHD_PAIR_FRAMEWORK "framework.version"

/* The pairs given, under those of the options, and creation.time and framework.version where neither has them and they
 * are told; sorted by key. The list lives in the arena, its texts belong to whoever gave them. SHERD_EINVAL for what is
 * no text. */
int shd_model_join_pairs(const sherd_pair *pairs, size_t count, const sherd_model_save_options *options,
                         shd_arena *arena, const sherd_pair **out, size_t *out_count, sherd_error *err);

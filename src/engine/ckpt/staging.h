/* engine/ckpt/staging.h - where a save in the background keeps the bytes that it copied. */
#pragma once

#include "base/meter.h"

#include <sherd/ckpt.h>

/* Copies the bytes of all items, by all workers of the pool, and lets the items point to the copies. They lie in the
 * staging, which is taken until shd_ckpt_unstage(): SHERD_ECONFLICT when another save has it. */
int shd_ckpt_stage(sherd_ckpt_staging *staging, sherd_ckpt_item *const *items, size_t count, sherd_pool *pool,
                   shd_meter *meter, sherd_error *err);
/* Gives it back; the memory stays for the next. */
void shd_ckpt_unstage(sherd_ckpt_staging *staging);

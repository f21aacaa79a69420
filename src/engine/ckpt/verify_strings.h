/* engine/ckpt/verify_strings.h - the text of UTF8 tensors. */
#pragma once

#include "base/meter.h"
#include "engine/ckpt/shard.h"

#define STRINGS_BUFFER ((size_t)256 << 10)

/* A UTF8 tensor is n+1 offsets that ascend from 0 to the end, then text: every string is valid UTF-8 by itself. buf has
 * STRINGS_BUFFER bytes, aligned for any type; meter, which may be NULL, is asked whether to go on. */
int shd_ckpt_check_strings(const ckpt_shard *shard, const shd_ckpt_entry *e, shd_meter *meter, uint8_t *buf,
                           sherd_error *err);

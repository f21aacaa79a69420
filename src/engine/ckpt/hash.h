/* engine/ckpt/hash.h - SHA-256 of a range of an object, in bounded memory. */
#pragma once

#include "base/meter.h"
#include "codec/sha256.h"

#include <sherd/store.h>

/* meter may be NULL. */
int shd_ckpt_hash_range(const sherd_reader *reader, uint64_t offset, uint64_t size, shd_meter *meter,
                        char hex[SHD_SHA256_HEX + 1], sherd_error *err);

/* engine/ckpt/hash.h - SHA-256 of a range of an object, in bounded memory. */
#ifndef SHERD_ENGINE_CKPT_HASH_H
#define SHERD_ENGINE_CKPT_HASH_H

#include "base/meter.h"
#include "codec/sha256.h"

#include <sherd/store.h>

/* meter may be NULL. */
int sherd_ckpt_hash_range(const sherd_reader *reader, uint64_t offset, uint64_t size, sherd_meter *meter,
                          char hex[SHERD_SHA256_HEX + 1], sherd_error *err);

#endif

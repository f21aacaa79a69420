/* engine/ckpt/content.h - what a shard holds, whoever wrote it and when. */
#pragma once

#include "base/str.h"
#include "codec/sha256.h"
#include "format/ckpt/entry.h"

/* A hash of tensors and their checksums: equal for shards that differ in nothing but time and description. */
void shd_ckpt_content(const shd_ckpt_entry *entries, size_t count, uint8_t out[SHD_SHA256_BYTES]);

/* Name, NUL, and where the piece lies in the whole: replicas have the same. It lies in the arena. */
int shd_ckpt_piece_key(const shd_ckpt_entry *entry, shd_arena *arena, shd_str *out, sherd_error *err);
/* Replicas by their keys: are their checksums the same? *where is the first byte of the block in which they differ. */
bool shd_ckpt_same_checksums(const shd_ckpt_entry *a, const shd_ckpt_entry *b, uint64_t *where);

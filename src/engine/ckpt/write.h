/* engine/ckpt/write.h - streaming one shard onto a store. */
#pragma once

#include "base/meter.h"
#include "codec/sha256.h"
#include "engine/publish/part.h"
#include "format/ckpt/shard.h"

#include <sherd/ckpt.h>

typedef struct ckpt_shard_spec {
	const char *key;
	uint32_t rank, world;
	sherd_set_id set_id;
	int64_t time_ns;
	const sherd_ckpt_about *about; /* NULL: nothing is said */
	const sherd_ckpt_item *items;
	size_t count;
	bool csharp;
	sherd_digest digest;
	bool dry; /* only go over the items; nothing is written, and of the outcome only the content is filled in */
	const char *replaces; /* identity of a damaged shard whose place it takes; NULL: the key must be free */
	const char *wanted;   /* SHERD_ECORRUPT unless the data has this checksum; NULL: any */
	sherd_pool *pool;     /* whose workers write parts, with BLAKE3; or NULL */
	shd_meter *meter;
} ckpt_shard_spec;

typedef struct ckpt_written {
	shd_part part;
	uint64_t file_size;
	uint8_t content[SHD_SHA256_BYTES];   /* shd_ckpt_content(); not in the C# layout */
	char checksum[SHD_CKPT_DIGEST_TEXT]; /* of the data; the C# layout has no place for it in the file */
} ckpt_written;

/* Names, types, shapes and sizes that can be written; SHERD_EINVAL tells which cannot, by its index over all shards. */
int shd_ckpt_items_check(const sherd_ckpt_shard_items *shards, uint32_t count, bool csharp, sherd_error *err);
/* Bytes of the item, from its type and shape unless it is UTF8. */
uint64_t shd_ckpt_item_bytes(const sherd_ckpt_item *item);

/* Writes, hashes and commits the shard as a new object. SHERD_EEXIST when the key is taken; out is filled then too. */
int shd_ckpt_write_shard(sherd_store *store, const ckpt_shard_spec *spec, ckpt_written *out, sherd_error *err);

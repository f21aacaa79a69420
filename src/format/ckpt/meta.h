/* format/ckpt/meta.h - {prefix}.metadata.json. docs/formats/checkpoint.md, "Metadata". */
#pragma once

#include "codec/seal.h"
#include "format/ckpt/entry.h"

#include <sherd/ckpt.h>

#include <string.h>

typedef struct shd_ckpt_meta_shard {
	uint32_t rank;
	const char *file; /* last component only; NULL: the plain name */
	uint64_t file_size;
	const char *checksum; /* "" when none is recorded */
	const char *sha256;   /* of the data of a shard that has no room for it, lower-case hex; NULL: not recorded */
	shd_ckpt_entry *entries;
	size_t count;
	bool listed;    /* false: the tensors stand in the shard's index only */
	uint64_t where; /* byte of its description */
} shd_ckpt_meta_shard;

typedef struct shd_ckpt_meta {
	const char *version;
	const char *timestamp; /* "" when unknown */
	int64_t time_ns;
	uint32_t world;
	bool has_set_id;
	sherd_set_id set_id;
	shd_seal seal;
	sherd_ckpt_about about;
	shd_ckpt_meta_shard *shards; /* ranks ascend */
	size_t count;
} shd_ckpt_meta;

/* What stands after the last '\' of a file's name; NULL when there is none. */
static inline const char *shd_ckpt_meta_file_behind(const char *file)
{
	const char *last = strrchr(file, '\\');
	return last ? last + 1 : NULL;
}

/* Everything handed out lies in the arena. Entries are checked one by one; whether they fit their shard's data is
 * for those who know it. */
int shd_ckpt_meta_decode(const char *text, size_t len, const sherd_limits *limits, shd_arena *arena, shd_ckpt_meta *out,
                         sherd_error *err);

/* csharp: types as numbers. The document is sealed. */
void shd_ckpt_meta_encode(const shd_ckpt_meta *meta, bool csharp, shd_buf *out);

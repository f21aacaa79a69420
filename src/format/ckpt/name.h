/* format/ckpt/name.h - the names of a checkpoint's objects. docs/formats/checkpoint.md, "Names". */
#pragma once

#include "base/buf.h"

#include <sherd/ckpt.h>

#define SHD_CKPT_METADATA_SUFFIX ".metadata.json"
#define SHD_CKPT_CLAIM_SUFFIX ".saving"

typedef enum shd_ckpt_name_kind {
	SHD_CKPT_NAME_OTHER = 0,
	SHD_CKPT_NAME_METADATA,
	SHD_CKPT_NAME_CLAIM,
	SHD_CKPT_NAME_SHARD
} shd_ckpt_name_kind;

typedef struct shd_ckpt_name {
	shd_ckpt_name_kind kind;
	shd_str prefix;  /* within the key that was parsed */
	uint32_t rank;   /* of a shard */
	bool has_set_id; /* of a shard that is named after its set */
	sherd_set_id set_id;
} shd_ckpt_name;

/* What a key names, folders in front of it included in the prefix. */
shd_ckpt_name shd_ckpt_name_parse(const char *text);

/* Keys; each appends a NUL-terminated text to an empty buffer (the NUL is not counted). */
void shd_ckpt_name_metadata(shd_buf *out, const char *prefix);
void shd_ckpt_name_claim(shd_buf *out, const char *prefix);
/* set_id NULL: the plain name. */
void shd_ckpt_name_shard(shd_buf *out, const char *prefix, uint32_t rank, const sherd_set_id *set_id);
/* The key of a file that lies beside the metadata of this prefix. */
void shd_ckpt_name_beside(shd_buf *out, const char *prefix, const char *file);

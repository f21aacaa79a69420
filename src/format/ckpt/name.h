/* format/ckpt/name.h - the names of a checkpoint's objects. docs/formats/checkpoint.md, "Names". */
#ifndef SHERD_FORMAT_CKPT_NAME_H
#define SHERD_FORMAT_CKPT_NAME_H

#include "base/buf.h"

#include <sherd/ckpt.h>

#define SHERD_CKPT_METADATA_SUFFIX ".metadata.json"
#define SHERD_CKPT_CLAIM_SUFFIX ".saving"

typedef enum sherd_ckpt_name_kind {
	SHERD_CKPT_NAME_OTHER = 0,
	SHERD_CKPT_NAME_METADATA,
	SHERD_CKPT_NAME_CLAIM,
	SHERD_CKPT_NAME_SHARD
} sherd_ckpt_name_kind;

typedef struct sherd_ckpt_name {
	sherd_ckpt_name_kind kind;
	sherd_str prefix; /* within the key that was parsed */
	uint32_t rank;    /* of a shard */
	bool has_set_id;  /* of a shard that is named after its set */
	sherd_set_id set_id;
} sherd_ckpt_name;

/* What a key names, folders in front of it included in the prefix. */
sherd_ckpt_name sherd_ckpt_name_parse(const char *text);

/* Keys; each appends a NUL-terminated text to an empty buffer (the NUL is not counted). */
void sherd_ckpt_name_metadata(sherd_buf *out, const char *prefix);
void sherd_ckpt_name_claim(sherd_buf *out, const char *prefix);
/* set_id NULL: the plain name. */
void sherd_ckpt_name_shard(sherd_buf *out, const char *prefix, uint32_t rank, const sherd_set_id *set_id);
/* The key of a file that lies beside the metadata of this prefix. */
void sherd_ckpt_name_beside(sherd_buf *out, const char *prefix, const char *file);

#endif

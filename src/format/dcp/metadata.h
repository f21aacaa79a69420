/* format/dcp/metadata.h - .metadata of a folder of torch.distributed.checkpoint. docs/formats/dcp.md. */
#pragma once

#include "format/pickle/pickle.h"
#include "format/torch/dtype.h"

#include <sherd/limits.h>

#define SHD_DCP_METADATA ".metadata"
#define SHD_DCP_SUFFIX ".distcp"
#define SHD_DCP_PAIRS "sherd.pairs" /* the entry with pairs of text, which is ours */

/* Bytes of a file: a whole archive of torch.save(). */
typedef struct shd_dcp_item {
	uint32_t file; /* of files */
	uint64_t offset, length;
} shd_dcp_item;

/* A box of a tensor. */
typedef struct shd_dcp_chunk {
	const uint64_t *at, *shape;
	shd_dcp_item item;
} shd_dcp_chunk;

typedef struct shd_dcp_entry {
	const char *name;
	const shd_torch_dtype *type; /* NULL: something else than a tensor, in item */
	uint32_t ndim;
	const uint64_t *shape; /* as torch has it */
	shd_dcp_chunk *chunks; /* by where they begin in the first dimension */
	size_t chunk_count;
	shd_dcp_item item;
} shd_dcp_entry;

typedef struct shd_dcp_metadata {
	shd_dcp_entry *entries;
	size_t count;
	const char **files; /* relative paths, which lead nowhere else */
	size_t file_count;
	shd_pickle pickle;
} shd_dcp_metadata;

/* All of it but the pickle, which is in the temporary one, is in the arena, in proportion to the bytes: no more chunks
 * are taken than there are places of them. The chunks of a tensor cover it, each element once, else "hole" or
 * "overlap". */
int shd_dcp_metadata_decode(const void *data, size_t len, const sherd_limits *limits, shd_arena *arena,
                            shd_arena *temporary, shd_dcp_metadata *out, sherd_error *err);

/* Do the chunks cover the tensor, each element once? */
int shd_dcp_check_tiles(const shd_dcp_entry *e, sherd_error *err);

/* What is written of one entry; a tensor is one chunk. */
typedef struct shd_dcp_written {
	const char *name;
	const sherd_tensor *tensor; /* NULL: something else */
	const char *file;
	uint64_t offset, length;
} shd_dcp_written;
int shd_dcp_metadata_encode(const shd_dcp_written *entries, size_t count, shd_buf *out, sherd_error *err);

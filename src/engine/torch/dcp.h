/* engine/torch/dcp.h - a folder of torch.distributed.checkpoint, opened. */
#pragma once

#include "engine/torch/view.h"
#include "format/dcp/metadata.h"

#include <stdatomic.h>

enum { SHD_DCP_OPEN = 64 }; /* files that stay open */

#define SHD_DCP_SAVING "dcp.saving" /* the claim of who writes it */

typedef struct shd_dcp_file {
	const char *key;
	uint64_t size;
	uint64_t spent; /* bytes of items that are no tensors */
	char identity[sizeof(((sherd_stat *)0)->identity)];
} shd_dcp_file;

/* Where the elements of a chunk lie, once its archive was looked into. */
typedef struct shd_dcp_place {
	_Atomic bool ready;
	uint64_t at;             /* in the file */
	const uint64_t *strides; /* in elements */
} shd_dcp_place;

typedef struct shd_dcp_slot {
	sherd_reader *reader; /* NULL: none */
	uint32_t file;
	unsigned users;
} shd_dcp_slot;

typedef struct shd_dcp_bundle {
	sherd_bundle base;
	sherd_store *store;
	shd_dcp_metadata metadata;
	size_t *entry_of;       /* of each tensor */
	shd_dcp_place **places; /* of each entry, of each chunk */
	uint64_t **reach;       /* of each entry, of each chunk: how far it and those before it reach in dimension 0 */
	shd_dcp_file *files;
	pthread_mutex_t lock; /* of the slots, and of the arena after opening */
	bool locked;
	shd_dcp_slot slots[SHD_DCP_OPEN];
} shd_dcp_bundle;

/* A file of the folder, for as long as it is not given back. *slot is NULL where it is not one of those that stay. */
int shd_dcp_take(shd_dcp_bundle *b, uint32_t file, shd_dcp_slot **slot, sherd_reader **out, sherd_error *err);
void shd_dcp_give(shd_dcp_bundle *b, shd_dcp_slot *slot, sherd_reader *reader);

/* Looks into the archive of a chunk, and holds it against its checksums. */
int shd_dcp_check_chunk(shd_dcp_bundle *b, const shd_dcp_entry *e, const shd_dcp_chunk *c, const sherd_reader *file,
                        shd_dcp_place *place, sherd_error *err);
int shd_dcp_read(const sherd_bundle *bundle, size_t index, uint64_t offset, void *buf, size_t len, sherd_error *err);

/* engine/model/container_set.h - the shards that lie under one base. */
#pragma once

#include "engine/model/container_file.h"

typedef struct container_listed {
	const char *key;
	const char *identity;
	shd_container_name name;
} container_listed;

/* All files whose names are those of shards of this base, in byte order; lives in the arena. */
typedef struct container_listing {
	const container_listed *files;
	size_t count;
} container_listing;
int shd_container_list(sherd_store *store, const char *base, shd_arena *arena, container_listing *out,
                       sherd_error *err);

/* Is the file one of the set with this number of shards and generation? */
int shd_container_is_of_set(const char *base, const shd_container_shards *set, const container_listed *file, bool *out,
                            sherd_error *err);

/* The base of the set that a key names where no object is called so: the key, if there are shards of that base, or else
 * the key without .sdc at its end. Lives in the arena. */
int shd_container_base(sherd_store *store, const char *key, shd_arena *arena, const char **out, sherd_error *err);

/* The key of the shard 0 that stands for the base, in the arena; of several, the one that none of the
 * others stands for. SHERD_ENOTFOUND when there is no shard at all, SHERD_EINCOMPLETE when none is shard 0,
 * SHERD_ECORRUPT "two-sets". */
int shd_container_find_set(sherd_store *store, const char *base, shd_arena *arena, const char **key, sherd_error *err);

/* Tells whether anything that a container under this key may consist of has changed. */
int shd_container_fingerprint(sherd_store *store, const char *key, uint8_t out[SHD_SHA256_BYTES], sherd_error *err);

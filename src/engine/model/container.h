/* engine/model/container.h - a container open as a model, in one file or several.
 *
 * Opening reads the front, metadata and graph of the file, or of shard 0. What the index says of an array is read when
 * the array is first asked for, and kept; so is a shard that holds it. */
#pragma once

#include "engine/model/container_file.h"
#include "engine/model/model.h"

#include <pthread.h>
#include <stdatomic.h>

/* The chunk that was unpacked last, for who reads on in small steps. */
typedef struct container_cache {
	pthread_mutex_t lock;
	const container_record *record; /* NULL: nothing is kept */
	uint32_t chunk;
	uint8_t *raw;
	size_t room;
} container_cache;

typedef struct shd_container_model {
	sherd_model base;
	sherd_store *store;
	container_file *file; /* the one, or shard 0 */
	shd_container_shards shards;
	const char *prefix;                   /* of the names of shards; NULL: one file */
	sherd_reader **readers;               /* of shards 1 to count-1; NULL: it could not be opened */
	const char **keys;                    /* of the same */
	_Atomic(container_file *) *others;    /* shards 1 to count-1, as far as they were needed */
	_Atomic(container_record *) *records; /* of each array that was asked for */
	container_cache *cache;
} shd_container_model;

/* The container that a model is; NULL when it is none. */
const shd_container_model *shd_container_of(const sherd_model *model);

/* Opens the file under the key, or the set that it is a shard or the base of, into the model. *whole becomes false when
 * a shard is not there. */
int shd_container_model_open_files(shd_container_model *m, const char *key, const sherd_limits *limits, bool *whole,
                                   sherd_error *err);

/* What the index says of an array of the model, which keeps it. Any thread. */
int shd_container_model_record(const shd_container_model *m, size_t array, const container_record **out,
                               sherd_error *err);
/* Shard 1 or more of the set, held against what shard 0 says of it. The model keeps it. Any thread. */
int shd_container_model_shard(const shd_container_model *m, uint32_t shard, const container_file **out,
                              sherd_error *err);

/* Bytes of an array: range and record were checked. cache and pool may be NULL. Chunks that are wanted whole,
 * packed ones, and all of a file with DIGESTS, are checked; of others that are wanted in part only that part is read.
 */
int shd_container_read(const container_record *r, uint64_t offset, void *buf, size_t len, container_cache *cache,
                       sherd_pool *pool, sherd_error *err);
/* NULL when memory is out. */
container_cache *shd_container_cache_new(void);
void shd_container_cache_free(container_cache *c); /* NULL is fine */
int shd_container_map(const container_record *r, const void **out, sherd_error *err);
/* Holds the stored bytes of a chunk against the digest of the file, if that has one. */
int shd_container_chunk_hold(const container_record *r, uint32_t chunk, const uint8_t *stored, sherd_error *err);
/* Reads, checks and unpacks one chunk, all of it: out has room for its raw bytes. */
int shd_container_read_chunk(const container_record *r, uint32_t chunk, uint8_t *out, sherd_error *err);

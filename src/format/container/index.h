/* format/container/index.h - the index of a container's arrays (docs/formats/container.md).
 *
 * Entries of fixed size, sorted by a hash of the name, lead to records of any length: finding one of very many arrays
 * takes a few entries and one record, each of which is checked by itself. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"

#include <sherd/limits.h>
#include <sherd/tensor.h>

#define SHD_CONTAINER_ALIGN 64
#define SHD_CONTAINER_CHUNK ((uint32_t)1 << 20)       /* raw bytes of the chunks that we write */
#define SHD_CONTAINER_MOST_CHUNK ((uint32_t)64 << 20) /* and of those that we read */

typedef enum shd_container_role {
	SHD_ROLE_VARIABLE = 0,
	SHD_ROLE_UPDATER = 1,
	SHD_ROLE_SEQUENCE = 2,
	SHD_ROLE_OPERATION = 3
} shd_container_role;

typedef enum shd_container_filter { SHD_FILTER_NONE = 0, SHD_FILTER_SHUFFLE = 1 } shd_container_filter;

typedef struct shd_container_chunk {
	uint64_t offset; /* in the file */
	uint32_t stored, raw;
	uint32_t crc; /* of the stored bytes */
	uint8_t codec, filter;
	uint8_t width; /* of the elements that are shuffled; 0 without that filter */
} shd_container_chunk;

typedef struct shd_container_array {
	sherd_tensor tensor;
	shd_container_role role;
	const char *key;      /* of an updater's state: which part of it; else "" */
	uint32_t shard;       /* which holds its chunks; 0 in a container of one file */
	uint32_t chunk_bytes; /* raw bytes of each chunk but the last */
	uint32_t chunk_count; /* 0 when it has no bytes or they lie in another shard */
	const shd_container_chunk *chunks;
} shd_container_array;

#define SHD_CONTAINER_HASH 8

typedef struct shd_container_entry {
	uint8_t hash[SHD_CONTAINER_HASH]; /* the first bytes of the name's SHA-256 */
	uint64_t offset;                  /* of the record in the index */
	uint32_t length, crc;
} shd_container_entry;

#define SHD_CONTAINER_INDEX_HEAD 8 /* the number of entries, which follow */
#define SHD_CONTAINER_ENTRY 24

void shd_container_hash(shd_str name, uint8_t out[SHD_CONTAINER_HASH]);

/* The payload of an index; arrays may be in any order and have different names. order, if not NULL: by entry, which of
 * the arrays it is of. */
int shd_container_index_encode(const shd_container_array *arrays, size_t count, shd_buf *out, size_t *order,
                               sherd_error *err);

/* Takes the number of entries; len is that of the whole index. */
int shd_container_index_count(const uint8_t head[SHD_CONTAINER_INDEX_HEAD], uint64_t len, uint64_t *out,
                              sherd_error *err);
/* Takes the entry at index; count and len are those of the whole index. Offsets of failures count from its start. */
int shd_container_entry_decode(const uint8_t raw[SHD_CONTAINER_ENTRY], uint64_t index, uint64_t count, uint64_t len,
                               shd_container_entry *out, sherd_error *err);
/* raw: the bytes that the entry tells of. Everything is checked but where chunks lie. Lives in the arena. */
int shd_container_record_decode(const shd_container_entry *entry, const uint8_t *raw, const sherd_limits *limits,
                                shd_arena *arena, shd_container_array *out, sherd_error *err);

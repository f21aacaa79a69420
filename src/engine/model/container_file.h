/* engine/model/container_file.h - one file of a container, open for reading. */
#pragma once

#include "base/limits.h"
#include "format/container/digests.h"
#include "format/container/head.h"
#include "format/container/index.h"
#include "format/container/shard.h"

#include <sherd/store.h>

/* Immutable once it is open. */
typedef struct container_file {
	sherd_reader *reader;
	bool lent;   /* the reader is somebody else's */
	bool walked; /* the HEADER was not believed: sections were searched, and the identity is not known */
	sherd_limits limits;
	shd_container_head head;
	shd_container_section index;      /* one of head's */
	uint64_t arrays;                  /* entries of the index */
	uint8_t digest[SHD_SHA256_BYTES]; /* of its front; of a file with DIGESTS their root */
	shd_container_digests digests;
	uint8_t *table;     /* theirs, held against the root; NULL: there are none */
	uint64_t values_at; /* where values of chunks begin */
} container_file;

/* One array of a file: its record, and where its chunks lie. */
typedef struct container_record {
	const container_file *file;
	shd_arena arena;
	shd_container_array array;
	const shd_digest_value *values; /* of its chunks, held against the root; NULL: there are none */
} container_record;

/* Reads the front and the head of the index, nothing else. limits may be NULL. */
int shd_container_file_open(container_file **out, sherd_store *store, const char *key, const sherd_limits *limits,
                            sherd_error *err);
/* The same over a reader, which is only lent. */
int shd_container_file_over(container_file **out, sherd_reader *reader, const sherd_limits *limits, sherd_error *err);
/* The same of a file whose HEADER may be damaged, as long as its index can be found. */
int shd_container_file_rescue(container_file **out, sherd_store *store, const char *key, const sherd_limits *limits,
                              sherd_error *err);
void shd_container_file_close(container_file *f); /* NULL is fine */
SHD_AUTO_DEFINE(container_file, shd_container_file_close)

/* Reads a section whole: head, payload, CRC, unpacked. free() the bytes. */
int shd_container_file_section(const container_file *f, const shd_container_section *s, uint8_t **out, size_t *len,
                               sherd_error *err);
/* The SHARD_INFO of the file; count is 0 when it has none. Lives in the arena. */
int shd_container_file_shards(const container_file *f, shd_arena *arena, shd_container_shards *out, sherd_error *err);

/* Finds the array of that name by a few reads; SHERD_ENOTFOUND when the index does not have it. */
int shd_container_file_find(const container_file *f, const char *name, container_record **out, sherd_error *err);
void shd_container_record_close(container_record *r); /* NULL is fine */
SHD_AUTO_DEFINE(container_record, shd_container_record_close)
/* Reads the DIGESTS of a file that has them, and holds their table against the root. */
int shd_container_file_digests(container_file *f, sherd_error *err);
/* Holds the record that was decoded of these bytes, entry `index` of the index, against the root, and takes the values
 * of its chunks into the arena. Nothing without DIGESTS. */
int shd_container_file_bind(const container_file *f, uint64_t index, const shd_container_entry *e, const void *raw,
                            shd_arena *arena, container_record *r, sherd_error *err);
/* Holds the stored payload of a section against the root. Nothing without DIGESTS, or of arrays. */
int shd_container_file_hold(const container_file *f, const shd_container_section *s, const uint8_t value[32],
                            sherd_error *err);
/* Do the chunks lie within ARRAYS sections that hold data? */
int shd_container_file_check(const container_file *f, const shd_container_array *array, sherd_error *err);

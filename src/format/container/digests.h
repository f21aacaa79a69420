/* format/container/digests.h - the DIGESTS section: a tree of BLAKE3 values over a container
 * (docs/formats/container.md).
 *
 * The root covers a table: a value for each section and for each array. An array's value covers its record and the
 * values of its chunks, a chunk's value its stored bytes. So whoever has the root checks one chunk by the table, a
 * record, the values of that array, and the chunk. */
#pragma once

#include "base/buf.h"
#include "codec/blake3.h"
#include "format/container/head.h"

#define SHD_DIGESTS_HEAD 72
#define SHD_DIGESTS_ITEM 40 /* of the table */

typedef struct shd_digest_value {
	uint8_t bytes[SHD_BLAKE3_BYTES];
} shd_digest_value;

typedef struct shd_digest_section {
	uint8_t type, flags;
	shd_digest_value value; /* of the stored payload */
} shd_digest_section;

typedef struct shd_digest_array {
	shd_digest_value value;
	uint64_t first; /* which of the values of chunks is that of its first one */
} shd_digest_array;

/* What is said at the front. */
typedef struct shd_container_digests {
	shd_digest_value root;
	uint8_t set[SHD_CONTAINER_SET_BYTES];
	uint64_t sections, arrays, chunks;
} shd_container_digests;

/* The value of an array: record and chunk values as they lie in the file. SHERD_ENOMEM alone. */
int shd_digest_of_array(const void *record, size_t len, const shd_digest_value *chunks, size_t count,
                        shd_digest_value *out, sherd_error *err);

/* The payload. d->root is filled in. */
int shd_container_digests_encode(shd_container_digests *d, const shd_digest_section *sections,
                                 const shd_digest_array *arrays, const shd_digest_value *chunks, shd_buf *out,
                                 sherd_error *err);

/* Takes the numbers, which are held against the length of the payload. Offsets of failures count from the payload. */
int shd_container_digests_decode(const uint8_t head[SHD_DIGESTS_HEAD], uint64_t len, shd_container_digests *out,
                                 sherd_error *err);
/* Bytes of head and table, which the root covers but for itself; values of chunks follow. */
uint64_t shd_container_digests_table(const shd_container_digests *d);
/* table: as many bytes as that. Does the root cover it, and does it tell of these sections, in this order? */
int shd_container_digests_check(const shd_container_digests *d, const uint8_t *table, const shd_container_head *head,
                                sherd_error *err);
/* Item i of the table: sections first, then arrays in the order of the index. */
void shd_container_digests_section(const uint8_t *table, uint64_t i, shd_digest_section *out);
void shd_container_digests_array(const shd_container_digests *d, const uint8_t *table, uint64_t i,
                                 shd_digest_array *out);
/* Has the section a value? Those with arrays are covered by these, and DIGESTS is the tree itself. */
bool shd_container_digests_has(const shd_container_section *s);

/* format/container/head.h - the front of a container and the heads of its sections (docs/formats/container.md).
 *
 * The front is the file's head (magic, version) and the HEADER section, always SHERD_CONTAINER_FRONT bytes together,
 * so that it can be filled in when everything behind it is written. */
#ifndef SHERD_FORMAT_CONTAINER_HEAD_H
#define SHERD_FORMAT_CONTAINER_HEAD_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define SHERD_CONTAINER_MAGIC "SAMEDIFF_MOD"
#define SHERD_CONTAINER_VERSION 1
#define SHERD_CONTAINER_FRONT 1024
#define SHERD_CONTAINER_SET_BYTES 16
#define SHERD_CONTAINER_MOST_SECTIONS 29 /* besides HEADER */

typedef enum sherd_section_type {
	SHERD_SECTION_HEADER = 0,
	SHERD_SECTION_METADATA = 1,
	SHERD_SECTION_GRAPH = 2,
	SHERD_SECTION_ARRAYS = 3, /* the last one is the index */
	SHERD_SECTION_SHARD_INFO = 4
} sherd_section_type;

#define SHERD_SECTION_HEAD 10
#define SHERD_SECTION_CRC 4
#define SHERD_SECTION_CODEC 0x0f   /* bits of flags */
#define SHERD_SECTION_HAS_CRC 0x10 /* a bit of flags */

typedef enum sherd_container_codec { SHERD_CODEC_NONE = 0, SHERD_CODEC_DEFLATE = 1 } sherd_container_codec;

typedef struct sherd_container_section {
	uint8_t type, flags;
	uint32_t crc;    /* as stored behind the payload; 0 when there is none */
	uint64_t offset; /* of its head in the file */
	uint64_t stored; /* bytes of its payload, */
	uint64_t raw;    /* and when that is unpacked */
} sherd_container_section;

typedef struct sherd_container_head {
	uint64_t compatible, incompatible; /* feature bits: none are defined */
	uint8_t set[SHERD_CONTAINER_SET_BYTES];
	uint64_t file_size;
	uint32_t count;
	sherd_container_section sections[SHERD_CONTAINER_MOST_SECTIONS]; /* without HEADER, in the order of the file */
} sherd_container_head;

void sherd_container_head_encode(const sherd_container_head *head, uint8_t out[SHERD_CONTAINER_FRONT]);
/* front: the first bytes of the file, SHERD_CONTAINER_FRONT of them or as many as there are. What comes out is sane:
 * sections lie one behind the other from the front to the end of the file, none of ours is there twice, the last of
 * type ARRAYS is the index, and flags are such as the type allows. */
int sherd_container_head_decode(const uint8_t *front, size_t len, uint64_t file_size, sherd_container_head *out,
                                sherd_error *err);

/* The first section of the type; NULL when there is none. */
const sherd_container_section *sherd_container_find_section(const sherd_container_head *head, sherd_section_type type);
const sherd_container_section *sherd_container_index_section(const sherd_container_head *head);
/* "METADATA", "ARRAYS", ...; "section" for a type that is not known. */
const char *sherd_section_name(uint8_t type);

static inline uint64_t sherd_section_payload(const sherd_container_section *s)
{
	return s->offset + SHERD_SECTION_HEAD;
}

/* Where the next section begins. */
static inline uint64_t sherd_section_end(const sherd_container_section *s)
{
	return sherd_section_payload(s) + s->stored + (s->flags & SHERD_SECTION_HAS_CRC ? SHERD_SECTION_CRC : 0);
}

void sherd_section_head_encode(const sherd_container_section *s, uint8_t out[SHERD_SECTION_HEAD]);
/* Does the head in the file say what the directory says? The offset of a failure counts from the head. */
int sherd_section_head_check(const sherd_container_section *s, const uint8_t head[SHERD_SECTION_HEAD],
                             sherd_error *err);
/* The CRC-32 of a section's head: sherd_crc32() over the payload goes on from it. */
uint32_t sherd_section_crc_begin(const sherd_container_section *s);

#endif

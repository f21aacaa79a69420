/* format/container/head.h - the front of a container and the heads of its sections (docs/formats/container.md).
 *
 * The front is the file's head (magic, version) and the HEADER section, always SHD_CONTAINER_FRONT bytes together,
 * so that it can be filled in when everything after it is written. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define SHD_CONTAINER_MAGIC "SAMEDIFF_MOD"
#define SHD_CONTAINER_VERSION 1
#define SHD_CONTAINER_FRONT 1024
#define SHD_CONTAINER_SET_BYTES 16
#define SHD_CONTAINER_MOST_SECTIONS 29 /* besides HEADER */

typedef enum shd_section_type {
	SHD_SECTION_HEADER = 0,
	SHD_SECTION_METADATA = 1,
	SHD_SECTION_GRAPH = 2,
	SHD_SECTION_ARRAYS = 3, /* the last one is the index */
	SHD_SECTION_SHARD_INFO = 4,
	SHD_SECTION_DIGESTS = 5 /* with SHD_FEATURE_DIGESTS; else a section that is not known */
} shd_section_type;

#define SHD_FEATURE_DIGESTS UINT64_C(1) /* incompatible */

#define SHD_SECTION_HEAD 10
#define SHD_SECTION_CRC 4
#define SHD_SECTION_CODEC 0x0f   /* bits of flags */
#define SHD_SECTION_HAS_CRC 0x10 /* a bit of flags */

typedef enum shd_container_codec { SHD_CODEC_NONE = 0, SHD_CODEC_DEFLATE = 1 } shd_container_codec;

typedef struct shd_container_section {
	uint8_t type, flags;
	uint32_t crc;    /* as stored after the payload; 0 when there is none */
	uint64_t offset; /* of its head in the file */
	uint64_t stored; /* bytes of its payload, */
	uint64_t raw;    /* and when that is unpacked */
} shd_container_section;

typedef struct shd_container_head {
	uint64_t compatible, incompatible; /* feature bits; of the former none is defined */
	uint8_t set[SHD_CONTAINER_SET_BYTES];
	uint64_t file_size;
	uint32_t count;
	shd_container_section sections[SHD_CONTAINER_MOST_SECTIONS]; /* without HEADER, in the order of the file */
} shd_container_head;

void shd_container_head_encode(const shd_container_head *head, uint8_t out[SHD_CONTAINER_FRONT]);
/* front: the first bytes of the file, SHD_CONTAINER_FRONT of them or as many as there are. What comes out is sane:
 * sections lie one after the other from the front to the end of the file, none of ours is there twice, the last of
 * type ARRAYS is the index, and flags are such as the type allows. */
int shd_container_head_decode(const uint8_t *front, size_t len, uint64_t file_size, shd_container_head *out,
                              sherd_error *err);

/* The first section of the type; NULL when there is none. */
const shd_container_section *shd_container_find_section(const shd_container_head *head, shd_section_type type);
const shd_container_section *shd_container_index_section(const shd_container_head *head);
/* "METADATA", "ARRAYS", ...; "section" for a type that is not known. */
const char *shd_section_name(uint8_t type);

static inline uint64_t shd_section_payload(const shd_container_section *s)
{
	return s->offset + SHD_SECTION_HEAD;
}

/* Where the next section begins. */
static inline uint64_t shd_section_end(const shd_container_section *s)
{
	return shd_section_payload(s) + s->stored + (s->flags & SHD_SECTION_HAS_CRC ? SHD_SECTION_CRC : 0);
}

void shd_section_head_encode(const shd_container_section *s, uint8_t out[SHD_SECTION_HEAD]);
/* Does the head in the file say what the directory says? The offset of a failure counts from the head. */
int shd_section_head_check(const shd_container_section *s, const uint8_t head[SHD_SECTION_HEAD], sherd_error *err);
/* The CRC-32 of a section's head: shd_crc32() over the payload goes on from it. */
uint32_t shd_section_crc_begin(const shd_container_section *s);

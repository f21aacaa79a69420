/* codec/sha1.h - SHA-1, only to hold files against names that git gave them: it is no proof against who means ill. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SHD_SHA1_BYTES 20
#define SHD_SHA1_HEX 40

/* Plain memory: needs no closing, cannot fail. */
typedef struct shd_sha1 {
	uint32_t state[5];
	uint64_t len;
	uint8_t rest[64];
} shd_sha1;

void shd_sha1_init(shd_sha1 *h);
void shd_sha1_add(shd_sha1 *h, const void *data, size_t len);
/* The hash of all that was added; h must be initialised again before it is used again. */
void shd_sha1_finish(shd_sha1 *h, uint8_t out[SHD_SHA1_BYTES]);

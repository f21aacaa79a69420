/* codec/deflate.h - raw deflate (RFC 1951) of whole pieces: level 1 by ISA-L, 2 to 12 and back again by libdeflate. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define SHD_DEFLATE_LEVELS 12
#define SHD_DEFLATE_MOST ((size_t)1 << 30) /* bytes of one piece, raw or packed */
/* No deflate stream grows by more than this factor, give or take the last byte. */
#define SHD_DEFLATE_RATIO 1032

typedef struct shd_deflate shd_deflate;

/* Serves one thread at a time. The level is 1 to 12. */
int shd_deflate_open(shd_deflate **out, int level, sherd_error *err);
void shd_deflate_close(shd_deflate *d); /* NULL is fine */

/* Packs a piece of 1 byte or more into room; 0 when the result does not fit there. The bytes of level 1 may differ
 * between processors. */
size_t shd_deflate_pack(shd_deflate *d, const void *in, size_t len, void *out, size_t room);
/* The same of parts of part bytes each, which have little in common: level 1 goes quickly over those that are noise. */
size_t shd_deflate_pack_parts(shd_deflate *d, const void *in, size_t len, size_t part, void *out, size_t room);

/* A stream piece by piece, by level 1 alone; SHD_DEFLATE_END ends it. Never 0, where there is room for len + len / 256
 * + 64 bytes. */
size_t shd_deflate_pack_piece(shd_deflate *d, const void *in, size_t len, void *out, size_t room);
#define SHD_DEFLATE_END "\3\0" /* a last block with nothing in it */
#define SHD_DEFLATE_END_BYTES 2

/* Could len packed bytes hold so many raw ones? Asked before anything is allocated for them. */
bool shd_deflate_plausible(uint64_t len, uint64_t raw);
/* Unpacks a piece, which must be one whole stream that fills out exactly: else SHERD_ECORRUPT, "bad-deflate". */
int shd_deflate_unpack(const void *in, size_t len, void *out, size_t raw, sherd_error *err);

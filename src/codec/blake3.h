/* codec/blake3.h - the hash function BLAKE3, unkeyed, 32 bytes out.
 *
 * The hash is the root of a binary tree over chunks of 1024 bytes, so that parts of one input are hashed by several
 * threads, and one part is checked against the root without the others. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SHD_BLAKE3_BYTES 32

/* Up to 64 bytes cost one compression. */
void shd_blake3_of(const void *data, size_t len, uint8_t out[SHD_BLAKE3_BYTES]);

/* Parts: the input is cut at every multiple of a size that is 1024 times a power of two; there are at least two. The
 * value of one part, which begins at `from` in the input; all but the last are of full size, and none is empty. */
void shd_blake3_part(const void *data, size_t len, uint64_t from, uint8_t out[SHD_BLAKE3_BYTES]);
/* The hash of the input, of the values of all its parts. */
void shd_blake3_root(const uint8_t (*parts)[SHD_BLAKE3_BYTES], size_t count, uint8_t out[SHD_BLAKE3_BYTES]);

/* As shd_blake3_of(), without the first `widest` of shd_blake3_width_at(). */
void shd_blake3_by(size_t widest, const void *data, size_t len, uint8_t out[SHD_BLAKE3_BYTES]);

/* codec/blake3.h - the hash function BLAKE3, unkeyed, 32 bytes out. */
#ifndef SHD_CODEC_BLAKE3_H
#define SHD_CODEC_BLAKE3_H

#include <stddef.h>
#include <stdint.h>

#define SHD_BLAKE3_BYTES 32

/* Up to 64 bytes cost one compression. */
void shd_blake3_of(const void *data, size_t len, uint8_t out[SHD_BLAKE3_BYTES]);

#endif

/* codec/blake3.h - the hash function BLAKE3, unkeyed, 32 bytes out. */
#ifndef SHERD_CODEC_BLAKE3_H
#define SHERD_CODEC_BLAKE3_H

#include <stddef.h>
#include <stdint.h>

#define SHERD_BLAKE3_BYTES 32

/* Up to 64 bytes cost one compression. */
void sherd_blake3_of(const void *data, size_t len, uint8_t out[SHERD_BLAKE3_BYTES]);

#endif

/* codec/crc32.h - CRC-32 as in zlib and ZIP (polynomial 0xEDB88320), by ISA-L. */
#ifndef SHERD_CODEC_CRC32_H
#define SHERD_CODEC_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Continues crc (0 at the start) over more bytes. */
uint32_t sherd_crc32(uint32_t crc, const void *data, size_t len);

#endif

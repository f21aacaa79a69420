/* codec/crc32.h - CRC-32 as in zlib and ZIP (polynomial 0xEDB88320), by ISA-L. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Continues crc (0 at the start) over more bytes. */
uint32_t shd_crc32(uint32_t crc, const void *data, size_t len);

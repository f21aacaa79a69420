/* codec/crc32.h - CRC-32 as in zlib and ZIP (polynomial 0xEDB88320), by ISA-L. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Continues crc (0 at the start) over more bytes. */
uint32_t shd_crc32(uint32_t crc, const void *data, size_t len);
/* The CRC-32 of two inputs one after the other, from that of each and the length of the second. */
uint32_t shd_crc32_join(uint32_t first, uint32_t second, uint64_t second_len);

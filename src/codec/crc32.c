#include "codec/crc32.h"

#include <isa-l/crc.h>

uint32_t shd_crc32(uint32_t crc, const void *data, size_t len)
{
	return len ? crc32_gzip_refl(crc, data, len) : crc;
}

/* Polynomials modulo that of the CRC; the highest bit is the coefficient of x^0. */
static uint32_t crc32_times(uint32_t a, uint32_t b)
{
	uint32_t product = 0;
	for (uint32_t bit = 1u << 31; bit; bit >>= 1) {
		if (a & bit)
			product ^= b;
		b = b >> 1 ^ (b & 1 ? 0xedb88320u : 0);
	}
	return product;
}

/* Bytes that follow multiply what was there by x^8 each. */
uint32_t shd_crc32_join(uint32_t first, uint32_t second, uint64_t second_len)
{
	uint32_t power = 1u << 31, square = 1u << 23; /* 1 and x^8 */
	for (; second_len; second_len >>= 1, square = crc32_times(square, square))
		if (second_len & 1)
			power = crc32_times(power, square);
	return crc32_times(power, first) ^ second;
}

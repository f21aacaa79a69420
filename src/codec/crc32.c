#include "codec/crc32.h"

#include <isa-l/crc.h>

uint32_t shd_crc32(uint32_t crc, const void *data, size_t len)
{
	return len ? crc32_gzip_refl(crc, data, len) : crc;
}

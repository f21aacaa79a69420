#include "engine/ckpt/hash.h"

#include <stdlib.h>

/* Small enough that what was read is still in the cache when it is hashed. */
enum { CHUNK = 256 << 10 };

int shd_ckpt_hash_range(const sherd_reader *reader, uint64_t offset, uint64_t size, shd_meter *meter,
                        char hex[SHD_SHA256_HEX + 1], sherd_error *err)
{
	uint8_t hash[SHD_SHA256_BYTES];
	shd_sha256 sha;
	uint8_t *buf = malloc(CHUNK);
	if (!buf)
		return shd_fail_nomem(err);
	int rc = SHERD_OK;
	shd_sha256_init(&sha);
	for (uint64_t at = 0; rc == SHERD_OK && at < size; at += CHUNK) {
		size_t n = size - at < CHUNK ? (size_t)(size - at) : CHUNK;
		rc = sherd_reader_at(reader, offset + at, buf, n, err);
		if (rc == SHERD_OK) {
			shd_sha256_add(&sha, buf, n);
			if (meter)
				rc = shd_meter_add(meter, n, err);
		}
	}
	free(buf);
	shd_sha256_finish(&sha, hash);
	shd_hex(hash, sizeof(hash), hex);
	return rc;
}

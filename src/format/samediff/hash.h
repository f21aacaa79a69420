/* format/samediff/hash.h - the numbers that stand for the names of ops (docs/formats/samediff-legacy.md, Operations).
 */
#pragma once

#include "base/str.h"

#include <stdint.h>

typedef struct shd_samediff_hasher {
	uint64_t table[256];
} shd_samediff_hasher;

void shd_samediff_hasher_init(shd_samediff_hasher *hasher);
/* Of the name as it stands. */
uint64_t shd_samediff_hash(const shd_samediff_hasher *hasher, shd_str name);
/* The name that is hashed for an op: its own, or another that it is registered under. */
const char *shd_samediff_registered_name(const char *op);

/* format/samediff/hash.h - the numbers that stand for the names of ops (docs/formats/samediff-legacy.md, Operations).
 */
#ifndef SHERD_FORMAT_SAMEDIFF_HASH_H
#define SHERD_FORMAT_SAMEDIFF_HASH_H

#include "base/str.h"

#include <stdint.h>

typedef struct sherd_samediff_hasher {
	uint64_t table[256];
} sherd_samediff_hasher;

void sherd_samediff_hasher_init(sherd_samediff_hasher *hasher);
/* Of the name as it stands. */
uint64_t sherd_samediff_hash(const sherd_samediff_hasher *hasher, sherd_str name);
/* The name that is hashed for an op: its own, or another that it is registered under. */
const char *sherd_samediff_registered_name(const char *op);

#endif

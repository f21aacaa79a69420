/* base/map.h - names to numbers: an open-addressing table over borrowed keys. */
#ifndef SHERD_BASE_MAP_H
#define SHERD_BASE_MAP_H

#include "base/str.h"

#include <stdint.h>

typedef struct sherd_map {
	struct sherd_map_slot *slots;
	size_t count;
	size_t cap; /* a power of two, or 0 */
	uint64_t seed;
} sherd_map;

#define SHERD_MAP_NONE SIZE_MAX

/* The key must outlive the map. Returns the value that stands under the key
 * already, or SHERD_MAP_NONE after adding it; *ok is false when memory is out. */
size_t sherd_map_add(sherd_map *m, sherd_str key, size_t value, bool *ok);
/* Makes room for so many keys in all, so that adding them moves nothing; false when memory is out. */
bool sherd_map_reserve(sherd_map *m, size_t count);
size_t sherd_map_find(const sherd_map *m, sherd_str key);
void sherd_map_done(sherd_map *m);

/* Keyed, so that hostile names cannot be made to collide. */
uint64_t sherd_hash(uint64_t seed, const void *data, size_t len);
uint64_t sherd_hash_seed(void);

#endif

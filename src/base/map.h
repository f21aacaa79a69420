/* base/map.h - names to numbers: an open-addressing table over borrowed keys. */
#pragma once

#include "base/str.h"

#include <stdint.h>

typedef struct shd_map {
	struct shd_map_slot *slots;
	size_t count;
	size_t cap; /* a power of two, or 0 */
	uint64_t seed;
} shd_map;

#define SHD_MAP_NONE SIZE_MAX

/* The key must outlive the map. Returns the value that stands under the key
 * already, or SHD_MAP_NONE after adding it; *ok is false when memory is out. */
size_t shd_map_add(shd_map *m, shd_str key, size_t value, bool *ok);
/* Makes room for so many keys in all, so that adding them moves nothing; false when memory is out. */
bool shd_map_reserve(shd_map *m, size_t count);
size_t shd_map_find(const shd_map *m, shd_str key);
void shd_map_done(shd_map *m);

/* Keyed, so that hostile names cannot be made to collide. */
uint64_t shd_hash(uint64_t seed, const void *data, size_t len);
uint64_t shd_hash_seed(void);

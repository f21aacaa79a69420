#include "base/map.h"

#include "base/large.h"

#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <time.h>

struct shd_map_slot {
	uint64_t hash; /* 0 = empty; a real hash of 0 is stored as 1 */
	shd_str key;
	size_t value;
};

static uint64_t map_mix(uint64_t a, uint64_t b)
{
	__uint128_t product = (__uint128_t)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t map_load(const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

/* Of one to seven bytes all, some of them twice: two texts of the same length give the same only if they are. */
static uint64_t load_few(const uint8_t *p, size_t n)
{
	uint32_t front, back;
	if (n < 4)
		return p[0] | (uint64_t)p[n / 2] << 8 | (uint64_t)p[n - 1] << 16;
	memcpy(&front, p, sizeof(front));
	memcpy(&back, p + n - sizeof(back), sizeof(back));
	return front | (uint64_t)back << 32;
}

uint64_t shd_hash(uint64_t seed, const void *data, size_t len)
{
	const uint64_t k1 = 0x9e3779b97f4a7c15u, k2 = 0xd6e8feb86659fd93u;
	const uint8_t *p = data;
	size_t left = len;
	/* Both factors of a step depend on the seed: one that a text could make zero would hide the other. */
	const uint64_t secret = map_mix(seed ^ k2, k1);
	uint64_t h = map_mix(seed ^ k1, k2 ^ len);
	for (; left >= 16; p += 16, left -= 16)
		h = map_mix(map_load(p) ^ h ^ seed, map_load(p + 8) ^ secret);
	if (left >= 8) {
		h = map_mix(map_load(p) ^ h ^ seed, k2);
		p += 8;
		left -= 8;
	}
	if (left)
		h = map_mix(load_few(p, left) ^ h ^ seed, k1 + left);
	return map_mix(h ^ k2, seed | 1);
}

uint64_t shd_hash_seed(void)
{
	/* Of the process: small tables are made by the hundred, and a system call for each would cost more than they
	 * do. The time makes tables differ, or filling one in the order of another would take quadratic time. */
	const uint8_t *secret = (const uint8_t *)getauxval(AT_RANDOM);
	struct timespec now;
	uint64_t words[2] = {0, (uintptr_t)&now};
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	if (secret)
		memcpy(words, secret, sizeof(words));
	else if (getrandom(words, sizeof(words), GRND_NONBLOCK) != sizeof(words))
		words[0] = (uint64_t)now.tv_sec;
	return shd_hash(words[0], &(uint64_t[2]){words[1], (uint64_t)now.tv_nsec}, sizeof(words));
}

static uint64_t map_hash_of(const shd_map *m, shd_str key)
{
	uint64_t h = shd_hash(m->seed, key.ptr, key.len);
	return h ? h : 1;
}

/* The slot of the key, or the empty one where it belongs. */
static struct shd_map_slot *map_slot_of(const shd_map *m, uint64_t hash, shd_str key)
{
	for (size_t i = hash & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
		struct shd_map_slot *s = &m->slots[i];
		if (!s->hash || (s->hash == hash && s->key.len == key.len && memcmp(s->key.ptr, key.ptr, key.len) == 0))
			return s;
	}
}

static bool map_grow(shd_map *m, size_t cap)
{
	struct shd_map_slot *slots = cap > SIZE_MAX / sizeof(*slots) ? NULL : shd_large_alloc(cap * sizeof(*slots));
	if (!slots)
		return false;
	memset(slots, 0, cap * sizeof(*slots));
	shd_map bigger = {.slots = slots, .cap = cap, .count = m->count, .seed = m->cap ? m->seed : shd_hash_seed()};
	for (size_t i = 0; i < m->cap; i++)
		if (m->slots[i].hash)
			*map_slot_of(&bigger, m->slots[i].hash, m->slots[i].key) = m->slots[i];
	free(m->slots);
	*m = bigger;
	return true;
}

bool shd_map_reserve(shd_map *m, size_t count)
{
	size_t cap = 16;
	while (cap / 4 * 3 < count && cap <= SIZE_MAX / 2)
		cap *= 2;
	return cap <= m->cap || map_grow(m, cap);
}

size_t shd_map_add(shd_map *m, shd_str key, size_t value, bool *ok)
{
	*ok = m->count < m->cap / 4 * 3 || map_grow(m, m->cap ? m->cap * 2 : 16);
	if (!*ok)
		return SHD_MAP_NONE;
	uint64_t hash = map_hash_of(m, key);
	struct shd_map_slot *s = map_slot_of(m, hash, key);
	if (s->hash)
		return s->value;
	*s = (struct shd_map_slot){.hash = hash, .key = key, .value = value};
	m->count++;
	return SHD_MAP_NONE;
}

size_t shd_map_find(const shd_map *m, shd_str key)
{
	if (!m->cap)
		return SHD_MAP_NONE;
	const struct shd_map_slot *s = map_slot_of(m, map_hash_of(m, key), key);
	return s->hash ? s->value : SHD_MAP_NONE;
}

void shd_map_done(shd_map *m)
{
	free(m->slots);
	*m = (shd_map){0};
}

#include "engine/rows/order.h"

#include "base/rng.h"

#include <sherd/rows.h>

enum { ROUNDS = 8 };

uint64_t sherd_rows_hash(uint64_t id)
{
	return shd_splitmix64(id);
}

void shd_rows_order_sample(rows_order *o, double fraction)
{
	o->sample = true;
	o->all = fraction >= 1;
	o->threshold = fraction > 0 && !o->all ? (uint64_t)(fraction * 0x1p64) : 0;
}

bool shd_rows_order_takes(const rows_order *o, uint64_t row)
{
	return !o->sample || o->all || shd_splitmix64(row) < o->threshold;
}

static unsigned bits_for(uint64_t n)
{
	unsigned bits = n > 1 ? 64 - (unsigned)__builtin_clzll(n - 1) : 0;
	return bits < 2 ? 2 : bits;
}

uint64_t shd_rows_permute(uint64_t seed, uint64_t n, uint64_t i)
{
	unsigned bits = bits_for(n), low = bits / 2, high = bits - low;
	uint64_t low_mask = (UINT64_C(1) << low) - 1, high_mask = (UINT64_C(1) << high) - 1;
	do {
		uint64_t x = i >> low, y = i & low_mask;
		for (unsigned r = 0; r < ROUNDS; r++) {
			uint64_t key = shd_splitmix64(seed + r);
			if (r % 2 == 0)
				x ^= shd_splitmix64(y ^ key) & high_mask;
			else
				y ^= shd_splitmix64(x ^ key) & low_mask;
		}
		i = x << low | y;
	} while (i >= n);
	return i;
}

static uint64_t epoch_seed(const rows_order *o)
{
	return o->epoch ? shd_splitmix64(o->seed ^ shd_splitmix64(o->epoch)) : o->seed;
}

uint64_t shd_rows_order_at(const rows_order *o, uint64_t position)
{
	if (!o->shuffle)
		return position;
	uint64_t seed = epoch_seed(o);
	if (!o->window || o->window >= o->total)
		return shd_rows_permute(seed, o->total, position);
	uint64_t k = position / o->window, first = k * o->window;
	uint64_t size = o->total - first < o->window ? o->total - first : o->window;
	return first + shd_rows_permute(shd_splitmix64(seed ^ shd_splitmix64(k)), size, position - first);
}

/* base/rng.h - numbers that look random and are the same everywhere. */
#pragma once

#include <stdint.h>

/* The SplitMix64 finaliser, pure: a bijection of 64-bit numbers. */
static inline uint64_t shd_splitmix64(uint64_t x)
{
	uint64_t z = x + 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

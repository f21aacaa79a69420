/* base/u128.h - 128-bit numbers, and their 16 little-endian bytes. */
#pragma once

#include "base/buf.h"
#include "base/cursor.h"

typedef unsigned __int128 shd_u128;

static inline shd_u128 shd_get_u128(const uint8_t *p)
{
	return (shd_u128)shd_get_u64(p + 8) << 64 | shd_get_u64(p);
}

static inline void shd_put_u128(uint8_t *p, shd_u128 v)
{
	shd_put_u64(p, (uint64_t)v);
	shd_put_u64(p + 8, (uint64_t)(v >> 64));
}

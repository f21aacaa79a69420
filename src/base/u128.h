/* base/u128.h - 128-bit numbers, and their 16 little-endian bytes. */
#ifndef SHERD_BASE_U128_H
#define SHERD_BASE_U128_H

#include "base/buf.h"
#include "base/cursor.h"

typedef unsigned __int128 sherd_u128;

static inline sherd_u128 sherd_get_u128(const uint8_t *p)
{
	return (sherd_u128)sherd_get_u64(p + 8) << 64 | sherd_get_u64(p);
}

static inline void sherd_put_u128(uint8_t *p, sherd_u128 v)
{
	sherd_put_u64(p, (uint64_t)v);
	sherd_put_u64(p + 8, (uint64_t)(v >> 64));
}

#endif

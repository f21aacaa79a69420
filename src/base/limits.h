/* base/limits.h - limits with their defaults filled in. */
#pragma once

#include <sherd/limits.h>

#include <stddef.h>

/* NULL and zero fields become defaults. */
static inline sherd_limits shd_limits_or_default(const sherd_limits *given)
{
	sherd_limits l = {0};
	if (given)
		l = *given;
	if (!l.metadata_bytes)
		l.metadata_bytes = 512u << 20;
	if (!l.depth)
		l.depth = 64;
	if (!l.number_bytes)
		l.number_bytes = 64;
	if (!l.name_bytes)
		l.name_bytes = 64u << 10;
	if (!l.dims || l.dims > SHERD_MAX_DIMS)
		l.dims = SHERD_MAX_DIMS;
	if (!l.shards)
		l.shards = 1u << 20;
	return l;
}

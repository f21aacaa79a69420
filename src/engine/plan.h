/* engine/plan.h - who gets which whole tensor. */
#ifndef SHERD_ENGINE_PLAN_H
#define SHERD_ENGINE_PLAN_H

#include "base/error.h"

#include <stddef.h>

/* Gives each of n things of the given sizes to one of world ranks and writes it to rank_of[0..n): the largest first, to
 * the rank that has least so far; of equals the lower index and the lower rank. The same input gives the same plan
 * everywhere. O(n log n), whatever world is. SHERD_EINVAL when world is 0. */
int sherd_plan_whole(const uint64_t *bytes, size_t n, uint32_t world, uint32_t *rank_of, sherd_error *err);

#endif

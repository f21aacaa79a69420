/* base/copy.h - copying what is too large to stay in the cache. */
#pragma once

#include <stddef.h>

/* Like memcpy(), but large targets are written past the cache: memory need not be read only to be overwritten, and what
 * the cache holds stays there. Pays when the source is in the cache and the target will not be read at once. */
void shd_copy_past(void *restrict to, const void *restrict from, size_t len);

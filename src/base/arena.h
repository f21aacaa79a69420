/* base/arena.h - memory that is freed all at once with its owner. */
#pragma once

#include "base/str.h"

#include <stdint.h>

typedef struct shd_arena {
	struct shd_arena_block *head;
	size_t used, cap; /* of the head block */
} shd_arena;

/* NULL when memory is out or count * size overflows; 16-byte aligned; not zeroed. */
void *shd_arena_alloc(shd_arena *a, size_t count, size_t size);
/* A NUL-terminated copy. */
char *shd_arena_str(shd_arena *a, shd_str s);
void *shd_arena_copy(shd_arena *a, const void *data, size_t len);
void shd_arena_done(shd_arena *a);

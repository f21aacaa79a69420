/* base/arena.h - memory that is freed all at once with its owner. */
#ifndef SHERD_BASE_ARENA_H
#define SHERD_BASE_ARENA_H

#include "base/str.h"

#include <stdint.h>

typedef struct sherd_arena {
	struct sherd_arena_block *head;
	size_t used, cap; /* of the head block */
} sherd_arena;

/* NULL when memory is out or count * size overflows; 16-byte aligned; not zeroed. */
void *sherd_arena_alloc(sherd_arena *a, size_t count, size_t size);
/* A NUL-terminated copy. */
char *sherd_arena_str(sherd_arena *a, sherd_str s);
void *sherd_arena_copy(sherd_arena *a, const void *data, size_t len);
void sherd_arena_done(sherd_arena *a);

#endif

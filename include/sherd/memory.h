/* sherd/memory.h - memory that the library hands out, and memory that it fills. */
#ifndef SHERD_MEMORY_H
#define SHERD_MEMORY_H

#include <sherd/error.h>

#include <stddef.h>

SHERD_BEGIN_DECLS

/* Frees plain memory that a call handed to the caller, where its comment says so; everything else has a close or
 * release of its own. The free() of the program may belong to another C library, or another language. NULL is fine. */
SHERD_API void sherd_free(void *memory);

typedef enum sherd_memory_kind {
	SHERD_MEMORY_HOST = 0,  /* of this process: read and written as any other */
	SHERD_MEMORY_DEVICE = 1 /* of a device: its addresses are counted with, and never followed */
} sherd_memory_kind;

/* The memory in which a destination lies. copy_in is there for a device: it fills [dst, dst+len) from the host's src,
 * which may change as soon as it returns. Workers of a pool call it at once, for parts that do not overlap; each call
 * costs little when it is large, and is as small as the runs of a slice that is not contiguous. */
typedef struct sherd_memory {
	sherd_memory_kind kind;
	int (*copy_in)(void *arg, void *dst, const void *src, size_t len, sherd_error *err);
	void *arg;
} sherd_memory;

SHERD_END_DECLS

#endif

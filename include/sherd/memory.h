/* sherd/memory.h - memory that the library hands out. */
#ifndef SHERD_MEMORY_H
#define SHERD_MEMORY_H

#include <sherd/export.h>

SHERD_BEGIN_DECLS

/* Frees plain memory that a call handed to the caller, where its comment says so; everything else has a close or
 * release of its own. The free() of the program may belong to another C library, or another language. NULL is fine. */
SHERD_API void sherd_free(void *memory);

SHERD_END_DECLS

#endif

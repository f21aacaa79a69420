/* base/large.h - memory for large tables and texts.
 *
 * From SHD_LARGE_PAGE on it begins at such a page, and the system is asked to use them: touching it costs a
 * fraction of the faults, and looking things up in it finds their pages. */
#pragma once

#include <stddef.h>

#define SHD_LARGE_PAGE ((size_t)2 << 20)

/* Not zeroed; NULL when memory is out. free() it. */
void *shd_large_alloc(size_t size);

/* The same for buffers that come and go by the thousand, which an allocator that aligns them keeps in pieces: this
 * memory comes from the system, and goes back there. shd_large_unmap() it with the same size; NULL is fine. */
void *shd_large_map(size_t size);
void shd_large_unmap(void *map, size_t size);

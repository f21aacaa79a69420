/* base/large.h - memory for large tables and texts.
 *
 * From SHD_LARGE_PAGE on it begins at such a page, and the system is asked to use them: touching it costs a
 * fraction of the faults, and looking things up in it finds their pages. */
#pragma once

#include <stddef.h>

#define SHD_LARGE_PAGE ((size_t)2 << 20)

/* Not zeroed; NULL when memory is out. free() it. */
void *shd_large_alloc(size_t size);

#include "base/large.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

void *sherd_large_alloc(size_t size)
{
	if (size < SHERD_LARGE_PAGE)
		return malloc(size ? size : 1);
	if (size > SIZE_MAX - SHERD_LARGE_PAGE)
		return NULL;
	void *p = aligned_alloc(SHERD_LARGE_PAGE, (size + SHERD_LARGE_PAGE - 1) & ~(SHERD_LARGE_PAGE - 1));
	/* Only as far as it is used: a large page that stands out would take memory for nothing. */
	if (p)
		(void)madvise(p, size & ~(SHERD_LARGE_PAGE - 1), MADV_HUGEPAGE);
	return p;
}

#include "base/large.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

void *shd_large_alloc(size_t size)
{
	if (size < SHD_LARGE_PAGE)
		return malloc(size ? size : 1);
	if (size > SIZE_MAX - SHD_LARGE_PAGE)
		return NULL;
	void *p = aligned_alloc(SHD_LARGE_PAGE, (size + SHD_LARGE_PAGE - 1) & ~(SHD_LARGE_PAGE - 1));
	/* Only as far as it is used: a large page that stands out would take memory for nothing. */
	if (p)
		(void)madvise(p, size & ~(SHD_LARGE_PAGE - 1), MADV_HUGEPAGE);
	return p;
}

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

static size_t large_pages(size_t size)
{
	return (size + SHD_LARGE_PAGE - 1) & ~(SHD_LARGE_PAGE - 1);
}

void *shd_large_map(size_t size)
{
	if (size > SIZE_MAX - 2 * SHD_LARGE_PAGE)
		return NULL;
	size_t whole = large_pages(size), room = whole + SHD_LARGE_PAGE;
	uint8_t *map = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		return NULL;
	/* What stands before and after the part that begins at a large page goes back. */
	uint8_t *at = (uint8_t *)(((uintptr_t)map + SHD_LARGE_PAGE - 1) & ~(uintptr_t)(SHD_LARGE_PAGE - 1));
	if (at > map)
		(void)munmap(map, (size_t)(at - map));
	if (map + room > at + whole)
		(void)munmap(at + whole, (size_t)(map + room - (at + whole)));
	(void)madvise(at, size & ~(SHD_LARGE_PAGE - 1), MADV_HUGEPAGE);
	return at;
}

void shd_large_unmap(void *map, size_t size)
{
	if (map)
		(void)munmap(map, large_pages(size));
}

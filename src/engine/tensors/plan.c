#include "base/error.h"

#include <sherd/ckpt.h>

#include <stdbool.h>
#include <stdlib.h>

typedef struct load {
	uint64_t bytes;
	uint32_t rank;
} load;

static bool less(load a, load b)
{
	return a.bytes != b.bytes ? a.bytes < b.bytes : a.rank < b.rank;
}

/* Restores the heap (the least on top) after its top has grown. */
static void sink(load *heap, size_t count)
{
	load moving = heap[0];
	size_t at = 0;
	for (size_t child; (child = 2 * at + 1) < count; at = child) {
		if (child + 1 < count && less(heap[child + 1], heap[child]))
			child++;
		if (!less(heap[child], moving))
			break;
		heap[at] = heap[child];
	}
	heap[at] = moving;
}

static int by_size(const void *left, const void *right, void *arg)
{
	const uint64_t *bytes = arg;
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	if (bytes[a] != bytes[b])
		return bytes[a] > bytes[b] ? -1 : 1;
	return a < b ? -1 : 1;
}

int sherd_plan_whole(uint32_t *rank_of, const uint64_t *bytes, size_t n, uint32_t world, sherd_error *err)
{
	if (!world)
		return shd_fail(err, SHERD_EINVAL, "bad-world", "a plan for no ranks");
	if (!n)
		return SHERD_OK;
	/* Ranks past n would stay empty: there is always a lower one that has nothing yet. */
	size_t ranks = world < n ? world : n;
	SHD_AUTO_FREE size_t *order = calloc(n, sizeof(size_t));
	SHD_AUTO_FREE load *heap = calloc(ranks, sizeof(load));
	if (!order || !heap)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	for (size_t i = 0; i < ranks; i++)
		heap[i].rank = (uint32_t)i;
	qsort_r(order, n, sizeof(*order), by_size, (void *)(uintptr_t)bytes);
	for (size_t i = 0; i < n; i++) {
		rank_of[order[i]] = heap[0].rank;
		if (__builtin_add_overflow(heap[0].bytes, bytes[order[i]], &heap[0].bytes))
			heap[0].bytes = UINT64_MAX;
		sink(heap, ranks);
	}
	return SHERD_OK;
}

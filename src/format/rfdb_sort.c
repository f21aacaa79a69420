#include "format/rfdb_sort.h"

#include "base/large.h"

#include <stdlib.h>
#include <string.h>

/* How many keys a bucket should have. */
#define BUCKET_SHARE ((size_t)4)

/* Below this a bucket is sorted by insertion. */
enum { SMALL = 24 };

static inline bool before(const sherd_rfdb_keyed *a, const sherd_rfdb_keyed *b)
{
	if (a->high != b->high)
		return a->high < b->high;
	return a->low != b->low ? a->low < b->low : a->row < b->row;
}

static int compare(const void *a, const void *b)
{
	return before(b, a) - before(a, b);
}

static void copy_sorted(const sherd_rfdb_keyed *from, sherd_rfdb_keyed *to, size_t count)
{
	if (count > SMALL) {
		memcpy(to, from, count * sizeof(*to));
		qsort(to, count, sizeof(*to), compare);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		sherd_rfdb_keyed item = from[i];
		size_t at = i;
		for (; at && before(&item, &to[at - 1]); at--)
			to[at] = to[at - 1];
		to[at] = item;
	}
}

typedef struct buckets {
	uint64_t least;
	unsigned shift; /* bucket of a key: its distance from the least, shifted */
	size_t count;
	size_t *ends; /* count + 1 of them */
} buckets;

/* About BUCKET_SHARE keys for each, if they are spread evenly between the least and the greatest. */
static buckets plan(const sherd_rfdb_keyed *items, size_t count)
{
	buckets b = {.least = UINT64_MAX};
	uint64_t greatest = 0;
	for (size_t i = 0; i < count; i++) {
		b.least = items[i].high < b.least ? items[i].high : b.least;
		greatest = items[i].high > greatest ? items[i].high : greatest;
	}
	while ((greatest - b.least) >> b.shift >= count / BUCKET_SHARE)
		b.shift++;
	b.count = (size_t)((greatest - b.least) >> b.shift) + 1;
	return b;
}

static void distribute(const sherd_rfdb_keyed *items, sherd_rfdb_keyed *copy, size_t count, const buckets *b)
{
	for (size_t i = 0; i <= b->count; i++)
		b->ends[i] = 0;
	for (size_t i = 0; i < count; i++)
		b->ends[((items[i].high - b->least) >> b->shift) + 1]++;
	for (size_t i = 1; i <= b->count; i++)
		b->ends[i] += b->ends[i - 1];
	/* Each start moves to its end, and so becomes the start of the next. */
	for (size_t i = 0; i < count; i++)
		copy[b->ends[(items[i].high - b->least) >> b->shift]++] = items[i];
}

int sherd_rfdb_sort(sherd_rfdb_keyed *items, size_t count, sherd_error *err)
{
	if (count <= 4 * BUCKET_SHARE) {
		if (count)
			qsort(items, count, sizeof(*items), compare);
		return SHERD_OK;
	}
	buckets b = plan(items, count);
	sherd_rfdb_keyed *copy = count > SIZE_MAX / sizeof(*copy) ? NULL : sherd_large_alloc(count * sizeof(*copy));
	b.ends = malloc((b.count + 1) * sizeof(*b.ends));
	int rc = copy && b.ends ? SHERD_OK : sherd_fail_nomem(err);
	if (rc == SHERD_OK) {
		distribute(items, copy, count, &b);
		for (size_t i = 0, from = 0; i < b.count; from = b.ends[i++])
			copy_sorted(copy + from, items + from, b.ends[i] - from);
	}
	free(copy);
	free(b.ends);
	return rc;
}

#include "format/rfdb/sort.h"

#include "base/buf.h"
#include "base/large.h"

#include <stdlib.h>
#include <string.h>

/* How many keys a bucket should have. */
#define BUCKET_SHARE ((size_t)4)

/* Below this a bucket is sorted by insertion. */
enum { SMALL = 24 };

static inline bool before(const shd_rfdb_keyed *a, const shd_rfdb_keyed *b)
{
	if (a->high != b->high)
		return a->high < b->high;
	return a->low != b->low ? a->low < b->low : a->row < b->row;
}

static int sort_compare(const void *a, const void *b)
{
	return before(b, a) - before(a, b);
}

static void copy_sorted(const shd_rfdb_keyed *from, shd_rfdb_keyed *to, size_t count)
{
	if (count > SMALL) {
		memcpy(to, from, count * sizeof(*to));
		qsort(to, count, sizeof(*to), sort_compare);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		shd_rfdb_keyed item = from[i];
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
static buckets sort_spread(buckets b, uint64_t greatest, size_t count)
{
	if (!count)
		b.least = 0;
	while (b.shift < 63 && (greatest - b.least) >> b.shift > count / BUCKET_SHARE)
		b.shift++;
	b.count = (size_t)((greatest - b.least) >> b.shift) + 1;
	return b;
}

static buckets sort_plan(const shd_rfdb_keyed *items, size_t count)
{
	buckets b = {.least = UINT64_MAX};
	uint64_t greatest = 0;
	for (size_t i = 0; i < count; i++) {
		b.least = items[i].high < b.least ? items[i].high : b.least;
		greatest = items[i].high > greatest ? items[i].high : greatest;
	}
	return sort_spread(b, greatest, count);
}

static void distribute(const shd_rfdb_keyed *items, shd_rfdb_keyed *copy, size_t count, const buckets *b)
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

int shd_rfdb_sort(shd_rfdb_keyed *items, size_t count, sherd_error *err)
{
	if (count <= 4 * BUCKET_SHARE) {
		if (count)
			qsort(items, count, sizeof(*items), sort_compare);
		return SHERD_OK;
	}
	buckets b = sort_plan(items, count);
	shd_rfdb_keyed *copy = count > SIZE_MAX / sizeof(*copy) ? NULL : shd_large_alloc(count * sizeof(*copy));
	b.ends = malloc((b.count + 1) * sizeof(*b.ends));
	int rc = copy && b.ends ? SHERD_OK : shd_fail_nomem(err);
	if (rc == SHERD_OK) {
		distribute(items, copy, count, &b);
		for (size_t i = 0, from = 0; i < b.count; from = b.ends[i++])
			copy_sorted(copy + from, items + from, b.ends[i] - from);
	}
	free(copy);
	free(b.ends);
	return rc;
}

/* ---- the order of a column */

typedef struct ranked {
	uint64_t high;
	uint32_t row;
} ranked;

static uint64_t low_of(const uint8_t *ids, uint32_t row)
{
	return shd_get_u64(ids + 16 * (size_t)row);
}

static uint64_t high_of(const uint8_t *ids, uint32_t row)
{
	return shd_get_u64(ids + 16 * (size_t)row + 8);
}

static bool ranks_before(const uint8_t *ids, const ranked *a, const ranked *b)
{
	if (a->high != b->high)
		return a->high < b->high;
	uint64_t x = low_of(ids, a->row), y = low_of(ids, b->row);
	return x != y ? x < y : a->row < b->row;
}

static int compare_ranks(const void *a, const void *b, void *ids)
{
	return ranks_before(ids, b, a) - ranks_before(ids, a, b);
}

static void sort_ranks(const uint8_t *ids, ranked *list, size_t count)
{
	if (count > SMALL) {
		qsort_r(list, count, sizeof(*list), compare_ranks, (void *)(uintptr_t)ids);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		ranked item = list[i];
		size_t at = i;
		for (; at && ranks_before(ids, &item, &list[at - 1]); at--)
			list[at] = list[at - 1];
		list[at] = item;
	}
}

/* As plan() and distribute(), straight from the column. */
static buckets plan_column(const uint8_t *ids, uint32_t rows)
{
	buckets b = {.least = UINT64_MAX};
	uint64_t greatest = 0;
	for (uint32_t i = 0; i < rows; i++) {
		uint64_t high = high_of(ids, i);
		b.least = high < b.least ? high : b.least;
		greatest = high > greatest ? high : greatest;
	}
	return sort_spread(b, greatest, rows);
}

static void distribute_column(const uint8_t *ids, uint32_t rows, ranked *out, const buckets *b)
{
	for (size_t i = 0; i <= b->count; i++)
		b->ends[i] = 0;
	for (uint32_t i = 0; i < rows; i++)
		b->ends[((high_of(ids, i) - b->least) >> b->shift) + 1]++;
	for (size_t i = 1; i <= b->count; i++)
		b->ends[i] += b->ends[i - 1];
	for (uint32_t i = 0; i < rows; i++) {
		uint64_t high = high_of(ids, i);
		out[b->ends[(high - b->least) >> b->shift]++] = (ranked){high, i};
	}
}

int shd_rfdb_order(const uint8_t *ids, uint32_t rows, uint8_t *out, sherd_error *err)
{
	buckets b = plan_column(ids, rows);
	ranked *list = shd_large_alloc((size_t)rows * sizeof(*list));
	b.ends = malloc((b.count + 1) * sizeof(*b.ends));
	int rc = list && b.ends ? SHERD_OK : shd_fail_nomem(err);
	if (rc == SHERD_OK) {
		distribute_column(ids, rows, list, &b);
		for (size_t i = 0, from = 0; i < b.count; from = b.ends[i++])
			sort_ranks(ids, list + from, b.ends[i] - from);
		for (uint32_t i = 0; i < rows; i++)
			shd_put_u32(out + 4 * (size_t)i, list[i].row);
	}
	free(list);
	free(b.ends);
	return rc;
}

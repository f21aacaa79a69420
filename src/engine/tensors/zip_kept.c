#include "engine/tensors/zip_kept.h"

#include <stdlib.h>
#include <string.h>

static int by_length(const void *left, const void *right)
{
	const shd_zip_part *a = left, *b = right;
	return a->len < b->len ? -1 : a->len > b->len;
}

static int zip_kept_by_place(const void *left, const void *right)
{
	const shd_zip_part *a = left, *b = right;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* The smallest ones first: they gain most. */
void shd_zip_kept_init(shd_zip_kept *k, shd_zip_part *parts, size_t count)
{
	uint64_t total = 0;
	size_t kept = 0;
	*k = (shd_zip_kept){.parts = parts};
	if (!count)
		return;
	qsort(parts, count, sizeof(*parts), by_length);
	while (kept < count && parts[kept].len <= SHD_ZIP_KEPT_MOST && (total += parts[kept].len) <= SHD_ZIP_KEPT_TOTAL)
		kept++;
	if (kept)
		qsort(parts, kept, sizeof(*parts), zip_kept_by_place);
	for (size_t i = 0; i < kept; i++) {
		const shd_zip_part *last = k->count ? &parts[k->count - 1] : NULL;
		if (parts[i].len && (!last || last->at + last->len <= parts[i].at))
			parts[k->count++] = parts[i];
	}
}

void shd_zip_kept_done(shd_zip_kept *k)
{
	for (size_t i = 0; i < k->count; i++)
		free(k->parts[i].bytes);
	free(k->parts);
	*k = (shd_zip_kept){0};
}

/* The first part that ends after this byte. */
static size_t first_behind(const shd_zip_kept *k, uint64_t at)
{
	size_t low = 0, high = k->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (k->parts[middle].at + k->parts[middle].len <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void shd_zip_kept_pass(shd_zip_kept *k, uint64_t at, const uint8_t *bytes, size_t len)
{
	for (size_t i = first_behind(k, at); i < k->count && k->parts[i].at < at + len; i++) {
		shd_zip_part *p = &k->parts[i];
		uint64_t want = p->at + p->have, left = p->len - p->have;
		if (!left || want < at || want >= at + len)
			continue;
		if (!p->bytes && !(p->bytes = malloc(p->len)))
			continue; /* then it is read again */
		uint64_t there = at + len - want;
		size_t n = (size_t)(left < there ? left : there);
		memcpy(p->bytes + p->have, bytes + (want - at), n);
		p->have += (uint32_t)n;
	}
}

bool shd_zip_kept_give(const shd_zip_kept *k, uint64_t at, void *out, size_t len)
{
	size_t i = first_behind(k, at);
	if (i == k->count || k->parts[i].at > at)
		return false;
	uint64_t from = at - k->parts[i].at;
	if (k->parts[i].have < from || k->parts[i].have - from < len)
		return false;
	memcpy(out, k->parts[i].bytes + from, len);
	return true;
}

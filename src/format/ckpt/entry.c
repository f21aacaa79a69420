#include "format/ckpt/entry.h"

#include "base/dtype.h"

#include <inttypes.h>
#include <stdlib.h>

static int entry_check_size(const shd_ckpt_entry *e, sherd_error *err)
{
	const sherd_tensor *t = &e->tensor;
	uint64_t bytes;
	if (t->dtype == SHERD_OPAQUE)
		return SHERD_OK;
	if (t->dtype == SHERD_UTF8) {
		uint64_t strings = 1, offsets;
		for (uint32_t d = 0; d < t->ndim; d++)
			if (__builtin_mul_overflow(strings, t->shape[d], &strings))
				strings = UINT64_MAX;
		if (__builtin_add_overflow(strings, 1, &offsets) || __builtin_mul_overflow(offsets, 8, &offsets) ||
		    t->bytes < offsets)
			return shd_fail_at(err, SHERD_ECORRUPT, "size-mismatch", e->where,
			                   "tensor '%.80s': %" PRIu64 " bytes do not hold its strings' offsets",
			                   t->name, t->bytes);
		return SHERD_OK;
	}
	if (!sherd_tensor_bytes(&bytes, t->dtype, t->ndim, t->shape))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-shape", e->where,
		                   "tensor '%.80s': its shape is no whole number of blocks, or does not fit 64 bits",
		                   t->name);
	if (bytes != t->bytes)
		return shd_fail_at(err, SHERD_ECORRUPT, "size-mismatch", e->where,
		                   "tensor '%.80s': size is %" PRIu64 ", shape and type need %" PRIu64, t->name,
		                   t->bytes, bytes);
	return SHERD_OK;
}

int shd_ckpt_entry_check(const shd_ckpt_entry *e, sherd_error *err)
{
	const sherd_tensor *t = &e->tensor;
	TRY(entry_check_size(e, err));
	if (!e->global_shape)
		return SHERD_OK;
	const uint64_t *const boxes[] = {t->shape, e->global_shape, e->global_offset};
	for (size_t i = 0; i < COUNT_OF(boxes); i++)
		if (!shd_dtype_box_fits(t->dtype, t->ndim, boxes[i]))
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-piece", e->where,
			                   "tensor '%.80s': %s is never cut%s", t->name, sherd_tensor_type(t),
			                   shd_dtype_is_sized(t->dtype) ? " inside a block" : "");
	for (uint32_t d = 0; d < t->ndim; d++) {
		uint64_t whole = e->global_shape[d], at = e->global_offset[d];
		if (at > whole || t->shape[d] > whole - at)
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-piece", e->where,
			                   "tensor '%.80s': piece leaves its whole in dimension %" PRIu32, t->name, d);
	}
	uint64_t bytes;
	if (!sherd_tensor_bytes(&bytes, t->dtype, t->ndim, e->global_shape))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-shape", e->where,
		                   "tensor '%.80s': its global shape does not fit 64 bits", t->name);
	return SHERD_OK;
}

static int entry_by_offset(const void *a, const void *b)
{
	const shd_ckpt_entry *x = *(const shd_ckpt_entry *const *)a, *y = *(const shd_ckpt_entry *const *)b;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static int check_overlaps(const shd_ckpt_entry *const *sorted, size_t count, sherd_error *err)
{
	for (size_t i = 1; i < count; i++) {
		const shd_ckpt_entry *a = sorted[i - 1], *b = sorted[i];
		if (b->offset < a->offset + a->tensor.bytes)
			return shd_fail_at(err, SHERD_ECORRUPT, "overlap", b->where,
			                   "tensors '%.60s' and '%.60s' overlap at data offset %" PRIu64,
			                   a->tensor.name, b->tensor.name, b->offset);
	}
	return SHERD_OK;
}

int shd_ckpt_entries_check(const shd_ckpt_entry *entries, size_t count, uint64_t data_size, shd_arena *scratch,
                           sherd_error *err)
{
	const shd_ckpt_entry **sorted = shd_arena_alloc(scratch, count, sizeof(*sorted));
	if (!sorted)
		return shd_fail_nomem(err);
	size_t n = 0;
	bool ascending = true;
	for (size_t i = 0; i < count; i++) {
		const shd_ckpt_entry *e = &entries[i];
		if (e->offset > data_size || e->tensor.bytes > data_size - e->offset)
			return shd_fail_at(err, SHERD_ECORRUPT, "out-of-range", e->where,
			                   "tensor '%.80s': %" PRIu64 " bytes at %" PRIu64 " run out of %" PRIu64
			                   " bytes of data",
			                   e->tensor.name, e->tensor.bytes, e->offset, data_size);
		if (!e->tensor.bytes)
			continue;
		ascending = ascending && (!n || sorted[n - 1]->offset <= e->offset);
		sorted[n++] = e;
	}
	if (!ascending)
		qsort(sorted, n, sizeof(*sorted), entry_by_offset);
	return check_overlaps(sorted, n, err);
}

void shd_ckpt_entries_place(shd_ckpt_entry *entries, size_t count, uint64_t data_size)
{
	uint64_t total = 0;
	for (size_t i = 0; i < count; i++)
		if (entries[i].offset || __builtin_add_overflow(total, entries[i].tensor.bytes, &total))
			return;
	if (total != data_size)
		return;
	total = 0;
	for (size_t i = 0; i < count; i++) {
		entries[i].offset = total;
		total += entries[i].tensor.bytes;
	}
}

static bool same_dims(const uint64_t *a, const uint64_t *b, uint32_t n)
{
	return (!a && !b) || (a && b && (!n || memcmp(a, b, n * sizeof(*a)) == 0));
}

bool shd_ckpt_entry_equal(const shd_ckpt_entry *a, const shd_ckpt_entry *b)
{
	return shd_tensor_same_type(&a->tensor, &b->tensor) && a->tensor.ndim == b->tensor.ndim &&
	       a->tensor.bytes == b->tensor.bytes && a->offset == b->offset &&
	       strcmp(a->tensor.name, b->tensor.name) == 0 &&
	       same_dims(a->tensor.shape, b->tensor.shape, a->tensor.ndim) &&
	       same_dims(a->global_shape, b->global_shape, a->tensor.ndim) &&
	       same_dims(a->global_offset, b->global_offset, a->tensor.ndim);
}

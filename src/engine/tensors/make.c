/* engine/tensors/make.c - a bundle of tensors that lie in the caller's memory. */
#include "base/dtype.h"
#include "engine/tensors/bundle.h"

#include <inttypes.h>

typedef struct made_bundle {
	sherd_bundle base;
	const void *const *data;
} made_bundle;

static int made_read(const sherd_bundle *bundle, size_t index, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	(void)err;
	memcpy(buf, (const uint8_t *)((const made_bundle *)bundle)->data[index] + offset, len);
	return SHERD_OK;
}

static int made_map(const void **out, const sherd_bundle *bundle, size_t index, sherd_error *err)
{
	(void)err;
	*out = ((const made_bundle *)bundle)->data[index];
	return SHERD_OK;
}

static const shd_bundle_ops ops = {.read = made_read, .map = made_map};

/* Copies what describes the tensor, and counts its bytes. */
static int take_tensor(shd_arena *arena, const sherd_tensor *from, sherd_tensor *to, sherd_error *err)
{
	*to = *from;
	if (!shd_tensor_is_typed(from) || from->ndim > SHERD_MAX_DIMS)
		return shd_fail(err, SHERD_EINVAL, "bad-dtype", "tensor '%.128s' has no type or too many dimensions",
		                from->name);
	uint64_t bytes = 0;
	if (shd_dtype_is_sized(from->dtype) && !sherd_tensor_bytes(&bytes, from->dtype, from->ndim, from->shape))
		return shd_fail(err, SHERD_EINVAL, "bad-shape", "tensor '%.128s' is too large, or no whole blocks",
		                from->name);
	if (shd_dtype_is_sized(from->dtype)) {
		if (from->bytes && from->bytes != bytes)
			return shd_fail(err, SHERD_EINVAL, "bad-length",
			                "tensor '%.128s' has %" PRIu64 " bytes, its shape %" PRIu64, from->name,
			                from->bytes, bytes);
		to->bytes = bytes;
	}
	to->name = shd_arena_str(arena, shd_str_of(from->name));
	to->shape = from->ndim ? shd_arena_copy(arena, from->shape, from->ndim * sizeof(*from->shape)) : NULL;
	to->type_name = from->type_name ? shd_arena_str(arena, shd_str_of(from->type_name)) : NULL;
	return to->name && (to->shape || !from->ndim) ? SHERD_OK : shd_fail_nomem(err);
}

static int take_pairs(sherd_bundle *b, const sherd_bundle_parts *parts, sherd_error *err)
{
	sherd_pair *pairs = shd_arena_alloc(&b->arena, parts->pair_count + 1, sizeof(*pairs));
	if (!pairs)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < parts->pair_count; i++) {
		pairs[i].key = shd_arena_str(&b->arena, shd_str_of(parts->pairs[i].key));
		pairs[i].value = shd_arena_str(&b->arena, shd_str_of(parts->pairs[i].value));
		if (!pairs[i].key || !pairs[i].value)
			return shd_fail_nomem(err);
	}
	b->pairs = pairs;
	b->pair_count = parts->pair_count;
	return SHERD_OK;
}

int sherd_bundle_make(sherd_bundle **out, const sherd_bundle_parts *parts, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	TRY(shd_bundle_new(&b, sizeof(made_bundle), &ops, SHERD_FORMAT_UNKNOWN, err));
	sherd_tensor *tensors = shd_arena_alloc(&b->arena, parts->count + 1, sizeof(*tensors));
	const void **data = shd_arena_alloc(&b->arena, parts->count + 1, sizeof(*data));
	if (!tensors || !data)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < parts->count; i++) {
		data[i] = parts->data[i];
		TRY(shd_at_index(err, take_tensor(&b->arena, &parts->tensors[i], &tensors[i], err), i));
	}
	TRY(take_pairs(b, parts, err));
	((made_bundle *)b)->data = data;
	b->tensors = tensors;
	b->count = parts->count;
	int rc = shd_bundle_finish(b, err);
	if (rc == SHERD_ECORRUPT) { /* a name that is there twice: of no file, but of the caller */
		if (err)
			err->code = SHERD_EINVAL;
		return SHERD_EINVAL;
	}
	TRY(rc);
	*out = TAKE(b);
	return SHERD_OK;
}

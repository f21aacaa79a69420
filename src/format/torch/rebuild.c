/* format/torch/rebuild.c - tensors and storages, recognised by what would have been called to make them. */
#include "format/torch/walker.h"

#include <stdio.h>

enum { MOST_WRAPPERS = 16, MOST_FLAGS = 16 };

int shd_torch_bad(shd_pickle_value v, const char *reason, sherd_error *err, const char *fmt, ...)
{
	char text[160];
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (shd_pickle_has_node(v))
		return shd_fail_at(err, SHERD_ECORRUPT, reason, v.node->at, "%s", text);
	return shd_fail(err, SHERD_ECORRUPT, reason, "%s", text);
}

const char *shd_torch_name_of(const shd_torch_walker *w, shd_pickle_value v)
{
	const shd_pickle_call *call = shd_pickle_call_of(v);
	if (call)
		v = call->callee;
	return v.kind == SHD_PICKLE_GLOBAL ? w->pickle->globals[v.len].name : "";
}

int shd_torch_numbers(shd_torch_walker *w, shd_pickle_value v, const uint64_t **out, size_t *count, sherd_error *err)
{
	const shd_pickle_value *args;
	if (v.kind == SHD_PICKLE_CALL && strcmp(shd_torch_name_of(w, v), "torch.Size") == 0 &&
	    shd_pickle_tuple(shd_pickle_call_of(v)->args, &args) == 1)
		v = args[0];
	if (v.kind != SHD_PICKLE_TUPLE && v.kind != SHD_PICKLE_LIST)
		return shd_torch_bad(v, "bad-pickle", err, "a size is no tuple of numbers");
	size_t n = v.node->items.count, i = 0;
	if (n > w->limits.dims)
		return shd_fail_at(err, SHERD_ELIMIT, "too-many-dims", v.node->at, "%zu dimensions, the limit is %u", n,
		                   w->limits.dims);
	uint64_t *numbers = shd_arena_alloc(w->arena, n + 1, sizeof(*numbers));
	if (!numbers)
		return shd_fail_nomem(err);
	shd_pickle_value item = {0};
	for (shd_pickle_cursor c = shd_pickle_walk(&v.node->items); shd_pickle_next(&c, &item);) {
		if (item.kind != SHD_PICKLE_INT || item.integer < 0)
			return shd_torch_bad(v, "bad-shape", err, "a dimension or stride is no whole number from 0 on");
		numbers[i++] = (uint64_t)item.integer;
	}
	*out = numbers;
	*count = n;
	return shd_torch_spend(w, n * sizeof(*numbers), err);
}

/* ---- storages */

/* A storage, or the part of one that an old file calls a view of it. */
typedef struct storage_part {
	size_t index;
	const shd_torch_dtype *type;
	uint64_t at, bytes;
} storage_part;

static int add_storage(shd_torch_walker *w, shd_pickle_value v, shd_str key, uint64_t bytes, uint32_t unit, size_t *out,
                       sherd_error *err)
{
	bool ok = true;
	size_t at = shd_map_find(&w->storage_names, key);
	if (at != SHD_MAP_NONE) {
		*out = at;
		if (w->storages.items[at].bytes != bytes)
			return shd_torch_bad(v, "size-mismatch", err, "storage %.40s has two sizes",
			                     w->storages.items[at].key);
		return SHERD_OK;
	}
	if (memchr(key.ptr, 0, key.len))
		return shd_torch_bad(v, "bad-name", err, "the key of a storage has a NUL in it");
	char *kept = shd_arena_str(w->arena, key);
	if (!kept)
		return shd_fail_nomem(err);
	*out = w->storages.count;
	shd_vec_push(&w->storages, (shd_torch_storage){.key = kept, .bytes = bytes, .unit = unit});
	(void)shd_map_add(&w->storage_names, shd_str_of(kept), *out, &ok);
	return ok && !w->storages.failed ? SHERD_OK : shd_fail_nomem(err);
}

/* A part of a storage: (its own key, where it begins, its length), both counted in elements. */
static int rebuild_take_part(shd_pickle_value v, uint32_t unit, storage_part *out, sherd_error *err)
{
	const shd_pickle_value *part;
	uint64_t at = 0, bytes = 0;
	if (v.kind == SHD_PICKLE_NONE)
		return SHERD_OK;
	if (shd_pickle_tuple(v, &part) != 3 || part[1].kind != SHD_PICKLE_INT || part[2].kind != SHD_PICKLE_INT ||
	    part[1].integer < 0 || part[2].integer < 0)
		return shd_torch_bad(v, "bad-pickle", err, "a view of a storage is no key, offset and length");
	if (__builtin_mul_overflow((uint64_t)part[1].integer, unit, &at) ||
	    __builtin_mul_overflow((uint64_t)part[2].integer, unit, &bytes) || at > out->bytes ||
	    bytes > out->bytes - at)
		return shd_torch_bad(v, "bad-offsets", err, "a view of a storage lies outside of it");
	out->at = at;
	out->bytes = bytes;
	return SHERD_OK;
}

/* ('storage', torch.FloatStorage, key, device, elements[, part]) */
static int take_storage(shd_torch_walker *w, shd_pickle_value v, storage_part *out, sherd_error *err)
{
	const shd_pickle_value *id;
	const shd_pickle_call *call = shd_pickle_call_of(v);
	size_t n = v.kind == SHD_PICKLE_PERSID ? shd_pickle_tuple(call->args, &id) : 0;
	if (n < 5 || !shd_pickle_is_text(id[0], "storage") || id[1].kind != SHD_PICKLE_GLOBAL ||
	    id[2].kind != SHD_PICKLE_TEXT || id[4].kind != SHD_PICKLE_INT || id[4].integer < 0)
		return shd_torch_bad(v, "bad-pickle", err, "this is no storage");
	const char *name = shd_torch_name_of(w, id[1]), *leaf = strrchr(name, '.');
	out->type = shd_torch_dtype_by_storage(shd_str_of(leaf ? leaf + 1 : name));
	if (!out->type || !shd_str_starts(shd_str_of(name), "torch."))
		return shd_torch_bad(v, "bad-dtype", err, "%.100s is no storage that is known here", name);
	if (__builtin_mul_overflow((uint64_t)id[4].integer, out->type->bytes, &out->bytes))
		return shd_torch_bad(v, "overflow", err, "a storage of %lld elements", (long long)id[4].integer);
	TRY(add_storage(w, v, shd_pickle_text(id[2]), out->bytes, out->type->bytes, &out->index, err));
	out->at = 0;
	return n > 5 ? rebuild_take_part(id[5], out->type->bytes, out, err) : SHERD_OK;
}

/* ---- views */

/* Offset, sizes and strides lie inside of the storage. */
static int check_view(shd_pickle_value v, const storage_part *s, uint32_t ndim, shd_torch_view *view, uint64_t *bytes,
                      sherd_error *err)
{
	uint64_t elements = 1, last = view->offset, dense = 1;
	bool ok = true;
	view->dense = true;
	for (uint32_t d = ndim; d-- > 0;) {
		uint64_t n = view->shape[d], step;
		ok = ok && !__builtin_mul_overflow(elements, n, &elements);
		if (n > 1)
			ok = ok && !__builtin_mul_overflow(n - 1, view->strides[d], &step) &&
			     !__builtin_add_overflow(last, step, &last);
		view->dense &= n <= 1 || view->strides[d] == dense;
		dense *= n;
	}
	ok = ok && !__builtin_mul_overflow(elements, view->type->bytes, bytes) &&
	     !__builtin_mul_overflow(view->offset, view->type->bytes, &view->offset);
	if (!ok)
		return shd_torch_bad(v, "overflow", err, "a tensor whose size does not fit 64 bits");
	view->dense |= !elements;
	if (elements && last >= s->bytes / view->type->bytes)
		return shd_torch_bad(v, "bad-offsets", err,
		                     "a tensor reaches to element %llu of a storage of %llu bytes",
		                     (unsigned long long)last, (unsigned long long)s->bytes);
	view->offset = elements ? view->offset + s->at : 0;
	return SHERD_OK;
}

/* As we have it: elements that are two in a byte are counted one by one. */
static int describe_view(shd_torch_walker *w, uint32_t ndim, const shd_torch_view *view, uint64_t bytes,
                         sherd_tensor *t, sherd_error *err)
{
	uint32_t ours = ndim ? ndim : view->type->packed > 1;
	uint64_t *shape = shd_arena_alloc(w->arena, ours + 1u, sizeof(*shape));
	if (!shape)
		return shd_fail_nomem(err);
	shape[0] = 1;
	memcpy(shape, view->shape, ndim * sizeof(*shape));
	if (view->type->packed > 1 && __builtin_mul_overflow(shape[ours - 1], view->type->packed, &shape[ours - 1]))
		return shd_fail(err, SHERD_ECORRUPT, "overflow", "a tensor whose size does not fit 64 bits");
	*t = (sherd_tensor){.dtype = view->type->dtype,
	                    .ndim = ours,
	                    .shape = shape,
	                    .bytes = bytes,
	                    .type_name = view->type->dtype == SHERD_OPAQUE ? view->type->name : NULL};
	return SHERD_OK;
}

/* A storage by itself: all of it. */
static int whole_storage(shd_torch_walker *w, shd_pickle_value v, sherd_tensor *t, shd_torch_view *out,
                         sherd_error *err)
{
	storage_part s = {.type = &shd_torch_untyped};
	TRY(take_storage(w, v, &s, err));
	uint64_t *box = shd_arena_alloc(w->arena, 2, sizeof(*box));
	if (!box)
		return shd_fail_nomem(err);
	box[0] = s.bytes / s.type->bytes;
	box[1] = 1;
	*out = (shd_torch_view){
		.storage = s.index, .type = s.type, .offset = s.at, .shape = box, .strides = box + 1, .dense = true};
	TRY(describe_view(w, 1, out, s.bytes, t, err));
	return 1;
}

static bool is_true(shd_pickle_value v)
{
	return (v.kind == SHD_PICKLE_BOOL || v.kind == SHD_PICKLE_INT) && v.integer;
}

/* (storage, offset, size, strides, ...); type NULL: that of the storage. */
static int take_view(shd_torch_walker *w, shd_pickle_value v, const shd_pickle_value *args, const shd_torch_dtype *type,
                     sherd_tensor *t, shd_torch_view *out, sherd_error *err)
{
	storage_part s = {.type = &shd_torch_untyped};
	size_t ndim = 0, strides = 0;
	uint64_t bytes = 0;
	TRY(take_storage(w, args[0], &s, err));
	if (args[1].kind != SHD_PICKLE_INT || args[1].integer < 0)
		return shd_torch_bad(v, "bad-offsets", err, "the offset of a tensor is no whole number from 0 on");
	*out = (shd_torch_view){.storage = s.index, .type = type ? type : s.type, .offset = (uint64_t)args[1].integer};
	TRY(shd_torch_numbers(w, args[2], &out->shape, &ndim, err));
	TRY(shd_torch_numbers(w, args[3], &out->strides, &strides, err));
	if (strides != ndim)
		return shd_torch_bad(v, "bad-strides", err, "%zu strides of %zu dimensions", strides, ndim);
	TRY(check_view(v, &s, (uint32_t)ndim, out, &bytes, err));
	TRY(describe_view(w, (uint32_t)ndim, out, bytes, t, err));
	return 1;
}

static int dtype_arg(const shd_torch_walker *w, shd_pickle_value v, const shd_torch_dtype **out, sherd_error *err)
{
	const char *name = shd_torch_name_of(w, v);
	*out = shd_str_starts(shd_str_of(name), "torch.") ? shd_torch_dtype_by_name(shd_str_of(name + 6)) : NULL;
	return *out ? SHERD_OK : shd_torch_bad(v, "bad-dtype", err, "%.100s is no type of elements", name);
}

/* {"conj": True, "neg": True}; tensors may share it, and each looks into it. */
static int take_flags(shd_pickle_value v, shd_torch_view *out, sherd_error *err)
{
	const shd_pickle_list *pairs = shd_pickle_pairs(v);
	if (pairs && pairs->count / 2 > MOST_FLAGS)
		return shd_torch_bad(v, "bad-pickle", err, "a tensor has %zu flags", pairs->count / 2);
	out->conj = is_true(shd_pickle_find(v, "conj"));
	out->neg = is_true(shd_pickle_find(v, "neg"));
	return SHERD_OK;
}

/* By the function that would have been called; 0 for any other. */
static int rebuild_by(shd_torch_walker *w, shd_pickle_value v, const char *name, shd_pickle_value tuple,
                      sherd_tensor *t, shd_torch_view *out, sherd_error *err)
{
	const shd_pickle_value *args = NULL;
	const shd_torch_dtype *type = NULL;
	size_t n = shd_pickle_tuple(tuple, &args), flags = 0;
	if (strcmp(name, "torch._utils._rebuild_tensor_v2") == 0)
		flags = 6;
	else if (strcmp(name, "torch._utils._rebuild_tensor_v3") == 0)
		flags = 7;
	else if (strcmp(name, "torch._utils._rebuild_tensor") != 0 &&
	         strcmp(name, "torch._utils._rebuild_qtensor") != 0)
		return 0;
	if (n < 4)
		return shd_torch_bad(v, "bad-pickle", err, "%.100s has %zu arguments", name, n);
	if (flags == 7 && n > 6)
		TRY(dtype_arg(w, args[6], &type, err));
	TRY(take_view(w, v, args, type, t, out, err));
	if (flags && n > flags && args[flags].kind != SHD_PICKLE_NONE)
		TRY(take_flags(args[flags], out, err));
	return 1;
}

/* What stands around a tensor and changes nothing of its bytes. */
static bool unwrap(const char *name, shd_pickle_value tuple, shd_pickle_value *inner)
{
	const shd_pickle_value *args;
	size_t n = shd_pickle_tuple(tuple, &args);
	if (!n || (strcmp(name, "torch._utils._rebuild_parameter") != 0 &&
	           strcmp(name, "torch._utils._rebuild_parameter_with_state") != 0 &&
	           strcmp(name, "torch._utils._rebuild_device_tensor_from_cpu_tensor") != 0))
		return false;
	*inner = args[0];
	return true;
}

int shd_torch_rebuild(shd_torch_walker *w, shd_pickle_value v, sherd_tensor *t, shd_torch_view *out, sherd_error *err)
{
	const shd_pickle_value *args;
	for (int i = 0; i < MOST_WRAPPERS; i++) {
		const shd_pickle_call *call = shd_pickle_call_of(v);
		if (v.kind == SHD_PICKLE_PERSID && shd_pickle_tuple(call->args, &args) >= 5 &&
		    shd_pickle_is_text(args[0], "storage"))
			return whole_storage(w, v, t, out, err);
		if (v.kind != SHD_PICKLE_CALL)
			return 0;
		const char *name = shd_torch_name_of(w, v);
		if (strcmp(name, "torch._tensor._rebuild_from_type_v2") == 0 ||
		    strcmp(name, "torch._tensor._rebuild_from_type") == 0) {
			/* (function, type, its arguments, state) */
			if (shd_pickle_tuple(call->args, &args) < 3)
				return 0;
			const char *inner = shd_torch_name_of(w, args[0]);
			if (!unwrap(inner, args[2], &v))
				return rebuild_by(w, v, inner, args[2], t, out, err);
		} else if (!unwrap(name, call->args, &v)) {
			return rebuild_by(w, v, name, call->args, t, out, err);
		}
	}
	return 0;
}

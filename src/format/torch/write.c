#include "format/torch/write.h"

#include "base/error.h"

#include <stdio.h>

const char *shd_torch_write_fault(const sherd_tensor *t)
{
	const shd_torch_dtype *type = shd_torch_dtype_of(t);
	uint64_t bytes = type ? type->bytes : 0;
	if (!type || type->name[0] == 'q')
		return "is of a type that torch lacks";
	if (type->packed > 1)
		return !t->ndim || t->shape[t->ndim - 1] % type->packed ? "has half a byte in its last dimension"
		                                                        : NULL;
	for (uint32_t d = 0; d < t->ndim; d++)
		if (__builtin_mul_overflow(bytes, t->shape[d], &bytes))
			return "is too large";
	return bytes == t->bytes ? NULL : "has another number of bytes than torch gives its shape";
}

void shd_torch_shape_of(const sherd_tensor *t, uint64_t shape[SHERD_MAX_DIMS], uint64_t strides[SHERD_MAX_DIMS])
{
	uint64_t step = 1;
	for (uint32_t d = t->ndim; d-- > 0;) {
		shape[d] = t->shape[d];
		if (d + 1 == t->ndim)
			shape[d] /= shd_torch_dtype_of(t)->packed;
		strides[d] = step;
		step *= shape[d] ? shape[d] : 1;
	}
}

/* ('storage', TYPE, key, 'cpu', count) */
static void put_storage(shd_pickle_writer *w, const sherd_tensor *t, const shd_torch_dtype *type, size_t storage)
{
	char key[24];
	(void)snprintf(key, sizeof(key), "%zu", storage);
	shd_pickle_put_op(w, '(');
	shd_pickle_put_often(w, "storage");
	if (type->storage)
		shd_pickle_put_global(w, "torch", type->storage);
	else
		shd_pickle_put_global(w, "torch.storage", "UntypedStorage");
	shd_pickle_put_text(w, key);
	shd_pickle_put_often(w, "cpu");
	shd_pickle_put_int(w, type->storage ? t->bytes / type->bytes : t->bytes);
	shd_pickle_put_op(w, 't');
	shd_pickle_put_op(w, 'Q');
}

void shd_torch_put_tensor(shd_pickle_writer *w, const sherd_tensor *t, size_t storage)
{
	const shd_torch_dtype *type = shd_torch_dtype_of(t);
	uint64_t shape[SHERD_MAX_DIMS], strides[SHERD_MAX_DIMS];
	shd_torch_shape_of(t, shape, strides);
	shd_pickle_put_global(w, "torch._utils", type->storage ? "_rebuild_tensor_v2" : "_rebuild_tensor_v3");
	shd_pickle_put_op(w, '(');
	put_storage(w, t, type, storage);
	shd_pickle_put_int(w, 0);
	shd_pickle_put_numbers(w, shape, t->ndim);
	shd_pickle_put_numbers(w, strides, t->ndim);
	shd_pickle_put_bool(w, false);
	shd_pickle_put_global(w, "collections", "OrderedDict"); /* of hooks: none */
	shd_pickle_put_op(w, ')');
	shd_pickle_put_op(w, 'R');
	if (!type->storage)
		shd_pickle_put_global(w, "torch", type->name);
	shd_pickle_put_op(w, 't');
	shd_pickle_put_op(w, 'R');
}

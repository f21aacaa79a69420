#include "base/limits.h"
#include "engine/tensors/bundle.h"
#include "engine/tensors/files.h"
#include "engine/tensors/npy_folder.h"
#include "engine/tensors/reorder.h"
#include "format/tensor/npy.h"
#include "format/tensor/npy_manifest.h"

#include <stdlib.h>

typedef struct npy_bundle {
	sherd_bundle base;
	shd_npy head;
	sherd_tensor tensor;
} npy_bundle;

static const npy_bundle *self(const sherd_bundle *bundle)
{
	return (const npy_bundle *)bundle;
}

int shd_npy_read(const sherd_reader *reader, const shd_npy *head, uint64_t offset, void *buf, size_t len,
                 sherd_error *err)
{
	const shd_reorder order = {
		.reader = reader,
		.data = head->data,
		.bytes = head->bytes,
		.element = sherd_dtype_element_bytes(head->dtype),
		.swap = !head->swap                ? 1
	                : head->dtype == SHERD_C64 ? 4
	                                           : sherd_dtype_element_bytes(head->dtype),
		.ndim = head->ndim,
		.shape = head->shape,
	};
	if (head->fortran)
		return shd_reorder_gather(&order, offset, buf, len, err);
	if (head->swap)
		return shd_reorder_bytes(&order, offset, buf, len, err);
	return sherd_reader_at(reader, head->data + offset, buf, len, err);
}

static int tensors_npy_read_part(const sherd_bundle *bundle, size_t index, uint64_t offset, void *buf, size_t len,
                                 sherd_error *err)
{
	(void)index;
	return shd_npy_read(bundle->reader, &self(bundle)->head, offset, buf, len, err);
}

static int tensors_npy_map(const void **out, const sherd_bundle *bundle, size_t index, sherd_error *err)
{
	(void)index;
	const npy_bundle *n = self(bundle);
	if (n->head.swap || n->head.fortran)
		return shd_fail(err, SHERD_EUNSUPPORTED, "no-map", "%.128s is stored in another order", n->tensor.name);
	return sherd_reader_map(out, bundle->reader, n->head.data, (size_t)n->head.bytes, err);
}

static const shd_bundle_ops ops = {.read = tensors_npy_read_part, .map = tensors_npy_map};

static int tensors_npy_read_head(const sherd_reader *reader, const sherd_limits *limits, shd_npy *out, sherd_error *err)
{
	uint8_t first[SHD_NPY_FIRST];
	uint64_t size = sherd_reader_size(reader), len;
	size_t have = size < sizeof(first) ? (size_t)size : sizeof(first);
	TRY(sherd_reader_at(reader, 0, first, have, err));
	TRY(shd_npy_decode_length(first, have, size, &len, err));
	if (len > shd_limits_or_default(limits).metadata_bytes)
		return shd_fail_at(err, SHERD_ELIMIT, "too-long", 0, "a head of %llu bytes", (unsigned long long)len);
	SHD_AUTO_FREE void *head = malloc((size_t)len);
	if (!head)
		return shd_fail_nomem(err);
	TRY(sherd_reader_at(reader, 0, head, (size_t)len, err));
	return shd_npy_decode(head, (size_t)len, size, limits, out, err);
}

int shd_npy_read_head(const sherd_reader *reader, const sherd_limits *limits, shd_npy *out, sherd_error *err)
{
	return shd_in_object(err, tensors_npy_read_head(reader, limits, out, err), sherd_reader_key(reader));
}

static int tensors_npy_open_file(sherd_bundle **out, shd_evidence *e, const sherd_bundle_options *options,
                                 sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	TRY(shd_bundle_new(&b, sizeof(npy_bundle), &ops, SHERD_FORMAT_NPY, err));
	npy_bundle *n = (npy_bundle *)b;
	TRY(shd_evidence_take_reader(e, &b->reader, err));
	TRY(shd_npy_read_head(b->reader, options->limits, &n->head, err));
	n->tensor = (sherd_tensor){
		.dtype = n->head.dtype, .ndim = n->head.ndim, .shape = n->head.shape, .bytes = n->head.bytes};
	TRY(shd_bundle_finish_one(b, &n->tensor, e->key, SHD_NPY_SUFFIX, err));
	*out = TAKE(b);
	return SHERD_OK;
}

const shd_format_entry shd_format_npy = {
	.info = {.id = SHERD_FORMAT_NPY,
                 .kind = SHERD_KIND_TENSORS,
                 .name = "npy",
                 .noun = "a NumPy file",
                 .endings = {{SHD_NPY_SUFFIX, SHERD_ENDING_OBJECT}},
                 .several = SHERD_FORMAT_NPY_FOLDER,
                 .written = true,
                 .holds = SHERD_HOLDS_EMPTY_NAMES,
                 .takes = SHERD_TAKES_REPLACE,
                 .dtypes = SHD_NPY_DTYPES,
                 .most_dims = SHERD_MAX_DIMS},
	.magic = {SHD_NPY_MAGIC, sizeof(SHD_NPY_MAGIC) - 1},
	.open = tensors_npy_open_file,
	.write = shd_write_npy,
};

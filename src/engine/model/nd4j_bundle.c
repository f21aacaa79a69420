#include "engine/model/format.h"
#include "engine/model/nd4j.h"
#include "engine/tensors/bundle.h"

typedef struct nd4j_bundle {
	sherd_bundle base;
	shd_nd4j_array array;
	sherd_tensor tensor;
} nd4j_bundle;

static int nd4j_bundle_read_part(const sherd_bundle *bundle, size_t index, uint64_t offset, void *buf, size_t len,
                                 sherd_error *err)
{
	(void)index;
	return shd_nd4j_read(bundle->reader, &((const nd4j_bundle *)bundle)->array, offset, buf, len, err);
}

static int nd4j_bundle_map(const void **out, const sherd_bundle *bundle, size_t index, sherd_error *err)
{
	(void)index;
	return shd_nd4j_map(out, bundle->reader, &((const nd4j_bundle *)bundle)->array, err);
}

static const shd_bundle_ops ops = {.read = nd4j_bundle_read_part, .map = nd4j_bundle_map};

int shd_bundle_open_nd4j(sherd_bundle **out, shd_evidence *e, const sherd_bundle_options *options, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	TRY(shd_bundle_new(&b, sizeof(nd4j_bundle), &ops, SHERD_FORMAT_ND4J_ARRAY, err));
	nd4j_bundle *n = (nd4j_bundle *)b;
	TRY(shd_nd4j_open(&b->reader, e->store, e->key, options->limits, &b->arena, &n->array, err));
	n->tensor = (sherd_tensor){
		.dtype = n->array.dtype, .ndim = n->array.ndim, .shape = n->array.shape, .bytes = n->array.bytes};
	TRY(shd_bundle_finish_one(b, &n->tensor, e->key, ".bin", err));
	*out = TAKE(b);
	return SHERD_OK;
}

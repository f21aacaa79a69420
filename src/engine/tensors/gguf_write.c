#include "engine/tensors/bundle.h"
#include "engine/tensors/gguf.h"
#include "format/tensor/gguf.h"

static int gguf_prepare(shd_conversion *c, shd_conversion_object *o, sherd_error *err)
{
	const sherd_pair *pairs;
	const sherd_value *values;
	size_t value_count, pair_count = sherd_bundle_pairs(&pairs, c->from), count = sherd_bundle_count(c->from);
	size_t *order = shd_arena_alloc(&c->arena, count + 1, sizeof(*order));
	if (!order)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	o->tensors = order;
	o->count = count;
	TRY(shd_bundle_values(c->from, &values, &value_count, err));
	return shd_gguf_encode(c->from->tensors, count, pairs, pair_count, values, value_count, &o->head, &o->align,
	                       err);
}

int shd_write_gguf(shd_conversion *c, sherd_error *err)
{
	shd_conversion_object object = {.key = c->key};
	int rc = shd_in_object(err, gguf_prepare(c, &object, err), c->key);
	if (rc == SHERD_OK)
		rc = shd_conversion_write_one(c, &object, err);
	shd_buf_done(&object.head);
	return rc;
}

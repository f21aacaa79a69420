/* engine/rows/convert.c - tensors of one width become a set of rows. */
#include "engine/rows/format.h"

int shd_write_rows(shd_conversion *c, sherd_error *err)
{
	const sherd_rows_pack_options packing = {.residual = c->to == &shd_format_rows_bf16,
	                                         .time_ns = c->options->time_ns,
	                                         .progress = c->options->progress,
	                                         .overflowed = c->options->overflowed};
	if (c->replace)
		return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
		                "a set of rows is not replaced: write another one, or append to it");
	return sherd_rows_pack_bundle(c->store, c->key, c->from, NULL, 0, SHERD_DTYPE_NONE, &packing, err);
}

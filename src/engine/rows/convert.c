/* engine/rows/convert.c - tensors of one width become a set of rows. */
#include "engine/tensors/convert.h"

#include <sherd/rows.h>

int sherd_convert_rows(const sherd_conversion *c, sherd_format to, const sherd_convert_options *options,
                       sherd_error *err)
{
	const sherd_rows_pack_options packing = {.residual = to == SHERD_FORMAT_ROWS_BF16,
	                                         .time_ns = options->time_ns,
	                                         .progress = options->progress,
	                                         .overflowed = options->overflowed};
	if (c->replace)
		return sherd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
		                  "a set of rows is not replaced: write another one, or append to it");
	return sherd_rows_pack_bundle(c->store, c->key, c->from, NULL, 0, SHERD_DTYPE_NONE, &packing, err);
}

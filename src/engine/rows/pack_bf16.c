/* engine/rows/pack_bf16.c - residual_shard_bf16 becomes rows, in the order of its manifest. */
#include "base/error.h"

#include <sherd/rows.h>

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)

int sherd_rows_pack_bf16(sherd_store *store, const char *folder, sherd_store *from, const char *from_folder,
                         const sherd_rows_pack_options *options, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	TRY(sherd_bundle_open(&bundle, from, from_folder, NULL, err));
	if (sherd_bundle_format(bundle) != SHERD_FORMAT_ROWS_BF16)
		return shd_fail(err, SHERD_EUNSUPPORTED, "unknown-format", "this is %s, not residual_shard_bf16",
		                sherd_format_name(sherd_bundle_format(bundle)));
	return sherd_rows_pack_bundle(store, folder, bundle, NULL, 0, SHERD_DTYPE_NONE, options, err);
}

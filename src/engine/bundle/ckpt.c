#include "engine/bundle/bundle.h"

int sherd_bundle_open_ckpt(sherd_bundle **out, sherd_store *store, const char *key, const sherd_limits *limits,
                           sherd_error *err)
{
	(void)out, (void)store, (void)limits;
	return sherd_in_object(
		err, sherd_fail(err, SHERD_EUNSUPPORTED, "unknown-format", "this build cannot read checkpoints"), key);
}

int sherd_bundle_open_ckpt_shard(sherd_bundle **out, sherd_store *store, const char *key, const sherd_limits *limits,
                                 sherd_error *err)
{
	return sherd_bundle_open_ckpt(out, store, key, limits, err);
}

#include "engine/model/container_claim.h"

#define SUFFIX ".shard.saving"

void sherd_container_claim_name(sherd_buf *out, const char *base)
{
	sherd_buf_str(out, base);
	sherd_buf_append(out, SUFFIX, sizeof(SUFFIX));
}

int sherd_container_claim_take(sherd_claim *out, sherd_store *store, const char *base, sherd_error *err)
{
	SHERD_AUTO_BUF key = {0};
	sherd_container_claim_name(&key, base);
	TRY(sherd_buf_check(&key, err));
	return sherd_claim_take(out, store, (const char *)key.data, (sherd_str){"", 0}, NULL, NULL, err);
}

#include "engine/model/container_claim.h"

#define SUFFIX ".shard.saving"

void shd_container_claim_name(shd_buf *out, const char *base)
{
	shd_buf_str(out, base);
	shd_buf_append(out, SUFFIX, sizeof(SUFFIX));
}

int shd_container_claim_take(shd_claim *out, sherd_store *store, const char *base, sherd_error *err)
{
	static const shd_claim_rules rules = {.mode = SHERD_LOCK_EXCLUSIVE};
	SHD_AUTO_BUF key = {0};
	shd_container_claim_name(&key, base);
	TRY(shd_buf_check(&key, err));
	return shd_claim_take(out, store, (const char *)key.data, &(shd_buf){0}, &rules, err);
}

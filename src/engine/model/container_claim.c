#include "engine/model/container_claim.h"

#include "engine/publish/head.h"

#define SUFFIX ".shard.saving"

void shd_container_claim_name(shd_buf *out, const char *base)
{
	shd_buf_str(out, base);
	shd_buf_append(out, SUFFIX, sizeof(SUFFIX));
}

int shd_container_claim_take(shd_claim *out, sherd_store *store, const char *base, sherd_error *err)
{
	static const shd_claim_rules rules = {.mode = SHERD_LOCK_EXCLUSIVE};
	SHD_AUTO_BUF key = {0}, text = {0};
	char attempt[SHD_ATTEMPT_TEXT];
	TRY(shd_attempt(attempt, err));
	shd_buf_printf(&text, "%s\n", attempt);
	TRY(shd_buf_check(&text, err));
	shd_container_claim_name(&key, base);
	TRY(shd_buf_check(&key, err));
	return shd_claim_take(out, store, (const char *)key.data, &text, &rules, err);
}

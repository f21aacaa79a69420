/* engine/model/container_claim.h - who may save shards of a container under a base: the claim <base>.shard.saving. */
#pragma once

#include "engine/publish/claim.h"

/* Appends the key of the claim, with its NUL. */
void shd_container_claim_name(shd_buf *out, const char *base);
/* As shd_claim_take(); what a dead save left is the caller's to find, by its names. */
int shd_container_claim_take(shd_claim *out, sherd_store *store, const char *base, sherd_error *err);

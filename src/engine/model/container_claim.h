/* engine/model/container_claim.h - who may save shards of a container under a base: the claim <base>.shard.saving. */
#ifndef SHERD_ENGINE_MODEL_CONTAINER_CLAIM_H
#define SHERD_ENGINE_MODEL_CONTAINER_CLAIM_H

#include "engine/publish/claim.h"

/* Appends the key of the claim, with its NUL. */
void sherd_container_claim_name(sherd_buf *out, const char *base);
/* As sherd_claim_take(); what a dead save left is the caller's to find, by its names. */
int sherd_container_claim_take(sherd_claim *out, sherd_store *store, const char *base, sherd_error *err);

#endif

/* engine/model/container_claim.h - who may save shards under a base.
 *
 * A save holds an exclusive lock on <base>.shard.saving for as long as it lives; whoever gets the lock later knows that
 * the save is dead, and that what it left belongs to nobody. */
#ifndef SHERD_ENGINE_MODEL_CONTAINER_CLAIM_H
#define SHERD_ENGINE_MODEL_CONTAINER_CLAIM_H

#include "base/buf.h"

#include <sherd/store.h>

typedef struct container_claim {
	sherd_store *store; /* NULL: nothing is claimed */
	sherd_buf key;
	sherd_lock *lock; /* NULL on stores that cannot lock */
} container_claim;

/* Appends the key of the claim, with its NUL. */
void sherd_container_claim_name(sherd_buf *out, const char *base);
/* SHERD_ECONFLICT when another save lives, or may live where the store cannot lock. */
int sherd_container_claim_take(container_claim *out, sherd_store *store, const char *base, sherd_error *err);
/* Removes the claim and lets go; one that cannot be removed is dead from then on. */
void sherd_container_claim_drop(container_claim *claim);

#endif

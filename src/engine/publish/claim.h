/* engine/publish/claim.h - who may write a set of several objects: one save at a time.
 *
 * A save holds an exclusive lock on its claim for as long as it lives. Whoever gets the lock of a claim that is there
 * knows that its save is dead. The text of a claim tells what its save may have left. */
#ifndef SHD_ENGINE_PUBLISH_CLAIM_H
#define SHD_ENGINE_PUBLISH_CLAIM_H

#include "base/buf.h"

#include <sherd/store.h>

typedef struct shd_claim {
	sherd_store *store; /* NULL: nothing is claimed */
	shd_buf key;
	sherd_lock *lock; /* NULL on stores that cannot lock */
	char identity[sizeof(((sherd_stat *)0)->identity)];
} shd_claim;

/* Can be told who is dead? */
static inline bool shd_can_lock(const sherd_store *store)
{
	return sherd_store_caps(store) & SHERD_CAP_LOCK;
}

/* Clears what a dead save left, whose claim said this; called while nobody else can claim. */
typedef int shd_claim_clear_fn(void *arg, const char *text, size_t len, sherd_error *err);

/* Creates the claim with this text; one that is dead goes first, after clear() (NULL: nothing to clear) has succeeded.
 * SHERD_ECONFLICT when another save lives, or may live where the store cannot lock. */
int shd_claim_take(shd_claim *out, sherd_store *store, const char *key, shd_str text, shd_claim_clear_fn *clear,
                   void *arg, sherd_error *err);
/* What a dead save left goes, and its claim, if there is one; failures as above. A save that looks afterwards which of
 * its names are taken, and claims then, never claims what another has made. */
int shd_claim_clear(sherd_store *store, const char *key, shd_claim_clear_fn *clear, void *arg, sherd_error *err);
/* The claim of a save that died becomes ours as it is, with all that its save left. SHERD_ECONFLICT when that lives, or
 * nobody can tell, SHERD_ENOTFOUND when there is none. */
int shd_claim_take_over(shd_claim *out, sherd_store *store, const char *key, sherd_error *err);
/* SHERD_ECONFLICT when the claim is not ours any more: somebody removed it, and perhaps made another. Asked right
 * before a set is published. */
int shd_claim_check(const shd_claim *claim, sherd_error *err);
/* Removes the claim, if it is still ours, and lets go; one that cannot be removed is dead from then on. */
void shd_claim_drop(shd_claim *claim);
/* Lets go and leaves the claim, dead, so that the next save clears. */
void shd_claim_leave(shd_claim *claim);

#endif

/* engine/publish/claim.h - who may write a set of several objects: one save at a time, of one process or of several.
 *
 * A save holds a lock on its claim for as long as it lives, exclusive, or shared by all processes of one set. Whoever
 * gets the exclusive lock of a claim that is there knows that its save is dead. The text of a claim tells what its save
 * may have left. */
#pragma once

#include "base/buf.h"
#include "base/meter.h"

#include <sherd/store.h>

typedef struct shd_claim {
	sherd_store *store; /* NULL: nothing is claimed */
	shd_buf key;
	sherd_lock *lock; /* NULL on stores that cannot lock */
	char identity[sizeof(((sherd_stat *)0)->identity)];
	bool joined;    /* somebody else made it */
	bool took_over; /* from a save that may live */
} shd_claim;

/* Can be told who is dead? */
static inline bool shd_can_lock(const sherd_store *store)
{
	return sherd_store_caps(store) & SHERD_CAP_LOCK;
}

/* What to do about a claim that is there. Each function is told its text, without one when it cannot be read. */
typedef struct shd_claim_rules {
	sherd_lock_mode mode; /* SHARED: of several processes */
	bool force;           /* held() may say that a living one is taken over */
	/* 1: it is ours as well, and is joined; 0: it goes, if it is dead. NULL: 0 */
	int (*judge)(void *arg, shd_str text, sherd_error *err);
	/* Where nobody can lock: may it be cleared, although it counts as dead? Asked before the claim is written anew,
	 * from when on it would count as living for another day. NULL: yes */
	int (*may_clear)(void *arg, shd_str text, sherd_error *err);
	/* Clears what its save left, which is dead, while nobody else can claim. NULL: nothing has to be. */
	int (*clear)(void *arg, shd_str text, sherd_error *err);
	/* Its save lives, or may: SHERD_ECONFLICT, in words; or SHERD_OK: it is taken over. NULL: the former */
	int (*held)(void *arg, shd_str text, sherd_error *err);
	void *arg;
	shd_meter *meter; /* is asked whether to go on; or NULL */
} shd_claim_rules;

/* Creates the claim with this text, which held() may change; or joins one; one that is dead goes first, after clear()
 * has succeeded. SHERD_ECONFLICT when another save lives, or may live where the store cannot lock. */
int shd_claim_take(shd_claim *out, sherd_store *store, const char *key, const shd_buf *text,
                   const shd_claim_rules *rules, sherd_error *err);
/* Where nobody can lock, a save that began a day ago, by the store's clock, counts as dead. That says who may try:
 * whoever clears after it changes the head first. */
bool shd_claim_has_lapsed(sherd_store *store, const char *key);
/* What a dead save left goes, and its claim, if there is one; failures as above. A save that looks afterwards which of
 * its names are taken, and claims then, never claims what another has made. */
int shd_claim_clear(sherd_store *store, const char *key, const shd_claim_rules *rules, sherd_error *err);
/* The claim of a save that died becomes ours as it is, with all that its save left. SHERD_ECONFLICT when that lives
 * ("locked"), or nobody can tell, SHERD_ENOTFOUND when there is none. */
int shd_claim_adopt(shd_claim *out, sherd_store *store, const char *key, sherd_error *err);
/* SHERD_ECONFLICT when the claim is not ours any more: somebody removed it, and perhaps made another. Asked right
 * before a set is published. */
int shd_claim_check(const shd_claim *claim, sherd_error *err);
/* Our lock on a shared claim becomes exclusive: true when nobody else holds it, and nobody can join it from now on.
 * Where the store cannot lock: when we made it. */
bool shd_claim_alone(shd_claim *claim);
/* Removes the claim, if it is still ours, and lets go; one that cannot be removed is dead from then on. */
int shd_claim_drop(shd_claim *claim, sherd_error *err);
/* Lets go and leaves the claim: to others of the set, or dead, so that the next save clears. */
void shd_claim_leave(shd_claim *claim);

/* engine/ckpt/claim.h - who may write under a prefix.
 *
 * A save holds a shared lock on {prefix}.saving for as long as it lives; all
 * ranks of one set share it. Whoever gets the exclusive lock knows that nobody
 * of the set lives, and may clear what it left. */
#ifndef SHERD_ENGINE_CKPT_CLAIM_H
#define SHERD_ENGINE_CKPT_CLAIM_H

#include "base/meter.h"
#include "format/ckpt_claim.h"

#include <sherd/store.h>

typedef struct ckpt_hold {
	sherd_store *store;
	const char *prefix; /* borrowed */
	sherd_ckpt_claim claim;
	sherd_lock *lock;    /* NULL on stores that cannot lock */
	bool created;        /* false: joined */
	bool took_over;      /* from one that may live */
	sherd_set_id victim; /* whose claim that was */
} ckpt_hold;

/* Creates the claim or joins that of the same set, after clearing a dead one. SHERD_ECONFLICT when another set's save
 * lives (or may live, where the store cannot lock), unless take_over. claim->named_by_set follows the claim joined.
 * meter, here and below, may be NULL; it is asked whether to go on. */
int sherd_ckpt_hold(ckpt_hold *out, sherd_store *store, const char *prefix, const sherd_ckpt_claim *mine,
                    bool take_over, sherd_meter *meter, sherd_error *err);
/* Lets go; the claim stays for others of the set. */
void sherd_ckpt_release(ckpt_hold *hold);
/* Lets go and removes the claim if it is still this set's. */
int sherd_ckpt_drop(ckpt_hold *hold, sherd_error *err);
/* Lets go, and removes the claim only if nobody else holds it and no shard of the set is there. */
void sherd_ckpt_forsake(ckpt_hold *hold);

/* SHERD_ENOTFOUND: there is no claim. *valid is false for one that cannot be read. */
int sherd_ckpt_read_claim(sherd_store *store, const char *prefix, sherd_ckpt_claim *out, bool *valid, sherd_error *err);

/* Is the claim under the prefix a save's of this set? */
int sherd_ckpt_claimed_by(sherd_store *store, const char *prefix, const sherd_set_id *set_id, bool *yes,
                          sherd_error *err);

/* Clears what a dead save or removal left under the prefix, claim included. Succeeds when there is no claim.
 * SHERD_ECONFLICT when the claim is held, or nobody can tell. Cancelled, it leaves the claim and some of the rest. */
int sherd_ckpt_clear_dead(sherd_store *store, const char *prefix, sherd_meter *meter, sherd_error *err);

/* Fills in host and process. */
sherd_ckpt_claim sherd_ckpt_claim_of_us(const sherd_set_id *set_id, uint32_t world, int64_t time_ns);

#endif

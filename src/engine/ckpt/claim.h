/* engine/ckpt/claim.h - who may write under a prefix.
 *
 * A save holds a shared lock on {prefix}.saving for as long as it lives; all
 * ranks of one set share it. Whoever gets the exclusive lock knows that nobody
 * of the set lives, and may clear what it left. */
#pragma once

#include "base/meter.h"
#include "engine/publish/claim.h"
#include "format/ckpt/claim.h"

#include <sherd/store.h>

typedef struct ckpt_hold {
	const char *prefix;   /* borrowed */
	shd_ckpt_claim claim; /* what it says */
	shd_claim held;
} ckpt_hold;

/* What to do about a claim of another set that is in the way. */
typedef struct ckpt_force {
	bool take_over;      /* whoever holds it, and however long it has waited */
	uint64_t waiting_ns; /* clear what has waited for its ranks at least so long; 0: nothing */
} ckpt_force;

/* Creates the claim or joins that of the same set, after clearing a dead one. SHERD_ECONFLICT when another set's save
 * lives (or may live, where the store cannot lock) or waits for its ranks, unless forced; NULL: not. named_by_set and
 * by_ranks follow the claim joined. meter, here and below, may be NULL; it is asked whether to go on. */
int shd_ckpt_hold(ckpt_hold *out, sherd_store *store, const char *prefix, const shd_ckpt_claim *mine,
                  const ckpt_force *force, shd_meter *meter, sherd_error *err);
/* Lets go, and removes the claim only if nobody else holds it and no shard of the set is there. Before that, if nobody
 * else of the set lives, so that nobody can be publishing it, or the claim is another's by now (claimed is false then):
 * calls take_back(), which may remove shards. */
typedef void ckpt_take_back_fn(void *arg, bool claimed);
void shd_ckpt_forsake(ckpt_hold *hold, ckpt_take_back_fn *take_back, void *arg);

/* SHERD_ENOTFOUND: there is no claim. *valid is false for one that cannot be read. */
int shd_ckpt_read_claim(sherd_store *store, const char *prefix, shd_ckpt_claim *out, bool *valid, sherd_error *err);

/* Is the claim under the prefix a save's of this set? */
int shd_ckpt_claimed_by(sherd_store *store, const char *prefix, const sherd_set_id *set_id, bool *yes,
                        sherd_error *err);

/* A set of several processes between the first that saved its shard and the last. */
typedef struct ckpt_waiting {
	bool waiting;    /* false: the claim is no such set's, or that is committed, or no shard of it is there */
	uint32_t ranks;  /* whose shards are there */
	uint64_t age_ns; /* since the last of them came, by the store's times */
} ckpt_waiting;
/* Of a claim that nobody holds. */
int shd_ckpt_waiting(sherd_store *store, const char *prefix, const shd_ckpt_claim *claim, ckpt_waiting *out,
                     sherd_error *err);
/* "2 of 4 ranks have saved, the last one 3 h ago" */
#define SHD_CKPT_WAITING_TEXT 96
void shd_ckpt_waiting_text(const ckpt_waiting *w, uint32_t world, char out[SHD_CKPT_WAITING_TEXT]);

/* What stands under the prefix as a claim. */
typedef struct ckpt_claim_look {
	bool there;
	bool lives; /* somebody holds it, or may */
	bool valid; /* it can be read */
	shd_ckpt_claim claim;
	ckpt_waiting waiting; /* unless it lives */
} ckpt_claim_look;
int shd_ckpt_claim_look(sherd_store *store, const char *prefix, ckpt_claim_look *out, sherd_error *err);

/* Clears what a dead save or removal left under the prefix, claim included; also a set that has waited at least
 * waiting_ns (0: none). Succeeds when there is no claim. SHERD_ECONFLICT when the claim is held, or waits, or nobody
 * can tell. Cancelled, it leaves the claim and some of the rest. */
int shd_ckpt_clear_dead(sherd_store *store, const char *prefix, uint64_t waiting_ns, shd_meter *meter,
                        sherd_error *err);

/* Fills in host and process. */
shd_ckpt_claim shd_ckpt_claim_of_us(const sherd_set_id *set_id, uint32_t world, int64_t time_ns);

/* engine/ckpt/lent.h - shards of a prefix that metadata of another one names, because somebody copied or renamed that.
 *
 * Whoever removes shards, but those that it wrote itself, asks first. */
#pragma once

#include "base/arena.h"
#include "base/map.h"
#include "base/meter.h"

#include <sherd/limits.h>
#include <sherd/store.h>

typedef struct ckpt_lent {
	shd_arena arena;
	shd_map files;        /* by the last part of their keys */
	const char *borrower; /* whose metadata names some of them, or may; NULL: nobody's */
	bool unsure;          /* it cannot be read, so it may name any */
	sherd_error why;      /* the store's failure, if it was that; else no code */
} ckpt_lent;

/* Reads all metadata beside that of the prefix: its bytes always, what they say only if they mention such a shard.
 * meter may be NULL; it is asked whether to go on. */
int shd_ckpt_lent_open(ckpt_lent *out, sherd_store *store, const char *prefix, const sherd_limits *limits,
                       shd_meter *meter, sherd_error *err);
void shd_ckpt_lent_done(ckpt_lent *lent);
bool shd_ckpt_is_lent(const ckpt_lent *lent, const char *key);

/* Does this one metadata name a shard of that prefix, or may it, since it cannot be read? */
bool shd_ckpt_may_borrow(sherd_store *store, const char *borrower, const char *prefix);

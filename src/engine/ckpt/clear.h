/* engine/ckpt/clear.h - removing what a save or removal left, under its claim's exclusive lock. */
#pragma once

#include "base/meter.h"
#include "format/ckpt/claim.h"

#include <sherd/store.h>

/* Leaves the claim itself. A committed set is never touched. meter may be NULL. */
int shd_ckpt_clear(sherd_store *store, const char *prefix, const shd_ckpt_claim *claim, shd_meter *meter,
                   sherd_error *err);

/* What is committed under the prefix, as far as its own words go. */
typedef struct ckpt_committed {
	bool there;
	bool readable;
	bool has_set_id;
	sherd_set_id set_id;
	char identity[72];
} ckpt_committed;
int shd_ckpt_committed(sherd_store *store, const char *prefix, ckpt_committed *out, sherd_error *err);

/* Removes every shard under the prefix that the committed metadata does not name, as long as the claim is this set's;
 * else does nothing, since whoever claimed since may have shards there. */
int shd_ckpt_clear_unnamed(sherd_store *store, const char *prefix, const sherd_set_id *holder, sherd_error *err);

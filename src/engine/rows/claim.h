/* engine/rows/claim.h - who may pack into a folder.
 *
 * A pack holds an exclusive lock on rows.packing for as long as it lives. Whoever
 * gets that lock later knows that the pack is dead, and removes what it left. */
#ifndef SHERD_ENGINE_ROWS_CLAIM_H
#define SHERD_ENGINE_ROWS_CLAIM_H

#include "base/buf.h"

#include <sherd/store.h>

typedef struct rows_claim {
	sherd_store *store;
	sherd_buf key;    /* of the marker */
	sherd_lock *lock; /* NULL on stores that cannot lock */
} rows_claim;

/* Creates the marker in a folder that holds neither shards nor a manifest, after clearing what a dead pack left.
 * SHERD_EEXIST, SHERD_ECONFLICT as sherd_rows_pack(). */
int sherd_rows_claim_open(rows_claim *out, sherd_store *store, const char *folder, int64_t time_ns, sherd_error *err);
/* Removes the marker and lets go; what cannot be removed is dead from then on. */
int sherd_rows_claim_drop(rows_claim *claim, sherd_error *err);
/* Lets go and leaves the marker, which is dead from then on. */
void sherd_rows_claim_leave(rows_claim *claim);

#endif

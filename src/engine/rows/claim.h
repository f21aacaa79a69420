/* engine/rows/claim.h - who may write into a folder.
 *
 * A writer holds an exclusive lock on rows.packing for as long as it lives. Whoever
 * gets that lock later knows that the writer is dead, and removes what it left. */
#pragma once

#include "engine/publish/claim.h"

#include <sherd/limits.h>

/* Parts have five digits, so that their bytes sort as their numbers do. */
#define ROWS_MOST_PARTS 100000

typedef struct rows_claim {
	sherd_store *store;
	const char *folder; /* borrowed */
	shd_buf key;
	shd_claim claim;
	uint32_t first; /* number of the first part: that of none that was there before is as large */
	size_t made;    /* parts of the folder's path that were not there */
} rows_claim;

typedef struct rows_claim_options {
	bool append; /* a manifest must be there; else neither shards nor a manifest */
	int64_t time_ns;
	const sherd_limits *limits;
} rows_claim_options;

/* Creates the claim, after clearing what a dead writer left. SHERD_EEXIST, SHERD_ECONFLICT, SHERD_ENOTFOUND and
 * "no-manifest" as sherd_rows_writer_open(). */
int shd_rows_claim_open(rows_claim *out, sherd_store *store, const char *folder, const rows_claim_options *options,
                        sherd_error *err);
/* The claim of a writer that died; it and what was written under it stay. SHERD_ECONFLICT when its writer lives, or
 * nobody can tell, SHERD_ENOTFOUND when it is gone. */
int shd_rows_claim_take_over(rows_claim *out, sherd_store *store, const char *folder, sherd_error *err);
/* Removes the claim and lets go; what cannot be removed is dead from then on. Folders that were made for it go if
 * nothing is in them. */
void shd_rows_claim_drop(rows_claim *claim);
/* Lets go and leaves the claim, which is dead from then on. */
void shd_rows_claim_leave(rows_claim *claim);

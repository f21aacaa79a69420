/* engine/publish/part.h - an object that an attempt wrote, and which one it was: names are given to others once
 * somebody has cleared ours. */
#pragma once

#include "base/buf.h"

#include <sherd/store.h>

typedef struct shd_part {
	char identity[sizeof(((sherd_stat *)0)->identity)]; /* where the commit tells it (sherd_write_options) */
	bool there;   /* or perhaps: its commit succeeded, or failed though it was not refused */
	bool unknown; /* its commit got no answer: it may come yet */
} shd_part;

/* The outcome of its commit. */
void shd_part_written(shd_part *part, int rc);
/* Notes what is to be removed, and which object that is now: before the head changes, so that nothing is hit that has
 * its name later. What is not there is not noted. The list is of keys and identities, each ended by NUL. */
int shd_parts_note(shd_buf *list, sherd_store *store, const char *key, sherd_error *err);
int shd_parts_clear(const shd_buf *list, sherd_store *store, sherd_error *err);
/* Removes what was seen with this identity. What has its name by now stays, and that is no failure. */
int shd_part_clear(sherd_store *store, const char *key, const char *seen, sherd_error *err);
/* Removes it, if it is still the one that was written. False: something of ours is there, or may come. */
bool shd_part_remove(shd_part *part, sherd_store *store, const char *key);

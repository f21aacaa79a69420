/* engine/publish/part.h - an object that an attempt wrote, and which one it was: names are given to others once
 * somebody has cleared ours. */
#pragma once

#include <sherd/store.h>

typedef struct shd_part {
	char identity[sizeof(((sherd_stat *)0)->identity)]; /* where the commit tells it (sherd_write_options) */
	bool there;   /* or perhaps: its commit succeeded, or failed though it was not refused */
	bool unknown; /* its commit got no answer: it may come yet */
} shd_part;

/* The outcome of its commit. */
void shd_part_written(shd_part *part, int rc);
/* Removes what was seen with this identity. What has its name by now stays, and that is no failure. */
int shd_part_clear(sherd_store *store, const char *key, const char *seen, sherd_error *err);
/* Removes it, if it is still the one that was written. False: something of ours is there, or may come. */
bool shd_part_remove(shd_part *part, sherd_store *store, const char *key);

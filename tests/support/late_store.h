/* tests/support/late_store.h - a store as far away as a bucket: it cannot lock, has a clock of its own, and answers to
 * commits and removals get lost. */
#pragma once

#include <sherd/store.h>

/* What becomes of a commit that gets no answer: SHERD_EUNKNOWN. */
typedef enum late_fate {
	LATE_ANSWERED = 0,
	LATE_DONE,  /* it has happened */
	LATE_NEVER, /* it was lost on its way */
	LATE_LATER, /* it happens at late_store_deliver(), if its condition holds then */
} late_fate;

/* The inner store is not taken over. */
sherd_store *late_store_over(sherd_store *inner);
/* The next `times` commits of the key have this fate. */
void late_store_lose(sherd_store *store, const char *key, late_fate fate, int times);
/* The same of the next removal of the key. */
void late_store_lose_removal(sherd_store *store, const char *key, late_fate fate);
/* Lets what is on its way arrive, commits first; returns how many took effect. */
int late_store_deliver(sherd_store *store);
/* How often something was removed by what a list tells of it: as of a bucket that is less than a look does, and other
 * objects of the same bytes may have the same. */
int late_store_removed_as_listed(const sherd_store *store);
/* How much later it is there than here. */
void late_store_set_ahead(sherd_store *store, int64_t ns);

/* tests/support/page_store.h - a store that is read only, over another one, whose maps come page by page: which pages
 * are touched is counted, and how often one waits for them.
 *
 * A page that is touched comes with those around it, as many as the read-ahead takes, unless the map was advised that
 * it is touched here and there. Pages that were asked for (SHERD_ADVICE_SOON) come together with the first of them that
 * is touched: one wait. One store at a time, from one thread. */
#pragma once

#include <sherd/store.h>

/* inner outlives it. */
sherd_store *page_store_over(sherd_store *inner, size_t read_ahead);
/* From now on nothing is in memory. */
void page_store_drop(void);

typedef struct page_counts {
	size_t touched; /* pages that were touched or asked for */
	size_t fetched; /* all that came */
	size_t waits;
} page_counts;
/* Since the last call. */
page_counts page_store_counts(void);

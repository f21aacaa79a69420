/* tests/support/memory_store.h - a store in memory, new for each case. */
#pragma once

#include <sherd/store.h>

/* Of the running case. */
extern sherd_store *store;

/* Setup and teardown of a case. */
int memory_store_open(void **state);
int memory_store_close(void **state);

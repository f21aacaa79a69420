/* tests/support/fail_store.h - a store whose nth operation fails; the others go through to the store below.
 *
 * Every verb counts, those of readers and writers too; close, abort and release do not, as they cannot fail. */
#pragma once

#include <sherd/store.h>

/* Takes the inner store over: closing this one closes it. Same capabilities. */
sherd_store *fail_store_over(sherd_store *inner);
/* 1 = the next operation fails with SHERD_EIO, "injected"; 0 = none. */
void fail_store_at(sherd_store *store, long nth);
/* Did it happen since fail_store_at()? */
bool fail_store_hit(sherd_store *store);
/* Before the nth operation somebody else does something, on the store below; the operation then goes on. */
void fail_store_call_at(sherd_store *store, long nth, void (*fn)(void *arg, sherd_store *inner), void *arg);
/* Bytes that readers were asked for since the store was opened; what was mapped does not count. */
uint64_t fail_store_read_bytes(sherd_store *store);
/* How often an object was opened to be read, or looked for; how often keys were listed: since the store was opened. */
long fail_store_opens(sherd_store *store);
long fail_store_lists(sherd_store *store);

/* Calls it with the nth operation failing, for every n: SHERD_EIO of a named object each time, then SHERD_OK. Returns
 * how many there are. */
long fail_store_each(sherd_store *store, int (*call)(sherd_error *err));

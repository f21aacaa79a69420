/* tests/support/turn_store.h - two who use one store, in an order that the test says.
 *
 * Each has a store of its own over the same one below, and a thread. Every verb (a commit too) is a step; the first
 * does so many steps, then the second so many, then the first goes on to its end, and the second to its own. */
#pragma once

#include <sherd/store.h>

typedef int turn_fn(sherd_store *store, void *arg, sherd_error *err);

typedef struct turn_actor {
	turn_fn *act;
	void *arg;
	int rc; /* what it returned */
	sherd_error err;
	long steps; /* that it did */
} turn_actor;

/* locks: what the store below can; else both see a store that cannot lock. */
void turn_run(sherd_store *inner, bool locks, turn_actor actors[2], long first, long second);

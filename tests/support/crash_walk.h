/* tests/support/crash_walk.h - one act on a local store, and a look at all that a power loss during it may leave.
 *
 * Fill in the upper fields, assert, and read the lower ones. */
#pragma once

#include <sherd/store.h>

typedef struct crash_walk {
	const char *name; /* for messages */
	unsigned refuse;  /* what the system below does not offer: FAIL_SYS_NO_... */
	void *arg;        /* of the three below */
	void (*before)(struct crash_walk *w, sherd_store *store); /* what it makes is durable */
	void (*act)(struct crash_walk *w, sherd_store *store);
	/* Called for every state; says what is wrong by crash_walk_complain(). May change what is there. */
	void (*check)(struct crash_walk *w, sherd_store *store);

	const char *folder; /* of the store that was handed out */
	bool finished;      /* the power went after the act had returned */
	size_t states;
	char wrong[512]; /* the first complaint, which ends the walk; "" when there was none */
} crash_walk;

/* Fails the test when there is a complaint. */
void crash_walk_assert(crash_walk *w);
/* The negative control: fails the test when there is none although such syncs do nothing. */
void crash_walk_assert_caught(const crash_walk *w, bool drop_files, bool drop_folders);
__attribute__((format(printf, 2, 3))) void crash_walk_complain(crash_walk *w, const char *fmt, ...);

/* tests/support/fail_malloc.h - make the nth allocation of the process fail (linked with --wrap). */
#pragma once

#include <sherd/error.h>

#include <stdbool.h>
#include <stddef.h>

void fail_malloc_at(long nth); /* 1 = the next one, on whatever thread; 0 = never */
bool fail_malloc_hit(void);    /* did it happen since fail_malloc_at()? */

/* Bytes that were asked for since fail_malloc_at(), whether or not they were freed since. */
size_t fail_malloc_bytes(void);

/* Calls it with the nth allocation failing, for every n: SHERD_ENOMEM each time, then SHERD_OK. Returns how many there
 * are. */
long fail_malloc_each(int (*call)(sherd_error *err));

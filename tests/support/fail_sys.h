/* tests/support/fail_sys.h - a table of system calls that refuses, stutters, or fails at the nth call.
 *
 * The calls go through to the real ones. Set the fields before use; close and unmap never fail. */
#pragma once

#include "store/local/sys.h"

#include <stdatomic.h>
#include <stdbool.h>

/* What a file system or kernel may not offer; refused with the errno that it would give. */
#define FAIL_SYS_NO_OPENAT2 (1u << 0)
#define FAIL_SYS_NO_TMPFILE (1u << 1)
#define FAIL_SYS_NO_LINK (1u << 2)
#define FAIL_SYS_NO_NOREPLACE (1u << 3)
#define FAIL_SYS_NO_FLOCK (1u << 4)
#define FAIL_SYS_NO_MAP (1u << 5) /* a process may have no more */
#define FAIL_SYS_NO_CHOWN (1u << 6)

typedef struct fail_sys {
	shd_sys sys; /* first: hand out &f.sys */
	unsigned refuse;
	bool stutter;     /* reads and writes move a few bytes at most, and every third call is interrupted */
	const char *only; /* count only calls of this name ("pwrite"), NULL: all */
	int os_errno;     /* of the failure */
	_Atomic long countdown;
	_Atomic bool hit;
	_Atomic unsigned long calls;
} fail_sys;

void fail_sys_init(fail_sys *f);
/* 1 = the next call that counts fails with this errno; 0 = none. */
void fail_sys_at(fail_sys *f, long nth, const char *only, int os_errno);

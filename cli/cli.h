/* cli/cli.h - what every command is given, and how it fails. */
#pragma once

#include "base/out.h"

#include <sherd/group.h>
#include <sherd/pool.h>
#include <sherd/progress.h>

typedef struct cli_state {
	cli_out out;
	sherd_pool *pool;        /* opened by main with --workers threads */
	sherd_progress progress; /* counts bytes: draws the bar */
	sherd_progress waiting;  /* counts other things: only notices the interruption */
	sherd_group *group;      /* of the ranks that MPI started; NULL: this process works by itself */
	void (*group_end)(sherd_group *group);
} cli_state;

/* Exit statuses; docs/errors.md tells which code of the library gives which. */
enum { EXIT_FINE = 0, EXIT_BAD_DATA = 1, EXIT_USAGE = 2, EXIT_MISSING = 3, EXIT_SYSTEM = 4, EXIT_INTERRUPTED = 130 };

int cli_status(sherd_status code);

/* reason is a string literal. */
__attribute__((format(printf, 4, 5))) void cli_fill(sherd_error *err, sherd_status code, const char *reason,
                                                    const char *fmt, ...);

/* Fills err and yields the code, so that failing is one statement. */
#define cli_fail(err, code, reason, ...) (cli_fill(err, code, reason, __VA_ARGS__), (int)(code))
#define cli_no_memory(err) cli_fail(err, SHERD_ENOMEM, "no-memory", "out of memory")
#define cli_usage(err, ...) cli_fail(err, SHERD_EINVAL, "usage", __VA_ARGS__)

#define TRY(call)                       \
	do {                            \
		int try_rc_ = (call);   \
		if (try_rc_ < 0)        \
			return try_rc_; \
	} while (0)

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

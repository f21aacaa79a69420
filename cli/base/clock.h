/* cli/base/clock.h - when a set is written, and the id that follows from it. */
#pragma once

#include "cli.h"
#include "base/place.h"

#include <sherd/ckpt.h>

typedef struct cli_clock {
	int64_t time_ns; /* since 1970 UTC */
	bool fixed;      /* SOURCE_DATE_EPOCH was set: the same input is to give the same bytes */
} cli_clock;

/* What time it really is, whatever SOURCE_DATE_EPOCH says: to be compared with, never to be written. */
int64_t cli_clock_now(void);
int cli_clock_read(cli_clock *clock, sherd_error *err);
int cli_clock_time(int64_t *time_ns, sherd_error *err); /* only when it is */
/* The id of a set that is about to be saved with these options: random, or with a fixed clock the one that
 * sherd_set_id_derive() gives. */
int cli_clock_set_id(const cli_clock *clock, cli_state *cli, const cli_place *place, const sherd_bundle *bundle,
                     bool cut, const sherd_ckpt_save_options *options, sherd_set_id *out, sherd_error *err);

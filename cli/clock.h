/* cli/clock.h - when a set is written, and the id that follows from it. */
#ifndef SHERD_CLI_CLOCK_H
#define SHERD_CLI_CLOCK_H

#include "cli.h"
#include "place.h"

#include <sherd/ckpt.h>

typedef struct sherd_clock {
	int64_t time_ns; /* since 1970 UTC */
	bool fixed;      /* SOURCE_DATE_EPOCH was set: the same input is to give the same bytes */
} sherd_clock;

int sherd_clock_read(sherd_clock *clock, sherd_error *err);
/* The id that the same time, prefix, world and tensors (names, types, shapes) always give; another one while a set of
 * that id is committed there, since no set replaces itself. */
void sherd_clock_set_id(const sherd_clock *clock, const sherd_place *place, uint32_t world, const sherd_bundle *bundle,
                        sherd_set_id *out);

#endif

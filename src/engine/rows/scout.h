/* engine/rows/scout.h - reading ahead: a second look at the sequence that runs in front of the first. */
#ifndef SHERD_ENGINE_ROWS_SCOUT_H
#define SHERD_ENGINE_ROWS_SCOUT_H

#include "engine/rows/fetch.h"

typedef struct rows_scout {
	rows_sequence sequence;
	rows_pick pick;
	uint64_t bytes; /* that were hinted at and not delivered yet */
	bool idle;      /* the order jumps about: there is nothing to hint at */
} rows_scout;

void sherd_rows_scout_init(rows_scout *s, const rows_sequence *sequence);
void sherd_rows_scout_done(rows_scout *s);
/* A batch of so many bytes was taken: hints at what follows until the window is full again. */
int sherd_rows_scout_follow(rows_scout *s, rows_fetch *f, uint64_t taken, sherd_error *err);

#endif

/* engine/rows/scout.h - reading ahead: a second look at the sequence that runs in front of the first.
 *
 * Only decides what to hint at, so that it can be asked under a lock. */
#ifndef SHERD_ENGINE_ROWS_SCOUT_H
#define SHERD_ENGINE_ROWS_SCOUT_H

#include "engine/rows/fetch.h"

/* Hints that one batch may bring; what does not fit comes with the next batch. */
#define ROWS_HINTS 16

typedef struct rows_hints {
	size_t count;
	struct {
		uint64_t first, count; /* rows */
	} ranges[ROWS_HINTS];
} rows_hints;

typedef struct rows_scout {
	rows_sequence sequence;
	rows_pick pick;  /* the batch that it has come to; its first rows may have been hinted at */
	uint64_t window; /* in rows */
	uint64_t ahead;  /* rows that were hinted at and not taken yet */
	bool idle;       /* the order jumps about, or there is nothing left to hint at */
} rows_scout;

void sherd_rows_scout_init(rows_scout *s, const rows_sequence *sequence, uint64_t window_bytes);
/* This batch was taken: what to hint at now, so that the window is full again. */
void sherd_rows_scout_follow(rows_scout *s, const rows_pick *taken, rows_hints *out);
void sherd_rows_scout_hint(const rows_hints *hints, rows_fetch *f);

#endif

/* engine/rows/scout.h - reading ahead: a second look at the sequence that runs in front of the first.
 *
 * Only decides what is needed soon, so that it can be asked under a lock. */
#pragma once

#include "engine/rows/sequence.h"

typedef struct rows_hint {
	uint64_t first, count; /* rows */
} rows_hint;

typedef struct rows_hints {
	SHD_VEC(rows_hint) list; /* what there is no memory for is not hinted at */
	bool single;             /* rows here and there */
} rows_hints;

typedef struct rows_scout {
	rows_sequence sequence;
	rows_pick pick;  /* the batch that it has come to */
	size_t at;       /* rows of it that are dealt with */
	uint64_t window; /* in rows */
	uint64_t ahead;  /* rows that were hinted at and not taken yet */
	bool single;     /* batches are rows here and there */
	bool idle;       /* there is nothing left to look at, or it would cost too much */
} rows_scout;

/* Into zeroes, or where a scout was. */
void shd_rows_scout_init(rows_scout *s, const rows_sequence *sequence, uint64_t window_bytes);
void shd_rows_scout_done(rows_scout *s);
/* This batch was taken: what to hint at now, so that the window is full again. */
void shd_rows_scout_follow(rows_scout *s, const rows_pick *taken, rows_hints *out);
/* The next row that is needed, of a sequence in order; false at the end. */
bool shd_rows_scout_next(rows_scout *s, uint64_t *row);
/* Takes the rows that are needed next as far as they go on from this one, lie below end and are not too many. */
uint64_t shd_rows_scout_take(rows_scout *s, uint64_t row, uint64_t end, uint64_t most);

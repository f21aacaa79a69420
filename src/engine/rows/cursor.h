/* engine/rows/cursor.h - what a cursor is made of. */
#ifndef SHD_ENGINE_ROWS_CURSOR_H
#define SHD_ENGINE_ROWS_CURSOR_H

#include "engine/rows/fetch.h"

struct sherd_rows_cursor {
	rows_sequence sequence;
	rows_pick pick;
	rows_fetch fetch;
	rows_checked *checked; /* or NULL */
	rows_scout scout;
	rows_hints hints;
};

#endif

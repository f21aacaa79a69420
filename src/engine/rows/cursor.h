/* engine/rows/cursor.h - what a cursor is made of. */
#pragma once

#include "engine/rows/fetch.h"

struct sherd_rows_cursor {
	rows_sequence sequence;
	rows_pick pick;
	rows_fetch fetch;
	rows_checked *checked; /* or NULL */
	rows_scout scout;
	rows_hints hints;
};

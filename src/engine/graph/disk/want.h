/* engine/graph/disk/want.h - what a row needs, asked for together.
 *
 * A row lies in several columns, and its strings in two more places each. In a file that memory does not hold, touching
 * them one after the other waits for the disk as often; these ask for all that is known of at a time. Of segments that
 * are small, or of rows that are in memory, they ask for nothing. */
#pragma once

#include "engine/graph/disk/segment.h"

/* The columns of a row. */
void shd_graph_segment_want(const graph_segment *s, uint64_t row);
/* After that: its strings. For who reads one row: asking costs a call of the system. */
void shd_graph_segment_want_texts(const graph_segment *s, uint64_t row);

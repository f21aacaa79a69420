/* engine/rows/pieces.h - what a stream in order needs next, and what of it was asked for past the page cache.
 *
 * A ring of pieces in the order in which they are needed, whatever shard they are
 * of. What is in memory already is not asked for; its pieces only hold the place. */
#pragma once

#include "engine/rows/scout.h"
#include "engine/rows/shards.h"

#define ROWS_PIECES 64

typedef struct rows_piece {
	size_t shard;
	uint64_t from, to;          /* bytes of its payload that are left */
	const sherd_reader *reader; /* that it was asked of; NULL: it is read like anything else */
} rows_piece;

typedef struct rows_pieces {
	uint64_t window; /* bytes that the ring may hold */
	bool probe;      /* what is in memory is not asked for */
	bool lost;       /* something was forgotten: nothing is asked for any more */
	uint64_t closed; /* shards that had been closed when this was last looked at */
	sherd_queue *queue;
	rows_piece ring[ROWS_PIECES];
	unsigned first, count;
	uint64_t ahead;      /* bytes in the ring */
	rows_piece run;      /* what comes next and is not in it */
	const uint8_t *data; /* of the first piece, from its beginning on; NULL when it has not been waited for */
} rows_pieces;

/* Fills up the ring, then gives the piece at this place of a shard, and its bytes if it was queued. *out is NULL when
 * the scout did not come by here. */
int shd_rows_pieces_front(rows_pieces *p, rows_shards *shards, rows_scout *scout, size_t shard, uint64_t at,
                          const rows_piece **out, const uint8_t **data, sherd_error *err);
/* So much of the first piece was used. */
void shd_rows_pieces_use(rows_pieces *p, uint64_t bytes);
/* Forgets everything. */
void shd_rows_pieces_drop(rows_pieces *p);
/* Tells once that something was forgotten: the scout has to go back to where the stream stands. */
bool shd_rows_pieces_lost(rows_pieces *p);

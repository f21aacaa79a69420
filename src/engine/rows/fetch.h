/* engine/rows/fetch.h - the bytes of batches: read ahead, converted, let go behind.
 *
 * What a stream keeps resident, whatever the size of the set: the batch that the
 * caller has, a few steps of a map around the place where it is read, one buffer,
 * and the window where it is read past the page cache. */
#pragma once

#include "engine/rows/checked.h"
#include "engine/rows/pieces.h"
#include "engine/rows/scout.h"
#include "engine/rows/shards.h"

/* What of a map is resident: bytes gone .. present of a shard's payload, of which those before used are done with. */
typedef struct rows_residence {
	size_t shard;
	uint64_t gone, used, present;
} rows_residence;

typedef struct rows_fetch {
	const sherd_rows *rows;
	sherd_dtype dtype;       /* as delivered */
	uint64_t stored, wanted; /* bytes of a value in the file, and as delivered */
	bool queue;              /* what is read in order comes through the queue, unless probing says better not */
	bool keep;               /* the window holds the whole set: nothing is let go */
	bool onward;             /* what follows a batch in the file is needed next */
	uint64_t window;
	sherd_pool *pool;
	rows_checked *checked; /* NULL: nothing is verified. Not its own */
	rows_shards shards;
	rows_pieces pieces;
	rows_residence here;
	const void *seen; /* the view that was handed out last; NULL: none, or what it shows was checked */
	size_t seen_bytes;
	void *out; /* what is handed out when it is a copy */
	size_t out_size;
	uint8_t *raw; /* stored values on their way */
	void *sorted; /* ids with their places */
	size_t sorted_size;
} rows_fetch;

/* Fails when the options ask for maps and the store has none. */
int shd_rows_fetch_init(rows_fetch *f, const sherd_rows *rows, const sherd_rows_stream_options *options,
                        sherd_error *err);
void shd_rows_fetch_done(rows_fetch *f);
/* From now on what is delivered was verified before. */
void shd_rows_fetch_verify(rows_fetch *f, rows_checked *checked);
/* The stream begins again, or elsewhere: what was asked for ahead is forgotten. again: at its beginning. */
void shd_rows_fetch_restart(rows_fetch *f, bool again);
/* Brings the rows of a pick; what it hands out is valid until the next call. scout: the one that
 * shd_rows_fetch_follow() had for this pick; NULL: what follows goes to others. */
int shd_rows_fetch_pick(rows_fetch *f, const rows_pick *pick, rows_scout *scout, sherd_rows_batch *out,
                        sherd_error *err);
/* At the end: was all that was handed out what the files hold? */
int shd_rows_fetch_settle(rows_fetch *f, sherd_error *err);
/* Copies rows by id to where the caller wants them. */
int shd_rows_fetch_ids(rows_fetch *f, const uint64_t *ids, size_t count, void *out, sherd_error *err);
/* Before a pick: asks for what comes after it. before: where the sequence stood in front of it. */
void shd_rows_fetch_follow(rows_fetch *f, const rows_pick *pick, const rows_sequence *before, rows_scout *scout,
                           rows_hints *hints);
/* Hints at rows that will be picked soon. A shard that cannot be opened yet is no failure yet. */
void shd_rows_fetch_ahead(rows_fetch *f, const rows_hints *hints);

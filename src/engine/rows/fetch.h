/* engine/rows/fetch.h - the bytes of batches: open shards, read ahead, let go behind.
 *
 * What a stream keeps resident, whatever the size of the set: the batch that the
 * caller has, a few steps of a map around the place where it is read, one buffer.
 * The window is read ahead into the page cache, which is not the process's own. */
#ifndef SHERD_ENGINE_ROWS_FETCH_H
#define SHERD_ENGINE_ROWS_FETCH_H

#include "engine/rows/sequence.h"

/* Shards that are open at a time, found by their number modulo this. */
#define ROWS_OPEN 64

typedef struct rows_open_shard {
	sherd_reader *reader;
	size_t shard;
	const uint8_t *map; /* of the payload, or NULL */
} rows_open_shard;

/* What of a map is resident: bytes gone .. present of a shard's payload, of which those before used are done with. */
typedef struct rows_residence {
	size_t shard;
	uint64_t gone, used, present;
} rows_residence;

/* Where a direct read of a shard stands. */
typedef struct rows_scan {
	sherd_scan *scan; /* NULL: none */
	size_t shard;
	uint64_t at;         /* of the file: the first of the bytes at hand */
	const uint8_t *data; /* bytes at hand */
	size_t left;
} rows_scan;

typedef struct rows_fetch {
	const sherd_rows *rows;
	sherd_dtype dtype;
	bool map;
	bool direct; /* what is read in order is read past the cache */
	bool keep;   /* the window holds the whole set: nothing is let go */
	bool onward; /* what follows a batch in the file is needed next */
	uint64_t window;
	rows_open_shard open[ROWS_OPEN];
	rows_residence here;
	rows_scan scan;
	void *out; /* what is handed out when it is a copy */
	size_t out_size;
	float *raw;   /* stored values on their way */
	void *sorted; /* ids with their places */
	size_t sorted_size;
} rows_fetch;

/* Fails when the options ask for maps and the store has none. */
int sherd_rows_fetch_init(rows_fetch *f, const sherd_rows *rows, const sherd_rows_stream *options, sherd_error *err);
void sherd_rows_fetch_done(rows_fetch *f);
/* Brings the rows of a pick; what it hands out is valid until the next call. */
int sherd_rows_fetch_pick(rows_fetch *f, const rows_pick *pick, sherd_rows_batch *out, sherd_error *err);
/* Hints at rows that will be picked soon. A shard that cannot be opened yet is no failure yet. */
void sherd_rows_fetch_ahead(rows_fetch *f, uint64_t first, uint64_t count);
/* Copies rows by id to where the caller wants them. */
int sherd_rows_fetch_ids(rows_fetch *f, const uint64_t *ids, size_t count, void *out, sherd_error *err);
/* The shard that is open in this place is the one that was meant, or "residency": wrong rows are never delivered. */
int sherd_rows_check_residency(size_t cursor_shard, size_t front_shard, sherd_error *err);

#endif

/* engine/rows/fetch.h - the bytes of batches: open shards, read ahead, let go behind. */
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

typedef struct rows_fetch {
	const sherd_rows *rows;
	sherd_dtype dtype;
	bool map;
	uint64_t window;
	rows_open_shard open[ROWS_OPEN];
	void *out; /* what is handed out when it is a copy */
	size_t out_size;
	float *raw;   /* stored values on their way, RAW_BYTES of them or one row */
	void *sorted; /* ids with their places */
	size_t sorted_size;
	/* The straight batch that was handed out last, to be let go. */
	uint64_t held_first, held_count;
	uint64_t touched; /* bytes of maps that single rows made resident */
} rows_fetch;

void sherd_rows_fetch_init(rows_fetch *f, const sherd_rows *rows, const sherd_rows_stream *options);
void sherd_rows_fetch_done(rows_fetch *f);
/* Brings the rows of a pick; what it hands out is valid until the next call. */
int sherd_rows_fetch_pick(rows_fetch *f, const rows_pick *pick, sherd_rows_batch *out, sherd_error *err);
/* Hints at rows that will be picked soon. */
int sherd_rows_fetch_ahead(rows_fetch *f, uint64_t first, uint64_t count, sherd_error *err);
/* Copies rows by id to where the caller wants them. */
int sherd_rows_fetch_ids(rows_fetch *f, const uint64_t *ids, size_t count, void *out, sherd_error *err);
/* The shard that is open in this place is the one that was meant, or "residency": wrong rows are never delivered. */
int sherd_rows_check_residency(size_t cursor_shard, size_t front_shard, sherd_error *err);

#endif

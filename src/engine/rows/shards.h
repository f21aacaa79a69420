/* engine/rows/shards.h - the shards that a stream has open. */
#pragma once

#include "engine/rows/rows.h"

/* Shards that are open at a time; and how many of them may be ahead of the one that is read. */
#define ROWS_OPEN 64
#define ROWS_OPEN_AHEAD (ROWS_OPEN / 4)

typedef struct rows_open_shard {
	sherd_reader *reader;
	size_t shard;
	const uint8_t *map; /* of the payload, or NULL */
	bool lent;          /* bytes of it were used since it was last checked */
	uint64_t used;      /* when, in looks */
} rows_open_shard;

typedef struct rows_shards {
	const sherd_rows *rows;
	bool map;               /* shards are mapped */
	uint64_t looks, closed; /* how many were looked for, and closed */
	rows_open_shard open[ROWS_OPEN];
	rows_open_shard *last;
} rows_shards;

void shd_rows_shards_done(rows_shards *s);
/* The shard that holds a row, opened if need be in place of the one that was not used for longest; and where the row
 * begins in its payload. */
int shd_rows_shards_find(rows_shards *s, uint64_t row, const rows_open_shard **out, uint64_t *offset, sherd_error *err);
/* The shard if it is open, or NULL. */
const rows_open_shard *shd_rows_shards_peek(const rows_shards *s, size_t shard);
/* Is what was used of maps still what the files hold? */
int shd_rows_shards_check(rows_shards *s, sherd_error *err);
/* A hint about bytes from .. to of a payload. */
void shd_rows_shards_advise(const rows_shards *s, const rows_open_shard *shard, uint64_t from, uint64_t to,
                            sherd_advice advice);
/* The shard that is open in this place is the one that was meant, or "residency": wrong rows are never delivered. */
int shd_rows_check_residency(size_t cursor_shard, size_t front_shard, sherd_error *err);

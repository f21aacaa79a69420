/* engine/rows/rows.h - an open set of rows. */
#ifndef SHERD_ENGINE_ROWS_ROWS_H
#define SHERD_ENGINE_ROWS_ROWS_H

#include "base/arena.h"
#include "base/error.h"

#include <sherd/rows.h>

struct sherd_rows {
	sherd_store *store;
	sherd_arena arena;
	sherd_rows_shard *shards;
	size_t count;
	uint64_t total, width;
	uint64_t row_bytes;  /* as stored */
	sherd_dtype dtype;   /* as stored */
	uint64_t head_bytes; /* before the rows of every shard */
	const char **left_out;
	size_t left_out_count;
	bool has_manifest;
};

/* The shard that holds a row; row < total. */
size_t sherd_rows_shard_of(const sherd_rows *rows, uint64_t row);

#endif

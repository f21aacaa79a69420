/* engine/rows/shard_out.h - one shard on its way to a store.
 *
 * The head of GAMSAE01 says how many rows follow, and the hash covers it. So a
 * shard is begun with the number that is expected; should there be fewer in the
 * end, the head is filled in again and the file is hashed once it is there. */
#pragma once

#include "engine/rows/sums.h"

#include <sherd/store.h>

typedef struct rows_shard_out {
	sherd_store *store;
	const char *key; /* borrowed */
	const shd_rows_kind *kind;
	sherd_writer *writer; /* NULL: none is open */
	uint64_t width, row_bytes, expected, rows;
	rows_sums sums;
} rows_shard_out;

/* Nothing has to be undone when it fails. expected * width values must fit 63 bits. like: the key of an
 * object whose permissions it gets, or NULL. identity: where the commit tells that of the file, as in
 * sherd_write_options; or NULL. */
int shd_rows_shard_begin(rows_shard_out *out, sherd_store *store, const char *key, sherd_dtype dtype, uint64_t width,
                         uint64_t expected, const char *like, char *identity, sherd_error *err);
/* Whole rows as stored, at most as many as are still expected. */
int shd_rows_shard_put(rows_shard_out *out, const void *values, size_t rows, sherd_error *err);
/* Gives the file its name and fills in all of the entry but that. After a failure the file may be there. */
int shd_rows_shard_commit(rows_shard_out *out, shd_arena *arena, shd_rows_entry *entry, sherd_error *err);
void shd_rows_shard_abort(rows_shard_out *out); /* also when none is open */

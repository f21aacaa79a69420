/* format/rfdb/sort.h - rows in the order of their 128-bit keys. */
#pragma once

#include "base/u128.h"

typedef struct shd_rfdb_keyed {
	uint64_t high, low; /* of the key */
	uint64_t row;
} shd_rfdb_keyed;

static inline shd_rfdb_keyed shd_rfdb_keyed_of(shd_u128 key, uint64_t row)
{
	return (shd_rfdb_keyed){(uint64_t)(key >> 64), (uint64_t)key, row};
}

/* Ascending by key, then by row. Near-linear for keys that are hashes; needs as much memory again. */
int shd_rfdb_sort(shd_rfdb_keyed *items, size_t count, sherd_error *err);

/* The rows of a column of 16-byte ids in the order of these, then of the rows; out has room for all. The same kind of
 * sort, with less to move. */
int shd_rfdb_order(const uint8_t *ids, uint32_t rows, uint8_t *out, sherd_error *err);

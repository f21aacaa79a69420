/* format/rfdb/sort.h - rows in the order of their 128-bit keys. */
#ifndef SHERD_FORMAT_RFDB_SORT_H
#define SHERD_FORMAT_RFDB_SORT_H

#include "base/u128.h"

typedef struct sherd_rfdb_keyed {
	uint64_t high, low; /* of the key */
	uint64_t row;
} sherd_rfdb_keyed;

static inline sherd_rfdb_keyed sherd_rfdb_keyed_of(sherd_u128 key, uint64_t row)
{
	return (sherd_rfdb_keyed){(uint64_t)(key >> 64), (uint64_t)key, row};
}

/* Ascending by key, then by row. Near-linear for keys that are hashes; needs as much memory again. */
int sherd_rfdb_sort(sherd_rfdb_keyed *items, size_t count, sherd_error *err);

/* The rows of a column of 16-byte ids in the order of these, then of the rows; out has room for all. The same kind of
 * sort, with less to move. */
int sherd_rfdb_order(const uint8_t *ids, uint32_t rows, uint8_t *out, sherd_error *err);

#endif

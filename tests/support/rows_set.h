/* tests/support/rows_set.h - sets of rows whose values are known from the row's id. */
#pragma once

#include <sherd/rows.h>

/* The bits of a stored value: any pattern occurs, NaNs and denormals too. */
uint32_t rows_set_bits(uint64_t id, uint64_t column);
/* A shard of rows first, first + 1, ...; extra bytes follow the payload. What cannot be done fails the test. */
void rows_set_put(sherd_store *store, const char *key, uint64_t first, uint64_t rows, uint64_t width, size_t extra);
/* A head alone, whatever it says, and bytes behind it. */
void rows_set_put_head(sherd_store *store, const char *key, uint64_t rows, uint64_t width, uint32_t dtype,
                       uint32_t reserved, size_t payload);
/* Shards part-00000.shard, ... of these many rows in a folder. */
void rows_set_make(sherd_store *store, const char *folder, const uint64_t *rows, size_t shards, uint64_t width);

/* The same with a manifest of this version, of shards of F32, F16 or BF16; of the latter two the bits of a value are
 * the lower half of rows_set_bits(). A set that is there is replaced, and has grown when it begins with the same
 * shards. */
void rows_set_make_listed(sherd_store *store, const char *folder, sherd_dtype dtype, unsigned version,
                          const uint64_t *rows, size_t shards, uint64_t width);

/* Is row i of the batch this one, bit for bit? */
bool rows_set_is_row(const sherd_rows_batch *batch, size_t i, uint64_t id);
/* Fails the test unless the batch is these rows: ids, or first and up when NULL. */
void assert_rows(const sherd_rows_batch *batch, const uint64_t *ids, uint64_t first, size_t count);
uint64_t rows_batch_id(const sherd_rows_batch *batch, size_t i);

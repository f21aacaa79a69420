/* engine/rows/checked.h - which parts of a set were found to be what its manifest says, for streams that verify.
 *
 * A part is a block of SHD_ROWS_BLOCK bytes of a shard's values that has a CRC-32 in the manifest, or a whole shard
 * where there is only its SHA-256. Each is read once more than it is delivered, before its first row is. Usable from
 * several threads at once: slots of a dispenser share one; two of them may check the same part, and find the same. */
#pragma once

#include "engine/rows/shards.h"

typedef struct rows_checked rows_checked;

/* SHERD_EUNSUPPORTED, "no-checksum", where nothing is recorded. */
int shd_rows_checked_open(rows_checked **out, const sherd_rows *rows, sherd_error *err);
void shd_rows_checked_close(rows_checked *c); /* NULL is fine */
/* The parts that bytes from .. to of the shard's payload lie in. Errors name the shard and the first byte of the part:
 * "bad-crc", "bad-checksum". */
int shd_rows_checked_range(rows_checked *c, const rows_open_shard *s, uint64_t from, uint64_t to, sherd_error *err);

/* engine/rows/sums.h - the checksums of one shard: SHA-256 of the file, CRC-32 of every block of its values. */
#pragma once

#include "base/meter.h"
#include "format/rows/manifest.h"

#include <sherd/store.h>

typedef struct rows_sums {
	uint64_t head; /* bytes that are left before the values */
	shd_sha256 sha;
	uint8_t sha256[SHD_SHA256_BYTES]; /* once it is finished */
	uint32_t crc;
	uint64_t in_block; /* bytes that crc covers */
	SHD_VEC(uint32_t) crcs;
} rows_sums;

void shd_rows_sums_init(rows_sums *sums, uint64_t head);
void shd_rows_sums_add(rows_sums *sums, const void *bytes, size_t len); /* the next bytes of the file */
int shd_rows_sums_finish(rows_sums *sums, sherd_error *err);
void shd_rows_sums_done(rows_sums *sums);
/* Of the first bytes of an object. meter may be NULL. */
int shd_rows_sums_read(rows_sums *out, const sherd_reader *reader, uint64_t head, uint64_t bytes, shd_meter *meter,
                       sherd_error *err);
/* The number of the first block whose CRC-32 is not that of the entry; SIZE_MAX when there is
 * none, or none are recorded. */
size_t shd_rows_sums_differ(const rows_sums *sums, const shd_rows_entry *entry);

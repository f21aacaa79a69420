/* format/rfdb/bloom.h - the filter of a segment: which ids it surely does not have. docs/formats/rfdb.md, "Bloom
 * filter".
 *
 *	off  size  field
 *	0    8     B, number of bits, a multiple of 64
 *	8    4     k, probes for each id: 7
 *	12   4     0
 *	16   B/8   64-bit words; bit p is bit p % 64 of word p / 64
 */
#pragma once

#include "base/u128.h"

#define SHD_RFDB_BLOOM_HEAD 16
#define SHD_RFDB_BLOOM_PROBES 7

/* A view into the segment. */
typedef struct shd_rfdb_bloom {
	const uint8_t *words;
	uint64_t bits;
	uint64_t wrap; /* 2^64 modulo bits */
	uint32_t probes;
} shd_rfdb_bloom;

/* Takes the filter at the cursor. Offsets of errors count from the cursor's start. "bad-index", "truncated". */
int shd_rfdb_bloom_decode(shd_cursor *c, shd_rfdb_bloom *out, sherd_error *err);
/* May the id be there? */
bool shd_rfdb_bloom_has(const shd_rfdb_bloom *bloom, shd_u128 id);

/* Bytes of the filter for so many rows (below 2^57), head included. */
uint64_t shd_rfdb_bloom_size(uint64_t rows);
/* The filter of the rows, whose ids lie after one another, 16 bytes each; out has shd_rfdb_bloom_size(rows). */
void shd_rfdb_bloom_encode(const uint8_t *ids, uint64_t rows, uint8_t *out);

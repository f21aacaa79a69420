/* format/rfdb/run.h - one index over many segments: where the rows of an id, a source, a destination, a name and a file
 * stand. docs/formats/rfdb.md, "Run".
 *
 *	off  size  field
 *	0    8     "SHERDRUN"
 *	8    2     version, 1
 *	10   2     bit 0: no id of a node is in two members; bit 1: no source is
 *	12   4     S, number of members
 *	16   8     size of the file
 *	24   8     seed of the hashes
 *	32   5*8   entries of each table
 *	72   4     CRC-32 of the members
 *	76   48    0
 *	124  4     CRC-32 of the 124 bytes before
 *	128  64*S  members: u64 number, u64 size, u32 rows, u32 shard, u8 kind, 7 zeros, SHA-256
 *	...        zeros up to a multiple of 4096; the pages of each table; for each table the fences of its pages, u32
 *	           each, and their CRC-32
 *
 * A page: u32 CRC-32 of what follows, u16 entries, u16 table, 680 u16 tags, 680 u32 rows, u64 number of the page in the
 * file. A row is counted through all members of its kind. */
#pragma once

#include "codec/sha256.h"
#include "format/rfdb/segment.h"

#include <sherd/pool.h>

#define SHD_RFDB_RUN_HEAD 128
#define SHD_RFDB_RUN_PAGE 4096
#define SHD_RFDB_RUN_ENTRIES 680 /* of a page */

typedef enum shd_rfdb_run_table {
	SHD_RFDB_RUN_IDS = 0,
	SHD_RFDB_RUN_SOURCES = 1, /* the first row of each source */
	SHD_RFDB_RUN_DESTINATIONS = 2,
	SHD_RFDB_RUN_NAMES = 3,
	SHD_RFDB_RUN_FILES = 4,
	SHD_RFDB_RUN_TABLES = 5
} shd_rfdb_run_table;

/* A segment that a run covers. */
typedef struct shd_rfdb_member {
	uint64_t id, size;
	uint32_t rows, shard;
	shd_rfdb_kind kind;
	uint8_t sha256[SHD_SHA256_BYTES];
	uint64_t first; /* rows of its kind in the members before */
} shd_rfdb_member;

typedef struct shd_rfdb_pages {
	uint64_t entries, count; /* count: of pages */
	uint64_t first;          /* number of the first page in the file */
	uint64_t fences;         /* offset in the file */
} shd_rfdb_pages;

/* A view of the head; the bytes are borrowed, the members are not. */
typedef struct shd_rfdb_table_run {
	const uint8_t *data;
	uint64_t size;
	uint64_t seed;
	bool unique[2]; /* by kind: no id (source) is in two members */
	shd_rfdb_member *members;
	size_t member_count;
	shd_rfdb_pages tables[SHD_RFDB_RUN_TABLES];
} shd_rfdb_table_run;

/* Looks at the head and the members alone. Reasons: "bad-magic", "bad-version" (SHERD_EVERSION), "bad-crc", "bad-type",
 * "bad-count", "bad-length", "bad-head", "truncated". */
int shd_rfdb_run_open(const void *data, uint64_t size, shd_rfdb_table_run *out, sherd_error *err);
void shd_rfdb_run_done(shd_rfdb_table_run *r);

/* The fences of a table, which must be whole ("bad-crc"); free() them. */
int shd_rfdb_run_fences(const shd_rfdb_table_run *r, shd_rfdb_run_table table, uint32_t **out, sherd_error *err);
/* Is a page whole, and the one that should stand there? */
bool shd_rfdb_run_whole(const shd_rfdb_table_run *r, shd_rfdb_run_table table, uint64_t page);

uint64_t shd_rfdb_run_hash_id(uint64_t seed, shd_u128 id);
uint64_t shd_rfdb_run_hash_text(uint64_t seed, shd_str text);

/* The pages of a table, counted from its first, that may have entries under the hash: *from up to, without, *to. */
void shd_rfdb_run_seek(const shd_rfdb_pages *t, const uint32_t *fences, uint64_t hash, uint64_t *from, uint64_t *to);
/* The next entry of a page from *at on under the hash: its row, and *at stands after it; false when there is none.
 * Others with the same tag may come out too. */
bool shd_rfdb_run_next(const uint8_t *page, uint64_t hash, size_t *at, uint32_t *row);

static inline const uint8_t *shd_rfdb_run_page(const shd_rfdb_table_run *r, shd_rfdb_run_table table, uint64_t page)
{
	return r->data + (r->tables[table].first + page) * SHD_RFDB_RUN_PAGE;
}

/* The kind of rows that a table leads to. */
static inline shd_rfdb_kind shd_rfdb_run_kind(shd_rfdb_run_table table)
{
	return table == SHD_RFDB_RUN_SOURCES || table == SHD_RFDB_RUN_DESTINATIONS ? SHD_RFDB_EDGES : SHD_RFDB_NODES;
}

/* The member of a kind that has a row, and the row in it; NULL when there is none. */
const shd_rfdb_member *shd_rfdb_run_member(const shd_rfdb_table_run *r, shd_rfdb_kind kind, uint32_t row,
                                           uint64_t *inside);

/* ---- making one */

/* A member to be: `about` without first, and its rows, which are sorted. Nodes stand before edges. */
typedef struct shd_rfdb_run_part {
	shd_rfdb_member about;
	const shd_rfdb_segment *rows;
} shd_rfdb_run_part;

typedef struct shd_rfdb_run_plan {
	const shd_rfdb_run_part *parts;
	size_t count;
	sherd_pool *pool;
	uint64_t memory; /* about, for entries that are sorted together; 0: 192 MiB. What comes out does not depend on
	                    it */
	int (*asked)(void *arg, sherd_error *err); /* between steps: is it to go on? or NULL */
	void *arg;
} shd_rfdb_run_plan;

/* Where the bytes go, in order. */
typedef int shd_rfdb_run_sink(void *arg, const void *data, size_t len, sherd_error *err);

/* The size that comes out is *size. The head comes to the sink without the bits at 10 and its CRC-32: when all is done,
 * *head is what belongs there. SHERD_ELIMIT, "too-many-rows", above 2^32-1 rows of one kind. */
int shd_rfdb_run_build(const shd_rfdb_run_plan *plan, shd_rfdb_run_sink *sink, void *arg,
                       uint8_t head[SHD_RFDB_RUN_HEAD], uint64_t *size, sherd_error *err);

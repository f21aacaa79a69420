/* format/rfdb/sidecar.h - what lies beside a segment: its digest, and its rows in other orders.
 * docs/formats/rfdb.md, "Sidecar".
 *
 *	off  size  field
 *	0    8     "SHERDIDX"
 *	8    2     version, 1
 *	10   1     0 nodes, 1 edges
 *	11   1     bit 0: the segment is sorted
 *	12   4     CRC-32 of parts of the segment, to recognise it quickly
 *	16   8     N, rows of the segment, at most 2^32-1
 *	24   8     size of the segment
 *	32   32    SHA-256 of the segment
 *	64   4*24  sections: u64 offset, u64 length (0: not there), u32 CRC-32, u32 0
 *	160  4     CRC-32 of the 160 bytes before
 *	164  4     0
 *	168  ...   sections, each at a multiple of 8
 *
 * Sections of nodes: order by id (unsorted segments only), by type, by file, by name. Of edges: order by source
 * (unsorted only), order by destination, by type, none. An order is N u32 rows. A grouping is u32 number of groups G,
 * u32 0, G u32 string numbers, ascending by the bytes of the strings, G+1 u32 starts, N u32 rows. */
#pragma once

#include "codec/sha256.h"
#include "format/rfdb/segment.h"

#define SHD_RFDB_SIDECAR_HEAD 168

/* A run of rows of the segment, ascending within one key. Numbers from outside: they may be past its end. */
typedef struct shd_rfdb_rows {
	const uint8_t *list;
	uint64_t count;
} shd_rfdb_rows;

static inline uint32_t shd_rfdb_rows_at(shd_rfdb_rows rows, uint64_t i)
{
	return shd_get_u32(rows.list + 4 * i);
}

/* Rows by the string that a column has. */
typedef struct shd_rfdb_groups {
	const uint8_t *keys, *starts;
	shd_rfdb_rows rows; /* all, one group after the other */
	uint32_t count;
	shd_rfdb_column column;
} shd_rfdb_groups;

/* A view; borrows the bytes. */
typedef struct shd_rfdb_sidecar {
	const uint8_t *data;
	size_t size;
	shd_rfdb_kind kind;
	bool sorted; /* the segment is: then there is no by_id */
	uint64_t rows;
	uint64_t segment_size;
	uint8_t segment_sha256[SHD_SHA256_BYTES];
	uint32_t quick;                            /* see shd_rfdb_sidecar_fits() */
	shd_rfdb_rows by_id;                       /* by id, by source */
	shd_rfdb_rows by_dst;                      /* edges only */
	shd_rfdb_groups by_type, by_file, by_name; /* files and names of nodes only */
} shd_rfdb_sidecar;

/* Looks at the head alone, which must be whole, and at the heads of the groupings. Reasons: "bad-magic", "bad-version"
 * (SHERD_EVERSION), "bad-crc", "bad-type", "bad-count", "bad-offsets", "truncated". */
int shd_rfdb_sidecar_open(const void *data, size_t size, shd_rfdb_sidecar *out, sherd_error *err);
/* Does it belong to this segment? Compares kind, rows, size and a CRC over the first and the last 4 KiB of the segment
 * and the first 4 KiB of its Bloom filter: enough to notice an id that was used again, not to notice every damage. */
bool shd_rfdb_sidecar_fits(const shd_rfdb_sidecar *x, const shd_rfdb_segment *s);
/* Every CRC; nothing but zeros between sections; orders and groupings have each row once, as the segment has it, and
 * the SHA-256 of the segment is right. Costs a pass over both. sha256: of the segment, if it is known; else NULL. */
int shd_rfdb_sidecar_check(const shd_rfdb_sidecar *x, const shd_rfdb_segment *s, const uint8_t *sha256,
                           sherd_error *err);
/* The CRC of one section of the view alone (any list of it), a pass over that section: before its first use. */
int shd_rfdb_sidecar_check_rows(const shd_rfdb_sidecar *x, const shd_rfdb_rows *rows, sherd_error *err);

/* Builds the sidecar of a segment into an empty buffer. sha256 is the segment's; NULL: it is computed. Strings that are
 * not there are SHERD_ECORRUPT, "bad-index"; more than 2^32-1 rows are SHERD_ELIMIT, "too-many-rows". */
int shd_rfdb_sidecar_build(const shd_rfdb_segment *s, const uint8_t *sha256, shd_buf *out, sherd_error *err);

/* The first group whose string is not below, g->count when there is none: groups with a prefix stand after it. */
uint32_t shd_rfdb_groups_seek(const shd_rfdb_groups *g, const shd_rfdb_segment *s, shd_str key);
/* Empty when no group has exactly this string. */
shd_rfdb_rows shd_rfdb_groups_find(const shd_rfdb_groups *g, const shd_rfdb_segment *s, shd_str key);
/* A group by number; false when it is damaged (starts that do not ascend, a string that is not there). */
bool shd_rfdb_groups_at(const shd_rfdb_groups *g, const shd_rfdb_segment *s, uint32_t group, shd_str *key,
                        shd_rfdb_rows *rows);

/* The run of rows with this id or source, whether or not the segment is sorted: rows first .. first+count-1 when
 * sorted, else those in list. */
typedef struct shd_rfdb_run {
	shd_rfdb_rows listed; /* list is NULL in a sorted segment */
	uint64_t first, count;
} shd_rfdb_run;
shd_rfdb_run shd_rfdb_sidecar_id(const shd_rfdb_sidecar *x, const shd_rfdb_segment *s, shd_u128 id);
/* The rows that lead to this destination. */
shd_rfdb_rows shd_rfdb_sidecar_dst(const shd_rfdb_sidecar *x, const shd_rfdb_segment *s, shd_u128 dst);

static inline uint64_t shd_rfdb_run_at(const shd_rfdb_run *run, uint64_t i)
{
	return run->listed.list ? shd_rfdb_rows_at(run->listed, i) : run->first + i;
}

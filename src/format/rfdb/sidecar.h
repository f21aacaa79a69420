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
#ifndef SHERD_FORMAT_RFDB_SIDECAR_H
#define SHERD_FORMAT_RFDB_SIDECAR_H

#include "codec/sha256.h"
#include "format/rfdb/segment.h"

#define SHERD_RFDB_SIDECAR_HEAD 168

/* A run of rows of the segment, ascending within one key. Numbers from outside: they may be past its end. */
typedef struct sherd_rfdb_rows {
	const uint8_t *list;
	uint64_t count;
} sherd_rfdb_rows;

static inline uint32_t sherd_rfdb_rows_at(sherd_rfdb_rows rows, uint64_t i)
{
	return sherd_get_u32(rows.list + 4 * i);
}

/* Rows by the string that a column has. */
typedef struct sherd_rfdb_groups {
	const uint8_t *keys, *starts;
	sherd_rfdb_rows rows; /* all, one group after the other */
	uint32_t count;
	sherd_rfdb_column column;
} sherd_rfdb_groups;

/* A view; borrows the bytes. */
typedef struct sherd_rfdb_sidecar {
	const uint8_t *data;
	size_t size;
	sherd_rfdb_kind kind;
	bool sorted; /* the segment is: then there is no by_id */
	uint64_t rows;
	uint64_t segment_size;
	uint8_t segment_sha256[SHERD_SHA256_BYTES];
	uint32_t quick;                              /* see sherd_rfdb_sidecar_fits() */
	sherd_rfdb_rows by_id;                       /* by id, by source */
	sherd_rfdb_rows by_dst;                      /* edges only */
	sherd_rfdb_groups by_type, by_file, by_name; /* files and names of nodes only */
} sherd_rfdb_sidecar;

/* Looks at the head alone, which must be whole, and at the heads of the groupings. Reasons: "bad-magic", "bad-version"
 * (SHERD_EVERSION), "bad-crc", "bad-type", "bad-count", "bad-offsets", "truncated". */
int sherd_rfdb_sidecar_open(const void *data, size_t size, sherd_rfdb_sidecar *out, sherd_error *err);
/* Does it belong to this segment? Compares kind, rows, size and a CRC over the first and the last 4 KiB of the segment
 * and the first 4 KiB of its Bloom filter: enough to notice an id that was used again, not to notice every damage. */
bool sherd_rfdb_sidecar_fits(const sherd_rfdb_sidecar *x, const sherd_rfdb_segment *s);
/* Every CRC; nothing but zeros between sections; orders and groupings have each row once, as the segment has it, and
 * the SHA-256 of the segment is right. Costs a pass over both. */
int sherd_rfdb_sidecar_check(const sherd_rfdb_sidecar *x, const sherd_rfdb_segment *s, sherd_error *err);
/* The CRC of one section of the view alone (any list of it), a pass over that section: before its first use. */
int sherd_rfdb_sidecar_check_rows(const sherd_rfdb_sidecar *x, const sherd_rfdb_rows *rows, sherd_error *err);

/* Builds the sidecar of a segment into an empty buffer. sha256 is the segment's; NULL: it is computed. Strings that are
 * not there are SHERD_ECORRUPT, "bad-index"; more than 2^32-1 rows are SHERD_ELIMIT, "too-many-rows". */
int sherd_rfdb_sidecar_build(const sherd_rfdb_segment *s, const uint8_t *sha256, sherd_buf *out, sherd_error *err);

/* The first group whose string is not below, g->count when there is none: groups with a prefix stand behind it. */
uint32_t sherd_rfdb_groups_seek(const sherd_rfdb_groups *g, const sherd_rfdb_segment *s, sherd_str key);
/* Empty when no group has exactly this string. */
sherd_rfdb_rows sherd_rfdb_groups_find(const sherd_rfdb_groups *g, const sherd_rfdb_segment *s, sherd_str key);
/* A group by number; false when it is damaged (starts that do not ascend, a string that is not there). */
bool sherd_rfdb_groups_at(const sherd_rfdb_groups *g, const sherd_rfdb_segment *s, uint32_t group, sherd_str *key,
                          sherd_rfdb_rows *rows);

/* The run of rows with this id or source, whether or not the segment is sorted: rows first .. first+count-1 when
 * sorted, else those in list. */
typedef struct sherd_rfdb_run {
	sherd_rfdb_rows listed; /* list is NULL in a sorted segment */
	uint64_t first, count;
} sherd_rfdb_run;
sherd_rfdb_run sherd_rfdb_sidecar_id(const sherd_rfdb_sidecar *x, const sherd_rfdb_segment *s, sherd_u128 id);
/* The rows that lead to this destination. */
sherd_rfdb_rows sherd_rfdb_sidecar_dst(const sherd_rfdb_sidecar *x, const sherd_rfdb_segment *s, sherd_u128 dst);

static inline uint64_t sherd_rfdb_run_at(const sherd_rfdb_run *run, uint64_t i)
{
	return run->listed.list ? sherd_rfdb_rows_at(run->listed, i) : run->first + i;
}

#endif

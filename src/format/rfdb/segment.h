/* format/rfdb/segment.h - nodes or edges in columns, read in place. docs/formats/rfdb.md, "Segment".
 *
 *	off            size  field
 *	0              4     "SGV2"
 *	4              2     version, 2
 *	6              1     0 nodes, 1 edges
 *	7              1     0
 *	8              8     N, number of rows
 *	16             8     offset of the footer
 *	24             8     0
 *	32             ...   columns
 *	...                  Bloom filters, zone map, string table
 *	footer         48    u64 offsets of Bloom filter, second Bloom filter (0 for nodes), zone map, string table and
 *	                     of the end of the columns; u32 48; "2RTF"
 *
 * Nodes: u32 semantic id, type, name, file, metadata (each N), zeros up to a multiple of 16, u128 id, u64 content hash.
 * Edges: u128 source, u128 destination, u32 type, u32 metadata.
 *
 * A view costs the same whatever the number of rows: head, footer and the heads of the blocks are checked, rows and
 * strings when they are asked for. It borrows the bytes and is plain memory. */
#pragma once

#include "base/u128.h"
#include "format/rfdb/bloom.h"
#include "format/rfdb/name.h"
#include "format/rfdb/strings.h"
#include "format/rfdb/zone.h"

#define SHD_RFDB_HEAD 32
#define SHD_RFDB_FOOTER 48
#define SHD_RFDB_FOOTER_MAGIC 0x46545232u /* "2RTF" */

/* Columns of strings. */
typedef enum shd_rfdb_column {
	SHD_RFDB_SEMANTIC_ID = 0,
	SHD_RFDB_NODE_TYPE = 1,
	SHD_RFDB_NAME = 2,
	SHD_RFDB_FILE = 3,
	SHD_RFDB_NODE_METADATA = 4,
	SHD_RFDB_EDGE_TYPE = 0,
	SHD_RFDB_EDGE_METADATA = 1,
	SHD_RFDB_COLUMNS = 5
} shd_rfdb_column;

/* Strings are borrowed from the segment, and valid UTF-8. */
typedef struct shd_rfdb_node {
	shd_u128 id;
	uint64_t content_hash;
	shd_str semantic_id, type, name, file, metadata;
} shd_rfdb_node;

typedef struct shd_rfdb_edge {
	shd_u128 src, dst;
	shd_str type, metadata;
} shd_rfdb_edge;

typedef struct shd_rfdb_segment {
	const uint8_t *data;
	size_t size;
	shd_rfdb_kind kind;
	uint64_t rows;
	const uint8_t *text[SHD_RFDB_COLUMNS]; /* u32 each; edges have two */
	const uint8_t *ids;                    /* of nodes: id; of edges: source */
	const uint8_t *dst;                    /* edges only */
	const uint8_t *hashes;                 /* nodes only */
	shd_rfdb_bloom bloom;                  /* of ids */
	shd_rfdb_bloom dst_bloom;              /* edges only */
	shd_rfdb_zone zone;
	shd_rfdb_strings strings;
} shd_rfdb_segment;

/* data must outlive the view. Version 3 is SHERD_EUNSUPPORTED, later ones are SHERD_EVERSION, both "bad-version".
 * Other reasons: "bad-magic", "bad-type", "bad-head", "bad-offsets", "bad-index", "truncated", "trailing-bytes",
 * "overflow". */
int shd_rfdb_segment_open(const void *data, size_t size, shd_rfdb_segment *out, sherd_error *err);
/* Everything else: padding and reserved fields are zero, every row names a string, every string is UTF-8, the zone map
 * is well-formed and has what the rows have, the Bloom filters have every id. Costs a pass over the segment. */
int shd_rfdb_segment_check(const shd_rfdb_segment *s, sherd_error *err);

/* row < s->rows is the caller's to know. */
static inline shd_u128 shd_rfdb_segment_id(const shd_rfdb_segment *s, uint64_t row)
{
	return shd_get_u128(s->ids + 16 * row);
}

static inline shd_u128 shd_rfdb_segment_dst(const shd_rfdb_segment *s, uint64_t row)
{
	return shd_get_u128(s->dst + 16 * row);
}

static inline uint32_t shd_rfdb_segment_string(const shd_rfdb_segment *s, shd_rfdb_column column, uint64_t row)
{
	return shd_get_u32(s->text[column] + 4 * row);
}

/* Rows from outside (a sidecar's) may be passed: past the end is SHERD_ECORRUPT, "out-of-range". A string that is not
 * there is "bad-index", one that is not UTF-8 "bad-utf8". */
int shd_rfdb_segment_node(const shd_rfdb_segment *s, uint64_t row, shd_rfdb_node *out, sherd_error *err);
int shd_rfdb_segment_edge(const shd_rfdb_segment *s, uint64_t row, shd_rfdb_edge *out, sherd_error *err);
/* As these two, without looking at the bytes of the strings: for segments that are known to hold UTF-8. */
int shd_rfdb_segment_peek_node(const shd_rfdb_segment *s, uint64_t row, shd_rfdb_node *out, sherd_error *err);
int shd_rfdb_segment_peek_edge(const shd_rfdb_segment *s, uint64_t row, shd_rfdb_edge *out, sherd_error *err);
/* One string of a row, for comparing: not checked for UTF-8. False when row or string are not there. */
static inline bool shd_rfdb_segment_text(const shd_rfdb_segment *s, shd_rfdb_column column, uint64_t row, shd_str *out)
{
	return row < s->rows && shd_rfdb_strings_get(&s->strings, shd_rfdb_segment_string(s, column, row), out);
}

/* Do the rows ascend: nodes by id, each id once; edges by source, destination, bytes of the type? A pass over them. */
bool shd_rfdb_segment_sorted(const shd_rfdb_segment *s);
/* In a segment that is sorted: the first row whose id (source) is not below; s->rows when there is none. Few steps for
 * ids that are hashes, logarithmic for any. What comes out for a segment that is not sorted means nothing, but is at
 * most s->rows. */
uint64_t shd_rfdb_segment_seek(const shd_rfdb_segment *s, shd_u128 id);

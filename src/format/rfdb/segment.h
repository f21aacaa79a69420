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
#ifndef SHERD_FORMAT_RFDB_SEGMENT_H
#define SHERD_FORMAT_RFDB_SEGMENT_H

#include "base/u128.h"
#include "format/rfdb/bloom.h"
#include "format/rfdb/name.h"
#include "format/rfdb/strings.h"
#include "format/rfdb/zone.h"

#define SHERD_RFDB_HEAD 32
#define SHERD_RFDB_FOOTER 48
#define SHERD_RFDB_FOOTER_MAGIC 0x46545232u /* "2RTF" */

/* Columns of strings. */
typedef enum sherd_rfdb_column {
	SHERD_RFDB_SEMANTIC_ID = 0,
	SHERD_RFDB_NODE_TYPE = 1,
	SHERD_RFDB_NAME = 2,
	SHERD_RFDB_FILE = 3,
	SHERD_RFDB_NODE_METADATA = 4,
	SHERD_RFDB_EDGE_TYPE = 0,
	SHERD_RFDB_EDGE_METADATA = 1,
	SHERD_RFDB_COLUMNS = 5
} sherd_rfdb_column;

/* Strings are borrowed from the segment, and valid UTF-8. */
typedef struct sherd_rfdb_node {
	sherd_u128 id;
	uint64_t content_hash;
	sherd_str semantic_id, type, name, file, metadata;
} sherd_rfdb_node;

typedef struct sherd_rfdb_edge {
	sherd_u128 src, dst;
	sherd_str type, metadata;
} sherd_rfdb_edge;

typedef struct sherd_rfdb_segment {
	const uint8_t *data;
	size_t size;
	sherd_rfdb_kind kind;
	uint64_t rows;
	const uint8_t *text[SHERD_RFDB_COLUMNS]; /* u32 each; edges have two */
	const uint8_t *ids;                      /* of nodes: id; of edges: source */
	const uint8_t *dst;                      /* edges only */
	const uint8_t *hashes;                   /* nodes only */
	sherd_rfdb_bloom bloom;                  /* of ids */
	sherd_rfdb_bloom dst_bloom;              /* edges only */
	sherd_rfdb_zone zone;
	sherd_rfdb_strings strings;
} sherd_rfdb_segment;

/* data must outlive the view. Version 3 is SHERD_EUNSUPPORTED, later ones are SHERD_EVERSION, both "bad-version".
 * Other reasons: "bad-magic", "bad-type", "bad-head", "bad-offsets", "bad-index", "truncated", "trailing-bytes",
 * "overflow". */
int sherd_rfdb_segment_open(const void *data, size_t size, sherd_rfdb_segment *out, sherd_error *err);
/* Everything else: padding and reserved fields are zero, every row names a string, every string is UTF-8, the zone map
 * is well-formed and has what the rows have, the Bloom filters have every id. Costs a pass over the segment. */
int sherd_rfdb_segment_check(const sherd_rfdb_segment *s, sherd_error *err);

/* row < s->rows is the caller's to know. */
static inline sherd_u128 sherd_rfdb_segment_id(const sherd_rfdb_segment *s, uint64_t row)
{
	return sherd_get_u128(s->ids + 16 * row);
}

static inline sherd_u128 sherd_rfdb_segment_dst(const sherd_rfdb_segment *s, uint64_t row)
{
	return sherd_get_u128(s->dst + 16 * row);
}

static inline uint32_t sherd_rfdb_segment_string(const sherd_rfdb_segment *s, sherd_rfdb_column column, uint64_t row)
{
	return sherd_get_u32(s->text[column] + 4 * row);
}

/* Rows from outside (a sidecar's) may be passed: past the end is SHERD_ECORRUPT, "out-of-range". A string that is not
 * there is "bad-index", one that is not UTF-8 "bad-utf8". */
int sherd_rfdb_segment_node(const sherd_rfdb_segment *s, uint64_t row, sherd_rfdb_node *out, sherd_error *err);
int sherd_rfdb_segment_edge(const sherd_rfdb_segment *s, uint64_t row, sherd_rfdb_edge *out, sherd_error *err);
/* As these two, without looking at the bytes of the strings: for segments that are known to hold UTF-8. */
int sherd_rfdb_segment_peek_node(const sherd_rfdb_segment *s, uint64_t row, sherd_rfdb_node *out, sherd_error *err);
int sherd_rfdb_segment_peek_edge(const sherd_rfdb_segment *s, uint64_t row, sherd_rfdb_edge *out, sherd_error *err);
/* One string of a row, for comparing: not checked for UTF-8. False when row or string are not there. */
static inline bool sherd_rfdb_segment_text(const sherd_rfdb_segment *s, sherd_rfdb_column column, uint64_t row,
                                           sherd_str *out)
{
	return row < s->rows && sherd_rfdb_strings_get(&s->strings, sherd_rfdb_segment_string(s, column, row), out);
}

/* Do the rows ascend: nodes by id, each id once; edges by source, destination, bytes of the type? A pass over them. */
bool sherd_rfdb_segment_sorted(const sherd_rfdb_segment *s);
/* In a segment that is sorted: the first row whose id (source) is not below; s->rows when there is none. Few steps for
 * ids that are hashes, logarithmic for any. What comes out for a segment that is not sorted means nothing, but is at
 * most s->rows. */
uint64_t sherd_rfdb_segment_seek(const sherd_rfdb_segment *s, sherd_u128 id);

#endif

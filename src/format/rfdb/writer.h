/* format/rfdb/writer.h - rows into the bytes of a segment. docs/formats/rfdb.md, "Segment".
 *
 * Rows stand in the order in which they are added. The same rows in the same order give the bytes that the real server
 * gives. Memory: the segment, and eight to sixteen bytes for each of its distinct strings. */
#pragma once

#include "format/rfdb/segment.h"

#define SHD_RFDB_RECENT 64

typedef struct shd_rfdb_writer {
	shd_rfdb_kind kind;
	uint64_t rows, room;
	uint8_t *text[SHD_RFDB_COLUMNS], *ids, *dst, *hashes; /* columns as on disk */
	shd_rfdb_intern strings;
	uint32_t last[SHD_RFDB_COLUMNS]; /* strings of the row before */
	shd_buf used;                    /* for each string a byte: which fields of the zone map have it */
	SHD_VEC(uint32_t) zone[2];       /* string numbers of each field's values */
	/* Strings by where they were given from: those that repeat mostly come from one place. */
	struct {
		const char *ptr;
		uint32_t index;
	} recent[SHD_RFDB_RECENT];
} shd_rfdb_writer;

/* Where the bytes of a segment go, in order. */
typedef int shd_rfdb_sink(void *arg, const void *data, size_t len, sherd_error *err);

void shd_rfdb_writer_init(shd_rfdb_writer *w, shd_rfdb_kind kind);
void shd_rfdb_writer_done(shd_rfdb_writer *w);
/* Room for so many rows in all; only to save time. */
int shd_rfdb_writer_reserve(shd_rfdb_writer *w, uint64_t rows, sherd_error *err);
/* Copy what they need. SHERD_ELIMIT, "too-large", when strings would pass 4 GiB: the rows added before can still be
 * finished. Strings must be valid UTF-8. */
int shd_rfdb_writer_node(shd_rfdb_writer *w, const shd_rfdb_node *node, sherd_error *err);
int shd_rfdb_writer_edge(shd_rfdb_writer *w, const shd_rfdb_edge *edge, sherd_error *err);

/* What the segment takes on disk if it is finished now, without its zone map: to decide when one is full. */
uint64_t shd_rfdb_writer_size(const shd_rfdb_writer *w);

/* The distinct values, ascending, for the descriptor: types of nodes or edges (SHD_RFDB_ZONE_TYPES), files of nodes.
 * Pointers are borrowed until the next add; free(*out) is the caller's. */
enum { SHD_RFDB_ZONE_FILES = 0, SHD_RFDB_ZONE_TYPES = 1 };
int shd_rfdb_writer_values(const shd_rfdb_writer *w, int field, shd_str **out, size_t *count, sherd_error *err);

/* Hands the whole segment to the sink and its size to *size. The writer stays as it is. */
int shd_rfdb_writer_finish(shd_rfdb_writer *w, shd_rfdb_sink *sink, void *arg, uint64_t *size, sherd_error *err);

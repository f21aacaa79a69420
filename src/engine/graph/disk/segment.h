/* engine/graph/disk/segment.h - one segment of a database, mapped, and its index.
 *
 * The index is the sidecar beside the segment when it is there, fits and is whole; else it is built in memory when it
 * is first needed. Each part of a sidecar is checked before its first use. Usable from several threads at once. */
#pragma once

#include "engine/graph/disk/place.h"
#include "format/rfdb/manifest.h"
#include "format/rfdb/sidecar.h"

#include <pthread.h>
#include <stdatomic.h>

/* Parts of an index, for graph_segment.ready. */
enum { GRAPH_BY_ID = 1, GRAPH_BY_DST = 2, GRAPH_BY_TYPE = 4, GRAPH_BY_FILE = 8, GRAPH_BY_NAME = 16 };

typedef struct graph_segment_keys graph_segment_keys;

typedef struct graph_segment {
	shd_rfdb_descriptor about; /* its texts are in the arena, or borrowed from a manifest that lives longer */
	shd_arena arena;
	uint32_t shard;
	bool level1;
	uint64_t age;                    /* within L0: higher is newer */
	bool young;                      /* spilled since the version */
	bool piece;                      /* the same, and to be merged before there is a version */
	size_t file_count;               /* of one that was just written */
	bool types_sorted, files_sorted; /* the lists of the descriptor ascend: others may have written them */
	size_t first; /* where the list that it is in begins its shard: what lies in between is newer */
	shd_rfdb_segment rows;
	bool wide; /* so large that it may not be in memory */
	sherd_reader *reader;
	char *copy; /* of the bytes, on stores that cannot map */

	sherd_reader *index_reader; /* NULL when there is no sidecar that fits */
	char *index_copy;
	shd_rfdb_sidecar sidecar;          /* of that */
	shd_buf built;                     /* in memory, when there is none, or it is damaged */
	shd_rfdb_sidecar built_index;      /* of that */
	_Atomic(shd_rfdb_sidecar *) index; /* one of the two; NULL: none yet */
	_Atomic unsigned ready;            /* parts that may be used */
	pthread_mutex_t making;

	/* Once GRAPH_BY_DST is ready: of every strideth row by destination the first 32 bits of that; and for each
	 * value of the first of these bits, how many fences are below. */
	uint32_t *fences, *buckets;
	uint32_t stride;
	unsigned bucket_shift;

	_Atomic(graph_segment_keys *) keys; /* of an unsorted one, when it was first asked for */

	bool contexts_known;
	SHD_VEC(uint64_t) contexts; /* rows of edges whose metadata speaks of a file; for a writer alone */

	struct graph_proof *proof; /* for verify alone: what it knows of the segment from versions before */
} graph_segment;

/* Opens the segment and the sidecar beside it. SHERD_ENOTFOUND when the segment is gone; what contradicts the
 * descriptor is SHERD_ECORRUPT. */
int shd_graph_segment_open(graph_segment **out, const graph_place *place, const shd_rfdb_descriptor *about, bool level1,
                           sherd_error *err);
/* The same in two steps, for who writes the sidecar in between. */
int shd_graph_segment_open_rows(graph_segment **out, const graph_place *place, const shd_rfdb_descriptor *about,
                                bool level1, sherd_error *err);
int shd_graph_segment_open_index(graph_segment *s, const graph_place *place, sherd_error *err);
/* One that was just written, and gets no sidecar: it is sorted, and that is all that is needed of it. */
void shd_graph_segment_sorted(graph_segment *s);
void shd_graph_segment_close(graph_segment *s); /* NULL is fine */
/* All of it is about to be read in order; and no more. */
void shd_graph_segment_scan(const graph_segment *s);
void shd_graph_segment_scanned(const graph_segment *s);

/* The slow way of the next one. */
int shd_graph_segment_prepare(graph_segment *s, unsigned part, sherd_error *err);

/* The index, of which the part can be used. */
static inline int shd_graph_segment_index(const graph_segment *s, unsigned part, const shd_rfdb_sidecar **out,
                                          sherd_error *err)
{
	if ((atomic_load_explicit(&s->ready, memory_order_acquire) & part) != part)
		/* Preparing changes nothing that a caller can see. */
		TRY(shd_graph_segment_prepare((graph_segment *)(uintptr_t)s, part, err));
	*out = atomic_load_explicit(&s->index, memory_order_acquire);
	return SHERD_OK;
}

/* These search without asking the segment's filters first, which a list has side by side. */

/* The newest row with this id among those of the segment: 1, or 0. */
int shd_graph_segment_node(const graph_segment *s, shd_u128 id, uint64_t *row, sherd_error *err);
/* The rows with this source. */
int shd_graph_segment_sources(const graph_segment *s, shd_u128 src, shd_rfdb_run *out, sherd_error *err);
/* The newest row with this key: 1, or 0. */
int shd_graph_segment_edge(const graph_segment *s, const shd_rfdb_edge_key *key, uint64_t *row, sherd_error *err);

/* The same, where *row is the first of the source if the segment is sorted. */
int shd_graph_segment_edge_from(const graph_segment *s, const shd_rfdb_edge_key *key, uint64_t *row, sherd_error *err);

/* The same of a segment that is not sorted, by a table of all keys. */
int shd_graph_segment_newest(const graph_segment *s, const shd_rfdb_edge_key *key, uint64_t *row, sherd_error *err);

/* The rows that lead to this destination, in steps, so that segments can be asked side by side and none is waited for
 * alone: making the index ready; near which place of the order by destination they stand; asking for the memory of
 * rows there; the rows. */
int shd_graph_segment_aim(const graph_segment *s, shd_u128 dst, sherd_error *err);
/* False when there are surely none. */
bool shd_graph_segment_near(const graph_segment *s, shd_u128 dst, uint64_t *near);
void shd_graph_segment_fetch(const graph_segment *s, uint64_t near);
shd_rfdb_rows shd_graph_segment_destinations(const graph_segment *s, shd_u128 dst, uint64_t near);

/* Do the fences tell as well as a filter whether there are any? */
static inline bool shd_graph_segment_filters(const graph_segment *s)
{
	return (atomic_load_explicit(&s->ready, memory_order_acquire) & GRAPH_BY_DST) && s->stride == 1;
}

/* A row. What we wrote was UTF-8, and whether it was damaged since is for verify to tell; what others wrote is looked
 * at. Errors name the segment. */
int shd_graph_segment_read_node(const graph_segment *s, uint64_t row, shd_rfdb_node *out, sherd_error *err);
int shd_graph_segment_read_edge(const graph_segment *s, uint64_t row, shd_rfdb_edge *out, sherd_error *err);

/* Names the segment in an error. */
int shd_graph_segment_blame(const graph_segment *s, sherd_error *err, int rc);

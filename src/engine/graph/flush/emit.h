/* engine/graph/flush/emit.h - the rows of one target, out of the buffer and the segments that are merged.
 *
 * A row has a code: for an entry of the buffer its place; for a row of the merged segment with number n, counted from
 * one, n above GRAPH_ROW_BITS and the row below. Of rows that are not of the buffer the lower code is the newer one. */
#pragma once

#include "engine/graph/flush/flush.h"
#include "format/rfdb/sort.h"
#include "format/rfdb/writer.h"

#define GRAPH_ROW_BITS 44
#define GRAPH_ROW_MASK (((uint64_t)1 << GRAPH_ROW_BITS) - 1)

/* The segment with a number, counted from one, and its place in the view. */
const graph_segment *shd_graph_emit_merged(const graph_flush *f, const graph_target *t, uint64_t number, size_t *place);
/* Must rows of that segment be asked whether they are alive, since order among the merged ones does not tell? 1, or 0.
 */
int shd_graph_emit_asks(const graph_flush *f, const graph_target *t, uint64_t number, sherd_error *err);

/* Hand the live rows to the writer in order, and note in the target what becomes of tombstones and counts. */
int shd_graph_emit_nodes(graph_flush *f, graph_target *t, shd_rfdb_writer *w, sherd_error *err);
int shd_graph_emit_edges(graph_flush *f, graph_target *t, shd_rfdb_writer *w, sherd_error *err);

/* engine/graph/flush/publish.h - a version becomes the current one.
 *
 * Its edit claims its number, since of all who would write it one does; then current.json names it. What is to be
 * there in full is written in full only then, beside the edit, which goes: a full manifest counts before an edit, so
 * none may have the number of a version that somebody else may have committed. */
#pragma once

#include "engine/graph/graph.h"

/* What leads from the version of the graph to that one. */
int shd_graph_encode_as_edit(const sherd_graph *g, const shd_rfdb_manifest *full, shd_buf *out, sherd_error *err);
/* The same between any two, of which the second has the next number. */
int shd_graph_encode_between(const shd_rfdb_manifest *before, const shd_rfdb_manifest *full, shd_buf *out,
                             sherd_error *err);
/* SHERD_ECONFLICT, "changed", when somebody else has committed or cleared meanwhile. A failure leaves nothing, unless
 * nobody can tell: then the graph is broken. */
int shd_graph_publish(sherd_graph *g, uint64_t version, const shd_buf *edit, sherd_error *err);
/* The same without a graph: head is what the writer began with. *unknown: it failed, and may count nevertheless. */
int shd_graph_publish_edit(const graph_place *p, graph_head *head, uint64_t version, const shd_buf *edit, bool *unknown,
                           sherd_error *err);
/* The version counts. Nothing is lost when this fails: the edit says the same. full is its encoding. */
void shd_graph_publish_full(const graph_place *p, const shd_rfdb_manifest *m, const shd_buf *full);

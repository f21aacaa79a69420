/* engine/graph/counts.h - live records by type. */
#ifndef SHERD_ENGINE_GRAPH_COUNTS_H
#define SHERD_ENGINE_GRAPH_COUNTS_H

#include "engine/graph/graph.h"

/* The counts of the version that is open, without the buffer; counted when the manifest did not say. */
int sherd_graph_counts_know(const sherd_graph *g, const graph_counts **out, sherd_error *err);
/* Those, with the buffer; done with by the caller. */
int sherd_graph_counts_ahead(const sherd_graph *g, graph_counts *out, sherd_error *err);

/* Copies what a manifest says; unknown stays unknown. */
int sherd_graph_counts_take(graph_counts *c, const sherd_rfdb_counts *from, sherd_error *err);
void sherd_graph_counts_done(graph_counts *c);

#endif

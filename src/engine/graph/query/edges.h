/* engine/graph/query/edges.h - live edges, a writer's own among them. */
#ifndef SHERD_ENGINE_GRAPH_QUERY_EDGES_H
#define SHERD_ENGINE_GRAPH_QUERY_EDGES_H

#include "engine/graph/graph.h"

/* Returns false to stop. */
typedef bool graph_edge_fn(void *arg, const sherd_rfdb_edge *edge);

/* From an id, or to it. types may be NULL. */
int sherd_graph_each_edge(const sherd_graph *g, sherd_u128 id, bool incoming, const sherd_graph_types *types,
                          graph_edge_fn *each, void *arg, sherd_error *err);
int sherd_graph_every_edge(const sherd_graph *g, const sherd_graph_types *types, graph_edge_fn *each, void *arg,
                           sherd_error *err);

#endif

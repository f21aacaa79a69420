/* engine/graph/query/edges.h - live edges, a writer's own among them. */
#pragma once

#include "engine/graph/graph.h"

/* Returns false to stop. */
typedef bool graph_edge_fn(void *arg, const shd_rfdb_edge *edge);

/* From an id, or to it. types may be NULL. */
int shd_graph_each_edge(const sherd_graph *g, shd_u128 id, bool incoming, const sherd_graph_types *types,
                        graph_edge_fn *each, void *arg, sherd_error *err);
int shd_graph_every_edge(const sherd_graph *g, const sherd_graph_types *types, graph_edge_fn *each, void *arg,
                         sherd_error *err);

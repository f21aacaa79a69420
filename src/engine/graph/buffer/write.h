/* engine/graph/buffer/write.h - steps that all changes of the buffer are made of. */
#pragma once

#include "engine/graph/graph.h"

/* Texts are UTF-8, metadata that must be marked is a JSON object. */
int shd_graph_check_nodes(const sherd_graph *g, const sherd_graph_node *nodes, size_t count, sherd_error *err);
int shd_graph_check_edges(const sherd_graph *g, const sherd_graph_edge *edges, size_t count, sherd_error *err);
/* Into the buffer, after the checks. */
int shd_graph_put_nodes(sherd_graph *g, const sherd_graph_node *nodes, size_t count, sherd_error *err);
int shd_graph_put_edges(sherd_graph *g, const sherd_graph_edge *edges, size_t count, sherd_error *err);

/* The metadata as it is kept: with the mark of exported nodes. Borrowed from the node, or *owned, which is free()d. */
int shd_graph_stored_metadata(const sherd_graph_node *n, char **owned, shd_str *out, sherd_error *err);

/* Makes the buffer answer questions about edges. */
int shd_graph_settle(const sherd_graph *g, sherd_error *err);

int shd_graph_fail_source(shd_u128 src, sherd_error *err);

/* Appends the keys of the live edges from (to) an id. */
int shd_graph_collect_edges(const sherd_graph *g, shd_u128 id, bool incoming, shd_rfdb_edge_key_vec *keys,
                            sherd_error *err);
/* 1, or 0. */
int shd_graph_edge_lives(const sherd_graph *g, const shd_rfdb_edge_key *key, sherd_error *err);

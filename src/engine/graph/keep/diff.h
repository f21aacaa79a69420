/* engine/graph/keep/diff.h - between the files of the difference of two graphs. */
#pragma once

#include "engine/graph/graph.h"

bool shd_graph_same_text(sherd_graph_text a, sherd_graph_text b);
bool shd_graph_same_node(const sherd_graph_node *a, const sherd_graph_node *b);

/* 1 when it was told; 0 when the two do not suit it. */
int shd_graph_diff_near(const sherd_graph *from, const sherd_graph *to, const sherd_graph_diff_fns *fns,
                        sherd_error *err);

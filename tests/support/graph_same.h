/* tests/support/graph_same.h - are two graphs the same in every field? */
#pragma once

#include <sherd/model_graph.h>

/* NULL, or the name of the first field that differs. Arrays are compared by their indices; a list that is absent
 * differs from one that is empty. */
const char *graph_difference(const sherd_model_graph *a, const sherd_model_graph *b);
